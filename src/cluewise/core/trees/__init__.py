"""Trees of clusters, joined two by two."""
