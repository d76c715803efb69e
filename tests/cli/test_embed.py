"""`sce embed`: what comes out, for every way in."""

import contextlib
import inspect
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

import sce as package
from processes import run as run_python
from sce import SCE
from sce.cli.catalog import COMMANDS
from sce.cli.main import main

EMBED = next(command for command in COMMANDS if command.name == "embed")


def test_the_command_line_is_the_estimator(sce, table):
    """The same map as in Python, with labels, row numbers, parameters and what was recorded."""
    words = "-o map.npz --n-neighbors 7 --alpha 0.2 --seed 5 --n-epochs 30 --optimizer sampler"
    said = sce("embed", "data.csv", *words.split())
    assert said.code == 0, said.err
    made = package.load("map.npz")
    model = SCE(n_neighbors=7, alpha=0.2, random_state=5, n_epochs=30, optimizer="sampler").fit(table)
    assert (model.embedding_ == made.Y).all()
    assert made.r == model.scale_
    assert made.labels.tolist() == ["u", "v"] * 40
    assert made.label_name == "kind"
    assert made.ids.tolist() == list(range(80))
    assert (made.parameters["alpha"], made.parameters["n_neighbors"]) == (0.2, 7)
    assert made.facts["source"] == "data.csv"
    assert len(made.history["loss"]) == 30
    assert (made.P, made.X) == (None, None)


def test_every_parameter_has_an_option():
    """With the same default; callback and engine are for Python only, and verbose is the absence of --quiet."""
    signature = inspect.signature(SCE.__init__).parameters
    options = {option.parameter: option for option in EMBED.options if option.parameter}
    assert set(signature) - {"self", "callback", "verbose", "random_state", "engine"} == set(options)
    for name, option in options.items():
        assert option.default == signature[name].default, name


OTHER_VALUES = {
    "--n-components": 3, "--affinity": "knn", "--n-neighbors": 5, "--perplexity": 9, "--metric": "cosine", "--scale": 3,
    "--alpha": 0.9, "--n-epochs": 7, "--learning-rate": "0.5,0.1", "--n-repulsive": 2, "--init": "random", "--tol": 0.9,
    "--seed": 3, "--optimizer": "gradient",
}  # fmt: skip


@pytest.mark.parametrize("name", OTHER_VALUES)
def test_every_option_has_an_effect(sce, table, name):
    """Another value, another map."""
    base = ["embed", "data.csv", "--quiet", "--n-epochs", "20"]
    assert sce(*base, "-o", "a.npz").code == 0
    assert sce(*base, "-o", "b.npz", name, OTHER_VALUES[name]).code == 0
    a, b = package.load("a.npz").Y, package.load("b.npz").Y
    assert a.shape != b.shape or not np.allclose(a, b)


def test_exaggeration_goes_with_sne(sce, table):
    """And is refused elsewhere."""
    words = ["embed", "data.csv", "--quiet", "--n-epochs", "5", "--exaggeration", "4"]
    assert sce(*words, "--scale", "sne").code == 0
    assert sce(*words).code == 2


def test_every_format_gives_the_same_map(sce, table, tmp_path):
    """CSV, TSV, Parquet, Matrix Market dense and sparse, .npy, .npz, sparse .npz: the same bytes of Y."""
    X = np.round(table * 4)
    columns = dict(zip("abcd", X.T, strict=True))
    np.savetxt(tmp_path / "x.csv", X, delimiter=",", fmt="%.17g", header="a,b,c,d")
    np.savetxt(tmp_path / "x.tsv", X, delimiter="\t", fmt="%d")
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "small.npy", X.astype(np.int8))
    np.savez(tmp_path / "x.npz", X=X, y=np.arange(80) % 2)
    sp.save_npz(tmp_path / "sparse.npz", sp.csr_matrix(X))
    scipy.io.mmwrite(tmp_path / "dense.mtx", X)
    scipy.io.mmwrite(tmp_path / "sparse.mtx", sp.coo_matrix(X))
    names = ["x.csv", "x.tsv", "x.npy", "small.npy", "x.npz", "sparse.npz", "dense.mtx", "sparse.mtx"]
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        print("Parquet is left out: pyarrow is not installed")
    else:
        parquet.write_table(pa.table(columns), tmp_path / "x.parquet")
        names.append("x.parquet")
    maps = {}
    for name in names:
        said = sce("embed", name, "-o", "map.npz", "--quiet")
        assert (said.code, said.err) == (0, ""), name
        maps[name] = package.load("map.npz").Y.tobytes()
    assert {name for name, Y in maps.items() if maps["x.npy"] != Y} == set()


