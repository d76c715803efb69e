"""The scatter plot: black points as in the paper, or coloured by labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from sce.errors import InputError


def scatter(Y: Any, labels: Any = None, *, ax: Any = None, size: float | None = None) -> Any:
    """Draw a 2-D embedding.

    Parameters
    ----------
    Y : array of shape (n_samples, 2)
        The coordinates.
    labels : array of shape (n_samples,), optional
        Classes to colour by; black points without them.
    ax : matplotlib Axes, optional
        Where to draw; a new square figure by default.
    size : float, optional
        Area of a dot in points squared; chosen from the number of points by default.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from sce.plot import scatter
    >>> ax = scatter(np.random.default_rng(0).normal(size=(100, 2)))
    """
    Y = np.asarray(Y)
    if Y.ndim != 2 or Y.shape[1] != 2:
        raise InputError(f"Y must have two columns to be drawn; its shape is {Y.shape}.")
    if not (len(Y) and np.isfinite(Y).all()):
        raise InputError("Y must have at least one row, and finite numbers only, to be drawn.")
    if labels is not None and len(labels) != len(Y):
        raise InputError(f"labels must be as many as the points, {len(Y)}; they are {len(labels)}.")
    ax = ax or _new_axes()
    style = {"s": size or dot_size(len(Y)), "linewidths": 0, "rasterized": len(Y) > 100_000}
    if labels is None:
        ax.scatter(Y[:, 0], Y[:, 1], c="black", **style)
    else:
        _scatter_classes(ax, Y, np.asarray(labels), style)
    _make_square(ax, Y)
    ax.set_xticks([])
    ax.set_yticks([])
    return ax


def dot_size(n: int) -> float:
    """The area of a dot, in points squared, so that n dots fill about a fifth of the picture, each still visible."""
    return float(np.clip(30_000.0 / max(n, 1), 0.15, 30.0))


def _make_square(ax: Any, Y: np.ndarray) -> None:
    """Limits of one length around all points, with a margin."""
    low, high = Y.min(axis=0), Y.max(axis=0)
    half = 0.53 * max(float((high - low).max()), 1e-6)
    (x, y) = (low + high) / 2
    ax.set_xlim(x - half, x + half)
    ax.set_ylim(y - half, y + half)
    ax.set_aspect("equal")


def _new_axes() -> Any:
    """Axes of a square figure of its own, which pyplot does not keep alive."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 7))
    FigureCanvasAgg(figure)
    return figure.add_subplot()


def _scatter_classes(ax: Any, Y: np.ndarray, labels: np.ndarray, style: dict[str, Any]) -> None:
    from matplotlib import colormaps

    classes, numbers = np.unique(labels, return_inverse=True)
    colors = colormaps["tab10" if len(classes) <= 10 else "tab20"]
    ax.scatter(Y[:, 0], Y[:, 1], c=colors(numbers % colors.N), **style)
    if len(classes) <= 20:
        for k, name in enumerate(classes):
            ax.scatter([], [], color=colors(k % colors.N), s=30, label=str(name))
        ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
