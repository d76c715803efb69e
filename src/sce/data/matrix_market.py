"""Matrix Market files, dense or sparse.

Read by hand because `scipy.io.mmread` (SciPy 1.17, which contains fast_matrix_market) crashes on damaged files: 33 of 6,204
damaged copies of two small files ended the process with a segmentation fault, among them one truncated inside an exponent. It
returns the same numbers four to seven times as fast (5 million entries in 0.6 s instead of 3.7 s), so it should replace this
module once it refuses such files.
"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sce.data.parse import parse_words
from sce.data.source import Request, Source, pick_columns
from sce.errors import InputError

_NUMBER_BYTES = b"0123456789+-.eE \t\r\nnaifNAIFty"  # also those of nan and infinity
_FIELDS = ("real", "double", "integer", "pattern")
_SYMMETRIES = {"general": 0, "symmetric": 1, "skew-symmetric": -1}


class _Header(NamedTuple):
    """The content of the first lines; `body` is where the numbers begin."""

    sparse: bool
    pattern: bool
    sign: int  # of the transposed entry; 0 where entries are not mirrored
    shape: tuple[int, int]
    stored: int
    body: int


def read_mtx(path: Path, request: Request) -> Source:
    """An .mtx or .mtx.gz file: a dense array, or a CSR matrix for the coordinate format."""
    content = gzip.decompress(path.read_bytes()) if path.suffix.lower() == ".gz" else path.read_bytes()
    header = _read_header(path, content)
    numbers = _read_numbers(path, content, header)
    X = _sparse(path, header, numbers) if header.sparse else _dense(header, numbers)
    return pick_columns(Source(path, X), request)


def _read_header(path: Path, content: bytes) -> _Header:
    """The kind and the size of the matrix; a size that the file cannot hold is refused."""
    first, _, _ = content[:200].partition(b"\n")
    words = first.decode("ascii", "replace").lower().split()
    if len(words) != 5 or words[2] not in ("coordinate", "array"):
        raise InputError(
            f"{path} has a damaged first line, which must give the kind of matrix; copy it again or recreate it."
        )
    _, _, form, field, symmetry = words
    if field not in _FIELDS or symmetry not in _SYMMETRIES or (form, field) == ("array", "pattern"):
        raise InputError(f"{path} holds a {form} matrix of type {field} {symmetry}; real numbers are needed.")
    place = 0
    while content[place : place + 1] in (b"%", b"\n", b"\r"):
        place = content.find(b"\n", place) + 1 or len(content)
    end = content.find(b"\n", place)
    end = len(content) if end < 0 else end
    sizes = [int(word) for word in content[place:end].split()]
    sparse = form == "coordinate"
    if len(sizes) != 2 + sparse or min(sizes) < 0:
        raise InputError(f"{path} does not give the size of the matrix; copy it again or recreate it.")
    rows, columns = sizes[:2]
    sign = _SYMMETRIES[symmetry]
    half = rows * (rows + sign) // 2 if sign else rows * columns
    stored = sizes[2] if sparse else half
    if stored > len(content) or max(rows, columns) > max(10 * len(content), 1_000_000) or (sign and rows != columns):
        raise InputError(
            f"{path} claims to hold {rows} x {columns} numbers, {stored} of them stored, which do not fit in its "
            f"{len(content)} bytes; copy it again or recreate it."
        )
    return _Header(sparse, field == "pattern", sign, (rows, columns), stored, end)


def _read_numbers(path: Path, content: bytes, header: _Header) -> np.ndarray:
    """The numbers of the body, one row per stored entry."""
    body = content[header.body :]
    strange = body.translate(None, _NUMBER_BYTES)
    if strange:
        line = content.count(b"\n", 0, header.body + body.index(strange[:1])) + 1
        raise InputError(
            f"{path} has {chr(strange[0])!r} in line {line}, where numbers are needed; copy it again or recreate it."
        )
    width = (2 if header.pattern else 3) if header.sparse else 1
    numbers = parse_words(body, header.stored * width)
    if numbers is None:
        raise InputError(
            f"{path} does not hold the {header.stored * width} numbers that its header announces; it is damaged or truncated: "
            "copy it again or recreate it."
        )
    return numbers.reshape(header.stored, width)


def _dense(header: _Header, numbers: np.ndarray) -> np.ndarray:
    """An array, stored by columns; of a symmetric one only the lower half is stored."""
    rows, columns = header.shape
    if not header.sign:
        return np.ascontiguousarray(numbers.reshape(columns, rows).T)
    X = np.zeros(header.shape)
    j, i = np.triu_indices(rows, 0 if header.sign > 0 else 1)
    X[i, j] = numbers[:, 0]
    X[j, i] = header.sign * numbers[:, 0]
    return X


def _sparse(path: Path, header: _Header, numbers: np.ndarray) -> Any:
    """A CSR matrix; duplicate entries are summed."""
    from scipy import sparse

    i, j = numbers[:, 0], numbers[:, 1]
    inside = (i >= 1) & (i <= header.shape[0]) & (j >= 1) & (j <= header.shape[1]) & (i % 1 == 0) & (j % 1 == 0)
    if not inside.all():
        entry = int(np.flatnonzero(~inside)[0])
        raise InputError(
            f"{path} has an entry outside its {header.shape[0]} x {header.shape[1]} matrix, number {entry + 1}; copy it again "
            "or recreate it."
        )
    i, j = i.astype(np.int64) - 1, j.astype(np.int64) - 1
    data = np.ones(header.stored) if header.pattern else numbers[:, 2]
    if header.sign:
        off = np.flatnonzero(i != j)
        i, j = np.concatenate([i, j[off]]), np.concatenate([j, i[off]])
        data = np.concatenate([data, header.sign * data[off]])
    return sparse.csr_matrix((data, (i, j)), shape=header.shape)
