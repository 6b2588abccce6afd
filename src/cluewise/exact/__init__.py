"""The exact solver: nodes that exclude each other, spread over k clusters, and at the least cost where there are costs.

The package knows networks, costs and clusters, and nothing about clues. `Clues` asks it whether k clusters can satisfy
everything (and for a witness when they cannot); COPKMeans, PCCC and the mixtures ask for the cheapest valid labels.

================ ========================================================================================
`network`        `Network`, the one type of conflict graph, and whatever takes linear time: components,
                 smallest-last order, a greedy pass, which labels are broken
`feasibility`    are k clusters enough? Certificates first, then a search with limits, on the k-core alone; if
                 not, nodes and edges that prove it, as few as can be
`sizes`          can clusters of given sizes hold components of given sizes?
`assignment`     the cheapest valid labels, with a proved lower bound: `cheapest`
`searches`       branch and bound, tabu search, swaps along Kempe chains
`program`        one hard component as an integer program; `highs` runs it so that Ctrl-C works
================ ========================================================================================

From a question to an answer: first the network shrinks in ways that do not change the answer. Nodes that exclude no
other, nodes with fewer than k neighbors and components whose cheapest labels break nothing need no search. What is left
meets methods of growing cost, each of which may settle it: certificates, a greedy pass, branch and bound taking turns
with tabu search, integer programming. All of them take a deadline. Labels found by then are valid, and a bound says how
far they may be from the optimum.

`_certificates` (two clusters, odd cycles, cliques) serves this package alone. The compiled loops are in
`kernels.coloring` and `kernels.branching`.
"""
