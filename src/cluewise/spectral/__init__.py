"""Spectral methods: clusters that are cheap to cut out of a graph of neighbors."""

from cluewise.spectral._e2cp import E2CP
from cluewise.spectral._flexible import FlexibleSpectral
from cluewise.spectral._one_spectral.one_spectral import OneSpectral
from cluewise.spectral._relational import RelationalSpectral
from cluewise.spectral._spectral_kernel import SpectralKernelKMeans

__all__ = ["E2CP", "FlexibleSpectral", "OneSpectral", "RelationalSpectral", "SpectralKernelKMeans"]
