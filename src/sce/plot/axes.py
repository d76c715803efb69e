"""The axes that pictures are drawn on: given ones are checked, new ones are made."""

from __future__ import annotations

import math
import numbers
from functools import partial
from typing import Any

from sce.core.notebook import notebook_shell
from sce.errors import InputError, ParameterError

_FILE_BACKENDS = "agg", "cairo", "pdf", "pgf", "ps", "svg", "template"  # of matplotlib; none shows anything


def check_sizes(**sizes: Any) -> None:
    """Refuse sizes that are neither None nor a number above 0; an opacity must be at most 1."""
    for name, value in sizes.items():
        if value is None:
            continue
        most = 1.0 if name == "opacity" else math.inf
        if (
            isinstance(value, bool)
            or not isinstance(value, numbers.Real)
            or not 0 < float(value) <= most
            or value == math.inf
        ):
            up_to = "" if most == math.inf else ", at most 1"
            raise ParameterError(f"{name} must be a number above 0{up_to}, or None to choose it; got {value!r}.")


def check_axes(ax: Any, columns: int) -> Any:
    """The given axes, if they can show a map of that many columns."""
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise InputError(f"ax must be matplotlib Axes, for example from figure.add_subplot(); got {type(ax).__name__}.")
    needed = "3d" if columns == 3 else "rectilinear"
    if ax.name != needed:
        raise InputError(
            f"ax has the projection {ax.name!r}, but Y with {columns} column{'s' if columns > 1 else ''} needs "
            f"{needed!r}; make it with figure.add_subplot(projection={needed!r})."
        )
    return ax


def new_axes(columns: int, inches: tuple[float, float]) -> Any:
    """Axes in a new figure."""
    return shown_figure(inches).add_subplot(projection="3d" if columns == 3 else "rectilinear")


def shown_figure(inches: tuple[float, float], **options: Any) -> Any:
    """A figure that a notebook shows beneath the cell, once; elsewhere as :func:`new_figure`.

    There it is pyplot's own, so that ``plt.title`` and all that follows in the cell find it. Pyplot shows its figures when the
    cell has ended, and a figure that is the value of the cell was shown by then: it is taken from pyplot.
    """
    if notebook_shell() is None:
        return new_figure(inches, **options)
    from matplotlib import pyplot as plt

    backend = plt.get_backend().lower()
    if backend in _FILE_BACKENDS:
        return new_figure(inches, **options)
    figure: Any = plt.figure(figsize=inches, **options)
    if "inline" in backend:
        figure._ipython_display_ = partial(_show_once, figure)  # IPython asks for it
    return figure


def _show_once(figure: Any) -> None:
    """Show a figure as IPython shows any, and take it from pyplot if pyplot would show it again."""
    from IPython.display import display
    from matplotlib import pyplot as plt
    from matplotlib_inline.config import InlineBackend

    vars(figure).pop("_ipython_display_", None)
    display(figure)
    if InlineBackend.instance().close_figures:
        plt.close(figure)


def new_figure(inches: tuple[float, float], **options: Any) -> Any:
    """A figure that can be drawn, and that pyplot does not keep alive."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=inches, **options)
    FigureCanvasAgg(figure)
    return figure
