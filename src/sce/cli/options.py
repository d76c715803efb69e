"""Commands and options as data; the parser and the command page of the documentation are both made from them.

They are named tuples, as is all that the help needs: the module dataclasses takes a fifth of the time of `sce --help`.
"""

from __future__ import annotations

import argparse
import csv
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn

from sce.core.hints import alternatives, nearest_words
from sce.errors import ParameterError

_MAX_SPAN_LENGTH = 1000  # numbers in FIRST:LAST:STEP


class Option(NamedTuple):
    """An option, or a positional argument if its name has no dashes.

    `parameter` is the parameter of :class:`sce.SCE` that the option sets; both have the same default.
    """

    name: str
    help: str
    metavar: str | None = None
    convert: Callable[[str], Any] = str
    default: Any = None
    short: str | None = None
    flag: bool = False
    required: bool = True  # for arguments only
    many: bool = False  # for arguments only: one or more of them
    parameter: str | None = None

    @property
    def key(self) -> str:
        """Its attribute in the parsed arguments."""
        return self.name.lstrip("-").replace("-", "_")

    @property
    def is_argument(self) -> bool:
        """Whether it is given by position, not by name."""
        return not self.name.startswith("-")

    @property
    def usage(self) -> str:
        """For example ``-o, --output FILE``."""
        if self.is_argument:
            return f"{self.metavar} ..." if self.many else str(self.metavar)
        names = ", ".join(name for name in (self.short, self.name) if name)
        return names if self.flag or self.metavar is None else f"{names} {self.metavar}"


class Group(NamedTuple):
    """Options that belong together, under a title."""

    title: str
    options: Sequence[Option]


class Command(NamedTuple):
    """A command: what it does, its options, examples, and its function ("module:function").

    `first` names what most people need; if there are any such options, --help shows them alone, and --help-all all of them.
    """

    name: str
    summary: str
    description: str
    groups: Sequence[Group]
    run: str
    examples: Sequence[str] = ()
    first: Sequence[str] = ()

    @property
    def options(self) -> list[Option]:
        """All options and arguments."""
        return [option for group in self.groups for option in group.options]

    @property
    def usage(self) -> str:
        """For example ``sce plot MAP [options]``."""
        arguments = [option for option in self.options if option.is_argument]
        shown = [option.usage if option.required else f"[{option.usage}]" for option in arguments]
        return " ".join(["sce", self.name, *map(str, shown), "[options]"])


# -------------------------------------------------------------------------------------------------------------- values


def whole(text: str) -> int:
    """A whole number."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"takes a whole number, not {text!r}") from None


def number(text: str) -> float:
    """A number."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"takes a number, not {text!r}") from None


def whole_or(*words: str) -> Callable[[str], int | str]:
    """A whole number or one of some words."""
    return lambda text: text if text in words else _or_words(whole, text, words)


def number_or(*words: str) -> Callable[[str], float | str]:
    """A number or one of some words."""
    return lambda text: text if text in words else _or_words(number, text, words)


def _or_words(convert: Callable[[str], Any], text: str, words: tuple[str, ...]) -> Any:
    try:
        return convert(text)
    except argparse.ArgumentTypeError:
        return choice(*words, others="a number")(text)


def choice(*words: str, others: str = "") -> Callable[[str], str]:
    """One of some words; another word is refused with a hint at the nearest."""

    def convert(text: str) -> str:
        if text not in words:
            listed = alternatives([*words, *([others] if others else [])])
            raise argparse.ArgumentTypeError(f"takes {listed}, not {text!r}{nearest(text, words)}")
        return text

    return convert


def names(text: str) -> list[str]:
    """Names separated by commas; quotes protect a comma in a name."""
    return [name.strip() for name in next(csv.reader([text], skipinitialspace=True), []) if name.strip()]


def palette(text: str) -> str | list[str] | dict[str, str]:
    """The name of a palette, colours separated by commas, or a colour for each class.

    >>> palette("Set2"), palette("red, #1b9e77"), palette("a=red,b=#1b9e77")
    ('Set2', ['red', '#1b9e77'], {'a': 'red', 'b': '#1b9e77'})
    """
    parts = names(text)
    if parts and all("=" in part for part in parts):
        return {name.strip(): color.strip() for name, _, color in (part.rpartition("=") for part in parts)}
    return parts if len(parts) > 1 or text.startswith("#") else text


def rates(text: str) -> float | tuple[float, float] | str:
    """A number, two separated by a comma, or auto."""
    if text == "auto":
        return text
    parts = text.split(",")
    if len(parts) > 2:
        raise argparse.ArgumentTypeError(
            f"takes a number, the initial and the final rate as 1,0.1, or auto; not {text!r}"
        )
    return number(text) if len(parts) == 1 else (number(parts[0]), number(parts[1]))


