"""`sce quality`: whether the structure in a map is in the data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sce.cli.commands.plot import PICTURES, write_picture
from sce.cli.console import Console
from sce.cli.inputs import matrix_kind, read_prepared
from sce.cli.options import UsageError
from sce.core.progress import Reporter
from sce.core.write import check_writable
from sce.data.label_files import read_label_file
from sce.data.labels import Classes, as_labels
from sce.data.recipe import Recipe
from sce.errors import InputError
from sce.estimator import SCE
from sce.graph.again import can_make_again, make_again
from sce.graph.precomputed import check_affinity
from sce.quality import Quality, assess, clusterability, points, stability
from sce.quality.report import figure_lines
from sce.results.graphs import read_graph
from sce.results.maps import Map, load
from sce.results.tabular import TABLE_FILES, write_table


def run(args: Any, console: Console) -> None:
    """Read maps, data and graph; measure; print the figures."""
    _check_usage(args)
    picture = None if args.plot is None else check_writable(args.plot, PICTURES, args.maps)
    table = None if args.points is None else check_writable(args.points, TABLE_FILES, args.maps)
    maps = [load(path) for path in args.maps]
    first = maps[0]
    X = _data(args, first, console)
    P = _graph(args, first, X, console)
    console.stage("read")
    if picture is not None and P is None:
        raise UsageError(f"--plot draws the graph, which {args.maps[0]} does not hold; name it with --graph.")
    if args.seeds:
        maps += _more_maps(first, X, P, args, console)
    classes = _classes(args, first)
    with Reporter(console.verbose) as report:
        found = [
            assess(
                each.Y,
                X=X,
                P=P,
                classes=classes,
                labels=_clusters(args, each, classes),
                metric=first.parameters.get("metric", "euclidean"),
                thorough=args.thorough,
                random_state=args.seed,
                n_jobs=args.n_jobs,
                report=report,
            )
            for each in maps
        ]
    console.stage("measure")
    _report(args, found, maps, P, console)
    if table is not None:
        _write_points(table, maps, (X, P), found[0].labels, args, console)
    if picture is not None:
        from sce.plot import block_matrix

        write_picture(block_matrix(P, found[0].labels), picture)
        console.say(f"The graph, ordered by cluster: {picture}")


def _check_usage(args: Any) -> None:
    if args.seeds is not None and args.seeds < 1:
        raise UsageError(f"--seeds takes the number of further maps to make, 1 or more, not {args.seeds}.")


# --------------------------------------------------------------------------------------------------------------- reading


def _data(args: Any, result: Map, console: Console) -> Any:
    """The data that were embedded: those in the map, or those of a file, prepared in the same way."""
    if args.data is None:
        return result.X
    recipe = Recipe.from_facts(result.facts.get("preparation", {}))
    seed = result.parameters.get("random_state") or 0
    kind = matrix_kind(None, result.parameters.get("metric"))
    table = read_prepared(args.data, recipe, console, kind=kind, seed=seed, n_jobs=args.n_jobs, again=True)
    if table.is_graph:
        raise UsageError(f"{args.data} is a graph, not data; give it with --graph.")
    return table.X


def _graph(args: Any, result: Map, X: Any, console: Console) -> Any:
    """The graph of the map: in it, in a file, or made again from the data, with the same bytes."""
    edges = Recipe.from_facts(result.facts.get("preparation", {})).reading.edges
    P = result.P if args.graph is None else read_graph(args.graph, edges)
    if P is None:
        return _graph_made_again(args, result, X, console)
    if P.shape[0] != len(result.Y):
        raise InputError(
            f"{args.graph} has {P.shape[0]} points, but {args.maps[0]} has {len(result.Y)}; give the graph of this map."
        )
    return check_affinity(P)


def _graph_made_again(args: Any, result: Map, X: Any, console: Console) -> Any:
    """The graph as the fit made it; None where that is not known."""
    if X is None or not can_make_again(result.parameters):
        return None
    P = make_again(X, result.parameters, n_jobs=args.n_jobs, verbose=console.verbose)
    console.stage("graph", "Made the graph again")
    return P


def _classes(args: Any, result: Map) -> np.ndarray | None:
    """The known classes: labels that are not measured numbers."""
    labels = result.labels
    if args.labels == "none":
        return None
    if args.labels is not None:
        labels = read_label_file(args.labels, len(result.Y), args.maps[0], point_of_row=result.point_of_row)[0]
    if labels is None or not isinstance(as_labels(labels, len(labels), "auto"), Classes):
        return None
    return np.asarray(labels)


def _clusters(args: Any, result: Map, classes: np.ndarray | None) -> np.ndarray | None:
    """The clusters to assess: the classes, or those of a file; None for those found on the map."""
    if args.clusters == "found":
        return None
    if args.clusters == "classes":
        if classes is None:
            raise UsageError("--clusters classes needs classes; give them with --labels FILE:COLUMN.")
        return np.unique(classes, return_inverse=True)[1].reshape(-1)
    values = read_label_file(args.clusters, len(result.Y), args.maps[0], "clusters", result.point_of_row)[0]
    if values.dtype.kind in "iu":
        return values
    names, codes = np.unique(values, return_inverse=True)
    return np.where(names == "", -1, np.arange(len(names)))[codes.reshape(-1)] if values.dtype.kind == "U" else codes


def _more_maps(result: Map, X: Any, P: Any, args: Any, console: Console) -> list[Map]:
    """Maps of the same data with other seeds."""
    if X is None and P is None:
        raise UsageError("--seeds makes further maps, which needs --data or --graph.")
    known = SCE().get_params()
    given = {key: value for key, value in result.parameters.items() if key in known and value is not None}
    model = SCE(**{**given, "verbose": False, "callback": None, "init": "auto", "n_jobs": args.n_jobs})
    if P is not None:
        model.set_params(affinity="precomputed", metric="euclidean")
    data = X if P is None else P
    made = []
    first = int(given.get("random_state", 0))
    for seed in range(first + 1, first + 1 + args.seeds):
        made.append(Map.from_model(model.set_params(random_state=seed).fit(data)))
        console.stage(f"seed {seed}", f"Embedded with seed {seed}")
    return made


def _write_points(
    path: Path, maps: list[Map], held: tuple[Any, Any], labels: np.ndarray, args: Any, console: Console
) -> None:
    """Write a row of figures for each point of the first map."""
    first, metric = maps[0], maps[0].parameters.get("metric", "euclidean")
    X, P = held
    others = [each.Y for each in maps[1:]]
    figures = points(first.Y, X=X, P=P, labels=labels, others=others, metric=metric, n_jobs=args.n_jobs)
    columns = {"id": first.ids, **figures.columns()}
    write_table(path, columns)
    console.stage("points")
    console.say(f"The figures of every point: {path}, columns {', '.join(columns)}")


# ------------------------------------------------------------------------------------------------------------- printing


def _report(args: Any, found: list[Quality], maps: list[Map], P: Any, console: Console) -> None:
    first = found[0]
    facts: dict[str, Any] = {"map": args.maps[0], "points": len(maps[0].Y), "figures": first.figures()}
    story = first.story()
    facts["story"] = story
    lines = [f"{args.maps[0]}: {len(maps[0].Y):,} points", *story, "", *figure_lines(first.figures())]
    if first.clusters is not None:
        lines += ["", *first.clusters.lines()]
        facts["clusters"] = first.clusters.facts()
    if P is not None and args.thorough:
        able = clusterability(P, random_state=args.seed, n_jobs=args.n_jobs)
        lines += ["", "The graph by itself:", *able.lines()]
        facts["clusterability"] = {name: value for name, value in able.figures().items() if name != "n_clusters"}
    if len(maps) > 1:
        same = stability([each.Y for each in maps], labels=[each.labels for each in found], n_jobs=args.n_jobs)
        facts["stability"] = same.figures()
        facts["spread"] = _spread(found)
        lines += ["", f"Over {len(maps)} maps:", *figure_lines(same.figures()), *_spread_lines(facts["spread"])]
    lines += ["", *first.missing] if first.missing else []
    facts["missing"] = first.missing
    console.result(facts, "\n".join(lines))


def _spread(found: list[Quality]) -> dict[str, list[float]]:
    """Mean and standard deviation of each figure over maps."""
    each = [quality.figures() for quality in found]
    names = [name for name in each[0] if all(name in figures for figures in each)]
    columns = {name: np.array([figures[name] for figures in each]) for name in names}
    return {name: [float(column.mean()), float(column.std(ddof=1))] for name, column in columns.items()}


def _spread_lines(spread: dict[str, list[float]]) -> list[str]:
    return [f"{name:<17}{mean:>8.4g} +- {std:.2g}" for name, (mean, std) in spread.items() if "_null" not in name]
