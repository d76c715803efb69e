"""Clusters judged by the graph P: whether they are in the data or only drawn."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sce.core.parallel import Team, resolve_n_jobs
from sce.core.validate import check_count, draw_seed
from sce.quality.mass import BlockMass, block_mass, check_graph, check_labels
from sce.quality.verdict import Judgement, judge

_MOST = 500  # clusters to judge one by one


class Figures(NamedTuple):
    """What can be said of clusters from the mass of P between them.

    `share`: of P inside clusters. `modularity`: that less the sum of squared volumes, its expectation in a graph of the same
    degrees. `density_ratio`: the mean of P over pairs of points in one cluster, relative to the mean over all other pairs (inf
    if no mass is there). `conductance`: the mass that leaves each cluster, relative to the smaller of its volume and the
    rest's.
    """

    share: float
    modularity: float
    density_ratio: float
    conductance: np.ndarray


def figures_of(blocks: BlockMass, n: int) -> Figures:
    """Share, modularity, ratio of densities and conductances, from the mass between clusters of n points.

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
    conductance[~np.isfinite(conductance)] = 0.0  # nothing leaves a cluster that is everything, or that has no edge
    return Figures(share, share - float((volume * volume).sum()) - blocks.loose, float(ratio), conductance)


class Null(NamedTuple):
    """Mean and standard deviation of each figure over random relabellings with clusters of the same sizes."""

    mean: Figures
    std: Figures


class ClustersInGraph(NamedTuple):
    """Clusters judged by the graph.

    Attributes
    ----------
    names : array of shape (n_clusters,)
        The labels of the clusters; whatever is given for each cluster is in this order.
    sizes : array of shape (n_clusters,)
        Their numbers of points.
    covered : float
        The share of points in a cluster.
    measured : Figures
        Share of P inside clusters, modularity, ratio of densities, conductance of each cluster.
    null : Null
        The same, mean and standard deviation, where labels are shuffled.
    judgement : Judgement or None
        Which clusters are real, which pairs P would rather have merged, which ones split; None if not asked for, and beyond
        500 clusters.
    """

    names: np.ndarray
    sizes: np.ndarray
    covered: float
    measured: Figures
    null: Null
    judgement: Judgement | None

    def figures(self) -> dict[str, float]:
        """The figures by name; those that end in `_null` are means over random relabellings."""
        measured, null = self.measured, self.null.mean
        judged = {} if self.judgement is None else {"n_real": float(self.judgement.real.sum())}
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
        """All that is known of each cluster, as plain numbers and texts."""
        found: dict[str, Any] = {
            "names": self.names.tolist(),
            "sizes": self.sizes.tolist(),
            "conductance": self.measured.conductance.tolist(),
            "conductance_null": self.null.mean.conductance.tolist(),
        }
        if self.judgement is not None:
            found |= {
                "real": self.judgement.real.tolist(),
                "merges": [list(merge) for merge in self.judgement.merges],
                "splits": [[name, sizes] for name, sizes in self.judgement.splits],
            }
        return found

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """A table with a line for each cluster: what P says of it."""
        measured, null, spread = self.measured, self.null.mean, self.null.std
        top = (
            f"{len(self.sizes)} clusters with {self.covered:.0%} of the points hold {measured.share:.1%} of P (shuffled: "
            f"{null.share:.1%} +- {spread.share:.1%}), modularity {measured.modularity:.3f} (shuffled: {null.modularity:.3f})"
        )
        rows = [top, f"{'cluster':>8} {'points':>9} {'conductance':>11} {'shuffled':>8}  P says"]
        for c, name in enumerate(self.names):
            says = self.judgement.says(c) if self.judgement is not None else "not judged"
            rows.append(
                f"{name:>8} {self.sizes[c]:>9} {measured.conductance[c]:>11.3f} {null.conductance[c]:>8.3f}  {says}"
            )
        return rows


def _mean(values: np.ndarray, sizes: np.ndarray) -> float:
    return float(np.average(values, weights=sizes)) if len(sizes) else float("nan")


def _each(columns: list[np.ndarray], summary: Any) -> Figures:
    share, modularity, ratio = (float(summary(column)) for column in columns[:3])
    return Figures(share, modularity, ratio, summary(columns[3], axis=0))


def clusters_in_graph(
    P: Any, labels: Any, *, n_null: int = 20, judged: bool = True, random_state: Any = 0, n_jobs: int | None = None
) -> ClustersInGraph:
    """Judge clusters by the graph: what of P is inside them, and what would be by chance.

    Parameters
    ----------
    P : sparse matrix of shape (n, n)
        The similarity graph, as `SCE.affinity_` has it.
    labels : array of shape (n,)
        Whole numbers, one for each point; a negative one for points in no cluster, each of which counts as a cluster
        of its own.
    n_null : int, default=20
        How many random relabellings with clusters of the same sizes.
    judged : bool, default=True
        Whether to judge each cluster, which takes most of the time; the figures need no judgement.
    random_state : int, RandomState or None, default=0
        The seed of the relabellings.
    n_jobs : int or None, default=None
        Threads; None is all cores. Never changes the result.

    Returns
    -------
    ClustersInGraph
        `figures()` gives the figures by name, `str()` a table, `judgement` what P says of each cluster.

    Notes
    -----
    A cluster is real if its boundaries are necks: narrower than cuts beside them (see :mod:`sce.quality.boundaries`). In
    noise of two and more dimensions this calls hardly any boundary real; on a plain line of points it may, where the line
    is thin by chance.

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
    rng = np.random.default_rng(seed)
    with Team(resolve_n_jobs(n_jobs)) as team:
        blocks = block_mass(graph, codes, team)
        shuffled = [figures_of(block_mass(graph, rng.permutation(codes), team), n) for _ in range(n_null)]
    judgement = judge(graph, codes, names, seed) if judged and len(names) <= _MOST else None
    columns = [np.array(column) for column in zip(*shuffled, strict=True)]
    null = Null(_each(columns, np.mean), _each(columns, np.std))
    covered = float((codes >= 0).mean())
    return ClustersInGraph(names, blocks.sizes, covered, figures_of(blocks, n), null, judgement)
