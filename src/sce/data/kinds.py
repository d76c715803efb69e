"""The kinds of files that sce reads. Imports nothing, because the help of the command line lists them."""

from __future__ import annotations

from typing import NamedTuple


class FileKind(NamedTuple):
    """A kind of file that sce reads."""

    title: str  # what messages call it
    reader: str  # "module:function", from a path and a Request to a Source
    signature: bytes | None = None  # a regular expression for its first bytes; None for text
    shown: str = ""  # what messages call a file that begins with the signature
    gzip: bool = False  # whether it may also end in .gz


_EDGE_LIST = FileKind("a list of edges", "sce.data.edge_lists:read_edge_file", gzip=True)
_TEXT_TABLE = FileKind("a text table", "sce.data.text:read_text", gzip=True)
_JSON_LINES = FileKind("a file of JSON lines", "sce.data.json_lines:read_json_lines", gzip=True)
_ARROW = FileKind(
    "an Arrow table", "sce.data.ipc:read_ipc", rb"ARROW1|\xff\xff\xff\xff", "an Arrow table (.arrow, .feather)"
)

# The ending, without .gz, of every kind of file. A new format needs a row here and a module with its reader.
FILE_KINDS = {
    ".npy": FileKind("a NumPy array", "sce.data.arrays:read_npy", rb"\x93NUMPY", "a NumPy array (.npy)"),
    ".npz": FileKind(
        "an archive of NumPy arrays",
        "sce.data.arrays:read_npz",
        rb"PK(\x03\x04|\x05\x06)",
        "a zip archive (.npz, .xlsx)",
    ),
    ".csv": _TEXT_TABLE,
    ".tsv": _TEXT_TABLE,
    ".txt": _TEXT_TABLE,
    ".jsonl": _JSON_LINES,
    ".ndjson": _JSON_LINES,
    ".parquet": FileKind("a Parquet table", "sce.data.parquet:read_parquet", rb"PAR1", "a Parquet table"),
    ".arrow": _ARROW,
    ".feather": _ARROW,
    ".mtx": FileKind(
        "a Matrix Market file",
        "sce.data.matrix_market:read_mtx",
        rb"%%MatrixMarket",
        "a Matrix Market file (.mtx)",
        gzip=True,
    ),
    ".edges": _EDGE_LIST,
    ".edgelist": _EDGE_LIST,
    ".graphml": FileKind(
        "a graph in GraphML",
        "sce.data.graphml:read_graphml",
        rb"(?s)(\xef\xbb\xbf)?\s*(<[?!].{0,3000}?)?<graphml",
        "a graph in GraphML",
        gzip=True,
    ),
    ".gml": FileKind("a graph in GML", "sce.data.gml:read_gml", gzip=True),
    ".h5ad": FileKind("an AnnData file", "sce.data.h5ad:read_h5ad", rb"\x89HDF\r\n", "an HDF5 file (.h5ad)"),
}
READABLE_FILES = (
    f"{', '.join(FILE_KINDS)} ({', '.join(name for name, kind in FILE_KINDS.items() if kind.gzip)} also as .gz)"
)
