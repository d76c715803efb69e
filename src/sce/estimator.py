"""The estimator: the scikit-learn interface to graph and layout. It validates, calls and learns; no algorithm lives here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from typing import Any, NamedTuple

import numpy as np

from sce.core import validate
from sce.core.parallel import Team, resolve_n_jobs
from sce.core.progress import Reporter
from sce.core.protocol import Estimator, wrapping
from sce.core.spreads import warn_of_unequal_spreads
from sce.engines.choose import check_engine, make_engine
from sce.errors import ParameterError
from sce.graph.build import AffinityResult, GraphOptions, build_affinity
from sce.graph.networks import as_network
from sce.layout.engine import Engine
from sce.layout.lay_out import lay_out
from sce.layout.light_points import refuse_light_points
from sce.layout.problem import Problem
from sce.layout.records import Layout, Record, Watch
from sce.layout.scale import ScaleRule
from sce.layout.settings import LayoutOptions, layout_options
from sce.layout.similarities import Similarities
from sce.warm import compile_for


class SCE(Estimator):
    """Stochastic Cluster Embedding: see the clusters in your data.

    Parameters
    ----------
    n_components : {1, 2, 3}, default=2
        Dimensions of the map.
    affinity : {"shared", "entropic", "knn", "precomputed"} or callable, default="shared"
        The similarities P. "entropic": Gaussian weights of the `n_neighbors` nearest neighbours, with the bandwidth that gives
        the `perplexity`, as in t-SNE. "shared": the same with distances relative to the density around a neighbour, and
        times a root of the share of neighbours that two points have in common. "knn": 1 if one of two points is among the
        `n_neighbors` nearest of the other, else 0. "precomputed": X is P itself, or any non-negative similarity graph, dense
        or sparse. A function turns X into such a graph.
    n_neighbors : int or None, default=None
        The nearest neighbours that each point is joined to, not counting the point itself. Larger values merge clusters,
        smaller ones split them. None means 15, and up to 25 for fewer than 10,000 rows of fewer than 3.75 dimensions of
        their own; `n_neighbors_` has the result.
    perplexity : float or None, default=None
        The effective number of neighbours for `affinity="shared"` and "entropic"; a number uses 3 x perplexity neighbours
        and ignores `n_neighbors`. None means a third of `n_neighbors`, and up to all of them where the data have few
        dimensions of their own (below 4.5) or very many (above 10); `perplexity_` has the result.
    metric : str or callable, default="euclidean"
        "euclidean", "cosine", "correlation", "manhattan" or any other metric of scikit-learn's NearestNeighbors.
        "precomputed": X is a distance matrix, dense, or sparse with the distances of neighbours.
    scale : {"sce", "sne"}, float or rule, default="sce"
        The rule for the repulsion weight r = s N(N-1). "sce": the paper's Eq. (6) with `alpha`. "sne": t-SNE's, with
        `exaggeration`. A number: that r. Or an object: ``SCEScale``, ``SNEScale``, ``FixedScale``.
    alpha : float, default=0.05
        SCE's mixing weight, from 0 (t-SNE's choice) to 1 (least repulsion). The paper uses 0.5; docs/defaults.md has
        the measurements.
    exaggeration : float, default=1.0
        The factor on the attraction for `scale="sne"`.
    n_epochs : int or "auto", default="auto"
        Epochs of the sampler, each of 10 steps per point. "auto" chooses 30 after coarse maps, 100 to 500 without them or
        without a full gradient. A number also applies to each coarse map, but not to the gradient iterations that follow. With
        `optimizer="gradient"` it is the maximum number of iterations, 1000 for "auto".
    learning_rate : float, (float, float) or "auto", default="auto"
        The initial rate, which falls linearly to 0; or the first and last rates, equal for a constant rate. "auto" starts at
        1, or higher for more than 20,000 points: at 1.5 for 100,000, at 2.7 for a million.
    n_repulsive : int, default=1
        Repulsive pairs drawn for each attractive pair; each pushes correspondingly less.
    init : {"auto", "pca", "spectral", "random"} or array, default="auto"
        The starting coordinates: principal axes of X ("auto" for vectors), smooth functions on the graph ("auto" for graphs),
        the paper's small random numbers, or an array. The sampler moves given coordinates far, the gradient only a little.
    tol : float or "auto", default="auto"
        Stop when the relative changes of both Y and r in an epoch or iteration are below this; the full gradient also stops
        when J falls by less than this, relatively, over ten iterations. 0 disables the criterion. "auto" is 0 for the sampler,
        0.001 for the gradient.
    optimizer : {"auto", "sampler", "gradient"}, default="auto"
        "sampler": the paper's stochastic gradient, fast, and accurate while the repulsion is weak, r up to about 10.
        "gradient": the full gradient, which reaches the minimum at any r. It starts at the r at which `init` neither grows nor
        shrinks and changes r in small factors, so it continues smoothly from a map of another r. "auto": coarse maps of merged
        neighbours first, for more than 1,000 points and unless `init` is an array; then the sampler; then the gradient: to the
        minimum up to 20,000 points (10,000 in 3-D), or where the rule's r is above about 25, as with `scale="sne"`; else 10 to
        15 iterations (two in 3-D).
    random_state : int, RandomState or None, default=None
        The seed. The same seed gives the same bytes on any number of threads.
    n_jobs : int or None, default=None
        Threads; None means all cores. Never changes the result.
    engine : "threads" or Engine, default="threads"
        Where the layout is computed.
    callback : callable, optional
        Called as callback(epoch, Y, r, loss) after each epoch or iteration; the run stops when it returns True.
    verbose : bool, default=False
        Show the stages, and a progress bar with loss and r.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The map, float32.
    affinity_ : csr_matrix of shape (n_samples, n_samples)
        P: symmetric, sums to 1.
    scale_ : float
        The repulsion weight r at the end.
    history_ : dict of arrays
        Per epoch of the sampler, then per iteration of the gradient: "epoch", "loss" (I-divergence of P from s q), "r",
        "learning_rate", "change".
    n_epochs_ : int
        Epochs and iterations run.
    stop_reason_ : str
        Why the run ended.
    neighbor_method_ : str or None
        How the neighbours were found; None where P or distances were given.
    n_neighbors_ : int or None
        The number of neighbours of each point; None where P was given.
    perplexity_ : float or None
        The effective number of neighbours in P; None where its weights have none.
    neighbor_recall_ : float or None
        The share of true neighbours among those found, measured on a sample of rows; 1 for exact methods.
    n_features_in_ : int
        The number of columns of X.
    feature_names_in_ : ndarray of str
        The names of the columns, if X had names.
    ids_ : ndarray of shape (n_samples,)
        The index of X, if X was a data frame with another one than 0, 1, 2, ...

    References
    ----------
    Zhirong Yang, Yuwei Chen, Denis Sedov, Samuel Kaski, Jukka Corander: Stochastic Cluster Embedding. Statistics and
    Computing 33, 2023.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sce import SCE
    >>> X = load_digits().data
    >>> SCE(random_state=0).fit_transform(X).shape
    (1797, 2)
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        affinity: str | Callable[[Any], Any] = "shared",
        n_neighbors: int | None = None,
        perplexity: float | None = None,
        metric: str | Callable[[Any, Any], float] = "euclidean",
        scale: str | float | ScaleRule = "sce",
        alpha: float = 0.05,
        exaggeration: float = 1.0,
        n_epochs: int | str = "auto",
        learning_rate: float | tuple[float, float] | str = "auto",
        n_repulsive: int = 1,
        init: str | np.ndarray = "auto",
        tol: float | str = "auto",
        optimizer: str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        engine: str | Engine = "threads",
        callback: Callable[[int, np.ndarray, float, float], Any] | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.perplexity = perplexity
        self.metric = metric
        self.scale = scale
        self.alpha = alpha
        self.exaggeration = exaggeration
        self.n_epochs = n_epochs
        self.learning_rate = learning_rate
        self.n_repulsive = n_repulsive
        self.init = init
        self.tol = tol
        self.optimizer = optimizer
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.engine = engine
        self.callback = callback
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> SCE:  # noqa: ARG002
        """Embed X.

        Parameters
        ----------
        X : array, data frame, sparse matrix or array of shape (n_samples, n_features), or graph
            Vectors; or a square matrix, where `affinity` or `metric` is "precomputed". Data frames may be of pandas, polars,
            pyarrow or any other library that narwhals knows, and may hold the vectors in a column of lists. A graph of networkx
            or igraph is P itself, whatever the affinity: the attribute "weight" of its edges counts, several edges between two
            nodes add up, and the names of the nodes become `ids_`.
        y : ignored
        sample_weight : array of shape (n_samples,), optional
            How many points each row stands for: two rows repel each other in proportion to the product of their weights.

        Returns
        -------
        self : SCE
        """
        parameters = check_parameters(self)
        seed = validate.draw_seed(self.random_state)
        checked = copy(self)  # records the columns of X: a fit that fails leaves this estimator as it was
        X, graph_options = checked._check(X, parameters.graph)  # noqa: SLF001
        weights = validate.check_weights(sample_weight, X.shape[0])
        if not graph_options.is_pairwise and isinstance(graph_options.affinity, str):
            warn_of_unequal_spreads(X, getattr(checked, "feature_names_in_", None), graph_options.metric)
        with Reporter(bool(self.verbose)) as report, Team(resolve_n_jobs(self.n_jobs), report.meter("Graph")) as team:
            engine = make_engine(self.engine, team)
            with compile_for(X.shape[0], parameters.layout.n_components, X, team.n_jobs) as ahead:
                graph = build_affinity(X, graph_options, team, seed)
                report.stage(_describe(graph))
                refuse_light_points(parameters.layout.rule, graph.P, weights)
                problem = Problem(Similarities(graph.P, team), weights, seed)
                ahead.finish()
                vectors = None if graph_options.is_pairwise else X
                layout = lay_out(
                    problem, parameters.layout, engine, vectors=vectors, watch=Watch(self.callback, report)
                )
        self._learn(checked, graph, layout)
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Embed X and return the map; the parameters are those of :meth:`fit`.

        Returns
        -------
        Y : ndarray of shape (n_samples, n_components)
            Or a data frame, if :meth:`set_output` or scikit-learn's configuration asks for one.
        """
        if (twin := wrapping(self)) is not None:
            return twin.fit_transform(X, y, sample_weight=sample_weight)  # type: ignore[no-any-return]
        embedding: np.ndarray = self.fit(X, y, sample_weight).embedding_
        return embedding

    def _check(self, X: Any, options: GraphOptions) -> tuple[Any, GraphOptions]:
        """X as the graph is made from it, and how: a graph of networkx or igraph is P itself."""
        network = as_network(X)
        if network is not None:
            options = given_options(options)
            X = validate.check_square(self, network.weights)
            validate.note_rows(self, network.names)
        elif options.is_pairwise:
            X = validate.check_square(self, X)
        else:
            X = validate.check_vectors(self, X)
        return X, options

    def _learn(self, checked: SCE, graph: AffinityResult, layout: Layout) -> None:
        """Set the learned attributes, all at the very end: an interrupted fit leaves the estimator as it was."""
        self.n_features_in_: int = checked.n_features_in_
        for name in ("feature_names_in_", "ids_", "_library"):  # which not all data have
            if hasattr(checked, name):
                setattr(self, name, getattr(checked, name))
            elif hasattr(self, name):
                delattr(self, name)
        self.embedding_ = layout.Y
        self.affinity_ = graph.P
        self.neighbor_method_ = graph.neighbors_method
        self.neighbor_recall_ = graph.recall
        self.n_neighbors_ = graph.n_neighbors
        self.perplexity_ = graph.perplexity
        self.scale_ = layout.r
        self.history_: Mapping[str, np.ndarray] = {
            name: np.array([getattr(h, name) for h in layout.history]) for name in Record._fields
        }
        self.n_epochs_ = len(layout.history)
        self.stop_reason_ = layout.stop_reason

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """How a notebook shows the estimator: once fitted, by its map and what was learned."""
        if not hasattr(self, "embedding_"):
            return super()._repr_mimebundle_(**kwargs)
        return {"text/plain": repr(self), "text/html": self._page()}

    def _page(self) -> str:
        from sce.core.html_page import Picture, beside, facts, page
        from sce.core.thumbnail import thumbnail

        n, d = self.embedding_.shape
        found = (
            None if self.neighbor_recall_ is None else f"{self.neighbor_method_}, recall {self.neighbor_recall_:.3f}"
        )
        loss = f"{self.history_['loss'][-1]:.4f}" if self.n_epochs_ else None
        changed = self._changed()
        rows = {
            "points": f"{n:,} in {d} dimension{'' if d == 1 else 's'}",
            "columns": None if self._is_pairwise() else f"{self.n_features_in_:,}",
            "parameters": changed if len(changed) <= 300 else changed[:297] + "...",
            "neighbours": None
            if self.n_neighbors_ is None
            else f"{self.n_neighbors_}" + (f" by {found}" if found else ""),
            "perplexity": None if self.perplexity_ is None else f"{self.perplexity_:.4g}",
            "r": f"{self.scale_:.4g} (the weight of the repulsion)",
            "loss": loss,
            "epochs": f"{self.n_epochs_:,} ({self.stop_reason_})",
        }
        rows["parameters"] = rows["parameters"] or "the defaults"
        picture = Picture(thumbnail(self.embedding_, width=200), 200, f"{n} points")
        return page("SCE, fitted", beside(picture, facts(rows)))

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def _is_pairwise(self) -> bool:
        return any(validate.is_word(value, "precomputed") for value in (self.affinity, self.metric))

    def _describe_to(self, tags: Any) -> Any:
        """Fill in scikit-learn's tags."""
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._is_pairwise()
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags


