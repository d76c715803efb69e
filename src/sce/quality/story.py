"""The quality of a map in plain words: a few full sentences, all of which follow from the same figures."""

from __future__ import annotations

from typing import Any

from sce.quality.verdict import Verdict

GRAPH = "P, the neighbour graph from which the map was drawn, links every point with those most like it."
_MOSTLY = 0.8  # of the points: labels that fewer share with most of their neighbours follow the map in part only
_MOST_NAMED = 6  # sets of clusters that a sentence names; of more it gives the number of the others


def cluster_story(n_clusters: int, covered: float, verdict: Verdict | None) -> list[str]:
    """What the map shows, and what of it is in the graph.

    Examples
    --------
    >>> cluster_story(0, 0.0, None)
    ['The map shows no clusters.', 'Whether there are any in the data cannot be said without P, the neighbour graph.']
    """
    if n_clusters == 0:
        shown = "The map shows no clusters."
    else:
        shown = f"The map shows {_count(n_clusters, 'cluster')} with {percentage(covered)} of the points."
    if verdict is None:
        whom = {0: "there are any", 1: "it is"}.get(n_clusters, "they are")
        return [shown, f"Whether {whom} in the data cannot be said without P, the neighbour graph."]
    if verdict.n_groups > 1:
        return [shown, GRAPH, *_groups(n_clusters, verdict)]
    return [shown, GRAPH, _one_piece(n_clusters, verdict)]


def _one_piece(n_clusters: int, verdict: Verdict) -> str:
    """The graph has no two groups: nothing on the map can be real."""
    if verdict.n_groups == 0:
        return (
            "It has fallen into pieces too small to be groups, so nothing can be judged: raise n_neighbors (perplexity), or "
            "look for copies among the rows."
        )
    if not verdict.enough:
        return "There are too few points to judge by it: each has so many neighbours that two groups could not be told apart."
    if n_clusters == 0:
        return "It has no clear gap anywhere, so the map in one piece is right."
    whom = "the cluster is" if n_clusters == 1 else "none of the clusters is"
    apart = "not separated" if n_clusters == 1 else "separated"
    return f"It has no clear gap anywhere: {whom} {apart} from the rest, and was drawn by the layout."


def _groups(n_clusters: int, verdict: Verdict) -> list[str]:
    """The graph has groups: which clusters are groups, and which are not."""
    found = f"It has {verdict.n_groups} groups with clear gaps between them"
    if n_clusters == 0:
        return [f"{found}, which the map does not show as clusters."]
    n_real = int(verdict.real.sum())
    if n_clusters == 1 and not n_real and not verdict.fragments:
        told = [f"{found}, but all of them are in this one cluster."]
    elif n_real == n_clusters:
        told = [f"{found}; {_all_real(n_clusters)}."]
    elif n_real:
        told = [
            f"{found}; {n_real} of the clusters {'is' if n_real == 1 else 'are'} real: each has a clear gap to all others."
        ]
    else:
        told = [f"{found}, but no cluster of the map is real: none has a clear gap to all others."]
    told += [
        f"{text}." for text in _named([f"clusters {_listed(merge)} run into one another" for merge in verdict.merges])
    ]
    told += [
        f"{text}."
        for text in _named(
            [f"cluster {name} holds {len(sizes)} groups of {_listed(sizes)} points" for name, sizes in verdict.splits]
        )
    ]
    if len(verdict.fragments) == 1:
        told.append(f"Cluster {verdict.fragments[0]} is part of a larger group, whose other points are in no cluster.")
    elif verdict.fragments:
        told.append(
            f"Clusters {_listed(verdict.fragments)} are parts of larger groups, whose other points are in no cluster."
        )
    return [*told, *_unseen(verdict.unseen)]


def _unseen(sizes: list[int]) -> list[str]:
    """The groups that no cluster shows."""
    if not sizes:
        return []
    whom = (
        "One group is not shown as a cluster" if len(sizes) == 1 else f"{len(sizes)} groups are not shown as clusters"
    )
    rest = " and more" if len(sizes) > _MOST_NAMED else ""
    return [f"{whom}: {_listed(sizes[:_MOST_NAMED])}{rest} points."]


def _all_real(n_clusters: int) -> str:
    if n_clusters == 1:
        return "the cluster is real: it has a clear gap to the rest"
    return "all clusters are real: each has a clear gap to all others"


def _named(parts: list[str]) -> list[str]:
    """One sentence of several parts, of which the first few are named; none for no parts."""
    if not parts:
        return []
    rest = len(parts) - _MOST_NAMED
    told = "; ".join(parts[:_MOST_NAMED]) + (
        f"; and {rest} more such {'case' if rest == 1 else 'cases'}" if rest > 0 else ""
    )
    return [told[0].upper() + told[1:]]


def _listed(values: list[int]) -> str:
    """Numbers in words: 1, 2 and 3.

    Examples
    --------
    >>> _listed([4, 9, 11]), _listed([3])
    ('4, 9 and 11', '3')
    """
    words = [f"{value:,}" for value in values]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def percentage(share: float) -> str:
    """A share in whole percent, and never 100% for less.

    Examples
    --------
    >>> percentage(0.974), percentage(0.996), percentage(1.0)
    ('97%', 'more than 99%', '100%')
    """
    return "more than 99%" if 0.995 <= share < 1 else f"{share:.0%}"


def _count(number: int, what: str) -> str:
    return f"one {what}" if number == 1 else f"{number:,} {what}s"


def neighbor_story(neighbors: Any) -> list[str]:
    """How much of the neighbourhoods the map keeps."""
    if neighbors is None:
        return []
    return [
        f"Of the 15 points nearest to a point on the map, {neighbors.recall:.0%} are among its 15 nearest in the data."
    ]


def label_story(spread: float | None, agreement: Any) -> list[str]:
    """Whether labels follow the clusters of the map."""
    if spread is None:
        return []
    if agreement is None:
        return [
            "The labels do not follow the groups: each is spread over the whole map (patients or batches?). Agreement with "
            "them says nothing about the map, and is not shown."
        ]
    follow = "follow" if agreement.accuracy >= _MOSTLY else "partly follow"
    return [
        f"The labels {follow} the map: {agreement.accuracy:.1%} of the points have the label that is most frequent among "
        "their 15 nearest."
    ]
