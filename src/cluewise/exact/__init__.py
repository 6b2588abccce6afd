"""The exact solver: nodes that exclude each other, spread over k clusters, and at the least cost where there are costs.

The package knows networks, costs and clusters, and nothing about clues. `Clues` asks it whether k clusters can satisfy
everything (and for a witness when they cannot); COPKMeans, PCCC and the mixtures ask for the cheapest valid labels.

================ ========================================================================================
`network`        `Network`, the one type of conflict graph, and whatever takes linear time: components,
                 smallest-last order, a greedy pass, which labels are broken
`coloring`       are k clusters enough? Certificates first, then a search with limits, on the k-core alone
`feasibility`    the same, and a witness that is as small as can be: nodes and edges that prove a "no"
`sizes`          can clusters of given sizes hold components of given sizes?
`assignment`     the cheapest valid labels, with a proved lower bound: `cheapest`
`local`          cheaper labels by swaps along Kempe chains
`program`        one hard component as an integer program; `highs` runs it so that Ctrl-C is heard
================ ========================================================================================

From a question to an answer: a `Network` is made smaller without changing the answer (nodes that exclude nobody, nodes
with fewer than k neighbors, components without trouble); what is left is attacked by methods of growing cost, each of
which may end the matter: certificates, a greedy pass, branch and bound beside tabu search, integer programming. All of
them take a deadline; what they have found by then is valid, and they say how far it may be from the best.

Modules with a leading underscore serve this package alone: `_certificates` (two clusters, odd cycles, cliques),
`_searches` (branch and bound, tabu search: states that can be left and entered again), `_relaxation` (conflicts are
added only where they matter). The compiled loops are in `kernels.coloring` and `kernels.branching`.
"""
