"""PCCC: K-means with hard and soft labels, links, groups and sizes."""
