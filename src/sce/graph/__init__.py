"""From data to the similarity graph, X -> P: neighbour indices, affinities (also of new rows), given graphs and distances.

:func:`sce.graph.build.build_affinity` is the entry point, :func:`sce.graph.index.build_index` searches for neighbours only, and
:mod:`sce.graph.csr` the one toolkit for sparse rows. Nothing here knows about files, labels or the layout.
"""
