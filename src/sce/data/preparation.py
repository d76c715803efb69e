"""Preparation of data for embedding: no gaps, one scale, no text, fewer columns; and the same for new rows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from sce.core.hints import alternatives, did_you_mean
from sce.core.parallel import Team, resolve_n_jobs
from sce.core.principal import principal_axes, project
from sce.data.automatic import settle
from sce.data.categories import apply_one_hot, learn_categories
from sce.data.gaps import Filling, Gaps, find_gaps, learn_filling, treat_gaps
from sce.data.matching import match_columns
from sce.data.scaling import Scaling, advise_scaling, apply_scaling, learn_scaling, make_dense, take_log1p
from sce.data.table import Table
from sce.data.unusable import refuse_unusable
from sce.errors import InputError, ParameterError

MISSING_CHOICES = ("refuse", "drop", "mean", "median")
NORMALIZE_CHOICES = ("standard", "robust", "none")
_MAX_COLUMNS_WITHOUT_PCA = 50_000  # of dense data
_PCA_ROWS = 20_000  # rows from which principal axes are found
_PCA_ITERATIONS = 6  # of the subspace iteration
_FORMAT = 1  # of the arrays of a fitted preparation


@dataclass(frozen=True)
class Preparation:
    """What to do with a table before it is embedded, in this order.

    Parameters
    ----------
    missing : {"refuse", "drop", "mean", "median"}, default="refuse"
        Refuse missing values, leave their rows out, or fill in the mean or median of the column (in text, the most frequent
        value).
    log1p : bool, default=False
        Take ln(1 + x), for counts.
    normalize : {"standard", "robust", "none"}, optional
        Scale each column: minus its mean over its standard deviation, or minus its median over its interquartile range.
        None is "none", with a note where a few columns determine all distances.
    one_hot : bool, default=False
        Turn each column of text into a column of 0 and 1 for each of its values.
    pca : int, optional
        Reduce the columns to this many principal components. 0 is none, for any number of columns; None is none for up to
        50,000 columns.
    auto : bool, default=False
        Find out what the table needs: leave out columns without use (without values, mostly missing, the same everywhere, ids,
        text of too many values), fill in medians, turn other text into columns of 0 and 1, and scale the columns to standard
        deviations where there is text or a few columns determine all distances. Other options that are given are kept.
    merge_copies : bool, default=False
        Make one point of all rows that are equal, whose weight is their number; not of new rows.

    Examples
    --------
    >>> from pathlib import Path
    >>> table = Table(Path("flowers.csv"), np.array([[1.0, 10.0], [3.0, 30.0]]), ["length", "width"])
    >>> prepared, fitted = Preparation(normalize="standard").fit_transform(table)
    >>> prepared.X
    array([[-1., -1.],
           [ 1.,  1.]])
    >>> new = Table(Path("new.csv"), np.array([[20.0, 5.0]]), ["width", "length"])
    >>> fitted.apply(new).X
    array([[3., 0.]])
    """

    missing: str = "refuse"
    log1p: bool = False
    normalize: str | None = None
    one_hot: bool = False
    pca: int | None = None
    auto: bool = False
    merge_copies: bool = False

    def __post_init__(self) -> None:
        for name in ("log1p", "one_hot", "auto", "merge_copies"):
            if not isinstance(getattr(self, name), bool):
                raise ParameterError(f"{name} must be True or False; got {getattr(self, name)!r}.")
        _check_word("missing", self.missing, MISSING_CHOICES)
        if self.normalize is not None:
            _check_word("normalize", self.normalize, NORMALIZE_CHOICES)
        if self.pca is not None and (isinstance(self.pca, bool) or not isinstance(self.pca, int) or self.pca < 0):
            raise ParameterError(f"pca must be a number of components, 1 or more, or 0 for none; got {self.pca!r}.")

    def fit(self, table: Table, *, random_state: int = 0, n_jobs: int | None = None) -> FittedPreparation:
        """Learn from a table; see :meth:`fit_transform`."""
        return self.fit_transform(table, random_state=random_state, n_jobs=n_jobs)[1]

    def fit_transform(
        self, table: Table, *, random_state: int = 0, n_jobs: int | None = None, copy: bool = True
    ) -> tuple[Table, FittedPreparation]:
        """Prepare a table, and learn how to prepare new rows in the same way.

        Parameters
        ----------
        table : Table
        random_state : int, default=0
            For the rows from which principal axes are found.
        n_jobs : int, optional
            Threads; all cores by default. The result does not depend on it.
        copy : bool, default=True
            Whether to leave the table unchanged. If not, its X is released as soon as it is no longer needed, which saves
            memory; the array itself is never written to.

        Returns
        -------
        prepared : Table
            With finite numbers only, and no columns of text.
        fitted : FittedPreparation
        """
        if copy:
            table = replace(table, text=dict(table.text), notes=list(table.notes))
        settled = replace(self, auto=False, **settle(table, self.missing, self.normalize)) if self.auto else self
        return settled._fit_transform(table, random_state, n_jobs)  # noqa: SLF001

    def _fit_transform(self, table: Table, random_state: int, n_jobs: int | None) -> tuple[Table, FittedPreparation]:
        gaps = find_gaps(table)
        refuse_unusable(table, gaps, missing=self.missing, one_hot=self.one_hot)
        table.used = _columns(table)
        learned: dict[str, Any] = {
            "names": None if table.names is None else list(table.names),
            "n_columns": table.X.shape[1],
            "filling": self._treat_gaps(table, gaps),
        }
        make_dense(table)
        learned["sparse"] = hasattr(table.X, "tocsr")
        learned["scaling"] = self._scale(table)
        if table.text:
            learned["categories"] = learn_categories(table)
            apply_one_hot(table, learned["categories"])
        if self.merge_copies:
            table.merge_copies()
        learned |= self._reduce(table, random_state, n_jobs)
        return table, FittedPreparation(self, dtype=table.X.dtype.str, **learned)

    def _treat_gaps(self, table: Table, gaps: Gaps | None) -> Filling | None:
        filling = learn_filling(table, gaps, self.missing) if self.missing in ("mean", "median") else None
        if gaps is not None:
            treat_gaps(table, gaps, self.missing, filling, min_rows=2)
        return filling

    def _scale(self, table: Table) -> Scaling | None:
        if self.log1p:
            take_log1p(table)
        if self.normalize is None:
            advise_scaling(table)
        if self.normalize in (None, "none"):
            return None
        scaling = learn_scaling(table, str(self.normalize))
        apply_scaling(table, scaling)
        table.notes.append(f"Columns scaled ({self.normalize})")
        return scaling

    def _reduce(self, table: Table, random_state: int, n_jobs: int | None) -> dict[str, np.ndarray]:
        """Reduce the columns to principal components; returns the mean and the axes, if there are any."""
        n, d = table.X.shape
        if self.pca is None and d > _MAX_COLUMNS_WITHOUT_PCA and not hasattr(table.X, "tocsr"):
            raise InputError(
                f"{table.path} has {d} columns, in which distances are slow and mostly noise: add pca=50, choose some with "
                "columns=, add transpose=True if the columns are the points, or pca=0 to embed all of them."
            )
        if not self.pca:
            return {}
        if self.pca >= min(n, d):
            table.notes.append(f"pca={self.pca} changes nothing: there are only {d} columns and {n} rows")
            return {}
        with Team(resolve_n_jobs(n_jobs)) as team:
            found = principal_axes(
                table.X, self.pca, random_state, team, n_sample=_PCA_ROWS, n_iter=_PCA_ITERATIONS, max_cells=None
            )
            _project(table, found.mean, found.axes, team)
        table.notes.append(f"Reduced {d} columns to {self.pca} principal components")
        return {"mean": found.mean, "axes": found.axes}


@dataclass(frozen=True, eq=False, repr=False)
class FittedPreparation:
    """What a :class:`Preparation` learned from a table, in plain arrays and numbers: applies it to new rows.

    Attributes
    ----------
    options : Preparation
    names : list of str, optional
        The columns of numbers of the table; None where they have no names and are found by their order.
    n_columns : int
        How many there are.
    dtype : str
        The type of the prepared numbers.
    sparse : bool
        Whether they are sparse.
    filling : Filling, optional
        What stands in for missing values.
    scaling : Scaling, optional
        The middle and the spread of each column.
    categories : dict of str to list of str
        The values of each column of text.
    mean, axes : ndarray of shape (d,) and (d, pca), optional
        The principal axes.
    """

    options: Preparation
    names: list[str] | None
    n_columns: int
    dtype: str
    sparse: bool = False
    filling: Filling | None = None
    scaling: Scaling | None = None
    categories: dict[str, list[str]] = field(default_factory=dict)
    mean: np.ndarray | None = None
    axes: np.ndarray | None = None

    def apply(self, table: Table, *, n_jobs: int | None = None) -> Table:
        """Prepare new rows in the same way as those of the fit; columns are found by name.

        Parameters
        ----------
        table : Table
            As :func:`sce.read` returns it, with at least the columns of the fit.
        n_jobs : int, optional
            Threads; all cores by default.

        Returns
        -------
        Table
            With the same columns as the table that was fitted. The given one is left unchanged.

        Raises
        ------
        InputError
            If a column is missing or of another kind, if a text did not occur in the fit, or for the same reasons as in the
            fit.
        """
        table = match_columns(table, self.names, self.n_columns, list(self.categories))
        gaps = find_gaps(table)
        if gaps is not None:
            treat_gaps(table, gaps, self.options.missing, self.filling)
        self._match_storage(table)
        if self.options.log1p:
            take_log1p(table)
        if self.scaling is not None:
            apply_scaling(table, self.scaling)
        if self.categories:
            apply_one_hot(table, self.categories)
        if self.mean is not None and self.axes is not None:
            with Team(resolve_n_jobs(n_jobs)) as team:
                _project(table, self.mean, self.axes, team)
        if np.dtype(self.dtype).kind == "f" and table.X.dtype != self.dtype:
            table.X = table.X.astype(self.dtype)
        return table

    def _match_storage(self, table: Table) -> None:
        """Store X sparse or dense, as in the fit."""
        if self.sparse and not hasattr(table.X, "tocsr"):
            from scipy import sparse

            table.X = sparse.csr_matrix(table.X)
        elif not self.sparse and hasattr(table.X, "tocsr"):
            table.X = table.X.toarray()

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Plain arrays for an .npz: a JSON header, `preparation`, and `preparation_*`."""
        filling = self.filling or Filling(None, {})
        header = {
            "format": _FORMAT,
            "options": asdict(self.options),
            "names": self.names,
            "n_columns": self.n_columns,
            "dtype": self.dtype,
            "sparse": self.sparse,
            "words": filling.words if self.filling else None,
            "categories": self.categories,
        }
        arrays = {
            "fill": filling.numbers,
            "middle": self.scaling.middle if self.scaling else None,
            "spread": self.scaling.spread if self.scaling else None,
            "mean": self.mean,
            "axes": self.axes,
        }
        text = json.dumps(header, ensure_ascii=False)
        return {"preparation": np.array(text)} | {
            f"preparation_{name}": values for name, values in arrays.items() if values is not None
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray]) -> FittedPreparation:
        """The fitted preparation that :meth:`to_arrays` turned into arrays; other arrays are ignored.

        Examples
        --------
        >>> from pathlib import Path
        >>> fitted = Preparation(pca=1).fit(Table(Path("a.npy"), np.array([[1.0, 2.0], [2.0, 4.0], [5.0, 10.0]])))
        >>> FittedPreparation.from_arrays(fitted.to_arrays()).axes.shape
        (2, 1)
        """
        header = json.loads(str(arrays["preparation"]))
        if header["format"] > _FORMAT:
            raise InputError(
                f"The preparation was saved by a later version of sce (format {header['format']}; this version reads up to "
                f"{_FORMAT}); update sce."
            )
        found = {name: arrays.get(f"preparation_{name}") for name in ("fill", "middle", "spread", "mean", "axes")}
        spread = found["spread"]
        return cls(
            options=Preparation(**header["options"]),
            filling=None if header["words"] is None else Filling(found["fill"], header["words"]),
            scaling=None if spread is None else Scaling(found["middle"], spread),
            mean=found["mean"],
            axes=found["axes"],
            **{name: header[name] for name in ("names", "n_columns", "dtype", "sparse", "categories")},
        )


def _columns(table: Table) -> list[str] | None:
    """The names of the columns that are used, if the file names them."""
    names = [*(table.names or map(str, range(table.X.shape[1]))), *table.text]
    return None if table.names is None or all(map(str.isdecimal, names)) else names


def _project(table: Table, mean: np.ndarray, axes: np.ndarray, team: Team) -> None:
    """Replace X by its coordinates along the axes."""
    shape = table.X.shape[0], axes.shape[1]
    table.X = project(table.X, mean, axes, team, out=np.empty(shape, np.float32))
    table.names = [f"PC{k + 1}" for k in range(shape[1])]


def _check_word(name: str, value: Any, words: tuple[str, ...]) -> None:
    """Refuse a value that is not one of some words, with a hint at the nearest."""
    if value not in words:
        listed = alternatives(f'"{word}"' for word in words)
        raise ParameterError(f"{name} must be {listed}; got {value!r}{did_you_mean(value, words)}")
