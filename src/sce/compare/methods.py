"""The methods that can be compared, by name."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sce.errors import ParameterError


@dataclass(frozen=True)
class Method:
    """A method: a function from a problem to a map, and what is known about it.

    Attributes
    ----------
    name : str
        As on the command line.
    title : str
        As in the figure.
    takes : {"graph", "vectors"}
        What it works on: the P that all such methods share, or the vectors, with its own defaults.
    about : str
        A line on what it is.
    function : str
        ``"module:function"``: takes a :class:`sce.compare.Problem` and parameters, gives a :class:`sce.compare.Made`.
    needs : dict
        Modules that must be there, and the packages that have them.
    parameters : dict
        What the function gets besides the problem.
    warm_up : dict or None
        What it gets instead in a small fit that comes first and is not timed, for what is compiled on first use; None where
        nothing is, so that no such fit is needed.
    warm_up_points : int, default=1200
        The points of that fit: enough for coarse maps.
    exaggeration : float, optional
        Of the members of t-SNE's part of the family, whose r is 1 / (exaggeration E_U[q]).

    Examples
    --------
    >>> METHODS["gsne"].with_parameters({"r": 10.0}).key
    'gsne-r=10'
    """

    name: str
    title: str
    takes: str
    about: str
    function: str
    needs: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    warm_up: Mapping[str, Any] | None = field(default_factory=dict)
    warm_up_points: int = 1200
    exaggeration: float | None = None
    key: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", self.key or self.name)

    def load(self) -> Callable[..., Any]:
        """The function."""
        module, name = self.function.split(":")
        function: Callable[..., Any] = getattr(importlib.import_module(module), name)
        return function

    def with_parameters(self, values: Mapping[str, Any]) -> Method:
        """The same method with other parameters, under a name and a title that say so."""
        changed = {name: value for name, value in values.items() if self.parameters.get(name) != value}
        if not changed:
            return self
        said = [f"{name}={_short(value)}" for name, value in changed.items()]
        return replace(
            self,
            title=f"{self.title.split(', r =')[0]}, {', '.join(said).replace('=', ' = ')}",
            parameters={**self.parameters, **changed},
            key=re.sub(r"[^\w.=+-]", "_", "-".join([self.key, *said])),
        )

    def missing(self) -> str | None:
        """The package that is needed and not installed."""
        from importlib.util import find_spec

        return next((package for module, package in self.needs.items() if find_spec(module) is None), None)

    def versions(self) -> dict[str, str]:
        """The packages that do the work, with their versions."""
        from importlib import metadata

        from sce import __version__

        return {package: metadata.version(package) for package in self.needs.values()} or {"sce": __version__}


def _short(value: Any) -> str:
    return re.sub(r"e\+?(-?)0*", r"e\1", f"{value:g}") if isinstance(value, float) else str(value)


_OPENTSNE = {"openTSNE": "openTSNE"}
_UMAP = {"umap": "umap-learn"}
_ALL = (
    Method(
        "sce", "SCE", "graph", "ours, with the paper's alpha = 0.5", "sce.compare.own:sce", parameters={"alpha": 0.5}
    ),
    Method(
        "gsne", "GSNE, r = 1", "graph", "a repulsion weight r that is given", "sce.compare.own:gsne",
        parameters={"r": 1.0},
    ),
    Method(
        "tsne-gradient", "t-SNE, converged", "graph", "t-SNE to its minimum by our full gradient",
        "sce.compare.own:tsne_gradient",
    ),
    Method(
        "tsne", "t-SNE", "graph", "openTSNE with its defaults", "sce.compare.tsne:tsne", _OPENTSNE,
        warm_up=None, exaggeration=1.0,
    ),
    Method(
        "tsne-12", "t-SNE, exaggeration 12", "graph", "openTSNE, over-exaggerated to the end", "sce.compare.tsne:tsne",
        _OPENTSNE, {"exaggeration": 12.0}, warm_up=None, exaggeration=12.0,
    ),
    Method(
        "optsne", "opt-SNE", "graph", "openTSNE with opt-SNE's rules for the learning rate and the ends of both phases",
        "sce.compare.tsne:optsne", _OPENTSNE, warm_up=None, exaggeration=1.0,
    ),
    Method(
        "largevis", "LargeVis' objective", "graph", "LargeVis' objective on our P, by an implementation of our own, one thread",
        "sce.compare.largevis:largevis", parameters={"n_samples": None}, warm_up={"n_samples": 1000},
    ),
    Method(
        "umap", "UMAP on P", "graph", "umap-learn's layout of our P, with its defaults, unseeded",
        "sce.compare.peers:umap", _UMAP,
    ),
    Method("sce-vectors", "SCE, own P", "vectors", "ours, with its defaults", "sce.compare.own:sce_vectors"),
    Method(
        "tsne-vectors", "t-SNE, own P", "vectors", "openTSNE with its defaults", "sce.compare.tsne:tsne_vectors", _OPENTSNE,
        warm_up=None, exaggeration=1.0,
    ),
    Method(
        "optsne-vectors", "opt-SNE, own P", "vectors", "openTSNE with opt-SNE's rules", "sce.compare.tsne:optsne_vectors",
        _OPENTSNE, warm_up=None, exaggeration=1.0,
    ),
    Method(
        "umap-vectors", "UMAP", "vectors", "umap-learn with its defaults, unseeded", "sce.compare.peers:umap_vectors", _UMAP,
        warm_up_points=4200,  # below 4,096 it searches for neighbours in another way, and compiles less
    ),
    Method(
        "pacmap", "PaCMAP", "vectors", "pacmap with its defaults, unseeded", "sce.compare.peers:pacmap",
        {"pacmap": "pacmap"},
    ),
)  # fmt: skip
METHODS = {method.name: method for method in _ALL}


def choose(methods: Iterable[str | Method] | None) -> list[Method]:
    """Methods by name, by name and parameters as in ``gsne:r=10``, or as they are; all by default.

    Examples
    --------
    >>> [method.key for method in choose(["sce", "gsne:r=10", "gsne:r=1"])]
    ['sce', 'gsne-r=10', 'gsne']
    """
    if isinstance(methods, str):
        methods = [methods]
    chosen = [m if isinstance(m, Method) else _parse(m) for m in (METHODS.values() if methods is None else methods)]
    if not chosen:
        raise ParameterError(f"There is no method to compare; choose among {', '.join(METHODS)}.")
    twice = {method.key for method in chosen if [other.key for other in chosen].count(method.key) > 1}
    if twice:
        raise ParameterError(f"The method {min(twice)} was given twice; leave one of them out.")
    return chosen


def _parse(text: str) -> Method:
    from sce.cli.options import nearest

    name, *settings = text.split(":")
    if name not in METHODS:
        raise ParameterError(
            f"There is no method {name!r}{nearest(name, list(METHODS))} (the methods are {', '.join(METHODS)})."
        )
    method, values = METHODS[name], {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or key not in method.parameters:
            known = ", ".join(f"{name}:{key}=NUMBER" for key in method.parameters)
            raise ParameterError(f"{text!r} cannot be understood; {known or f'{name} has no parameters'}.")
        values[key] = _number(text, value)
    return method.with_parameters(values)


def _number(text: str, value: str) -> float:
    import math

    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise ParameterError(f"{text!r} has to have a number above 0 after the =, not {value!r}.")
    return number
