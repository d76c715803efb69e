"""The kinds of affinities, by name. Imports nothing, because the help of the command line lists them."""

AFFINITY_NAMES = ("entropic", "knn", "precomputed")  # of those but the last, graph/affinity.py has the functions
