"""The bodies of requests, read whole within bounds of size and time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any


class TooLarge(Exception):  # noqa: N818  (what the body is)
    """A body has more bytes than it may have."""


class TooSlow(Exception):  # noqa: N818
    """A body was not complete in time."""


async def read_body(receive: Callable[[], Awaitable[Any]], most: int, seconds: float) -> bytes | None:
    """The body of a request, or None if the client has gone before its end.

    Raises
    ------
    TooLarge, TooSlow
    """
    try:
        return await asyncio.wait_for(_all(receive, most), seconds)
    except asyncio.TimeoutError:
        raise TooSlow from None


async def _all(receive: Callable[[], Awaitable[Any]], most: int) -> bytes | None:
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += message.get("body", b"")
        if len(body) > most:
            raise TooLarge
        if not message.get("more_body", False):
            return bytes(body)


def up_to_end(receive: Callable[[], Awaitable[Any]]) -> Callable[[], Awaitable[Any]]:
    """Receive, but do not wait for more once a body has ended."""
    ended = False

    async def receiving() -> Any:
        nonlocal ended
        if ended:
            return {"type": "http.disconnect"}
        message = await receive()
        ended = not message.get("more_body", False)
        return message

    return receiving


async def drain(receive: Callable[[], Awaitable[Any]], most: int, seconds: float) -> None:
    """Read and forget the rest of a body, within bounds.

    A connection that is closed with bytes unread is reset, and the client may lose the answer that it has not read yet.
    """
    left = most

    async def reading() -> None:
        nonlocal left
        while left > 0:
            message = await receive()
            if message["type"] != "http.request" or not message.get("more_body", False):
                return
            left -= len(message.get("body", b""))

    with suppress(asyncio.TimeoutError):
        await asyncio.wait_for(reading(), seconds)
