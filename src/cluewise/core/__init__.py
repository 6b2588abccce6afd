"""The functional core: plain functions and small states, driven by one loop that knows nothing of clustering.

What one family alone uses lives in that family; everything here serves at least two packages, and a test says so.

================= =======================================================================================
for everybody     `loop`, `progress`, `threads`, `rows` (blocks of X), `order`
k-means           `seeding`, `assign`, `centers`, `lloyd`, `objective`, `price` of a broken link
clues as arrays   `views`: pairs, forces, groups and components, one for each way to use clues
`distances`       `metric` (Mahalanobis), `distance_matrix`
`probability`     `gaussians`, `doubt` about links
`partitions`      `given` (clusterers), `labelings`, `utilities`, `consensus`
`graphs`          `neighbors`
`trees`           `linkage` and its parts
================= =======================================================================================
"""
