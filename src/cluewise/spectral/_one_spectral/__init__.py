"""Constrained 1-spectral clustering.

================ ========================================================================================
`cuts`           the ratio of a cut in two with priced links, of sets and of vectors
`descent`        RatioDCA: a vector whose ratio is no higher, again and again
`prices`         a price at which enough cannot-links are cut; several starts
`splits`         k clusters, by one split after another; clusters that are split and joined anew
`moves`          the objective of k clusters, and vertices that move to lower it
`one_spectral`   the estimator
================ ========================================================================================
"""