@pytest.mark.parametrize("options", [[], ["--metric", "cosine"], ["--log1p"], ["--normalize", "standard"]])
def test_sparse_files_stay_sparse(sce, tmp_path, monkeypatch, options):
    """Matrix Market, .npz and .h5ad prepared or not: never made dense, and the same map as in Python."""
    anndata = pytest.importorskip("anndata")
    rng = np.random.default_rng(0)
    X = sp.csr_matrix(rng.poisson(0.2, (150, 60)) * (1.0 + rng.integers(0, 3, 60)))
    sp.save_npz(tmp_path / "x.npz", X)
    scipy.io.mmwrite(tmp_path / "x.mtx", X)
    anndata.AnnData(X).write_h5ad(tmp_path / "x.h5ad")

    def refuse(*_, **__):
        raise AssertionError("a dense copy was made")

    for kind in (sp.csr_matrix, sp.csc_matrix, sp.coo_matrix, sp.csr_array):
        for name in ("toarray", "todense"):
            monkeypatch.setattr(kind, name, refuse)
    in_python = None
    if "--log1p" not in options and "--normalize" not in options:
        metric = options[1] if options else "euclidean"
        in_python = package.SCE(metric=metric, random_state=0, n_epochs=5).fit_transform(X)
    maps = []
    for name in ("x.npz", "x.mtx", "x.h5ad"):
        assert sce("embed", name, "-o", "map.npz", "--n-epochs", "5", "--quiet", *options).code == 0, name
        made = package.load("map.npz")
        maps.append(made.Y.tobytes())
        assert made.facts["neighbor_method"] == "inverted index"
    assert len(set(maps)) == 1
    assert in_python is None or in_python.tobytes() == maps[0]


def test_a_saved_graph_gives_the_same_map(sce, table):
    """With the data the very same one; without them one of the same graph. With other parameters no search is needed."""
    assert sce("embed", "data.csv", "-o", "a.npz", "--save-graph", "P.npz", "--quiet").code == 0
    assert sce("embed", "data.csv", "--graph", "P.npz", "-o", "b.npz", "--keep-graph", "--quiet").code == 0
    a, b = package.load("a.npz"), package.load("b.npz")
    assert (a.Y == b.Y).all()
    assert (sp.load_npz("P.npz") != b.P).nnz == 0
    assert b.facts["neighbor_method"] is None
    assert sce("embed", "--graph", "b.npz", "-o", "c.npz", "--quiet").code == 0
    assert package.load("c.npz").Y.shape == (80, 2)
    assert sce("embed", "data.csv", "--graph", "P.npz", "--n-neighbors", "5").code == 2


def test_graphs_and_distances_as_data(sce, table):
    """--affinity precomputed and --metric precomputed take square files."""
    from scipy.spatial.distance import cdist

    D = cdist(table, table)
    np.save("D.npy", D)
    np.save("S.npy", np.exp(-D))
    assert sce("embed", "D.npy", "--metric", "precomputed", "-o", "a.npz", "--quiet").code == 0
    assert (SCE(metric="precomputed", random_state=0).fit_transform(D) == package.load("a.npz").Y).all()
    assert sce("embed", "S.npy", "--affinity", "precomputed", "-o", "b.npz", "--quiet").code == 0
    assert (SCE(affinity="precomputed", random_state=0).fit_transform(np.exp(-D)) == package.load("b.npz").Y).all()


def test_the_start_from_a_file(sce, table):
    """An .npy, or the map of an earlier run."""
    assert sce("embed", "data.csv", "-o", "a.npz", "--quiet").code == 0
    np.save("start.npy", package.load("a.npz").Y)
    for start, out in (("a.npz", "b.npz"), ("start.npy", "c.npz")):
        assert sce("embed", "data.csv", "--init", start, "-o", out, "--quiet", "--n-epochs", "3").code == 0
    assert (package.load("b.npz").Y == package.load("c.npz").Y).all()
    assert package.load("b.npz").parameters["init"] == "a.npz"
    np.save("start.npy", np.zeros((7, 2)))
    said = sce("embed", "data.csv", "--init", "start.npy")
    assert "start.npy has 7 points, but there are 80 rows to embed" in said.err


