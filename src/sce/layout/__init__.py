"""From the similarity graph to the map, P -> Y: :func:`sce.layout.lay_out.lay_out` is the entry point.

Knows nothing about X, about files or about where the laps of the sampler run: it is given an engine (:mod:`sce.layout.engine`).
"""
