"""From data to the similarity graph, X -> P: neighbour indices, affinities, given graphs and distances, one CSR toolkit.

:func:`sce.graph.build.build_affinity` is the entrance. Knows nothing of files or of the layout.
"""
