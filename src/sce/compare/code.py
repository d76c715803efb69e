"""The state of source files, which no version number tells apart while they are being worked on."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from pathlib import Path

from sce.compare.dataset import fingerprint


def own_code(names: Iterable[str]) -> str:
    """A short name for what some files and folders of sce do."""
    import sce

    root = Path(sce.__file__).parent
    paths = [path for name in names for path in (sorted((root / name).rglob("*.py")) or [root / name])]
    return fingerprint(*(meaning(path.read_text(encoding="utf-8")) for path in paths))


def code_of(function: str) -> str:
    """What the module of a "module:function" does."""
    from importlib.util import find_spec

    spec = find_spec(function.split(":", maxsplit=1)[0])
    return meaning(Path(spec.origin).read_text(encoding="utf-8")) if spec is not None and spec.origin else function


def meaning(source: str) -> str:
    """A source without comments, docstrings and layout: what is left changes what is done.

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
