"""Finds a data set by its name: in the user's folder, the cache, scikit-learn, or at openml.org; and checks it."""

from __future__ import annotations

import contextlib
import gzip
import os
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sce.core.hints import did_you_mean, nearest_words
from sce.core.warn import warn
from sce.data.datasets.known import KNOWN, About
from sce.errors import DataWarning, InputError, OutputError


class Dataset(NamedTuple):
    """Vectors, of shape (n_samples, n_features), and, where known, integer labels, of shape (n_samples,)."""

    X: np.ndarray
    y: np.ndarray | None


def load(name: str) -> Dataset:
    """A data set by its name.

    `<name>.npz` is read from the folder that the environment variable SCE_DATA names, or else from the cache (the folder
    `data` in the one that SCE_CACHE names, by default ~/.cache/sce); otherwise the data set is downloaded from openml.org and
    kept in the cache. "digits" comes with scikit-learn. The shape of a known data set is checked.

    Parameters
    ----------
    name : str
        One of :func:`names`. A file holds X, of shape (n_samples, n_features), and, if there are labels, y, of shape
        (n_samples,).

    Returns
    -------
    Dataset
        X and y, which is None where there are no labels. :func:`about` says what they are.

    Examples
    --------
    >>> from sce import datasets
    >>> X, y = datasets.load("digits")
    >>> X.shape, y[:3]
    ((1797, 64), array([0, 1, 2]))
    """
    facts = about(name)
    kept = cache_folder() / f"{name}.npz"
    for path in (_own_file(name), kept):
        if path is not None and path.is_file():
            return _check(facts, _read(path), path)
    if name == "digits":
        return digits()
    if facts.openml is None:
        raise InputError(f"{name} {facts.hint or 'is in neither folder'}; {_supply(name)}.")
    found = _check(facts, _download(facts, kept), f"openml.org/d/{facts.openml}")
    _keep(found, kept)
    return found


def about(name: str) -> About:
    """What is known about a data set: its shape, its labels, the paper's similarities.

    Examples
    --------
    >>> from sce import datasets
    >>> datasets.about("cytof_bcrxl").labels, datasets.about("cytof_bcrxl").labels_are_classes
    ('patients', False)
    """
    known = names()
    if not isinstance(name, str) or name not in known:
        hint = did_you_mean(Path(str(name)).stem.lower().replace("-", "_"), known)
        where = "" if _own_folder() else " SCE_DATA may name a folder with more of them, as NAME.npz."
        raise InputError(f"There is no data set {name!r}{hint} The data sets are {', '.join(known)}.{where}")
    return KNOWN.get(name) or About(name)


def names() -> list[str]:
    """The names that :func:`load` accepts: the paper's first, the .npz files of the folder SCE_DATA last.

    Examples
    --------
    >>> from sce import datasets
    >>> datasets.names()[:3]
    ['shuttle', 'mnist', 'ijcnn']
    """
    folder = _own_folder()
    own = sorted(path.stem for path in folder.glob("*.npz")) if folder else []
    return [*KNOWN, *(name for name in own if name not in KNOWN)]


def is_name(data: str) -> bool:
    """Whether DATA of a command is the name of a data set: it has no ending, and is not a file.

    Examples
    --------
    >>> is_name("digits"), is_name("digits.csv")
    (True, False)
    """
    path = Path(data)
    if path.suffix or path.is_file():
        return False
    known = names()
    near = nearest_words(data, known)
    if data not in known and near and not path.exists():
        raise InputError(f"There is neither a file nor a data set {data!r}; did you mean {near[0]}?")
    return data in known


def describe() -> str:
    """A table of all data sets in Markdown.

    Examples
    --------
    >>> from sce import datasets
    >>> print(datasets.describe().splitlines()[3])
    | mnist | handwritten digits, 28 x 28 | 70,000 x 784 | 10 digits | knn, n_neighbors=10 | openml.org/d/554 |
    """
    rows = [("name", "what", "rows x columns", "labels", "P in the paper", "from"), ("---",) * 6]
    for name in names():
        one = about(name)
        shape = "" if one.shape is None else f"{one.shape[0]:,} x {one.shape[1]:,}"
        labels = f"{one.n_labels} {one.labels}" if one.n_labels else ""
        words = [str(v) if k == "affinity" else f"{k}={v:g}" for k, v in one.similarities.items()]
        source = "scikit-learn" if name == "digits" else f"openml.org/d/{one.openml}" if one.openml else "SCE_DATA"
        rows.append((name, one.summary, shape, labels, ", ".join(words), source))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def cache_folder() -> Path:
    """The folder where downloaded data sets are kept."""
    folder = os.environ.get("SCE_CACHE")
    path = Path(folder) if folder else Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "sce"
    with contextlib.suppress(RuntimeError):  # there is no home folder
        path = path.expanduser()
    return path / "data"


