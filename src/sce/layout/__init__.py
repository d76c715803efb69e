"""From the similarity graph to the map, P -> Y: :func:`sce.layout.lay_out.lay_out` is the entrance.

Knows nothing of X, of files or of where the laps of the sampler run: an engine is given (:mod:`sce.layout.engine`).
"""
