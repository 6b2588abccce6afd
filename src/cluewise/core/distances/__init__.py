"""Distances: divergences, learned ones, kernels, and tables that links have changed."""
