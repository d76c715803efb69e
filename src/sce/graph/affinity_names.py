"""The kinds of affinities, by name. Imports nothing else of sce, because the help of the command line lists them."""

from typing import NamedTuple


class AffinityName(NamedTuple):
    """What a kind of affinity is, in a few words, and whether `perplexity` applies to it."""

    meaning: str
    takes_perplexity: bool = False


AFFINITY_NAMES = {  # graph/affinities.py has the functions of all but "precomputed"
    "shared": AffinityName(
        "weights that decrease with distance and increase with shared neighbours", takes_perplexity=True
    ),
    "entropic": AffinityName("weights that decrease with distance, as in t-SNE", takes_perplexity=True),
    "knn": AffinityName("equal weights"),
    "precomputed": AffinityName("the data are the graph"),
}
WITH_PERPLEXITY = [name for name, kind in AFFINITY_NAMES.items() if kind.takes_perplexity]
