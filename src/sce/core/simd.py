"""The innermost loops, written as vector instructions: distances of two rows, scalar products, pulls and pushes of points.

Numba leaves vectorisation to the compiler. It cannot vectorise a sum, because that would change the order of the terms, and it
does so poorly where the coordinates of a point are interleaved. Here the order is fixed, and the same for any register width.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 8
_FLOAT_ROW = types.Array(types.float32, 1, "C")
_FLOAT_VECTOR = ir.VectorType(ir.FloatType(), LANES)
_POINTS_VECTOR = ir.VectorType(ir.FloatType(), 2 * LANES)  # x and y of a point, then of the next
_POINT_VECTOR = ir.VectorType(ir.FloatType(), 2)
TILE_ROWS, TILE_COLUMNS = 6, 2 * LANES  # of a tile of scalar products
_TILE_VECTOR = ir.VectorType(ir.FloatType(), TILE_COLUMNS)
_DOUBLE_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_CONTRACT = ("contract",)  # a product and a sum may become one instruction
_SUMS_SIDE_BY_SIDE = 4  # an addition takes as long as it takes to start four

Term = Callable[[Any, Any, Any], Any]  # builder, vector of differences, bits of a number -> vector of terms


def _add_lanes(builder: Any, vector: Any) -> Any:
    """The sum of the numbers in a vector, by halves."""
    terms = [builder.extract_element(vector, ir.IntType(32)(lane)) for lane in range(LANES)]
    while len(terms) > 1:
        half = len(terms) // 2
        terms = [builder.fadd(a, b) for a, b in zip(terms[:half], terms[half:], strict=True)]
    return terms[0]


# ------------------------------------------------------------------------------------------------------------- distances


def _sum_over(rows: tuple[Any, Any], term: Term) -> Any:
    """The signature and the instructions of a sum of term(x - y) over two rows, both of float32 or both of float64."""
    kind = types.float64 if types.float64 in (rows[0].dtype, rows[1].dtype) else types.float32
    row = types.Array(kind, 1, "C")

    def build(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        return _build_sum(context, builder, row, arguments, term)

    return kind(row, row), build


def _build_sum(context: Any, builder: Any, row: Any, rows: Any, term: Term) -> Any:
    """The instructions that sum term(x - y) over two rows of equal length, a multiple of eight."""
    bits = row.dtype.bitwidth
    vector = _FLOAT_VECTOR if bits == 32 else _DOUBLE_VECTOR
    x, y = (context.make_array(row)(context, builder, one) for one in rows)
    (n,) = cgutils.unpack_tuple(builder, x.shape, 1)
    sums = [cgutils.alloca_once_value(builder, ir.Constant(vector, [0.0] * LANES)) for _ in range(_SUMS_SIDE_BY_SIDE)]

    def load(row: Any, place: Any) -> Any:
        return builder.load(builder.bitcast(builder.gep(row.data, [place]), vector.as_pointer()), align=bits // 8)

    def add(total: Any, place: Any) -> None:
        difference = builder.fsub(load(x, place), load(y, place))
        builder.store(builder.fadd(builder.load(total), term(builder, difference, bits), flags=_CONTRACT), total)

    step = n.type(_SUMS_SIDE_BY_SIDE * LANES)
    whole = builder.sub(n, builder.urem(n, step))
    with cgutils.for_range_slice(builder, n.type(0), whole, step) as (place, _):
        for number, total in enumerate(sums):
            add(total, builder.add(place, n.type(number * LANES)))
    with cgutils.for_range_slice(builder, whole, n, n.type(LANES)) as (place, _):
        add(sums[0], place)
    parts = [builder.load(total) for total in sums]
    return _add_lanes(builder, builder.fadd(builder.fadd(parts[0], parts[2]), builder.fadd(parts[1], parts[3])))


def _square(builder: Any, z: Any, _: Any) -> Any:
    return builder.fmul(z, z, flags=_CONTRACT)


def _absolute(builder: Any, z: Any, bits: Any) -> Any:
    words = ir.VectorType(ir.IntType(bits), LANES)
    without_sign = builder.and_(builder.bitcast(z, words), words([(1 << (bits - 1)) - 1] * LANES))
    return builder.bitcast(without_sign, z.type)


@intrinsic
def sum_squares(_: Any, x: Any, y: Any) -> Any:
    """The sum of the squared differences of two rows of float32, or float64, whose length is a multiple of eight."""
    return _sum_over((x, y), _square)


@intrinsic
def sum_absolutes(_: Any, x: Any, y: Any) -> Any:
    """The sum of the absolute differences of two rows of float32, or float64, whose length is a multiple of eight."""
    return _sum_over((x, y), _absolute)


# ------------------------------------------------------------------------------------------------------- scalar products


@intrinsic
def add_products(
    _: Any,
    sums: Any,  # noqa: ARG001
    place: Any,
    width: Any,
    A: Any,  # noqa: ARG001
    a: Any,
    B: Any,  # noqa: ARG001
    b: Any,
    count: Any,
) -> Any:
    """Add to sums[place + i width + j] the sum over k of A[a + 6 k + i] B[b + 16 k + j], for i < 6 and j < 16, k < count.

    Six rows times sixteen: that many sums stay in registers, and each is taken in the order of k, from zero.
    """

    def build(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        sums, A, B = (context.make_array(_FLOAT_ROW)(context, builder, arguments[at]).data for at in (0, 3, 5))
        place, width, a, b, count = (arguments[at] for at in (1, 2, 4, 6, 7))
        number = count.type
        zero = ir.Constant(_TILE_VECTOR, [0.0] * TILE_COLUMNS)
        totals = [cgutils.alloca_once_value(builder, zero) for _ in range(TILE_ROWS)]

        def row(start: Any, offset: Any) -> Any:
            return builder.bitcast(builder.gep(start, [offset]), _TILE_VECTOR.as_pointer())

        with cgutils.for_range(builder, count) as loop:
            y = builder.load(row(B, builder.add(b, builder.mul(loop.index, number(TILE_COLUMNS)))), align=4)
            first = builder.add(a, builder.mul(loop.index, number(TILE_ROWS)))
            for i, total in enumerate(totals):
                x = _fill(builder, builder.load(builder.gep(A, [builder.add(first, number(i))])), _TILE_VECTOR)
                product = builder.fmul(x, y, flags=_CONTRACT)
                builder.store(builder.fadd(builder.load(total), product, flags=_CONTRACT), total)
        for i, total in enumerate(totals):
            target = row(sums, builder.add(place, builder.mul(number(i), width)))
            builder.store(builder.fadd(builder.load(target, align=4), builder.load(total)), target, align=4)
        return context.get_dummy_value()

    numbers = types.int64, types.int64, types.int64, types.int64, types.int64
    place, width, a, b, count = numbers
    return types.void(_FLOAT_ROW, place, width, _FLOAT_ROW, a, _FLOAT_ROW, b, count), build


# ------------------------------------------------------------------------------------------------------ pulls and pushes


def _pick(builder: Any, vector: Any, lanes: list[int]) -> Any:
    """The numbers in these lanes of a vector, in their order."""
    mask = ir.VectorType(ir.IntType(32), len(lanes))(lanes)
    return builder.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), mask)


def _fill(builder: Any, value: Any, kind: Any) -> Any:
    """A vector with the same number in every lane."""
    first = builder.insert_element(ir.Constant(kind, ir.Undefined), value, ir.IntType(32)(0))
    return _pick(builder, first, [0] * kind.count)


def _point(context: Any, builder: Any, row: Any, number: Any, kind: Any) -> Any:
    """The address of a point of a row of coordinates, as that of a vector."""
    start = context.make_array(_FLOAT_ROW)(context, builder, row).data
    return builder.bitcast(builder.gep(start, [builder.mul(number, number.type(2))]), kind.as_pointer())


@intrinsic
def pull_pair(_: Any, A: Any, B: Any, i: Any, j: Any, gain: Any) -> Any:  # noqa: ARG001
    """Pull points i of A and j of B together, as sampler.pull does; returns 1 + the square of their distance before."""

    def build(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        rows, numbers, gain = arguments[:2], arguments[2:4], arguments[4]
        a, b = (_point(context, builder, *which, _POINT_VECTOR) for which in zip(rows, numbers, strict=True))
        A, B = (builder.load(place, align=4) for place in (a, b))
        gap = builder.fsub(A, B)
        square = builder.fmul(gap, gap)
        one = ir.FloatType()(1.0)
        u = builder.fadd(one, builder.extract_element(square, ir.IntType(32)(0)))
        u = builder.fadd(u, builder.extract_element(square, ir.IntType(32)(1)))
        move = builder.fmul(_fill(builder, builder.fmul(gain, builder.fdiv(one, u)), _POINT_VECTOR), gap)
        builder.store(builder.fsub(A, move), a, align=4)
        builder.store(builder.fadd(B, move), b, align=4)
        return u

    return types.float32(_FLOAT_ROW, _FLOAT_ROW, types.uint64, types.uint64, types.float32), build


def _push_eight(builder: Any, a: Any, b: Any, gain: Any, limit: Any) -> Any:
    """Push eight pairs of points, whose coordinates are at a and b, apart; returns their q."""
    A, B = (builder.load(place, align=4) for place in (a, b))
    gap = builder.fsub(A, B)
    square = builder.fmul(gap, gap)
    one = ir.Constant(_FLOAT_VECTOR, [1.0] * LANES)
    u = builder.fadd(one, _pick(builder, square, list(range(0, 2 * LANES, 2))))
    u = builder.fadd(u, _pick(builder, square, list(range(1, 2 * LANES, 2))))
    q = builder.fdiv(one, u)
    strength = builder.fmul(builder.fmul(_fill(builder, gain, _FLOAT_VECTOR), q), q)
    move = builder.fmul(_pick(builder, strength, [lane // 2 for lane in range(2 * LANES)]), gap)
    most = _fill(builder, limit, _POINTS_VECTOR)
    least = builder.fneg(most)
    move = builder.select(builder.fcmp_ordered("<", most, move), most, move)
    move = builder.select(builder.fcmp_ordered(">", least, move), least, move)
    builder.store(builder.fadd(A, move), a, align=4)
    builder.store(builder.fsub(B, move), b, align=4)
    return q


@intrinsic
def push_eights(_: Any, A: Any, B: Any, i: Any, j: Any, n: Any, gain: Any, limit: Any) -> Any:  # noqa: ARG001
    """Push points i + k of A and j + k of B apart for k < n, all different, n a multiple of eight; the sum of their q.

    A and B have two coordinates for each point, one point after the other. Each number is computed in the order of the plain
    loops of sampler.push, without fused operations.
    """

    def build(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        rows, (first_a, first_b, count), (gain, limit) = arguments[:2], arguments[2:5], arguments[5:]
        total = cgutils.alloca_once_value(builder, ir.Constant(_DOUBLE_VECTOR, [0.0] * LANES))
        with cgutils.for_range_slice(builder, count.type(0), count, count.type(LANES)) as (k, _):
            numbers = builder.add(first_a, k), builder.add(first_b, k)
            a, b = (_point(context, builder, *which, _POINTS_VECTOR) for which in zip(rows, numbers, strict=True))
            q = _push_eight(builder, a, b, gain, limit)
            builder.store(builder.fadd(builder.load(total), builder.fpext(q, _DOUBLE_VECTOR)), total)
        return _add_lanes(builder, builder.load(total))

    numbers = types.uint64, types.uint64, types.uint64, types.float32, types.float32
    return types.float64(_FLOAT_ROW, _FLOAT_ROW, *numbers), build
