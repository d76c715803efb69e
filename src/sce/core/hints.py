"""Words in messages: the one that was probably meant, and lists of alternatives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

MOST_NAMES = 8  # of columns in a message


def nearest_words(value: object, words: Iterable[str], count: int = 1, likeness: float = 0.5) -> list[str]:
    """Up to `count` words that resemble a value, the likeliest first; none if all are less alike than `likeness`.

    Examples
    --------
    >>> nearest_words("entropc", ["entropic", "knn"])
    ['entropic']
    """
    import difflib  # on demand: most runs need no hint

    return difflib.get_close_matches(str(value), list(words), count, likeness)


def did_you_mean(value: object, words: Iterable[str], likeness: float = 0.5) -> str:
    """The end of a sentence: a question if a word resembles the value, else a full stop.

    Examples
    --------
    >>> did_you_mean("entropc", ["entropic", "knn"]), did_you_mean("?", ["entropic", "knn"])
    ("; did you mean 'entropic'?", '.')
    """
    near = nearest_words(value, words, likeness=likeness)
    return f"; did you mean {near[0]!r}?" if near else "."


def clipped(text: object, most: int = 40) -> str:
    r"""A text on one line, at most this long: a cell or a name may hold a page of prose.

    Examples
    --------
    >>> clipped("a  few\nwords"), clipped("many words " * 100, 15)
    ('a few words', 'many words m...')
    """
    line = " ".join(str(text)[: 4 * most].split())
    return line if len(line) <= most and len(str(text)) <= 4 * most else line[: most - 3] + "..."


def listed(names: Sequence[Any]) -> str:
    """Names of columns in a message, at most eight of them.

    Examples
    --------
    >>> listed(["a", "b"]), listed(range(10))
    ("'a', 'b'", '0, 1, 2, 3, 4, 5, 6, 7 and 2 more')
    """
    shown = ", ".join(repr(name) for name in names[:MOST_NAMES])
    return shown if len(names) <= MOST_NAMES else f"{shown} and {len(names) - MOST_NAMES} more"


def alternatives(words: Iterable[str]) -> str:
    """Words separated by commas, with an "or" before the last.

    Examples
    --------
    >>> alternatives(["a", "b", "c"]), alternatives(["a", "b"]), alternatives(["a"])
    ('a, b or c', 'a or b', 'a')
    """
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last