def test_weights(sce, table, tmp_path):
    """From a column, which is then not data."""
    weights = 1 + np.arange(80) % 3
    np.savez("data.npz", X=np.column_stack([table, weights]))
    assert sce("embed", "data.npz", "--weights", "4", "-o", "a.npz", "--quiet").code == 0
    model = SCE(random_state=0).fit(table, sample_weight=weights)
    assert (model.embedding_ == package.load("a.npz").Y).all()


def test_preparation_and_rows(sce, tmp_path):
    """Columns chosen, rows left out and kept account of, text turned into numbers; all of it said and recorded."""
    lines = [f"r{i},{i % 9},{i * i % 11 if i != 4 else ''},{'xyz'[i % 3]},{'uv'[i % 2]}" for i in range(40)]
    (tmp_path / "data.csv").write_text("\n".join(["cell,a,b,t,kind", *lines]))
    words = [
        "embed",
        "data.csv",
        "--labels",
        "kind",
        "--missing",
        "drop",
        "--one-hot",
        "--normalize",
        "standard",
        "--keep-data",
    ]
    said = sce(*words, "-o", "map.npz")
    assert said.code == 0, said.err
    made = package.load("map.npz")
    assert made.X.shape == (39, 5)
    assert made.ids[3:5].tolist() == ["r3", "r5"]
    assert made.facts["preparation"] == {
        "missing": "drop", "normalize": "standard", "one_hot": True, "labels": "kind",
    }  # fmt: skip
    assert "Left out 1 rows with missing values." in said.err


def test_advice_on_scaling(sce, table, tmp_path):
    """Given where it is needed; silenced by saying what is wanted."""
    np.save("x.npy", table * [1, 1, 1, 500])
    assert "--normalize robust" in sce("embed", "x.npy", "-o", "map.npz").err
    assert "--normalize" not in sce("embed", "x.npy", "-o", "map.npz", "--normalize", "none").err


def test_lines_and_json(sce, table):
    """A line a stage where nobody is watching; JSON alone on standard output; silence with --quiet."""
    said = sce("embed", "data.csv", "-o", "map.npz")
    stages = [line.split(":")[0].split(" (")[0] for line in said.err.splitlines()]
    assert stages == ["Read data.csv", "Labels", "Columns used", "Graph", "Start", "Layout"]
    assert said.out.startswith("map.npz: 80 points, r = ")
    said = sce("embed", "data.csv", "-o", "map.npz", "--json", "--quiet", "--plot", "map.png")
    facts = json.loads(said.out)
    assert said.err == ""
    assert (facts["map"], facts["plot"], facts["points"], facts["label_name"]) == ("map.npz", "map.png", 80, "kind")
    assert facts["r"] == package.load("map.npz").r
    assert set(facts["seconds"]) == {"start", "read", "prepare", "embed", "write"}
    assert facts["warnings"] == []
    assert sce("embed", "data.csv", "--quiet").out == ""


def test_warnings_are_lines(sce, tmp_path):
    """Once each, without the place in the code, and in the JSON."""
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(8, 2)))
    said = sce("embed", "x.npy", "--n-neighbors", "15", "--json")
    assert (
        "Warning: --n-neighbors 15 was lowered to 3, half of the other rows, because there are only 8 rows.\n"
        in said.err
    )
    assert json.loads(said.out)["warnings"] == [
        "--n-neighbors 15 was lowered to 3, half of the other rows, because there are only 8 rows."
    ]


def test_the_default_output_is_named_after_the_data(sce, table):
    """In the present folder."""
    assert sce("embed", "data.csv", "--quiet").code == 0
    assert len(package.load("data.map.npz").Y) == 80


def test_a_bar_on_a_terminal(table, tmp_path, monkeypatch):
    """Which the line for the layout replaces."""
    pty = pytest.importorskip("pty", reason="needs a pseudo-terminal")
    import fcntl
    import struct
    import termios
    import threading

    monkeypatch.chdir(tmp_path)
    main_end, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
    seen = []

    def watch():
        with contextlib.suppress(OSError):  # the other side is closed
            while part := os.read(main_end, 4096):
                seen.append(part)

    reader = threading.Thread(target=watch)
    reader.start()
    words = ["embed", "data.csv", "--n-epochs", "50", "--optimizer", "sampler"]
    with open(side, "w", buffering=1) as terminal, contextlib.redirect_stderr(terminal):  # noqa: PTH123
        assert main(words) == 0
    reader.join()
    os.close(main_end)
    shown = b"".join(seen)
    assert b"%|" in shown
    assert b"\rLayout: 50 epochs, loss " in shown  # in the place of the bar


