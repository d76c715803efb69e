"""Numbers from bytes, exactly as `float` reads them, about fifty times as fast.

A number of up to 19 digits and a power of ten of up to 22 is an integer times or over a power of ten that float64 represents
exactly. If the integer fits in 53 bits, one multiplication or division rounds correctly (Clinger). If not, it is done in
double the precision, and accepted where the error cannot change the rounding. Everything else is left to `float`.
:mod:`sce.data.text` says why no library is used.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sce.core.compiled import kernel

SKIP = -1  # for a column that is not read
_TENS = 10.0 ** np.arange(23)
_EXACT_UP_TO = 1 << 53  # integers up to this are floats
_SPLITTER = 134217729.0  # 2^27 + 1, which halves the bits of a float
_ERROR_FACTOR = 1.0 + 2.0**-30  # margin for rounding in the low part
_ZERO, _NINE, _PLUS, _MINUS, _POINT, _SPACE, _TAB, _RETURN, _LINE, _SMALL_E, _LARGE_E = b"09+-. \t\r\neE"


@kernel
def _product(a: Any, b: Any) -> Any:
    """a b exactly, as the sum of two floats (Dekker, Veltkamp)."""
    p = a * b
    t = _SPLITTER * a
    a_high = t - (t - a)
    a_low = a - a_high
    t = _SPLITTER * b
    b_high = t - (t - b)
    b_low = b - b_high
    return p, ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low


@kernel
def _scaled(mantissa: Any, power: Any, tens: Any) -> Any:
    """mantissa 10^power, correctly rounded, and whether that is certain."""
    high = np.float64(mantissa)
    ten = tens[abs(power)]
    if mantissa <= np.uint64(_EXACT_UP_TO):
        return (high / ten if power < 0 else high * ten), True
    low = np.float64(np.int64(mantissa - np.uint64(high)))  # may be negative
    if power < 0:
        first = high / ten
        p, e = _product(first, ten)
        rest = (((high - p) - e) + low) / ten
    else:
        first, e = _product(high, ten)
        rest = e + low * ten
    result = first + rest
    error = rest - (result - first)
    return result, result + error * _ERROR_FACTOR == result


@kernel
def _exponent(text: Any, a: Any, b: Any) -> Any:
    """The power of ten in text[a:b], which is empty or such as e-5, and whether it could be read."""
    if a == b:
        return 0, True
    if (text[a] != _SMALL_E and text[a] != _LARGE_E) or b - a > 6:
        return 0, False
    a += 1
    down = a < b and text[a] == _MINUS
    if a < b and (down or text[a] == _PLUS):
        a += 1
    power, good = 0, a < b
    while a < b:
        good &= _ZERO <= text[a] <= _NINE
        power = power * 10 + (text[a] - _ZERO)
        a += 1
    return -power if down else power, good


@kernel
def _number(text: Any, a: Any, b: Any, tens: Any) -> Any:
    """The number in text[a:b], and whether it could be read here."""
    while a < b and (text[a] == _SPACE or text[a] == _TAB):
        a += 1
    while b > a and (text[b - 1] == _SPACE or text[b - 1] == _TAB):
        b -= 1
    negative = a < b and text[a] == _MINUS
    if a < b and (negative or text[a] == _PLUS):
        a += 1
    mantissa, digits, decimals, seen, point = np.uint64(0), 0, 0, 0, False
    while a < b:
        c = text[a]
        if _ZERO <= c <= _NINE:
            seen += 1
            decimals += point
            if mantissa != 0 or c != _ZERO:
                digits += 1
                mantissa = mantissa * np.uint64(10) + np.uint64(c - _ZERO)
        elif c == _POINT and not point:
            point = True
        else:
            break
        a += 1
    power, good = _exponent(text, a, b)
    power -= decimals
    if not good or seen == 0 or digits > 19 or (mantissa != 0 and not -22 <= power <= 22):
        return 0.0, False
    value, certain = _scaled(mantissa, power, tens) if mantissa != 0 else (0.0, True)
    return (-value if negative else value), certain


class Rows(NamedTuple):
    """Arrays for the rows of a piece of text."""

    numbers: np.ndarray  # (rows, columns of numbers)
    spans: np.ndarray  # (rows, columns of text, 2): the begin and end of each text
    lines: np.ndarray  # (rows,): the line of each row, counted from 0
    odd: np.ndarray  # (cells, 4): row, column, begin and end of each cell that is left to `float`


@kernel
def _parse_rows(text: Any, separator: Any, places: Any, rows: Any, tens: Any) -> Any:
    """Split text into lines and cells; returns the counts of rows and odd cells, and the first ragged line, or -1."""
    width = places.size
    row, odd, line, at, n = 0, 0, 0, 0, text.size
    while at < n:
        end = at
        while end < n and text[end] != _LINE:
            end += 1
        last = end - 1 if end > at and text[end - 1] == _RETURN else end
        blank = True
        cells, begin, i = 0, at, at
        while i <= last:
            if i == last or text[i] == separator:
                if cells < width:
                    place = places[cells]
                    if place >= 0:
                        value, good = _number(text, begin, i, tens)
                        rows.numbers[row, place] = value
                        if not good:
                            rows.odd[odd, 0], rows.odd[odd, 1] = row, place
                            rows.odd[odd, 2], rows.odd[odd, 3] = begin, i
                            odd += 1
                    elif place < SKIP:
                        rows.spans[row, SKIP - 1 - place, 0] = begin
                        rows.spans[row, SKIP - 1 - place, 1] = i
                cells += 1
                begin = i + 1
            elif text[i] != _SPACE and text[i] != _TAB:
                blank = False
            i += 1
        if cells > 1 or not blank:
            if cells != width:
                return row, odd, line, cells
            rows.lines[row] = line
            row += 1
        elif odd > 0 and rows.odd[odd - 1, 0] == row:
            odd -= 1
        line += 1
        at = end + 1
    return row, odd, -1, 0


class Parsed(NamedTuple):
    """The rows of a piece of text; `wrong` is the first ragged line and its number of cells, or None."""

    rows: Rows
    wrong: tuple[int, int] | None


def parse_rows(text: bytes, separator: str, places: np.ndarray) -> Parsed:
    r"""The rows of complete lines of text without quotes.

    Parameters
    ----------
    text : bytes
    separator : str
        One character.
    places : ndarray of int
        For each column its place among the columns of numbers, or SKIP, or SKIP - 1 - k for the k-th column of text.

    Examples
    --------
    >>> rows, wrong = parse_rows(b"1,x,2.5\n3,y,none\n", ",", np.array([0, -2, 1]))
    >>> rows.numbers, rows.odd[:, :2], rows.spans[:, 0].tolist()
    (array([[1. , 2.5],
           [3. , 0. ]]), array([[1, 1]]), [[2, 3], [10, 11]])
    """
    data = np.frombuffer(text, np.uint8)
    most = int(np.count_nonzero(data == _LINE)) + 1
    count, words = int((places >= 0).sum()), int((places < SKIP).sum())
    rows = Rows(
        np.empty((most, count)),
        np.empty((most, words, 2), np.int64),
        np.empty(most, np.int64),
        np.empty((most * count + 1, 4), np.int64),
    )
    n, odd, line, cells = _parse_rows(data, ord(separator), places.astype(np.int64), rows, _TENS)
    found = Rows(rows.numbers[:n], rows.spans[:n], rows.lines[:n], rows.odd[:odd])
    return Parsed(found, None if line < 0 else (line, cells))


@kernel
def _parse_words(text: Any, numbers: Any, odd: Any, tens: Any) -> Any:
    """Numbers separated by white space; returns how many there are, and how many of them are odd."""
    count, strange, at, n = 0, 0, 0, text.size
    while at < n:
        while at < n and text[at] <= _SPACE:
            at += 1
        end = at
        while end < n and text[end] > _SPACE:
            end += 1
        if end == at:
            break
        if count == numbers.size:
            return count + 1, strange
        numbers[count], good = _number(text, at, end, tens)
        if not good:
            odd[strange, 0], odd[strange, 1], odd[strange, 2] = count, at, end
            strange += 1
            if strange == len(odd):
                return count + 1, strange
        count += 1
        at = end
    return count, strange


def parse_words(text: bytes, count: int) -> np.ndarray | None:
    r"""`count` numbers separated by white space; None if there are more or fewer. ValueError if one is not a number.

    Examples
    --------
    >>> parse_words(b"1 2.5\n-3e-2", 3), parse_words(b"1 2", 3)
    (array([ 1.  ,  2.5 , -0.03]), None)
    """
    data = np.frombuffer(text, np.uint8)
    numbers, odd = np.empty(count), np.empty((count + 1, 3), np.int64)
    found, strange = _parse_words(data, numbers, odd, _TENS)
    for place, begin, end in odd[:strange].tolist():
        numbers[place] = float(text[begin:end])
    return numbers if found == count else None
