"""The functional core: plain functions and small states, driven by one loop that knows nothing of clustering.

==================== ====================================================================================
for everybody        `loop`, `progress`, `threads`, `clock`, `rows` (blocks of X), `order`
k-means              `seeding`, `assign`, `centers`, `lloyd`, `objective`, `price` of a broken link
clues as forces      `pulls` (on rows), `links` (pairs), `nodes` and `bonds` (what must-links join),
                     `exclusions`, `ranking`, `sides` (labelings), `certainty`, `anchors`, `doubt`
exact assignment     hard links: `search`, `conflicts`; hard and soft: `mixed`, `moves`, `soft_program`,
                     `frustration`, `placing`, `filling`; sizes: `flow`, `sizes`, `capacities`, `balance`
distances            `divergences`, `opening`; learned: `distortions`, `mahalanobis`, `directions`, `counts`,
                     `extent`, `fields`; kernels: `landmarks`
distributions        `gaussians`, `inference` on links, `priors`, `sticks`, `pair_evidence`, `coclustering`
partitions           `labelings`, `utilities`, `consensus`, `simplex`, `weighting`
trees                `linkage` and its parts, `distance_matrix`, `condensed` (trees of densities)
graphs of near rows  `neighbors`, `radius`, `density`, `affinity`, `laplacian`, `flexible`, `spreading` (of links),
                     `spectral_kernel`, `relational`
learned distances    `metric`, `told_pairs`, `large_margin`, `quasi_newton`, `propagation`, `propagation_radius`
votes and margins    `boosting`, `margin`
counts               `bottleneck` and its parts
==================== ====================================================================================

Modules with a leading underscore serve the one that their docstring names.
"""
