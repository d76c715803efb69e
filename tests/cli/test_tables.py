"""Tables as people have them: from the first message to a map that says which columns it is of."""

import shlex

import numpy as np

RNG = np.random.default_rng(0)


def write_people(path):
    rows = [
        f'{k + 1},"Smith, Mr. {k}",{"" if k % 6 == 0 else RNG.integers(1, 80)},{k % 2},{"male" if k % 3 else "female"}'
        for k in range(80)
    ]
    path.write_text("\n".join(["PassengerId,Name,Age,Survived,Sex", *rows]))


def test_the_command_of_the_message_works(sce, tmp_path):
    """With the user's own file and options; the log and the map say which columns were used."""
    write_people(tmp_path / "my people.csv")
    said = sce("embed", "my people.csv", "--labels", "Survived")
    assert said.code == 3
    command = said.err.splitlines()[-1].split("This works: ")[1]
    assert command == "sce embed 'my people.csv' --labels Survived --auto"
    said = sce(*shlex.split(command)[1:])
    assert said.code == 0
    assert "Columns used (2): Age, Sex." in said.err
    assert "Column 'Name' holds ids, and is not used as data; --keep Name uses it." in said.err
    said = sce("info", "my people.map.npz")
    assert "columns:     Age, Sex" in said.out
    assert "Smith" not in said.out
    assert sce("quality", "my people.map.npz", "--data", "my people.csv", "--quiet").code == 0


def test_dropped_names_are_not_in_the_map(sce, tmp_path):
    """Not a byte of them."""
    write_people(tmp_path / "people.csv")
    said = sce("embed", "people.csv", "--drop", "Name", "--auto", "--keep-data", "--keep-graph", "-o", "map.npz")
    assert said.code == 0
    with np.load(tmp_path / "map.npz") as file:
        assert not any("Smith" in str(file[name].tolist()) for name in file.files)


def test_labels_of_the_full_file_join_a_map_of_fewer_rows(sce, tmp_path):
    """Where rows with gaps were left out, also beside ids, and where copies were merged."""
    rows = [f"p{k:02},{'' if k % 10 == 3 else k % 7},{k % 4},{'uv'[k % 2]}" for k in range(80)]
    (tmp_path / "a.csv").write_text("\n".join(["id,a,b,kind", *rows]))
    said = sce(
        "embed", "a.csv", "--missing", "drop", "--merge-copies", "--labels", "none", "--drop", "kind", "-o", "m.npz"
    )
    assert said.code == 0
    assert "Merged exact copies: 72 rows are 28 points, weighted by their counts." in said.err
    import sce as package

    result = package.load(tmp_path / "m.npz")
    assert (len(result.Y), len(result.point_of_row), int((result.point_of_row < 0).sum())) == (28, 80, 8)
    assert "(of 80 rows of the data)" in sce("info", "m.npz").out
    assert sce("plot", "m.npz", "--labels", "a.csv:kind", "-o", "m.png").code == 0
    assert sce("quality", "m.npz", "--data", "a.csv", "--labels", "a.csv:kind", "--clusters", "a.csv:kind").code == 0
    said = sce("plot", "m.npz", "--labels", "a.csv:knd", "-o", "m.png")
    assert said.err.endswith("a.csv has no column 'knd'; did you mean 'kind'? It has id, a, b, kind.\n")


def test_the_warning_about_copies_names_the_option(sce, tmp_path):
    """Which then removes the cause."""
    np.save(tmp_path / "a.npy", np.repeat(RNG.normal(size=(30, 3)), 40, axis=0))
    said = sce("embed", "a.npy", "-o", "m.npz")
    assert "weighted by the number of its copies, with --merge-copies." in said.err
    said = sce("embed", "a.npy", "-o", "m.npz", "--merge-copies")
    assert said.code == 0
    assert "Warning" not in said.err