def _own_folder() -> Path | None:
    """The folder that SCE_DATA names, or None."""
    named = os.environ.get("SCE_DATA")
    if not named:
        return None
    folder = Path(named)
    if not folder.is_dir():
        raise InputError(
            f"The environment variable SCE_DATA names {named}, which is not a folder; correct or unset it."
        )
    return folder


def _own_file(name: str) -> Path | None:
    folder = _own_folder()
    return None if folder is None else folder / f"{name}.npz"


def _supply(name: str) -> str:
    """How to supply a data set that was not found."""
    folder = _own_folder()
    put = f"if you have it, put {name}.npz, with the arrays X and y, in"
    return f"{put} {folder}" if folder else f"{put} a folder and set SCE_DATA to that folder"


def _read(path: Path) -> Dataset:
    """X and y of an .npz."""
    from sce.data.sniff import check_file, reading

    kind = check_file(path)
    with reading(path, kind), path.open("rb") as opened, np.load(opened, allow_pickle=False) as file:
        if "X" not in file:
            raise InputError(f"{path} has no array X; it holds: {', '.join(file.files) or 'nothing'}.")
        return Dataset(file["X"], file.get("y"))


def _check(facts: About, found: Dataset, where: Path | str) -> Dataset:
    """The data set, once it is known to have the right shape."""
    X, y = found
    if X.ndim != 2 or X.dtype.kind not in "buif":
        raise InputError(f"X of {where} must be a matrix of numbers; it has shape {X.shape} and type {X.dtype}.")
    if facts.shape is not None and X.shape != facts.shape:
        raise InputError(
            f"{where} holds {X.shape[0]:,} x {X.shape[1]:,} numbers, but {facts.name} has {facts.shape[0]:,} x "
            f"{facts.shape[1]:,}; give the right file, or rename this one."
        )
    if y is not None and y.shape != X.shape[:1]:
        raise InputError(
            f"y of {where} must hold a label for each of the {len(X):,} rows of X; its shape is {y.shape}."
        )
    if y is not None and facts.n_labels and len(np.unique(y)) != facts.n_labels:
        raise InputError(
            f"{where} holds {len(np.unique(y))} different labels, but {facts.name} has {facts.n_labels} {facts.labels}; "
            "give the right file, or rename this one."
        )
    return found


def digits() -> Dataset:
    """The digits of scikit-learn, read from its folder: to import sklearn.datasets takes longer than to embed them.

    Examples
    --------
    >>> X, y = digits()
    >>> X.shape, y.dtype
    ((1797, 64), dtype('int64'))
    """
    found = find_spec("sklearn")
    for folder in (found.submodule_search_locations or []) if found else []:
        path = Path(folder) / "datasets" / "data" / "digits.csv.gz"
        if path.is_file():
            with gzip.open(path) as file:
                table = np.loadtxt(file, delimiter=",")
            return Dataset(table[:, :-1], table[:, -1].astype(np.int64))
    from sklearn.datasets import load_digits

    return Dataset(*load_digits(return_X_y=True))


def _download(facts: About, kept: Path) -> Dataset:
    """The data set from openml.org, or an error that says why it is not available."""
    from sce.data.datasets.openml import download

    assert facts.openml is not None
    try:
        return Dataset(*download(facts.openml, facts.shape))
    except (OSError, ValueError) as error:
        reason = " ".join(str(getattr(error, "reason", error)).split()).rstrip(".") or type(error).__name__
        raise InputError(
            f"{facts.name} is neither in SCE_DATA nor in the cache ({kept}) and cannot be downloaded from "
            f"openml.org/d/{facts.openml} ({reason}); connect to the network, or {_supply(facts.name)}."
        ) from error


def _keep(found: Dataset, path: Path) -> None:
    """Write a data set to the cache; it is in memory already, so a failure is only a warning."""
    from sce.core.write import atomic, write_npz

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic(path) as file:
            write_npz(file, {k: v for k, v in found._asdict().items() if v is not None})
    except (OSError, OutputError) as error:
        warn(
            f"{path.stem} was downloaded but could not be kept: {error} Set SCE_CACHE to another folder.",
            DataWarning,
        )