def test_help_comes_at_once():
    """Without NumPy, let alone anything larger."""
    heavy = ("numpy", "numba", "sklearn", "scipy", "matplotlib", "tqdm")
    code = "from sce.cli.main import main; import sys; main(['embed', '--help']);"
    code += f"print([m for m in {heavy} if m in sys.modules])"
    assert run_python(code).splitlines()[-1] == "[]"


def test_ctrl_c_leaves_nothing(sce, table, tmp_path, monkeypatch):
    """One line, exit code 130, no file."""

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("sce.layout.sampler.epochs._relative_change", stop)
    before = sorted(tmp_path.iterdir())
    said = sce("embed", "data.csv", "--tol", "0.1", "--quiet")
    assert (said.code, said.err) == (130, "sce: Interrupted; no incomplete file was left behind.\n")
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_signals_leave_no_part_of_a_file(sce, table, tmp_path, monkeypatch, name):
    """Sent while the map is being written."""
    number = getattr(signal, name)

    def write(file, arrays):
        file.write(b"half")
        file.flush()
        os.kill(os.getpid(), number)
        time.sleep(5)

    monkeypatch.setattr("sce.results.archive.write_npz", write)
    before = sorted(tmp_path.iterdir())
    # A background job is started with some of them ignored.
    usual = signal.signal(number, signal.default_int_handler if name == "SIGINT" else signal.SIG_DFL)
    try:
        said = sce("embed", "data.csv", "-o", "map.npz", "--quiet", "--n-epochs", "2")
    finally:
        signal.signal(number, usual)
    assert (said.code, said.err) == (130, "sce: Interrupted; no incomplete file was left behind.\n")
    assert sorted(tmp_path.iterdir()) == before


def test_streams_that_are_closed_full_or_not_read_to_the_end(table, tmp_path):
    """Standard error closed: standard output has the result only. Full: one sentence. A reader that goes away: no error."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

    def bash(line):
        text = f'sce() {{ "{sys.executable}" -m sce "$@"; }}; {line}'
        options = {"cwd": tmp_path, "env": environment, "text": True, "stdout": subprocess.PIPE}
        return subprocess.Popen(["bash", "-c", text], stderr=subprocess.PIPE, **options)

    def ended(process):
        out, err = process.communicate(timeout=300)
        return process.returncode, out, err

    assert json.loads(ended(bash("sce embed data.csv -o map.npz --json 2>&-"))[1])["points"] == 80
    full, left = bash("sce info map.npz > /dev/full"), bash("sce info map.npz | true; exit ${PIPESTATUS[0]}")
    wrong = bash("sce info absent.npz 2>&1 | true; exit ${PIPESTATUS[0]}")
    message = "sce: The result cannot be written to standard output: No space left on device.\n"
    assert ended(full) == (4, "", message)
    assert ended(left) == (0, "", "")
    assert ended(wrong) == (3, "", "")


def test_a_reader_of_the_stages_that_goes_away(table, tmp_path, monkeypatch):
    """`sce embed ... 2>&1 | true` goes on to the end of the work."""
    monkeypatch.chdir(tmp_path)
    reader, writer = os.pipe()
    os.close(reader)
    with contextlib.suppress(BrokenPipeError), open(writer, "w", buffering=1) as stages:  # noqa: PTH123
        with contextlib.redirect_stderr(stages):
            assert main(["embed", "data.csv", "-o", "map.npz"]) == 0
        with pytest.raises(BrokenPipeError):
            stages.write("nobody reads this\n")
    assert len(package.load("map.npz").Y) == 80


def test_a_column_of_embeddings(sce, tmp_path):
    """The data are the lists; the columns used are one name; a map of them is exported with its ids."""
    rng = np.random.default_rng(0)
    rows = [{"id": f"r{i}", "text": "x" * 50, "label": i % 2, "e": rng.normal(size=9).tolist()} for i in range(60)]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    said = sce("embed", "t.jsonl", "-o", "t.npz")
    assert (
        "Column 'e' is used as data, 9 numbers in each row; the other columns are not data, choose them with --columns"
        in said.err
    )
    assert "Columns used (9): e[0:9]." in said.err
    assert "e[0:9]\n" in sce("info", "t.npz").out
    assert "did you mean 'text'" in sce("embed", "t.jsonl", "--columns", "txt", "-o", "u.npz").err
