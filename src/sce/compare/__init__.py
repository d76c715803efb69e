"""The paper's comparison on any data: many methods, each in its own process; one figure, one table, one page.

>>> from sce.compare import METHODS
>>> METHODS["tsne"].takes
'graph'

See :func:`compare`. Nothing heavy is imported until a name is used. Methods are registered in `methods`; no other package knows
about them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sce.compare.dataset import Data as Data
    from sce.compare.interface import Made as Made
    from sce.compare.interface import Problem as Problem
    from sce.compare.methods import METHODS as METHODS
    from sce.compare.methods import Method as Method
    from sce.compare.page import write_report as write_report
    from sce.compare.run import compare as compare

_PUBLIC = {
    "compare": "run",
    "Data": "dataset",
    "METHODS": "methods",
    "Method": "methods",
    "Problem": "interface",
    "Made": "interface",
    "write_report": "page",
}
__all__ = list(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'sce.compare' has no attribute {name!r}")
    return getattr(importlib.import_module(f"sce.compare.{_PUBLIC[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_PUBLIC])
