"""The entry point of the command line: parse, run a command, turn errors into one line and an exit code.

Nothing but the standard library is imported before a command runs, so that --help is immediate.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import shlex
import sys
import warnings
from collections.abc import Sequence
from typing import Any

from sce.cli.catalog import COMMANDS
from sce.cli.console import Console
from sce.cli.options import Command, UsageError, make_parser, nearest
from sce.cli.spelling import as_options
from sce.errors import OutputError, ParameterError, SCEError

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns one of :data:`sce.cli.catalog.EXIT_CODES`.

    Examples
    --------
    >>> main(["info"])
    2
    """
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    _open_streams()
    _handle_signals()
    debug = "--debug" in arguments
    try:
        with warnings.catch_warnings(), contextlib.redirect_stderr(sys.stderr):  # both are restored at the end
            return _run(arguments)
    except KeyboardInterrupt:
        return _fail("Interrupted; no incomplete file was left behind.", 130, debug)
    except BrokenPipeError:  # the reader of the result has gone, as `head` does
        _discard(sys.stdout)
        return 0
    except SCEError as error:
        code = 2 if isinstance(error, ParameterError) else 4 if isinstance(error, OutputError) else 3
        return _fail(as_options(str(error)) + _remedy(error, arguments), code, debug)
    except MemoryError:
        return _fail("Out of memory; use fewer rows, or fewer columns with --pca 50.", 3, debug)
    except Exception as error:  # noqa: BLE001
        text = f"Internal error ({type(error).__name__}: {error}); please report it with the output of --debug."
        return _fail(text, 1, debug)


def _remedy(error: SCEError, arguments: list[str]) -> str:
    """The same command with the option that deals with an error, if there is one."""
    option = as_options(getattr(error, "remedy", ""))
    command = next((command for command in COMMANDS if command.name == arguments[0]), None)
    if command is None or option not in [each.name for each in command.options] or option in arguments:
        return ""
    return f" This works: {shlex.join(['sce', *arguments, option])}"


def _run(arguments: list[str]) -> int:
    from sce import __version__
    from sce.core.progress import silence

    parser = make_parser(COMMANDS, __version__)
    if not arguments:
        parser.print_help()
        return 0
    _check_command(arguments[0])
    try:
        parsed, unknown = parser.parse_known_args(arguments)
    except SystemExit as stop:  # --help and --version have been shown
        return int(stop.code or 0)
    command = next(command for command in COMMANDS if command.name == parsed.command)
    if unknown:
        _refuse_argument(unknown[0], command)
    console = Console(quiet=parsed.quiet, as_json=parsed.json, debug=parsed.debug)
    console.install()
    with silence(parsed.quiet):
        run_command(command, parsed, console)
    return 0


def _open_streams() -> None:
    """Replace a closed standard output or error by the null device; print would use the other one instead."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: PTH123, SIM115


def _handle_signals() -> None:
    """Treat SIGTERM and a closed terminal as Ctrl-C, so that no incomplete file is left behind."""
    import signal
    import threading

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is threading.main_thread():
        for name in ("SIGTERM", "SIGHUP"):
            if hasattr(signal, name) and signal.getsignal(getattr(signal, name)) is signal.SIG_DFL:
                signal.signal(getattr(signal, name), stop)


def run_command(command: Command, parsed: Any, console: Console) -> None:
    """Import the function of a command and call it."""
    module, name = command.run.split(":")
    getattr(importlib.import_module(module), name)(parsed, console)


def _check_command(name: str) -> None:
    known = [command.name for command in COMMANDS]
    if name.startswith("-") and name not in ("-h", "--help", "--version"):
        raise UsageError(f"Begin with a command ({', '.join(known)}); {name} goes after it (see sce --help).")
    if not name.startswith("-") and name not in known:
        raise UsageError(f"There is no command {name!r}{nearest(name, known)} (see sce --help).")


def _refuse_argument(argument: str, command: Command) -> None:
    """Refuse an argument that the command does not have."""
    known = [option.name for option in command.options]
    if not argument.startswith("-"):
        raise UsageError(f"Unexpected argument {argument!r} (see sce {command.name} --help).")
    near = nearest(argument.split("=", maxsplit=1)[0], known)
    raise UsageError(f"There is no option {argument!r}{near} (see sce {command.name} --help).")


def _fail(text: str, code: int, debug: bool) -> int:
    try:
        if debug and code != 130:
            import traceback

            traceback.print_exc()
        print(f"sce: {' '.join(text.split())}", file=sys.stderr, flush=True)  # noqa: T201
    except BrokenPipeError:  # nobody reads the message, but the exit code counts
        _discard(sys.stderr)
    return code


def _discard(stream: Any) -> None:
    """Send what is left in a stream to the null device, so that Python can flush it when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
