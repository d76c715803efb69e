"""The columns of the table: their titles, what they mean, and which value is best."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from sce.compare.store import Row, Status


class Column(NamedTuple):
    """A column of the table."""

    name: str
    title: str
    meaning: str
    better: int = 1  # 1 if larger is better, -1 if smaller is, 0 if neither
    form: str = ".3f"
    unit: float = 1.0  # the value is divided by this to be shown


class Group(NamedTuple):
    """Columns that answer the same question."""

    title: str
    columns: tuple[Column, ...]


def groups() -> tuple[Group, ...]:
    """All columns, by question."""
    return (
        Group("Time, memory, and place in the family", _MEASURED_COLUMNS),
        Group("Is what is near on the map near in the data?", _quality_columns("neighbors_kept", "trustworthiness",
              "continuity", "triplets_kept", "edges_kept")),
        Group("Are the clusters on the map in P?", _quality_columns("n_clusters", "n_real", "covered", "share", "modularity",
              "density_ratio", "conductance")),
        Group("Are they the known classes?", _quality_columns("ari", "ami", "accuracy", "silhouette")),
    )  # fmt: skip


_MEASURED_COLUMNS = (
    Column("seconds", "seconds", "of the fit, in a fresh process, without imports and compilation", -1, ".1f"),
    Column("process_seconds", "process", "seconds from the start of the process to the map, everything included", -1, ".1f"),
    Column("peak_memory", "memory", "peak memory of the process in gigabytes, with the data", -1, ".2f", 2.0**30),
    Column("mean_q_P", "E_P[q]", "mean of q = 1 / (1 + d²) over pairs drawn from P: how close neighbours are", 0, ".3g"),
    Column("mean_q_U", "E_U[q]", "mean of q over all pairs: how close all points are", 0, ".3g"),
    Column("r", "r", "repulsion weight: chosen by SCE, given for GSNE, 1 / (exaggeration E_U[q]) for t-SNE", 0, ".3g"),
)  # fmt: skip
_COLUMN_TITLES = {
    "neighbors_kept": "neighbours kept",
    "triplets_kept": "triplets kept",
    "edges_kept": "edges kept",
    "n_clusters": "clusters",
    "n_real": "real",
    "share": "P inside",
    "density_ratio": "density ratio",
    "ari": "ARI",
    "ami": "AMI",
    "accuracy": "15-NN accuracy",
}
_COLUMN_MEANINGS = {"n_clusters": "number of clusters that HDBSCAN finds on the map"}
_COLUMN_BETTER = {"n_clusters": 0, "n_real": 0, "covered": 0, "density_ratio": 0, "conductance": -1}
_COLUMN_FORM = {"n_clusters": ".0f", "n_real": ".0f", "density_ratio": ".3g"}


def _quality_columns(*names: str) -> tuple[Column, ...]:
    from sce.quality.report import MEANINGS

    return tuple(
        Column(
            name,
            _COLUMN_TITLES.get(name, name),
            _COLUMN_MEANINGS.get(name, MEANINGS[name]),
            _COLUMN_BETTER.get(name, 1),
            _COLUMN_FORM.get(name, ".3f"),
        )
        for name in names
    )


def present(group: Group, rows: Iterable[Row]) -> list[Column]:
    """The columns of a group that some row has."""
    found = {name for row in rows for name in row.values}
    return [column for column in group.columns if column.name in found]


def shown(column: Column, row: Row) -> str:
    """A value as shown, followed by that of a random relabelling in brackets if there is one."""
    if row.status != Status.DONE or column.name not in row.values:
        return ""
    text = _format(column, row.values[column.name])
    null = row.values.get(f"{column.name}_null")
    return text if null is None or column.name == "density_ratio" else f"{text} ({_format(column, null)})"


def best(column: Column, rows: Iterable[Row]) -> str | None:
    """The best value, as shown without brackets; None if no value is better than another.

    The best share of P is the one furthest above that of a random relabelling, the best conductance the one smallest in
    proportion to it: a single cluster holds all of P, and nothing leaves it.
    """
    having = [row for row in rows if row.status == Status.DONE and column.name in row.values]
    if column.better == 0 or len(having) < 2:
        return None
    winner = max(having, key=lambda row: _merit(column, row))
    return _format(column, winner.values[column.name])


def _merit(column: Column, row: Row) -> float:
    value, null = row.values[column.name], row.values.get(f"{column.name}_null")
    if null is None:
        return column.better * value
    if column.better > 0:
        return value - null
    return -value / null if null > 0 else -1.0


def is_best(column: Column, row: Row, value: str | None) -> bool:
    """Whether a row has the best value."""
    return value is not None and row.status == Status.DONE and shown(column, row).split(" (")[0] == value


def _format(column: Column, value: float) -> str:
    text = format(value / column.unit, column.form)
    if "e+" in text:
        text = f"{float(text):,.0f}"
    return text.removeprefix("-") if not text.strip("-0.") else text  # no -0.000
