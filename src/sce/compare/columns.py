"""The columns of the table: what each is called, what it means, and which value is best."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from sce.compare.store import DONE, Row


class Column(NamedTuple):
    """A column."""

    name: str
    title: str
    meaning: str
    better: int = 1  # 1 if more is better, -1 if less is, 0 if neither
    form: str = ".3f"
    unit: float = 1.0  # what the value is divided by to be shown


class Group(NamedTuple):
    """Columns that answer one question."""

    title: str
    columns: tuple[Column, ...]


def groups() -> tuple[Group, ...]:
    """All columns."""
    return (
        Group("Time, memory, and place in the family", _MEASURED),
        Group("Is what is near on the map near in the data?", _judged("neighbors_kept", "trustworthiness", "continuity",
              "triplets_kept", "edges_kept")),
        Group("Are the clusters on the map in P?", _judged("n_clusters", "n_real", "covered", "share", "modularity",
              "density_ratio", "conductance")),
        Group("Are they the known classes?", _judged("ari", "ami", "accuracy", "silhouette")),
    )  # fmt: skip


_MEASURED = (
    Column("seconds", "seconds", "of the fit, in a fresh process; not of imports, nor of compiling", -1, ".1f"),
    Column("process_seconds", "process", "seconds from the start of the process to the map, all counted", -1, ".1f"),
    Column("peak_memory", "memory", "gigabytes that the process used at most, the data included", -1, ".2f", 2.0**30),
    Column("mean_q_P", "E_P[q]", "mean of q = 1 / (1 + d²) over pairs drawn from P: how near neighbours are", 0, ".3g"),
    Column("mean_q_U", "E_U[q]", "mean of q over all pairs: how near everything is to everything", 0, ".3g"),
    Column("r", "r", "repulsion weight: SCE's own, GSNE's as given, 1 / (exaggeration E_U[q]) for t-SNE", 0, ".3g"),
)  # fmt: skip
_TITLES = {
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
_MEANINGS = {"n_clusters": "how many HDBSCAN finds on the map"}
_BETTER = {"n_clusters": 0, "n_real": 0, "covered": 0, "density_ratio": 0, "conductance": -1}
_FORM = {"n_clusters": ".0f", "n_real": ".0f", "density_ratio": ".3g"}


def _judged(*names: str) -> tuple[Column, ...]:
    from sce.quality.report import MEANINGS

    return tuple(
        Column(
            name,
            _TITLES.get(name, name),
            _MEANINGS.get(name, MEANINGS[name]),
            _BETTER.get(name, 1),
            _FORM.get(name, ".3f"),
        )
        for name in names
    )


def present(group: Group, rows: Iterable[Row]) -> list[Column]:
    """The columns of a group that some row has."""
    found = {name for row in rows for name in row.values}
    return [column for column in group.columns if column.name in found]


def shown(column: Column, row: Row) -> str:
    """A value as it is shown, with the value under a random relabelling in brackets where there is one."""
    if row.status != DONE or column.name not in row.values:
        return ""
    text = _format(column, row.values[column.name])
    null = row.values.get(f"{column.name}_null")
    return text if null is None or column.name == "density_ratio" else f"{text} ({_format(column, null)})"


def best(column: Column, rows: Iterable[Row]) -> str | None:
    """The best value as it is shown without brackets; None where none is better than another.

    Of a share of P the best is the one that is furthest above that of a random relabelling, of a conductance the one that is
    the smallest part of it: a single cluster has all of P inside, and nothing leaves it.
    """
    having = [row for row in rows if row.status == DONE and column.name in row.values]
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
    """Whether a row shows the best value."""
    return value is not None and row.status == DONE and shown(column, row).split(" (")[0] == value


def _format(column: Column, value: float) -> str:
    text = format(value / column.unit, column.form)
    if "e+" in text:
        text = f"{float(text):,.0f}"
    return text.removeprefix("-") if not text.strip("-0.") else text  # no -0.000