class Parameters(NamedTuple):
    """The parameters of an estimator, checked."""

    graph: GraphOptions
    layout: LayoutOptions


GRAPH_PARAMETERS = ("affinity", "n_neighbors", "perplexity", "metric")
_LAYOUT_PARAMETERS = (
    *("n_components", "scale", "alpha", "exaggeration", "n_epochs", "learning_rate", "n_repulsive"),
    *("init", "tol", "optimizer"),
)


def check_parameters(model: SCE) -> Parameters:
    """The parameters as graph and layout take them; raises ParameterError at the first value that is never valid."""
    layout = layout_options(**{name: getattr(model, name) for name in _LAYOUT_PARAMETERS})
    graph = GraphOptions(**{name: getattr(model, name) for name in GRAPH_PARAMETERS})
    check_engine(model.engine)
    if model.callback is not None and not callable(model.callback):
        raise ParameterError(f"callback must be a function (epoch, Y, r, loss); got {model.callback!r}.")
    return Parameters(graph, layout)


def given_options(options: GraphOptions) -> GraphOptions:
    """The options for a graph of networkx or igraph, which is P itself; those that have no effect on it are refused.

    Examples
    --------
    >>> given_options(GraphOptions()).affinity
    'precomputed'
    """
    default = GraphOptions()
    for name in ("n_neighbors", "perplexity", "metric"):
        if getattr(options, name) != getattr(default, name):
            raise ParameterError(
                f"{name} has no effect on a graph, whose edges are the similarities; leave it out. If its weights are "
                "distances, give a matrix of them with metric='precomputed'."
            )
    if options.affinity not in (default.affinity, "precomputed"):
        raise ParameterError(f"affinity must be 'precomputed' for a graph, or left out; got {options.affinity!r}.")
    return GraphOptions(affinity="precomputed")


def _describe(graph: AffinityResult) -> str:
    """The graph in a line."""
    text = f"Graph: {graph.P.shape[0]} points, {graph.P.nnz // 2} edges"
    if graph.neighbors_method is None or graph.recall is None:
        return text
    return f"{text}; neighbours by {graph.neighbors_method}, recall {graph.recall:.3f}"
