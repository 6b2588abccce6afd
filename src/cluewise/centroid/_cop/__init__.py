"""COPKMeans: K-means with hard links."""
