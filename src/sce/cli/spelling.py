"""Messages of the library in the words of the command line: ``missing="median"`` becomes ``--missing median``.

The library names parameters as a Python user writes them. Everything that a command prints passes through
:func:`as_options`, the only place that knows how an option is spelled.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from sce.cli.options import Option

# Parameters of the library whose options have other names.
_OTHER_NAMES = {"random_state": "--seed", "sample_weight": "--weights", "alphas": "--alpha", "cmap": "--colormap"}

_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_NUMBER = r"[-+]?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?"
_VALUE = rf"{_QUOTED}|\[(?:(?:{_QUOTED})(?:, )?)*\]|{_NUMBER}|[A-Za-z_]\w*"
_BEFORE = r"(?<![\w'\"./:=-])(?<!\w\()"  # not inside a name, a quotation, a path or a call
_AFTER = r"(?![\w/=])(?!\.\w)"


def as_options(text: str) -> str:
    """A message with parameters of the library as options of the command line.

    Three forms are translated: ``name=value``, ``name=`` alone, and a message that begins with ``name must``.

    Examples
    --------
    >>> print(as_options('add missing="median" or drop=["a b"], choose some with columns=, or add one_hot=True'))
    add --missing median or --drop 'a b', choose some with --columns, or add --one-hot
    >>> as_options("alpha must be a number from 0 to 1; got 2.0.")
    '--alpha must be a number from 0 to 1; got 2.0.'
    """
    for pattern, spell in _rules():
        text = pattern.sub(spell, text)
    return text


@cache
def _rules() -> list[tuple[re.Pattern[str], Callable[[re.Match[str]], str]]]:
    options = _options()
    names = "|".join(sorted(options, key=len, reverse=True))
    return [
        (re.compile(r"sce\.merge_copies\(X\), which gives X and sample_weight"), lambda _: "--merge-copies"),
        (re.compile(rf"^({names}) must "), lambda found: f"{options[found[1]].name} must "),
        (re.compile(rf"{_BEFORE}({names})=({_VALUE}){_AFTER}"), lambda found: _spelled(options[found[1]], found)),
        (re.compile(rf"{_BEFORE}({names})=(?![\w'\"\[])"), lambda found: options[found[1]].name),
    ]


def _options() -> dict[str, Option]:
    """All options of all commands, by the parameters of the library that they set."""
    from sce.cli.catalog import COMMANDS

    known = [option for command in COMMANDS for option in command.options if not option.is_argument]
    by_name = {option.name: option for option in known}
    return {option.key: option for option in known} | {name: by_name[of] for name, of in _OTHER_NAMES.items()}


def _spelled(option: Option, found: re.Match[str]) -> str:
    """``name=value`` as an option; unchanged where the value makes no sense on a command line."""
    import ast
    import shlex

    try:
        value: Any = ast.literal_eval(found[2])
    except (SyntaxError, ValueError):
        value = found[2]  # a word without quotes
    if value is None or value is False:
        return found[0]
    if option.flag:
        return option.name
    if isinstance(value, list):
        value = _joined(value)
    return f"{option.name} {shlex.quote(value if isinstance(value, str) else found[2])}"


def _joined(names: list[Any]) -> str:
    """Names with commas between them, as the command line takes them; quotes protect a comma in a name."""
    import csv
    import io

    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(names)
    return text.getvalue()
