r"""JavaScript as a list of tokens: enough to tell code from strings, templates, regular expressions and comments.

Written by hand: the joiner must not mistake a word in a string or comment for code, and esprima, the parser of JavaScript that
Python has, stopped at ES2017. A ``/`` is a division after a value, ``)``, ``]`` or ``}``, else it begins a regular expression;
that is wrong after ``if (x)`` and after a block, where the expression has to be made a constant first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from sce.errors import InputError

_BEFORE_EXPRESSION = frozenset(
    "return typeof case in of delete void throw new instanceof do else yield await extends default".split()  # noqa: SIM905
)
_PLAIN_TOKEN = re.compile(
    r"""
    (?P<space>\s+)
    | (?P<comment>//[^\n\r\u2028\u2029]*|/\*.*?\*/)
    | (?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    | (?P<word>[\w$]+)
    | (?P<mark>[^`"'\\])
    """,
    re.VERBOSE | re.DOTALL,
)
_REGEX = re.compile(r"/(?![*/])(?:[^/\\\[\n]|\\[^\n]|\[(?:[^\]\\\n]|\\[^\n])*\])+/\w*")
_TEMPLATE = re.compile(r"[`}](?:[^`\\$]|\\.|\$(?!\{))*(?:`|\$\{)", re.DOTALL)


class Token(NamedTuple):
    """A piece of source; all of them joined are the source again."""

    kind: str  # space, comment, string, template, regex, word, mark (one character)
    text: str
    start: int
    depth: int  # how many brackets are open around it


def tokens(name: str, source: str) -> Iterator[Token]:
    """The tokens of a source.

    Raises
    ------
    InputError
        At a string, template or comment without an end, and at brackets that do not match.

    Examples
    --------
    >>> [token.text for token in tokens("x.js", "a = `<${b}>` / 2; // half") if token.kind != "space"]
    ['a', '=', '`<${', 'b', '}>`', '/', '2', ';', '// half']
    """
    place, before = 0, ""
    open_: list[str] = []  # brackets, and "`" for an expression inside a template
    while place < len(source):
        kind, text = _next(name, source, place, before, open_)
        if kind == "template" and text[0] == "}" and text[-1] == "`":
            open_.pop()
        elif kind == "template" and text[0] == "`" and text[-1] == "{":
            yield Token(kind, text, place, len(open_))
            open_.append("`")
            place, before = place + len(text), "("
            continue
        if kind == "mark" and text in ")]}" and (not open_ or open_.pop() + text not in ("()", "[]", "{}")):
            raise _error(name, source, place, f"the bracket {text} has no partner")
        yield Token(kind, text, place, len(open_))
        if kind == "mark" and text in "([{":
            open_.append(text)
        if kind not in ("space", "comment"):
            before = _ending(kind, text)
        place += len(text)
    if open_:
        raise _error(name, source, len(source) - 1, f"the bracket {open_[-1]} is still open at the end")


def check_inline(text: str, element: str) -> None:
    """Refuse text that would end the element of a page that it is in."""
    if re.search(rf"</{element}|<!--", text, re.IGNORECASE) or "\0" in text:
        raise InputError(f"The text of a <{element}> must hold neither </{element}, nor <!--, nor a NUL.")


def line_of(source: str, place: int) -> int:
    """The number of the line, from 1, of a place in a source."""
    return source.count("\n", 0, place) + 1


def _next(name: str, source: str, place: int, before: str, open_: list[str]) -> tuple[str, str]:
    """The kind and text of the token at a place."""
    first = source[place]
    if first == "`" or (first == "}" and open_[-1:] == ["`"]):
        found = _TEMPLATE.match(source, place)
        if found is None:
            raise _error(name, source, place, "a template has no end")
        return "template", found.group()
    if first == "/" and before != "value" and (found := _REGEX.match(source, place)):
        return "regex", found.group()
    found = _PLAIN_TOKEN.match(source, place)
    if found is None or (first == "/" and source.startswith("/*", place) and found.lastgroup != "comment"):
        raise _error(name, source, place, "a string or comment has no end")
    return str(found.lastgroup), found.group()


def _ending(kind: str, text: str) -> str:
    """What came before: "value" if a division may follow."""
    if kind == "word":
        return "" if text in _BEFORE_EXPRESSION else "value"
    if kind == "template":
        return "value" if text[-1] == "`" else ""
    return "value" if kind in ("string", "regex") or text in ")]}" else ""


def _error(name: str, source: str, place: int, what: str) -> InputError:
    return InputError(f"{name}, line {line_of(source, place)}: {what}.")
