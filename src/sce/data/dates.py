"""Dates written as text, as datetime64: ISO forms, and others where they can mean only one thing."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

_TIME = (
    r"(?:[T ]\s*(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?P<part>[.,]\d{1,9})?)?"
    r"\s*(?P<half>[AaPp]\.?[Mm]\.?)?\s*(?P<zone>Z|UTC|[-+]\d{2}:?\d{2})?)?"
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = rf"(?P<word>(?:{'|'.join(_MONTHS)})[a-z]*)\.?"
_YEAR = r"(?P<year>[12]\d{3})"
_FORMS = [
    re.compile(form + _TIME, re.IGNORECASE)
    for form in (
        rf"{_YEAR}-(?P<month>\d{{1,2}})(?:-(?P<day>\d{{1,2}}))?",
        rf"{_YEAR}/(?P<month>\d{{1,2}})/(?P<day>\d{{1,2}})",
        rf"{_YEAR}\.(?P<month>\d{{1,2}})\.(?P<day>\d{{1,2}})",
        rf"(?P<day>\d{{1,2}})\.(?P<month>\d{{1,2}})\.{_YEAR}",
        rf"(?P<day>\d{{1,2}})\.?[- ]{_MONTH}[-, ]\s*{_YEAR}",
        rf"{_MONTH} (?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? {_YEAR}",
    )
]
_EITHER = re.compile(rf"(?P<first>\d{{1,2}})(?P<mark>[/-])(?P<second_number>\d{{1,2}})(?P=mark){_YEAR}" + _TIME)


class Reading(NamedTuple):
    """What a column of text says as dates."""

    dates: np.ndarray | None  # datetime64, NaT where there is none; None if the column holds anything else
    ambiguous: str = ""  # a date of a column whose dates may be day/month or month/day


def read_dates(values: np.ndarray) -> Reading:
    """A column of text as dates, if all of it is dates of one form.

    Examples
    --------
    >>> read_dates(np.array(["2024-02-29", ""])).dates
    array(['2024-02-29',        'NaT'], dtype='datetime64[D]')
    >>> read_dates(np.array(["31/12/2023", "01/02/2024"])).dates
    array(['2023-12-31', '2024-02-01'], dtype='datetime64[D]')
    >>> read_dates(np.array(["03/04/2023", "01/02/2024"]))
    Reading(dates=None, ambiguous='03/04/2023')
    """
    words = [word.strip() for word in dict.fromkeys(values.tolist()) if isinstance(word, str) and word.strip()]
    if not words or not words[0][:1].isalnum() or not any(map(str.isdigit, words[0])):
        return Reading(None)
    for form in _FORMS:
        if form.fullmatch(words[0]):
            return Reading(_dates(values, form, words))
    if _EITHER.fullmatch(words[0]):
        return _by_either_order(values, words)
    return Reading(None)


def dates_of_numbers(values: np.ndarray) -> np.ndarray | None:
    """Numbers such as 20240229 as dates; None if they are anything else.

    >>> dates_of_numbers(np.array([20240229.0, np.nan])), dates_of_numbers(np.array([20240230]))
    (array(['2024-02-29',        'NaT'], dtype='datetime64[D]'), None)
    """
    numbers = values.astype(np.float64)
    present = numbers[~np.isnan(numbers)]
    if not len(present) or not ((present % 1 == 0) & (present > 18_000_000) & (present < 22_000_000)).all():
        return None
    words = ["" if number != number else f"{number:.0f}" for number in numbers.tolist()]  # noqa: PLR0124
    written = [f"{word[:4]}-{word[4:6]}-{word[6:]}" if word else "" for word in words]
    return read_dates(np.array(written, object)).dates


def _by_either_order(values: np.ndarray, words: list[str]) -> Reading:
    """Dates such as 3/4/2024, if some number above 12 says which is the day."""
    found = [_EITHER.fullmatch(word) for word in words]
    if not all(found):
        return Reading(None)
    firsts, seconds = ({int(each[k]) for each in found if each} for k in ("first", "second_number"))
    if max(firsts) <= 12 and max(seconds) <= 12:
        return Reading(None, words[0])
    day, month = ("first", "second_number") if max(firsts) > 12 else ("second_number", "first")
    return Reading(_dates(values, _EITHER, words, day, month))


def _dates(
    values: np.ndarray, form: re.Pattern[str], words: Iterable[str], day: str = "day", month: str = "month"
) -> np.ndarray | None:
    """The dates of one form; None if a word is none."""
    known: dict[str, str] = {}
    shifts: dict[str, int] = {}
    zoned: set[bool] = set()
    for word in words:
        found = form.fullmatch(word)
        if found is None:
            return None
        parts = found.groupdict()
        number = _MONTHS.index(parts["word"][:3].lower()) + 1 if parts.get("word") else int(parts[month])
        known[word] = f"{parts['year']}-{number:02}-{int(parts.get(day) or 1):02}{_clock(parts)}"
        shifts[word] = _shift(parts["zone"])
        zoned.add(parts["zone"] is None)
    if len(zoned) > 1:
        return None  # some have a time zone and others have none
    try:
        moments = {word: np.datetime64(text, "us") for word, text in known.items()}
    except ValueError:  # 30 February
        return None
    missing = np.datetime64("NaT", "us")
    dates = np.array(
        [
            moments[text] - np.timedelta64(shifts[text], "m") if (text := str(word).strip()) in moments else missing
            for word in values.tolist()
        ],
        "datetime64[us]",
    )
    return _in_plain_unit(dates)


def _clock(parts: dict[str, str | None]) -> str:
    """The time of day, on a clock of 24 hours."""
    if parts["hour"] is None:
        return ""
    hour = int(parts["hour"])
    half = (parts["half"] or "").lower()[:1]
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    fraction = (parts["part"] or "").replace(",", ".")[:7]
    return f"T{hour:02}:{parts['minute']}:{parts['second'] or '00'}{fraction}"


def _shift(zone: str | None) -> int:
    """The minutes by which a time zone is ahead of UTC."""
    if zone is None or zone.upper() in ("Z", "UTC"):
        return 0
    return (-1 if zone[0] == "-" else 1) * (60 * int(zone[1:3]) + int(zone[-2:]))


def _in_plain_unit(dates: np.ndarray) -> np.ndarray:
    """Days where there are no times of day, else seconds or microseconds."""
    present = dates[~np.isnat(dates)]
    for unit in ("datetime64[D]", "datetime64[s]"):
        if (present == present.astype(unit)).all():
            return dates.astype(unit)
    return dates


def as_days(dates: np.ndarray) -> np.ndarray:
    """Dates as days since 1970; NaN for NaT.

    >>> as_days(np.array(["1970-01-02T12", "NaT"], "datetime64[s]"))
    array([1.5, nan])
    """
    micro = dates.astype("datetime64[us]")
    return np.where(np.isnat(micro), np.nan, micro.astype(np.int64) / 86_400e6)
