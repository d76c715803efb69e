"""Clusters that are visible in a map, from its coordinates alone.

Nothing here knows the data or the graph: whether the clusters are real is a question for :mod:`sce.quality`.
"""