def span(text: str) -> list[float]:
    """Numbers as FIRST:LAST:STEP, or separated by commas.

    Examples
    --------
    >>> span("0:1:0.25"), span("0,2.5")
    ([0.0, 0.25, 0.5, 0.75, 1.0], [0.0, 2.5])
    """
    try:
        if ":" not in text:
            return [float(part) for part in text.split(",")]
        first, last, step = (float(part) for part in text.split(":"))
        count = int((last - first) / step + 1e-9) + 1
    except (ValueError, ZeroDivisionError, OverflowError):
        count = 0
    if not 1 <= count <= _MAX_SPAN_LENGTH:
        raise argparse.ArgumentTypeError(
            f"takes FIRST:LAST:STEP such as 0:8:0.25, of up to {_MAX_SPAN_LENGTH:,} numbers, or numbers separated by commas; "
            f"not {text!r}"
        )
    return [round(first + k * step, 10) for k in range(count)]


def number_or_span(text: str) -> float | list[float]:
    """A number, or several."""
    return number(text) if ":" not in text and "," not in text else span(text)


def nearest(text: str, words: Sequence[str]) -> str:
    """A hint at the most similar word, if there is one."""
    near = nearest_words(text, words)
    return f"; did you mean {near[0]}?" if near else ""


# -------------------------------------------------------------------------------------------------------------- parser


class UsageError(ParameterError):
    """The command line is not valid."""


class _Parser(argparse.ArgumentParser):
    """A parser that raises an error of one sentence instead of printing usage and exiting; -1:5:1 is a value, as -1 is."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._negative_number_matcher = re.compile(r"-[0-9.][0-9.,:e+-]*")

    def error(self, message: str) -> NoReturn:
        message = message.removeprefix("argument ")
        name, colon, rest = message.partition(": ")
        if colon and name.startswith("-"):
            message = f"{name.split('/')[-1]} {rest}"
        raise UsageError(f"{message[:1].upper() + message[1:]} (see {self.prog} --help).")


def make_parser(commands: Sequence[Command], version: str) -> argparse.ArgumentParser:
    """The parser of `sce`."""
    width = max(len(command.name) for command in commands)
    listed = "\n".join(f"  {command.name:<{width}}  {command.summary}" for command in commands)
    parser = _Parser(
        prog="sce",
        usage="sce COMMAND ...",
        description="See the clusters in your data: Stochastic Cluster Embedding.",
        epilog=f"commands:\n{listed}\n\nTo begin: sce demo\nMore on a command: sce COMMAND --help",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"sce {version}")
    children = parser.add_subparsers(dest="command", title=argparse.SUPPRESS, help=argparse.SUPPRESS, metavar="COMMAND")
    for command in commands:
        _add_command(children, command)
    return parser


class _HelpForAll(argparse.Action):
    """Print the help with all options, and exit."""

    def __init__(self, option_strings: Sequence[str], dest: str, command: Command, **_: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, help="show all options")
        self._command = command

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        command = self._command._replace(first=())
        full = _Parser(**_described(command))
        _add_options(full, command)
        full.print_help()
        parser.exit()


def _add_command(children: Any, command: Command) -> None:
    child = children.add_parser(command.name, **_described(command))
    if command.first:
        child.add_argument("--help-all", action=_HelpForAll, command=command)
    _add_options(child, command)


def _described(command: Command) -> dict[str, Any]:
    """The head and the end of the help of a command."""
    examples = "\n".join(f"  {example}" for example in command.examples)
    hidden = len(command.options) - len(command.first)
    more = f"\n\n{hidden} more options: sce {command.name} --help-all" if command.first else ""
    return {
        "prog": f"sce {command.name}",
        "usage": command.usage,
        "description": command.description,
        "epilog": f"examples:\n{examples}{more}" if examples else None,
        "formatter_class": argparse.RawDescriptionHelpFormatter,
        "allow_abbrev": False,
    }


def _add_options(parser: argparse.ArgumentParser, command: Command) -> None:
    """All options, of which the help shows those that most people need."""
    for group in command.groups:
        shown = [option for option in group.options if not command.first or option.name in command.first]
        section = parser.add_argument_group(group.title) if shown else parser
        for option in group.options:
            _add_option(section if option in shown else parser, option, hidden=option not in shown)


def _add_option(section: Any, option: Option, *, hidden: bool = False) -> None:
    text = option.help.replace("%", "%%")
    if option.flag:
        section.add_argument(option.name, action="store_true", help=argparse.SUPPRESS if hidden else text)
        return
    if option.is_argument:
        count = "+" if option.many else None if option.required else "?"
        section.add_argument(option.name, nargs=count, metavar=option.metavar, type=option.convert, help=text)
        return
    shown = f"{text} (default: {option.default})" if option.default is not None else text
    flags = [name for name in (option.short, option.name) if name]
    # None means "not given": the defaults of SCE are defined in one place only.
    default = None if option.parameter else option.default
    section.add_argument(
        *flags,
        metavar=option.metavar,
        type=option.convert,
        default=default,
        help=argparse.SUPPRESS if hidden else shown,
    )
