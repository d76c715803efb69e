"""The registry of methods that can be compared."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from sce.core.hints import did_you_mean
from sce.errors import ParameterError

_NOTHING: Mapping[str, Any] = {}


class Method(NamedTuple):
    """A function from a problem to a map, and what is known about it.

    Attributes
    ----------
    name : str
        Its name on the command line.
    title : str
        Its title in the figure.
    takes : {"graph", "vectors"}
        Its input: the P that all such methods share, or the vectors.
    about : str
        A short description.
    function : str
        ``"module:function"``; takes a :class:`sce.compare.Problem` and parameters, returns a :class:`sce.compare.Made`.
    needs : dict
        Modules that it needs, and the packages that provide them.
    parameters : dict
        Arguments of the function besides the problem.
    warm_up : dict or None
        Arguments that differ in a small fit that runs first and is not timed, so that code is compiled before the timed one;
        None for methods that compile nothing, which need no such fit.
    warm_up_points : int, default=1200
        The number of points of that fit: enough for coarse maps.
    exaggeration : float, optional
        For variants of t-SNE, whose r is 1 / (exaggeration E_U[q]).
    variant : str, default=""
        What :meth:`with_parameters` adds to the name in the key.

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
    needs: Mapping[str, str] = _NOTHING
    parameters: Mapping[str, Any] = _NOTHING
    warm_up: Mapping[str, Any] | None = _NOTHING
    warm_up_points: int = 1200
    exaggeration: float | None = None
    variant: str = ""

    @property
    def key(self) -> str:
        """The name of its files: its name, and its parameters if they are not the usual ones."""
        return self.name + self.variant

    def load(self) -> Callable[..., Any]:
        """The function."""
        module, name = self.function.split(":")
        function: Callable[..., Any] = getattr(importlib.import_module(module), name)
        return function

    def with_parameters(self, values: Mapping[str, Any]) -> Method:
        """The same method with other parameters, which its key and title then name."""
        changed = {name: value for name, value in values.items() if self.parameters.get(name) != value}
        if not changed:
            return self
        changes = [f"{name}={_short(value)}" for name, value in changed.items()]
        return self._replace(
            title=f"{self.title.split(', r =')[0]}, {', '.join(changes).replace('=', ' = ')}",
            parameters={**self.parameters, **changed},
            variant=re.sub(r"[^\w.=+-]", "_", "-".join([self.variant, *changes])),
        )

    def missing(self) -> str | None:
        """A package that is needed and not installed, or None."""
        from importlib.util import find_spec

        return next((package for module, package in self.needs.items() if find_spec(module) is None), None)

    def versions(self) -> dict[str, str]:
        """The versions of the packages that do the work."""
        from importlib import metadata

        from sce import __version__

        return {package: metadata.version(package) for package in self.needs.values()} or {"sce": __version__}


def _short(value: Any) -> str:
    return re.sub(r"e\+?(-?)0*", r"e\1", f"{value:g}") if isinstance(value, float) else str(value)


_OPENTSNE = {"openTSNE": "openTSNE"}
_UMAP = {"umap": "umap-learn"}
_REGISTERED = (
    Method(
        "sce", "SCE", "graph", "ours, with the paper's alpha = 0.5", "sce.compare.own:sce", parameters={"alpha": 0.5}
    ),
    Method(
        "gsne", "GSNE, r = 1", "graph", "ours, with a fixed repulsion weight r", "sce.compare.own:gsne",
        parameters={"r": 1.0},
    ),
    Method(
        "tsne-gradient", "t-SNE, converged", "graph", "t-SNE at its minimum, by our full gradient",
        "sce.compare.own:tsne_gradient",
    ),
    Method(
        "tsne", "t-SNE", "graph", "openTSNE with its defaults", "sce.compare.tsne:tsne", _OPENTSNE,
        warm_up=None, exaggeration=1.0,
    ),
    Method(
        "tsne-12", "t-SNE, exaggeration 12", "graph", "openTSNE, exaggerated to the end", "sce.compare.tsne:tsne",
        _OPENTSNE, {"exaggeration": 12.0}, warm_up=None, exaggeration=12.0,
    ),
    Method(
        "optsne", "opt-SNE", "graph", "openTSNE with opt-SNE's rules for the learning rate and for the end of each phase",
        "sce.compare.tsne:optsne", _OPENTSNE, warm_up=None, exaggeration=1.0,
    ),
    Method(
        "largevis", "LargeVis' objective", "graph", "LargeVis' objective in our own implementation, on one thread",
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
        warm_up_points=4200,  # below 4,096 points it searches for neighbours by another algorithm, and compiles less
    ),
    Method(
        "pacmap", "PaCMAP", "vectors", "pacmap with its defaults, unseeded", "sce.compare.peers:pacmap",
        {"pacmap": "pacmap"},
    ),
    Method(
        "localmap", "LocalMAP", "vectors", "LocalMAP of the package pacmap, with its defaults, unseeded",
        "sce.compare.peers:localmap", {"pacmap": "pacmap"},
    ),
)  # fmt: skip
METHODS = {method.name: method for method in _REGISTERED}


def choose(methods: Iterable[str | Method] | None) -> list[Method]:
    """Methods by name, by name and parameters as in ``gsne:r=10``, or given as such; all by default.

    Examples
    --------
    >>> [method.key for method in choose(["sce", "gsne:r=10", "gsne:r=1"])]
    ['sce', 'gsne-r=10', 'gsne']
    """
    if isinstance(methods, str):
        methods = [methods]
    chosen = [m if isinstance(m, Method) else _parse(m) for m in (METHODS.values() if methods is None else methods)]
    if not chosen:
        raise ParameterError(f"There is no method to compare; choose from {', '.join(METHODS)}.")
    twice = {method.key for method in chosen if [other.key for other in chosen].count(method.key) > 1}
    if twice:
        raise ParameterError(f"The method {min(twice)} was given twice; leave one of them out.")
    return chosen


def _parse(text: str) -> Method:
    name, *settings = text.split(":")
    if name not in METHODS:
        hint = did_you_mean(name, METHODS)
        raise ParameterError(f"There is no method {name!r}{hint} The methods are {', '.join(METHODS)}.")
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
        raise ParameterError(f"{text!r} needs a number above 0 after the =, not {value!r}.")
    return number
