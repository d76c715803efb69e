"""Every bad input gets one clear sentence: what is wrong, where, and what to do; and nothing is written."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

GOOD = "a,b,kind\n" + "".join(f"{i},{i * i % 7},{'uv'[i % 2]}\n" for i in range(30))


def put(name, content):
    """A file of the case."""

    def make(folder):
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())

    return make


def save(name, **arrays):
    def make(folder):
        np.savez(folder / name, **arrays)

    return make


def truncated(folder):
    np.savez(folder / "data.npz", X=np.ones((100, 10)))
    path = folder / "data.npz"
    path.write_bytes(path.read_bytes()[:4000])


def later_version(folder):
    header = {"format": 9, "sce": "7.0.0"}
    np.savez(folder / "map.npz", sce_map=np.array(json.dumps(header)), Y=np.zeros((3, 2), np.float32))


def graph(change):
    """P.npz: a ring of 30 points, changed."""

    def make(folder):
        P = np.roll(np.eye(30), 1, axis=1)
        P = P + P.T
        change(P)
        sp.save_npz(folder / "P.npz", sp.csr_matrix(P))

    return make


def with_nan(P):
    P[4, 5] = np.nan


def negative(P):
    P[4, 5] = P[5, 4] = -1


def ring_and_labels(folder):
    graph(lambda P: None)(folder)
    (folder / "labels.csv").write_text("kind\n" + "u\nv\n" * 10)


def ring_and_data(folder):
    graph(lambda P: None)(folder)
    (folder / "data.csv").write_text("a,b\n" + "1,2\n3,4\n" * 10)


def wide(folder):
    np.save(folder / "data.npy", np.zeros((3, 100_000), np.float32))


def folder_of_files(folder):
    (folder / "data.csv").write_text(GOOD)
    (folder / "data.npz").mkdir()


# What is in the folder, what is typed, the exit code, and the exact message.
CASES = {
    "an empty file": (put("data.csv", ""), "embed data.csv", 3, "data.csv is empty; give a file with data in it."),
    "a header and no rows": (
        put("data.csv", "a,b\n"), "embed data.csv", 3,
        "data.csv has a header but no rows; give a file with data in it.",
    ),
    "empty lines": (
        put("data.csv", "\n\n  \n"), "embed data.csv", 3,
        "data.csv has only empty lines; give a file with data in it.",
    ),
    "no file": (put("data.csv", GOOD), "embed dta.csv", 3, "There is no file dta.csv; did you mean data.csv?"),
    "no folder": (put("data.csv", GOOD), "embed far/x.csv", 3,
        "There is no file far/x.csv: the folder far does not exist."),
    "an unknown kind of file": (
        put("data.xlsx", "PK"), "embed data.xlsx", 3,
        "data.xlsx ends in .xlsx, which sce cannot read (save the sheet as .csv); it reads .npy, .npz, .csv, .tsv, .txt, "
        ".jsonl, .ndjson, .parquet, .arrow, .feather, .mtx, .edges, .edgelist, .graphml, .gml, .h5ad (.csv, .tsv, .txt, "
        ".jsonl, .ndjson, .mtx, .edges, .edgelist, .graphml, .gml also as .gz).",
    ),
    "an .npz called .csv": (
        put("data.csv", b"PK\x03\x04xxxx"), "embed data.csv", 3,
        "data.csv is not what its name says: it should be a text table, but its first bytes are those of a zip archive "
        "(.npz, .xlsx); give the right file, or rename it.",
    ),
    "a .csv called .npy": (
        put("data.npy", GOOD), "embed data.npy", 3,
        "data.npy is not what its name says: it should be a NumPy array, but its first bytes are those of text; give the "
        "right file, or rename it.",
    ),
    "a .csv called .parquet": (
        put("data.parquet", GOOD), "embed data.parquet", 3,
        "data.parquet is not what its name says: it should be a Parquet table, but its first bytes are those of text; "
        "give the right file, or rename it.",
    ),
    "text that is not UTF-8": (
        put("data.csv", "a,b\n1,é\n".encode("latin-1")), "embed data.csv", 3,
        "data.csv is not UTF-8 text (it has the byte 0xe9); save it as UTF-8, for example with: iconv -f latin1 -t utf8 "
        "data.csv > utf8.csv",
    ),
    "a truncated .npz": (
        truncated, "embed data.npz", 3,
        "data.npz cannot be read as an archive of NumPy arrays: it is damaged or truncated (File is not a zip file); copy "
        "it again or recreate it.",
    ),
    "a truncated map": (
        truncated, "plot data.npz -o x.png", 3,
        "data.npz cannot be read as an archive of NumPy arrays: it is damaged or truncated (File is not a zip file); copy "
        "it again or recreate it.",
    ),
    "a pickle in an .npz": (
        save("data.npz", X=np.array([[1, "a"]], dtype=object)), "embed data.npz", 3,
        "Array 'X' of data.npz holds pickled Python objects, which sce does not open because they can run code; save "
        "plain numbers or text, for example X.astype(float) or y.astype(str).",
    ),
    "labels that are a pickle": (
        save("data.npz", X=np.ones((2, 2)), y=np.array(["a", None], dtype=object)), "embed data.npz", 3,
        "Array 'y' of data.npz holds pickled Python objects, which sce does not open because they can run code; save "
        "plain numbers or text, for example X.astype(float) or y.astype(str).",
    ),
    "an array of three dimensions": (
        save("data.npz", X=np.ones((2, 3, 4))), "embed data.npz --array X", 3,
        "data.npz holds an array of shape (2, 3, 4), but a table with one row per point is needed. Reshape it.",
    ),
    "ragged CSV": (
        put("data.csv", "a,b\n1,2\n3,4\n5,6,7\n"), "embed data.csv", 3,
        "data.csv is ragged: line 4 has 3 cells, but other lines have 2; correct that line (a cell that contains the "
        "separator needs quotes).",
    ),
    "a header of the wrong length": (
        put("data.csv", "a,b,c,d\n1,2\n3,4\n5,6\n"), "embed data.csv", 3,
        "data.csv is ragged: line 1 has 4 cells, but other lines have 2; correct that line (a cell that contains the "
        "separator needs quotes).",
    ),
    "text in a column of numbers": (
        put("data.csv", "a,b\n1,2\n3,four\n5,6\n"), "embed data.csv", 3,
        "data.csv has text where numbers are needed: column 'b', row 1 (line 3) holds 'four'; correct it, or leave the "
        "column out with --drop b.",
    ),
    "columns of text": (
        put("data.csv", "a,b,c\n1,x,u\n2,y,u\n3,x,v\n"), "embed data.csv", 3,
        "data.csv has columns that cannot be used as they are: text in 'b' (2 values: x, y), 'c' (2 values: u, v). Add --auto, "
        "which deals with them all, or --one-hot for a column of 0 and 1 for each value of a text, --labels b to colour by it "
        "or --drop b,c. This works: sce embed data.csv --auto",
    ),
    "too many categories": (
        put("data.csv", "a,b,c\n" + "".join(f"{i % 5},x{i % 150},u{i % 120}\n" for i in range(300))),
        "embed data.csv --one-hot", 3,
        "data.csv has columns that cannot be used as they are: text of more than 100 different values in 'b' (150 values: x0, "
        "x1, x10, ...), 'c' (120 values: u0, u1, u10, ...). Add --auto, which deals with them all, or --drop b,c. This works: "
        "sce embed data.csv --one-hot --auto",
    ),
    "missing values": (
        put("data.csv", "a,b\n1,2\n3,\nNA,6\n7,8\n"), "embed data.csv", 3,
        "data.csv has missing values in 2 of 4 rows (row 1 (line 3), row 2 (line 4)), in columns 'a', 'b': add --missing "
        "median or --missing mean to fill them in, or --missing drop to leave these rows out.",
    ),
    "missing values in an array": (
        save("data.npz", X=np.array([[1, np.nan], [3, 4]])), "embed data.npz", 3,
        "data.npz has missing values in 1 of 2 rows (row 0), in column '1': add --missing median or --missing mean to "
        "fill them in, or --missing drop to leave these rows out.",
    ),
    "a column without any value": (
        put("data.csv", "a,b\n1,\n3,\n5,\n"), "embed data.csv --missing mean", 3,
        "data.csv has columns that cannot be used as they are: no values in 'b'. Add --auto, which deals with them all, or "
        "--drop b. This works: sce embed data.csv --missing mean --auto",
    ),
    "infinite values": (
        put("data.csv", "a,b\n1,2\n3,inf\n5,6\n"), "embed data.csv", 3,
        "data.csv has infinite values, first in column 'b', row 1 (line 3); correct or leave out these rows.",
    ),
    "duplicate headers": (
        put("data.csv", "a,b,a\n1,2,3\n4,5,6\n"), "embed data.csv", 3,
        "data.csv has two columns named 'a' (the 1st and the 3rd); rename one.",
    ),
    "100,000 columns": (
        wide, "embed data.npy", 3,
        "data.npy has 100000 columns, in which distances are slow and mostly noise: add --pca 50, choose some with --columns, "
        "add --transpose if the columns are the points, or --pca 0 to embed all of them.",
    ),
    "a label column that is an id": (
        put("data.csv", "name,a,kind\n" + "".join(f"r{i},{i},{'uv'[i % 2]}\n" for i in range(30))),
        "embed data.csv --labels name", 3,
        "Column 'name' of data.csv has a different value in each of its 30 rows, so it holds ids, not labels: give it as "
        "--ids name instead; labels could be 'kind'.",
    ),
    "a quote that is never closed": (
        put("data.csv", 'a,b\n1,x\n2,"y\n3,z\n'), "embed data.csv", 3,
        'data.csv has a misplaced or unclosed quote (") in the row that begins on line 3 (unexpected end of data); double '
        'a quote that is part of a text.',
    ),
    "missing text to be made numbers": (
        put("data.csv", "a,b,c\n1,x,u\n2,,u\n3,x,v\n"), "embed data.csv --one-hot", 3,
        "data.csv has missing values in 1 of 3 rows (row 1 (line 3)), in column 'b': add --missing median or --missing "
        "mean to fill them in, or --missing drop to leave these rows out.",
    ),
    "preparation of a square matrix": (
        save("data.npz", X=np.eye(5)), "embed data.npz --affinity precomputed --pca 2", 2,
        "--pca has no effect where DATA is a square matrix; leave it out.",
    ),
    "preparation of a graph": (
        graph(lambda P: None), "embed --graph P.npz --missing drop", 2,
        "--missing has no effect where there is only a graph; leave it out.",
    ),
    "a perplexity that is not used": (
        put("data.csv", GOOD), "embed data.csv --affinity knn --perplexity 5", 2,
        "--perplexity is only for --affinity shared or entropic; leave one of them out.",
    ),
    "an alpha that is not used": (
        put("data.csv", GOOD), "embed data.csv --alpha 0.2 --scale 5", 2,
        "--alpha is only for --scale sce; leave one of them out.",
    ),
    "a folder as data": ((lambda folder: None), "embed .", 3,
        ". is a folder without .parquet, .arrow or .feather files; give a file, or a folder of such parts.",
    ),
    "standard input as data": (
        (lambda folder: None), "embed -", 3, "sce reads files, not standard input; save the data to a file first.",
    ),
    "an option before the command": (
        (lambda folder: None), "--quiet info map.npz", 2,
        "Begin with a command (embed, sweep, plot, info, quality, explore, compare, export, demo, doctor); --quiet goes after "
        "it (see sce --help).",
    ),
    "a graph over another file": (
        put("data.csv", GOOD), "embed data.csv --save-graph data.csv", 4, "The name data.csv must end in .npz.",
    ),
    "a demo over other data": (
        put("digits.csv", GOOD), "demo", 4,
        "digits.csv exists and was not written by the demo; change to another folder, or name one with --folder.",
    ),
    "an id that is too long": (
        put("data.csv", "id,a\n" + "".join(f"{'x' * 1001 * (i == 3)}{i},{i}\n" for i in range(20))), "embed data.csv --ids id",
        3, "Column 'id' of data.csv has a text of 1,002 characters as id in row 3 (line 5); at most 1,000 are allowed: choose "
        "another column, or shorten the text.",
    ),
    "an unknown column": (
        put("data.csv", GOOD), "embed data.csv --labels knd", 3,
        "data.csv has no column or array 'knd' for --labels, and there is no such file; did you mean 'kind'? "
        "It has kind, a, b.",
    ),
    "an unknown column to take": (
        put("data.csv", GOOD), "embed data.csv --columns a,z", 3, "data.csv has no column 'z'; it has a, b, kind.",
    ),
    "an unknown array": (
        save("data.npz", X=np.ones((3, 2))), "embed data.npz --array Z", 3,
        "data.npz has no array 'Z'; it has: X (3, 2).",
    ),
    "no folder for the output": (
        put("data.csv", GOOD), "embed data.csv -o far/map.npz", 4,
        "The folder far does not exist; create it first: mkdir -p far",
    ),
    "an output that cannot be made": (
        put("data.csv", GOOD), "embed data.csv -o /proc/map.npz", 4,
        "/proc/map.npz cannot be written: no such file or directory; choose another name or folder.",
    ),
    "a folder as output": (
        folder_of_files, "embed data.csv -o data.npz", 4, "data.npz is a folder; give the name of a file.",
    ),
    "an output over other data": (
        save("data.npz", X=np.ones((3, 2))), "embed data.npz -o data.npz", 4,
        "data.npz is the file that is being read; choose another name for the output.",
    ),
    "a map called .png": (
        put("data.csv", GOOD), "embed data.csv -o map.png", 4,
        "The map must end in .npz; for a picture add --plot map.png",
    ),
    "a picture of an unknown kind": (
        put("data.csv", GOOD), "embed data.csv --plot map.gif", 4, "The name map.gif must end in .png or .svg or .pdf.",
    ),
    "an unknown value of an option": (
        put("data.csv", GOOD), "embed data.csv --affinity entropc", 2,
        "--affinity takes shared, entropic, knn or precomputed, not 'entropc'; did you mean entropic? (see sce embed --help).",
    ),
    "an unknown metric": (
        put("data.csv", GOOD), "embed data.csv --metric manhatan", 2,
        "--metric manhatan is not known; did you mean 'manhattan'?",
    ),
    "an unknown start": (
        put("data.csv", GOOD), "embed data.csv --init spectrl", 2,
        "--init takes auto, pca, spectral, random, an .npy or a map, not 'spectrl'; did you mean spectral? (see sce embed "
        "--help).",
    ),
    "a number out of range": (
        put("data.csv", GOOD), "embed data.csv --alpha 2", 2, "--alpha must be a number from 0 to 1; got 2.0.",
    ),
    "a word for a number": (
        put("data.csv", GOOD), "embed data.csv --n-neighbors ten", 2,
        "--n-neighbors takes a whole number, not 'ten' (see sce embed --help).",
    ),
    "an unknown option": (
        put("data.csv", GOOD), "embed data.csv --neighbours 5", 2,
        "There is no option '--neighbours'; did you mean --n-neighbors? (see sce embed --help).",
    ),
    "an unknown command": (
        (lambda folder: None), "plt map.npz", 2, "There is no command 'plt'; did you mean plot? (see sce --help).",
    ),
    "nothing to embed": (
        (lambda folder: None), "embed", 2, "Give a file with data, or a graph with --graph (see sce embed --help).",
    ),
    "a map of a later version": (
        later_version, "plot map.npz -o map.png", 3,
        "map.npz was written by a later version of sce (7.0.0, map format 9; this is {version}, which reads up to 1); update "
        "with: pip install --upgrade sce",
    ),
    "data instead of a map": (
        save("data.npz", X=np.ones((3, 2))), "plot data.npz -o map.png", 3,
        "data.npz is neither a map nor a sweep (it holds X); make one with: sce embed data.npz -o map.npz or sce sweep "
        "data.npz -o sweep.npz",
    ),
    "a table instead of a map": (
        put("data.csv", GOOD), "info data.csv", 3,
        "data.csv is neither a map nor a sweep: its name must end in .npz; make one with: sce embed data.csv -o map.npz or sce "
        "sweep data.csv -o sweep.npz",
    ),
    "NaN in a graph": (
        graph(with_nan), "embed --graph P.npz", 3,
        "A similarity graph must hold finite, non-negative numbers, but 1 are not finite, in rows 4.",
    ),
    "a negative graph": (
        graph(negative), "embed --graph P.npz", 3,
        "A similarity graph must hold finite, non-negative numbers, but 2 are negative, in rows 4, 5; for distances use "
        "--metric precomputed.",
    ),
    "an empty graph": (
        graph(lambda P: P.fill(0)), "embed --graph P.npz", 3,
        "The similarity graph has no positive entry off its diagonal, so there is nothing to draw.",
    ),
    "a graph that does not fit the labels": (
        ring_and_labels, "embed --graph P.npz --labels labels.csv", 3,
        "labels.csv has 20 labels, but P.npz has 30 rows; give one per row.",
    ),
    "a graph that does not fit the data": (
        ring_and_data, "embed data.csv --graph P.npz", 3,
        "P.npz has 30 points, but data.csv has 20 rows; give the graph of these data.",
    ),
    "a graph that is a table": (
        put("data.csv", "a,b\n1,2.5\n3,4.5\n5,6.5\n"), "embed --graph data.csv", 3,
        "data.csv has the shape (3, 2); a graph is a square matrix, with a row and a column for each point, or a list of "
        "edges (--edges yes). If these are data, give them as data, not as a graph.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_bad_input(sce, tmp_path, case):
    """The exit code and the very words; no file is left, and none is changed."""
    import sce as package

    make, line, code, message = CASES[case]
    make(tmp_path)
    before = {path: path.read_bytes() if path.is_file() else None for path in tmp_path.rglob("*")}
    said = sce(*line.split())
    assert said.err.splitlines()[-1] == f"sce: {message.format(version=package.__version__)}"
    assert (said.code, said.out) == (code, "")
    assert {path: path.read_bytes() if path.is_file() else None for path in tmp_path.rglob("*")} == before


def test_errors_are_one_line(sce, tmp_path):
    """Nothing else on standard error with --quiet, and no traceback unless it is asked for."""
    (tmp_path / "data.csv").write_text("a,b\n1,2\n3,\n")
    assert sce("embed", "data.csv", "--quiet").err.count("\n") == 1
    assert "Traceback" not in sce("embed", "data.csv").err
    assert "Traceback" in sce("embed", "data.csv", "--debug").err


def test_a_graph_that_is_not_symmetric(sce, tmp_path):
    """Is made so, with a warning."""
    sp.save_npz(tmp_path / "P.npz", sp.csr_matrix(np.roll(np.eye(30), 1, axis=1)))
    said = sce("embed", "--graph", "P.npz", "-o", "map.npz", "--quiet")
    assert said.code == 0
    assert said.err == (
        "Warning: The similarity graph is not symmetric (60 entries differ from their mirror images); (P + P') / 2 is used "
        "instead.\n"
    )


def test_a_graph_with_empty_rows(sce, tmp_path):
    """Is drawn, with a warning that names the rows."""
    P = np.roll(np.eye(30), 1, axis=1)
    P = P + P.T
    P[[3, 8]] = P[:, [3, 8]] = 0
    sp.save_npz(tmp_path / "P.npz", sp.csr_matrix(P))
    said = sce("embed", "--graph", "P.npz", "-o", "map.npz", "--quiet")
    assert said.code == 0
    assert said.err == ("Warning: 2 of 30 rows have no edge in the graph (rows 3, 8); nothing holds them in place.\n")


def test_a_full_disk_at_the_end_loses_no_work(sce, table, small_disk, tmp_path, monkeypatch):
    """The map is saved elsewhere, and where is said."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (small_disk / "stuff").write_bytes(bytes(60_000))
    said = sce("embed", "data.csv", "-o", small_disk / "map.npz", "--keep-graph", "--quiet", "--n-epochs", "2000")
    assert said.code == 4
    refuge = said.err.split("The map was saved as ")[1].removesuffix(" instead.\n")
    import sce as package

    assert len(package.load(refuge).Y) == 80
    assert [path.name for path in small_disk.iterdir()] == ["stuff"]


def test_an_error_of_our_own(sce, table, monkeypatch):
    """Is said to be one, with the way to report it."""
    monkeypatch.setattr("sce.data.preparation.make_dense", lambda table: 1 / 0)
    said = sce("embed", "data.csv", "--quiet")
    assert said.code == 1
    assert said.err == (
        "sce: Internal error (ZeroDivisionError: division by zero); please report it with the output of --debug.\n"
    )
