"""The state of the code that results depend on: version numbers do not change while code is being worked on.

A result is valid as long as the module that made it, and everything of sce that this module imports, do the same. Comments,
docstrings and layout may change.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterable
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from sce.compare.dataset import fingerprint
from sce.core.sources import Sources, own_sources


def own_code(modules: Iterable[str], sources: Sources | None = None) -> str:
    """A short name for what some modules of sce do, together with all modules of sce that they import.

    Parameters
    ----------
    modules : iterable of str
        Names of modules, such as "sce.graph.build".
    sources : Sources, optional
        The files to look at; those of the running sce by default.

    Examples
    --------
    >>> own_code(["sce.quality.report"]) == own_code(["sce.estimator"])
    False
    """
    sources = own_sources() if sources is None else sources
    modules = list(modules)
    parts = {name: meaning(sources.text(name)) for name in {*modules, *sources.imported_by(modules)}}
    return fingerprint(*(text for name in sorted(parts) for text in (name, parts[name])))


def code_of(function: str) -> str:
    """A short name for what the module of a "module:function" does, together with what it imports of sce."""
    module = function.split(":", maxsplit=1)[0]
    if module.startswith("sce."):
        return own_code([module])
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        return function
    source = Path(spec.origin).read_text(encoding="utf-8")
    try:
        return fingerprint(meaning(source), own_code(own_sources().imported_by(imports_of_sce(source))))
    except SyntaxError:  # the process of the method will say so
        return fingerprint(source)


def imports_of_sce(source: str) -> list[str]:
    """The modules of sce that define what a source imports.

    Examples
    --------
    >>> imports_of_sce("import numpy; from sce import SCE; from sce.compare import Made; import sce.graph.build")
    ['sce.compare.interface', 'sce.estimator', 'sce.graph.build']
    """
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            found |= {"sce.estimator" if name == "sce" else name for name in names if name.split(".")[0] == "sce"}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "sce":
            found |= {_home(str(node.module), alias.name) for alias in node.names}
    return sorted(found)


def _home(module: str, name: str) -> str:
    """The module that defines a name imported from `module`; `module` itself for plain values, which do not record it."""
    try:
        value = getattr(importlib.import_module(module), name, None)
    except ImportError:
        return module
    return value.__name__ if inspect.ismodule(value) else getattr(value, "__module__", module)


@lru_cache(maxsize=512)  # files of the package: parsing all of them takes a second
def meaning(source: str) -> str:
    """A source without comments, docstrings and layout: what is left decides what the code does.

    Examples
    --------
    >>> meaning("x = 1  # one") == meaning("'About x.'; x=1"), meaning("x = 1") == meaning("x = 2")
    (True, False)
    """
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [part for part in body if not _is_text(part)]  # type: ignore[attr-defined]
    return ast.dump(tree)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
