"""The container of arrays, and coordinates of 16 bits."""

import json
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sce.errors import InputError, ParameterError
from sce.web.packing import LEVELS, common_grid, pack, quantize, unpack

ARRAYS = st.dictionaries(
    st.text(max_size=8),
    hnp.arrays(
        st.sampled_from(["<u1", "<u2", "<u4", "<i4", "<f4", ">u2", ">i4", ">f4"]),
        hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5),
    ),
    max_size=5,
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
META = st.dictionaries(st.text(), VALUES, max_size=4)


@given(META, ARRAYS)
def test_everything_comes_back(meta, arrays):
    """Values, names, shapes, and the bits of all numbers, whatever order of bytes they came in."""
    container = pack(meta, arrays)
    values, found = unpack(container)
    assert values == meta
    assert list(found) == list(arrays)
    for name, array in arrays.items():
        assert found[name].shape == array.shape
        assert found[name].dtype == array.dtype.newbyteorder("<")
        assert found[name].tobytes() == array.astype(array.dtype.newbyteorder("<")).tobytes()


@given(META, ARRAYS)
def test_every_array_is_aligned(meta, arrays):
    """As JavaScript's typed arrays need it; and the header is plain JSON of the length that is said."""
    container = pack(meta, arrays)
    (length,) = struct.unpack_from("<I", container, 4)
    header = json.loads(container[8 : 8 + length].decode("ascii"))
    assert container[:4] == b"SCEB"
    end = 8 + length
    for entry in header["arrays"]:
        assert entry["offset"] % 8 == 0
        assert 0 <= entry["offset"] - end < 8
        assert not any(container[end : entry["offset"]])
        end = entry["offset"] + np.dtype(entry["dtype"]).itemsize * int(np.prod(entry["shape"]))
    assert 0 <= len(container) - end < 8


def test_slices_and_transposed_arrays_are_packed_in_order():
    """As they look, not as they lie in memory."""
    table = np.arange(12, dtype=np.int32).reshape(3, 4)
    arrays = {"columns": table.T, "some": table[::2, 1:]}
    found = unpack(pack({}, arrays))[1]
    assert all(np.array_equal(found[name], array) for name, array in arrays.items())


def test_half_a_character_travels():
    """Text from files may hold what UTF-8 cannot."""
    assert unpack(pack({"name": "caf\udce9"}, {}))[0] == {"name": "caf\udce9"}


@pytest.mark.parametrize("dtype", ["f8", "i8", "u8", "i2", "?", "U3", "O", "M8[s]", "c8"])
def test_other_kinds_are_refused(dtype):
    """By name, rather than made into something else."""
    with pytest.raises(ParameterError, match=r"The array 'x' is of .*; a container holds u1, u2"):
        pack({}, {"x": np.zeros(2, dtype)})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, b"x", np.float32(1)])
def test_what_json_cannot_hold_is_refused(value):
    """NaN among it: a browser could not read the header."""
    with pytest.raises(ParameterError, match="cannot be written as JSON"):
        pack({"value": value}, {})


@given(st.data())
def test_damaged_containers_are_refused(data):
    """Cut off or with other bytes: an error of one sentence, or arrays within the container; nothing else."""
    whole = pack({"n": 3}, {"a": np.arange(3, dtype=np.uint16), "b": np.ones((2, 2), np.float32)})
    kept = data.draw(st.integers(0, len(whole)))
    damaged = bytearray(whole[:kept])
    for place in data.draw(st.lists(st.integers(0, max(0, kept - 1)), max_size=3)) if kept else []:
        damaged[place] = data.draw(st.integers(0, 255))
    try:
        _, arrays = unpack(bytes(damaged))
    except InputError:
        return
    assert sum(array.nbytes for array in arrays.values()) <= 2 * len(whole)


COORDINATES = hnp.arrays(
    st.sampled_from([np.float32, np.float64]),
    st.tuples(st.integers(1, 30), st.integers(1, 3)),
    elements=st.floats(-(2.0**99), 2.0**99, width=32),
)


@given(COORDINATES)
def test_quantised_coordinates_are_near(Y):
    """To half a step on every axis, and the longest side has all the steps; one step for all, so that the shape is kept."""
    q, low, step = quantize(Y)
    assert q.dtype == np.uint16
    assert q.shape == Y.shape
    Y = Y.astype(np.float64)
    assert (np.abs(low + step * q - Y) <= 0.5 * step * (1 + 1e-9) + 1e-15 * np.abs(Y).max()).all()
    assert (q.min(axis=0) == 0).all()
    if np.ptp(Y, axis=0).max() > 1e-300:
        assert q.max() == LEVELS


def test_frames_share_one_grid():
    """So that a mix of two frames is a mix of their numbers."""
    frames = np.random.default_rng(0).normal(size=(3, 50, 2)) * np.array([1, 5, 20])[:, None, None]
    low, step = common_grid(frames)
    for frame in frames:
        q, own_low, own_step = quantize(frame, low, step)
        assert own_step == step
        assert own_low is low
        assert np.abs(low + step * q - frame).max() <= 0.5001 * step


def test_a_map_far_from_the_origin():
    """Loses nothing to 32-bit arithmetic."""
    Y = (1e6 + np.arange(0, 64, 0.0625)).astype(np.float32)[:, None]
    q, low, step = quantize(Y)
    assert np.abs(low + step * q - Y).max() <= 0.501 * step
    assert len(np.unique(q)) == len(Y)


@pytest.mark.parametrize("Y", [np.full((3, 2), 7.0), np.zeros((1, 1)), np.full((2, 3), 1e-310)])
def test_points_in_one_place(Y):
    """Have a grid, too."""
    q, low, step = quantize(Y)
    assert not q.any()
    assert step == 1.0
    assert np.array_equal(low, Y[0])


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_coordinates_that_are_not_finite(value):
    """Are an error, as is a map too wide for numbers."""
    with pytest.raises(ParameterError, match="not finite, or too far apart"):
        quantize(np.array([[0.0, 1.0], [value, 2.0]]))
    with pytest.raises(ParameterError, match="not finite, or too far apart"):
        quantize(np.array([[-1.5e308], [1.5e308]]))
    with pytest.raises(ParameterError, match="no points"):
        quantize(np.zeros((0, 2)))
