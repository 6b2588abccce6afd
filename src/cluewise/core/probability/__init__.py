"""Distributions: Gaussians, priors, inference on links, and how far links can be trusted."""
