"""Distances of two rows on vector registers, eight numbers at a time.

Numba leaves it to the compiler to find vectors, and in a sum it may find none: that would take another order of the terms
than the one written. So these two sums are written as vector instructions. Their order is fixed, four vectors of eight
numbers side by side, and the same for any width of the registers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 8
_SIDE_BY_SIDE = 4  # sums: an addition takes as long as four begin
_VECTOR = ir.VectorType(ir.FloatType(), LANES)
_WORDS = ir.VectorType(ir.IntType(32), LANES)
_CONTRACT = ("contract",)  # a product and a sum may become one instruction
_ROW = types.Array(types.float32, 1, "C")

Term = Callable[[Any, Any], Any]  # builder, vector of differences -> vector of terms


def _build_sum(context: Any, builder: Any, rows: Any, term: Term) -> Any:
    """The instructions that sum term(x - y) over two rows of equal length, a multiple of eight."""
    x, y = (context.make_array(_ROW)(context, builder, row) for row in rows)
    (n,) = cgutils.unpack_tuple(builder, x.shape, 1)
    sums = [cgutils.alloca_once_value(builder, ir.Constant(_VECTOR, [0.0] * LANES)) for _ in range(_SIDE_BY_SIDE)]

    def load(row: Any, place: Any) -> Any:
        return builder.load(builder.bitcast(builder.gep(row.data, [place]), _VECTOR.as_pointer()), align=4)

    def add(total: Any, place: Any) -> None:
        difference = builder.fsub(load(x, place), load(y, place))
        builder.store(builder.fadd(builder.load(total), term(builder, difference), flags=_CONTRACT), total)

    step = n.type(_SIDE_BY_SIDE * LANES)
    whole = builder.sub(n, builder.urem(n, step))
    with cgutils.for_range_slice(builder, n.type(0), whole, step) as (place, _):
        for number, total in enumerate(sums):
            add(total, builder.add(place, n.type(number * LANES)))
    with cgutils.for_range_slice(builder, whole, n, n.type(LANES)) as (place, _):
        add(sums[0], place)
    parts = [builder.load(total) for total in sums]
    vector = builder.fadd(builder.fadd(parts[0], parts[2]), builder.fadd(parts[1], parts[3]))
    terms = [builder.extract_element(vector, ir.IntType(32)(lane)) for lane in range(LANES)]
    while len(terms) > 1:
        half = len(terms) // 2
        terms = [builder.fadd(a, b) for a, b in zip(terms[:half], terms[half:], strict=True)]
    return terms[0]


def _square(builder: Any, z: Any) -> Any:
    return builder.fmul(z, z, flags=_CONTRACT)


def _absolute(builder: Any, z: Any) -> Any:
    words = builder.bitcast(z, _WORDS)
    return builder.bitcast(builder.and_(words, _WORDS([0x7FFFFFFF] * LANES)), _VECTOR)  # without the sign


@intrinsic
def sum_squares(_: Any, x: Any, y: Any) -> Any:  # noqa: ARG001
    """The sum of the squared differences of two rows of float32, whose length is a multiple of eight."""

    def build(context: Any, builder: Any, _: Any, rows: Any) -> Any:
        return _build_sum(context, builder, rows, _square)

    return types.float32(_ROW, _ROW), build


@intrinsic
def sum_absolutes(_: Any, x: Any, y: Any) -> Any:  # noqa: ARG001
    """The sum of the absolute differences of two rows of float32, whose length is a multiple of eight."""

    def build(context: Any, builder: Any, _: Any, rows: Any) -> Any:
        return _build_sum(context, builder, rows, _absolute)

    return types.float32(_ROW, _ROW), build
