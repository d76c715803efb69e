"""The command page of the documentation: ``python -m sce.cli.reference > docs/commands.md``."""

from __future__ import annotations

import sys

from sce.cli.catalog import COMMANDS, EXIT_CODES
from sce.cli.options import Command, Option


def page() -> str:
    """All commands and their options, as Markdown.

    Examples
    --------
    >>> "## sce embed" in page()
    True
    """
    parts = [_PAGE_HEAD, *(_section(command) for command in COMMANDS), _exit_codes()]
    return "\n".join(parts)


_PAGE_HEAD = """# The commands

`sce COMMAND --help` shows the same in a terminal; where there are many options, `--help` shows those that most people need, and
`--help-all` all of them. An error is one line on standard error. Stages, notes and warnings go to
standard error as well, so that standard output holds only the result: a text, or one JSON object with `--json`.
"""


def _section(command: Command) -> str:
    lines = [f"## sce {command.name}", "", f"    {command.usage}", "", command.description, ""]
    for group in command.groups:
        lines += [f"### {group.title[:1].upper()}{group.title[1:]}", "", "| | |", "|---|---|"]
        lines += [f"| `{option.usage}` | {_described(option)} |" for option in group.options]
        lines.append("")
    if command.examples:
        lines += ["Examples:", "", *(f"    {example}" for example in command.examples), ""]
    return "\n".join(lines)


def _described(option: Option) -> str:
    default = f" Default: `{option.default}`." if option.default is not None else ""
    return f"{option.help}.{default}".replace("|", "\\|")


def _exit_codes() -> str:
    rows = [f"| {code} | {meaning} |" for code, meaning in EXIT_CODES.items()]
    return "\n".join(["## Exit codes", "", "| code | meaning |", "|---|---|", *rows, ""])


if __name__ == "__main__":
    sys.stdout.write(page())
