"""From data to the similarity graph, X -> P: neighbour indices, affinities (also of new rows), given graphs and distances.

:func:`sce.graph.build.build_affinity` is the entrance, :func:`sce.graph.index.build_index` that of the search alone, and
:mod:`sce.graph.csr` the one toolkit for sparse rows. Nothing here knows of files, labels or the layout.
"""
