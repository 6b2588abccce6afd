"""Distances: Mahalanobis metrics, and tables of all distances."""
