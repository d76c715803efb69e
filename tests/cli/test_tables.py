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
