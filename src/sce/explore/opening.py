"""Open a session: of a map, a sweep, a file of data or a data set, which is embedded first."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sce.core.write import check_writable
from sce.data.label_files import read_label_file
from sce.data.recipe import Recipe
from sce.data.table import Table
from sce.errors import InputError
from sce.estimator import SCE
from sce.explore.attached import attach_file, attach_kept, attach_table
from sce.explore.images import size_of_images
from sce.explore.session import Session
from sce.graph.precomputed import check_affinity
from sce.loading import load
from sce.results.archive import is_kind
from sce.results.graphs import read_graph
from sce.results.maps import MAP_KIND, Map
from sce.results.sweeps import SWEEP_KIND, Sweep

_MOST_BYTES_UNCHECKED = 1 << 30  # of what an archive unpacks to
_MOST_EXPANSION = 20  # times the size of the file: result files are not compressed


def open_session(
    source: str | Path,
    *,
    data: str | None = None,
    graph: str | None = None,
    columns: list[str] | None = None,
    images: str = "auto",
    labels: str | None = None,
    say: Callable[[str], None] = lambda _: None,
    verbose: bool = False,
    n_jobs: int | None = None,
) -> Session:
    """Open a map or a sweep with all that is known about its points.

    Parameters
    ----------
    source : str or Path
        A map, a sweep, a file of data, or the name of a data set. Data are embedded first, and the map is written to the
        current folder; the map of an earlier time is used again.
    data : str, optional
        The data that were embedded, where the file does not hold them.
    graph : str, optional
        The graph, where the file does not hold it. Where it is missing, it is made again from the data.
    columns : list of str, optional
        The columns of the data to show; by default up to 100 of them.
    images : str, default="auto"
        The size of the images that the rows are, as "28x28"; "no" if they are none.
    labels : str, optional
        Labels in FILE or FILE:COLUMN, or "none"; by default those in the file.
    say : function of a sentence
        Called with what is being done.
    verbose : bool, default=False
        Whether to show the progress of embedding.
    n_jobs : int, optional
        Threads; all cores by default.

    Returns
    -------
    Session
    """
    size_of_images(images)
    path = Path(source)
    is_result = path.suffix.lower() == ".npz" and (is_kind(path, MAP_KIND) or is_kind(path, SWEEP_KIND))
    if is_result or (path.suffix.lower() == ".npz" and path.is_symlink() and not path.exists()):
        result = open_result(path)
        attached = None
    else:
        path, result, table = embed_first(str(source), say=say, verbose=verbose, n_jobs=n_jobs)
        recipe = Recipe.from_facts(result.facts.get("preparation", {}))
        attached = attach_table(result, table, recipe, columns, images) if data is None else None
    if attached is None:
        kept = data is None
        attached = attach_kept(result, columns, images) if kept else attach_file(result, str(data), columns, images)
    if graph is not None:
        attached = attached._replace(graph=_graph_of(graph, result, path))
    _choose_labels(result, labels, path)
    session = Session(path, result, attached, notes=list(attached.notes))
    _ = session.keeper  # a damaged file is an error now, not later
    return session


def open_result(path: Path) -> Map | Sweep:
    """A map or a sweep with all that it holds; archives that unpack to far more than their size are refused."""
    try:
        with zipfile.ZipFile(path) as archive:
            unpacked = sum(member.file_size for member in archive.infolist())
    except (OSError, zipfile.BadZipFile):
        unpacked = 0  # load says what is wrong
    if unpacked > max(_MOST_BYTES_UNCHECKED, _MOST_EXPANSION * path.stat().st_size if path.exists() else 0):
        raise InputError(
            f"{path} would unpack to {unpacked / 1e9:.1f} GB, far more than its size; sce does not write such files: make "
            "it again."
        )
    return load(path)


def embed_first(
    source: str, *, say: Callable[[str], None], verbose: bool, n_jobs: int | None
) -> tuple[Path, Map, Table]:
    """The map of data, made now or at an earlier time, with its file and the table."""
    recipe = Recipe()
    table = recipe.read(source)
    path = Path(f"{_stem(source)}.map.npz")
    if path.exists() and is_kind(path, MAP_KIND):
        result = open_result(path)
        made_of = result.facts.get("source")
        if not isinstance(result, Map) or made_of != table.path.name:
            raise InputError(f"{path} is a map of {made_of}, not of {source}; move it, or open the map that you want.")
        say(f"{path}: the map that was made before; sce embed {source} makes it anew.")
        return path, result, table
    check_writable(path, [".npz"])
    say(f"Embedding {source} first; the map will be {path}.")
    prepared = table if table.is_graph else recipe.preparation.fit_transform(table, n_jobs=n_jobs)[0]
    X, weights = prepared.X, prepared.weights
    given: dict[str, Any] = {"affinity": "precomputed"} if table.is_graph else {}
    model = SCE(random_state=0, verbose=verbose, n_jobs=n_jobs, **given).fit(X, sample_weight=weights)
    result = Map.from_model(
        model,
        labels=prepared.labels,
        ids=prepared.ids,
        label_name=prepared.label_name,
        facts={"source": table.path.name, "preparation": recipe.facts(), "notes": list(prepared.notes)},
        P=model.affinity_,
        point_of_row=prepared.point_of_row,
    )
    result.save(path)
    return path, result, table


def _stem(source: str) -> str:
    name = Path(source).name
    return name.removesuffix(".gz").rsplit(".", 1)[0] or name


def _graph_of(graph: str, result: Map | Sweep, path: Path) -> Any:
    """The graph in a file, once it is known to be of these points."""
    edges = Recipe.from_facts(result.facts.get("preparation", {})).reading.edges
    P = read_graph(graph, edges)
    if P.shape[0] != len(result.ids):
        raise InputError(
            f"{graph} has {P.shape[0]} points, but {path} has {len(result.ids)}; give the graph of this map."
        )
    return check_affinity(P)


def _choose_labels(result: Map | Sweep, labels: str | None, path: Path) -> None:
    """Put the requested labels into the map or the sweep."""
    if labels == "none":
        result.labels = result.label_name = None
    elif labels is not None:
        n, point_of_row = len(result.ids), result.point_of_row
        result.labels, result.label_name = read_label_file(labels, n, path, point_of_row=point_of_row)
