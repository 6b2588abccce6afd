"""Distributions: Gaussians, and how far links can be trusted."""
