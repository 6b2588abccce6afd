"""The functional core: plain functions and small states, driven by one loop that knows nothing of clustering.

================= =======================================================================================
for everybody     `loop`, `progress`, `threads`, `clock`, `rows` (blocks of X), `order`
k-means           `seeding`, `assign`, `centers`, `lloyd`, `objective`, `price` of a broken link
clues as forces   `pulls` (on rows), `links` (pairs), `nodes` (what must-links join)
one family each   `margin`, `boosting`
`exact`           hard links: `search`, `conflicts`; hard and soft: `mixed`, `moves`, `soft_program`, `bonds`,
                  `frustration`, `placing`, `filling`, `anchors`, `certainty`, `exclusions`, `ranking`; sizes:
                  `flow`, `sizes`, `capacities`, `balance`
`distances`       `divergences`, `opening`; learned inside k-means: `distortions`, `mahalanobis`, `directions`,
                  `counts`, `extent`, `fields`; learned beforehand: `metric`, `told_pairs`, `large_margin`,
                  `quasi_newton`; tables: `distance_matrix`, `propagation`; kernels: `landmarks`
`probability`     `gaussians`, `inference` on links, `priors`, `sticks`, `pair_evidence`, `coclustering`, `doubt`
`partitions`      `given` (clusterers), `labelings`, `sides`, `utilities`, `consensus`, `simplex`, `weighting`
`graphs`          `neighbors`, `radius`, `affinity`, `laplacian`; `flexible`, `spreading` (of links),
                  `spectral_kernel`, `relational`; `density`, `condensed` (trees of densities)
`trees`           `linkage` and its parts
`information`     `bottleneck` and its parts
================= =======================================================================================

Modules with a leading underscore serve the one that their docstring names.
"""
