"""Clusters that are seen in a map, from its coordinates alone. Whether they are in the data is asked in :mod:`sce.quality`."""
