"""The functional core: plain functions and small states, driven by one loop that knows nothing of clustering.

What one family alone uses lives in that family; everything here serves at least two packages, and a test says so.

================= =======================================================================================
for everybody     `loop` and the progress that callbacks see, `threads`, `rows` (blocks of X), `chunks` (dask)
k-means           `seeding`, `assign`, `centers` (with the price of a broken link), `lloyd`
clues as arrays   `views`: pairs, forces, groups and components, one for each way to use clues
`distances`       `metric` (Mahalanobis), `distance_matrix`
`probability`     `gaussians`, `doubt` about links
`partitions`      `base_clusterer`, `labelings`, `utilities`, `consensus`
`graphs`          `neighbors`
`trees`           `linkage` and its parts
================= =======================================================================================
"""
