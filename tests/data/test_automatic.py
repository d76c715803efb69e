"""What cannot be embedded is refused all at once; `auto` finds out what to do, says it, and does the same to new rows."""

import numpy as np
import pytest

import sce
from sce import InputError, read
from sce.data.preparation import FittedPreparation, Preparation
from sce.data.recipe import Recipe

RNG = np.random.default_rng(0)
HEADER = "PassengerId,Survived,Name,Sex,Age,Fare,Ticket,Cabin,Deck,Port,When"


def passenger(k):
    name, age = f'"Smith, Mr. {k}"', "" if k % 5 == 0 else f"{RNG.uniform(1, 80):.1f}"
    cabin, port = "" if k % 4 else f"C{k % 9}", "" if k == 7 else "SCQ"[k % 3]
    fare, when = f"{RNG.gamma(1, 40):.2f}", np.datetime64("1912-04-10") + k % 5
    return f"{k + 1},{k % 2},{name},{'female' if k % 3 else 'male'},{age},{fare},A/5 {k},{cabin},A,{port},{when}"


ROWS = [passenger(k) for k in range(120)]


@pytest.fixture
def titanic(tmp_path):
    """titanic.csv: everything that a table may hold."""
    path = tmp_path / "titanic.csv"
    path.write_text("\n".join([HEADER, *ROWS]))
    return path


def test_everything_is_refused_at_once(titanic):
    """With the columns, what is wrong with each, and every way out."""
    with pytest.raises(InputError) as caught:
        Preparation().fit(read(titanic, labels="Survived"))
    text = str(caught.value)
    for name in ("Sex", "Ticket", "Cabin", "Deck", "Port", "Age"):
        assert f"'{name}'" in text
    assert "text in 'Sex' (2 values: female, male)" in text
    assert "missing values in 'Age' (24 rows), 'Cabin' (90 rows), 'Port' (1 rows)" in text
    for way in ("auto=True", "one_hot=True", "labels='Sex'", 'missing="median"', "drop=['Sex', "):
        assert way in text


def test_auto_does_what_is_needed(titanic):
    """And says it: useless columns are left out, gaps filled, text encoded, columns scaled."""
    table = read(titanic, labels="Survived", auto=True)
    assert set(table.names) == {"Age", "Fare", "Port=C", "Port=Q", "Port=S", "Sex=female", "Sex=male"}
    assert np.isfinite(table.X).all()
    np.testing.assert_allclose(table.X[:, :2].std(axis=0), 1)
    assert table.used == ["Age", "Fare", "Sex", "Port"]
    assert (table.label_name, table.id_name, table.text) == ("Survived", "PassengerId", {})
    said = "; ".join(table.notes)
    for note in (
        "Left out (text that is different in most rows): Ticket",
        "Left out (mostly missing): Cabin",
        "Left out (the same everywhere): Deck",
        "Column 'When' holds dates",
        "Filled in the median for missing values in 25 rows",
        "Columns scaled (standard)",
        "Columns of text as 5 columns of 0 and 1: Sex, Port",
    ):
        assert note in said
    assert len(sce.SCE(random_state=0).fit(table.X).embedding_) == 120


def test_new_rows_are_prepared_in_the_same_way(titanic, tmp_path):
    """Also by a preparation that was saved, and where the new rows have other gaps."""
    table = read(titanic, labels="Survived")
    prepared, fitted = Preparation(auto=True).fit_transform(table)
    again = FittedPreparation.from_arrays(fitted.to_arrays())
    (tmp_path / "new.csv").write_text("\n".join([HEADER, *ROWS[:50]]))
    np.testing.assert_array_equal(again.apply(read(tmp_path / "new.csv", labels="Survived")).X, prepared.X[:50])
    row = ROWS[1].split(",")
    row[6] = ""  # the fare
    (tmp_path / "new.csv").write_text("\n".join([HEADER, *ROWS[:9], ",".join(row)]))
    assert np.isfinite(again.apply(read(tmp_path / "new.csv", labels="Survived")).X).all()
    recipe = Recipe.from_facts(Recipe(preparation=Preparation(auto=True)).facts())
    np.testing.assert_array_equal(recipe.preparation.fit_transform(table)[0].X, prepared.X)


def test_given_options_are_kept(titanic):
    """Auto decides only what is left open."""
    table = read(titanic, labels="Survived")
    prepared = Preparation(auto=True, missing="drop", normalize="none").fit_transform(table)[0]
    assert len(prepared.X) == 95
    assert prepared.X[:, 0].max() > 50
    kept = read(titanic, labels="Survived", keep=["Deck"], auto=True)
    assert "Deck=A" in kept.names


def test_numbers_of_one_kind_are_left_as_they_are(tmp_path):
    """No scaling where nothing asks for it; the columns without a name are numbered."""
    X = RNG.normal(size=(60, 5))
    X[:, 3] = 7
    X[4, 1] = np.nan
    np.save(tmp_path / "a.npy", X)
    table = read(tmp_path / "a.npy", auto=True)
    assert table.names == ["0", "1", "2", "4"]
    assert (table.X[:, 0] == X[:, 0]).all()
    assert table.X[4, 1] == np.nanmedian(X[:, 1])
    fitted = Preparation(auto=True).fit(read(tmp_path / "a.npy"))
    assert (fitted.apply(read(tmp_path / "a.npy")).X == table.X).all()


def test_ids_that_repeat_are_left_out(tmp_path):
    """By their names; a measured index is not."""
    rows = [f"{k // 4},{1.5 + k % 7 / 7},{k % 5}" for k in range(60)]
    (tmp_path / "a.csv").write_text("\n".join(["patient_id,refractive index,c", *rows]))
    table = read(tmp_path / "a.csv", auto=True)
    assert sorted(table.names) == ["c", "refractive index"]
    assert "Left out (ids by their names): patient_id" in table.notes


def test_nothing_left(tmp_path):
    """Is refused."""
    (tmp_path / "a.csv").write_text("a,b\n" + "1,\n" * 30)
    with pytest.raises(InputError, match="no column that can be embedded"):
        read(tmp_path / "a.csv", auto=True)


def test_many_columns_do_not_flood_the_message(tmp_path):
    """Eight of each kind are named."""
    names = [f"word{k}" for k in range(200)]
    row = ",".join(["prose " * 100] * 200)
    (tmp_path / "a.csv").write_text("\n".join([",".join(["a", *names]), f"1,{row}", f"2,{row}x", f"3,{row}"]))
    with pytest.raises(InputError, match="and 192 more columns") as caught:
        Preparation().fit(read(tmp_path / "a.csv", labels="none"))
    assert len(str(caught.value)) < 1200
