"""Warnings that point at the line of the user's own code, however deep inside sce they arise."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

_HERE = str(Path(__file__).parent.parent)


def warn(text: str, category: type[Warning]) -> None:
    """Warn as if at the line that called into sce.

    Frames of scikit-learn in between, such as those of a pipeline, are passed over, too.

    Examples
    --------
    >>> from sce.errors import DataWarning
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn("Few rows.", DataWarning)
    >>> str(caught[0].message)
    'Few rows.'
    """
    inside = tuple(filter(None, (_HERE, _folder("sklearn"), _folder("joblib"))))
    level, frame = 1, sys._getframe()  # noqa: SLF001
    while frame.f_back is not None and frame.f_code.co_filename.startswith(inside):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)


def _folder(package: str) -> str | None:
    """Where a package is, if it has been imported."""
    file = getattr(sys.modules.get(package), "__file__", None)
    return None if file is None else str(Path(file).parent)
