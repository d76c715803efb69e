"""A server for one user on this machine: an address with a token, and a clean end on Ctrl-C."""

from __future__ import annotations

import getpass
import os
import secrets
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from sce.errors import InputError, ParameterError
from sce.web.security import LOOPBACK, App, single_use_key

if TYPE_CHECKING:
    import uvicorn

MOST_CONNECTIONS = 100
MOST_HEADER_BYTES = 64 << 10
_LAST_PORT = 65_535
_KEEP_ALIVE_SECONDS, _ENDING_SECONDS = 15, 2
_EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104  (to recognise them)


def serve(
    app_factory: Callable[[str, int], App],
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    open_browser: bool = True,
    say: Callable[[str], None] = print,
) -> None:
    """Serve an application until Ctrl-C.

    Parameters
    ----------
    app_factory : function (token, port) -> ASGI application
        Called once the port is known. The application is to be behind a :class:`sce.web.security.Guard`, with
        ``hosts=allowed_hosts(host)``.
    host : str
        The address to listen at.
    port : int
        0 for any that is free.
    open_browser : bool
        Whether to open the page, where there is a screen.
    say : function of a line of text
        Told the address, and how to reach it from another machine.

    Raises
    ------
    InputError
        If uvicorn is not installed.
    ParameterError
        If the address cannot be had.
    """
    check_installed()
    listening = listen(host, port)
    try:
        port = listening.getsockname()[1]
        token = secrets.token_urlsafe(32)
        server = make_server(app_factory(token, port))
        address = f"http://{_name_for_browser(host)}:{port}/?token="
        opens = open_browser and has_screen()
        say(f"{'Opening' if opens else 'Open'} {address}{token}")
        if not opens:
            say(f"From another machine, run there first: {ssh_line(port)}")
        say("Press Ctrl-C to end.")
        if opens:
            once = address + single_use_key(token)
            threading.Thread(target=_open, args=(once,), daemon=True).start()
        with suppress(KeyboardInterrupt):  # uvicorn has ended cleanly, and passes the signal on
            server.run(sockets=[listening])
    finally:
        listening.close()


def check_installed() -> None:
    """Say how to install what a server needs, if it is missing."""
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise InputError("The page needs starlette and uvicorn; install them with: pip install 'sce[web]'") from None


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens at an address.

    Raises
    ------
    ParameterError
        If the port is taken, or the address is not one of this machine.
    """
    if not 0 <= port <= _LAST_PORT:
        raise ParameterError(f"There is no port {port}; choose one up to {_LAST_PORT}, or 0 for any that is free.")
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=MOST_CONNECTIONS)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ParameterError(
            f"The server cannot listen at {host}, port {port}: {reason}; choose another port, or 0 for any that is free."
        ) from None


def make_server(app: App) -> uvicorn.Server:
    """A server of uvicorn for an application, with bounds on what a client can hold up."""
    import uvicorn

    from sce.web.impatient import impatient_protocol

    config = uvicorn.Config(
        app,
        http=impatient_protocol(),
        ws="none",
        loop="asyncio",
        log_config=None,
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=_ENDING_SECONDS,
        h11_max_incomplete_event_size=MOST_HEADER_BYTES,
    )
    return uvicorn.Server(config)


def allowed_hosts(host: str) -> tuple[str, ...]:
    """The names under which a server that listens at `host` may be addressed: never one that others could choose.

    Examples
    --------
    >>> allowed_hosts("127.0.0.1")
    ('127.0.0.1', 'localhost', '[::1]')
    """
    if host in _EVERYWHERE:
        return (*LOOPBACK, socket.gethostname(), socket.getfqdn(), *_own_addresses())
    own = _name_for_browser(host)
    return LOOPBACK if own in LOOPBACK else (*LOOPBACK, own)


def has_screen() -> bool:
    """Whether a browser would show on a screen before the user: not in an SSH session, nor in a terminal as text."""
    if "SSH_CONNECTION" in os.environ:
        return False
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def ssh_line(port: int) -> str:
    """The command that makes the page reachable from the user's own machine.

    Examples
    --------
    >>> ssh_line(8000).startswith("ssh -N -L 8000:127.0.0.1:8000 ")
    True
    """
    try:
        user = getpass.getuser()
    except (OSError, KeyError, ImportError):  # no name for this user
        user = "USER"
    connection = os.environ.get("SSH_CONNECTION", "").split()
    machine, at = (connection[2], connection[3]) if len(connection) == 4 else (socket.gethostname(), "22")
    return f"ssh -N -L {port}:127.0.0.1:{port} {'' if at == '22' else f'-p {at} '}{user}@{machine}"


def _name_for_browser(host: str) -> str:
    if host in _EVERYWHERE:
        return socket.gethostname()
    return f"[{host}]" if ":" in host else host


def _own_addresses() -> list[str]:
    try:
        found: Any = socket.getaddrinfo(socket.gethostname(), None)
    except OSError:
        return []
    return sorted({_name_for_browser(str(entry[4][0]).split("%")[0]) for entry in found})


def _open(address: str) -> None:
    with suppress(webbrowser.Error, OSError):
        webbrowser.open(address)
