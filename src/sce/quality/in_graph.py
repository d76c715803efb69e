"""Clusters compared with the graph P: whether they are in the data or only in the picture."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sce.core.parallel import Team, resolve_n_jobs
from sce.core.random import stream
from sce.core.validate import check_count, draw_seed
from sce.quality.check import shuffled
from sce.quality.mass import BlockMass, block_mass, check_graph, check_labels
from sce.quality.story import percentage
from sce.quality.verdict import Verdict, judge

_JUDGED_UP_TO_CLUSTERS = 500


class Figures(NamedTuple):
    """Figures of clusters that follow from the mass of P between them.

    `share`: the share of P inside clusters. `modularity`: this share minus the sum of squared volumes, its expectation in a
    graph of the same degrees. `density_ratio`: the mean of P over pairs of points in one cluster, relative to the mean over
    all other pairs (inf if those have no mass). `conductance`: the mass that leaves each cluster, relative to its volume or
    to that of the rest, whichever is smaller.
    """

    share: float
    modularity: float
    density_ratio: float
    conductance: np.ndarray


def figures_of(blocks: BlockMass, n: int) -> Figures:
    """Share, modularity, density ratio and conductances, from the mass between clusters of n points.

    Examples
    --------
    >>> two = BlockMass(np.array([[0.4, 0.1], [0.1, 0.4]]), np.array([0.5, 0.5]), np.array([5, 5]), 0.0)
    >>> figures_of(two, 10).conductance
    array([0.2, 0.2])
    """
    inside, volume = np.diag(blocks.mass), blocks.volume
    share = float(inside.sum())
    sizes = blocks.sizes.astype(np.float64)
    pairs = float((sizes * (sizes - 1)).sum())
    others = n * (n - 1.0) - pairs
    between = max(0.0, 1.0 - share)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.float64(share) / pairs / (np.float64(between) / others) if pairs and others else np.float64(np.nan)
        conductance = np.maximum(0.0, volume - inside) / np.minimum(volume, 1.0 - volume)
    conductance[~np.isfinite(conductance)] = 0.0  # no mass leaves a cluster that has all volume, or none
    return Figures(share, share - float((volume * volume).sum()) - blocks.loose, float(ratio), conductance)


class Null(NamedTuple):
    """Mean and standard deviation of each figure over random relabellings with clusters of the same sizes."""

    mean: Figures
    std: Figures


class ClustersInGraph(NamedTuple):
    """Clusters compared with the graph.

    Attributes
    ----------
    names : array of shape (n_clusters,)
        The labels of the clusters. All values per cluster are in this order.
    sizes : array of shape (n_clusters,)
        The number of points in each cluster.
    covered : float
        The share of points that are in a cluster.
    measured : Figures
        The share of P inside clusters, modularity, density ratio, and the conductance of each cluster.
    null : Null
        Mean and standard deviation of the same figures over shuffled labels.
    judgement : Verdict or None
        Which clusters are groups of P, which run into one another, and which hold several groups; None if not asked for, or
        with more than 500 clusters.
    """

    names: np.ndarray
    sizes: np.ndarray
    covered: float
    measured: Figures
    null: Null
    judgement: Verdict | None

    def figures(self) -> dict[str, float]:
        """The figures by name; those whose name ends in `_null` are means over random relabellings."""
        measured, null = self.measured, self.null.mean
        told = self.judgement
        judged: dict[str, float] = {}
        if told is not None and told.is_known:
            judged = {"n_real": float(told.real.sum()), "n_groups": float(told.n_groups)}
        return {
            "n_clusters": float(len(self.sizes)),
            **judged,
            "covered": self.covered,
            "share": measured.share,
            "share_null": null.share,
            "modularity": measured.modularity,
            "modularity_null": null.modularity,
            "density_ratio": measured.density_ratio,
            "density_ratio_null": null.density_ratio,
            "conductance": _mean(measured.conductance, self.sizes),
            "conductance_null": _mean(null.conductance, self.sizes),
        }

    def facts(self) -> dict[str, Any]:
        """What is known about each cluster, as plain numbers and strings."""
        found: dict[str, Any] = {
            "names": self.names.tolist(),
            "sizes": self.sizes.tolist(),
            "conductance": self.measured.conductance.tolist(),
            "conductance_null": self.null.mean.conductance.tolist(),
        }
        if self.judgement is not None:
            found |= {
                "real": self.judgement.real.tolist(),
                "merges": self.judgement.merges,
                "splits": [[name, sizes] for name, sizes in self.judgement.splits],
                "fragments": self.judgement.fragments,
                "n_groups": self.judgement.n_groups,
            }
        return found

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """A table with a line for each cluster: its size, its conductance, and the verdict of P."""
        measured, null, spread = self.measured, self.null.mean, self.null.std
        top = (
            f"{len(self.sizes)} clusters with {percentage(self.covered)} of the points hold {measured.share:.1%} of the "
            f"graph's weight (shuffled: {null.share:.1%} +- {spread.share:.1%}), modularity {measured.modularity:.3f} "
            f"(shuffled: {round(null.modularity, 3) + 0.0:.3f})"
        )
        rows = [top, f"{'cluster':>8} {'points':>9} {'edges out':>9} {'shuffled':>8}  in the graph"]
        for c, name in enumerate(self.names):
            verdict = self.judgement.says(c) if self.judgement is not None else "not judged"
            rows.append(
                f"{name:>8} {self.sizes[c]:>9} {measured.conductance[c]:>9.3f} {null.conductance[c]:>8.3f}  {verdict}"
            )
        return rows


def _mean(values: np.ndarray, sizes: np.ndarray) -> float:
    """The mean over clusters, weighted by size."""
    return float(np.average(values, weights=sizes)) if len(sizes) else float("nan")


def _summarize(columns: list[np.ndarray], summary: Any) -> Figures:
    """A mean or standard deviation of each figure over relabellings."""
    share, modularity, ratio = (float(summary(column)) for column in columns[:3])
    return Figures(share, modularity, ratio, summary(columns[3], axis=0))


def clusters_in_graph(
    P: Any,
    labels: Any,
    *,
    n_null: int = 20,
    judged: bool = True,
    thorough: bool = False,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> ClustersInGraph:
    """Compare clusters with the graph: how much of P is inside them, and how much would be there by chance.

    Parameters
    ----------
    P : sparse matrix of shape (n, n)
        The similarity graph, as `SCE.affinity_` has it.
    labels : array of shape (n,)
        A whole number for each point. A negative number means no cluster; each such point counts as a cluster of its own.
    n_null : int, default=20
        The number of random relabellings with clusters of the same sizes.
    judged : bool, default=True
        Whether to judge each cluster, which takes most of the time. The figures do not need it.
    thorough : bool, default=False
        Whether to judge by groups of P that are also searched for without the clusters, which takes several times as long.
    random_state : int, RandomState or None, default=0
        The seed of the relabellings and of the search for boundaries.
    n_jobs : int or None, default=None
        The number of threads; None is all cores. Never changes the result.

    Returns
    -------
    ClustersInGraph
        `figures()` gives the figures by name, `str()` a table, `judgement` the verdict of P on each cluster.

    Notes
    -----
    All clusters are judged by one partition of P into groups, every two of them separated by a bottleneck: a boundary that is
    narrower than the cuts beside it (see :mod:`sce.quality.boundaries` and :mod:`sce.quality.partition`). A cluster is real if
    it is one such group, or several, and shares none with another cluster. Of 400 maps of noise, 3 have a real cluster.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> P = sp.csr_matrix(np.kron(np.eye(4), np.ones((5, 5)) - np.eye(5)))
    >>> found = clusters_in_graph(P, np.arange(20) // 5)
    >>> found.figures()["share"]
    1.0
    >>> found.judgement.real
    array([ True,  True,  True,  True])
    """
    graph = check_graph(P)
    n = graph.shape[0]
    codes, names = check_labels(labels, n)
    n_null = check_count(n_null, "n_null")
    seed = draw_seed(random_state)
    keys = [stream(seed, f"relabelling {number}") for number in range(n_null)]
    with Team(resolve_n_jobs(n_jobs)) as team:
        blocks = block_mass(graph, codes, team)
        relabelled = [figures_of(block_mass(graph, shuffled(codes, key), team), n) for key in keys]
    few = len(names) <= _JUDGED_UP_TO_CLUSTERS
    judgement = judge(graph, codes, names, seed, thorough=thorough) if judged and few else None
    columns = [np.array(column) for column in zip(*relabelled, strict=True)]
    null = Null(_summarize(columns, np.mean), _summarize(columns, np.std))
    covered = float((codes >= 0).mean())
    return ClustersInGraph(names, blocks.sizes, covered, figures_of(blocks, n), null, judgement)
