"""uvicorn's protocol for HTTP, with a limit on the time that a request's headers may take.

Written by hand: uvicorn ends idle connections, but not those that send a request a byte at a time or never, and as many of them
as there may be connections would lock the user out (https://github.com/Kludex/uvicorn/issues/157). Bodies are timed by the
guard.
"""

from __future__ import annotations

import asyncio
from typing import Any

HEADER_SECONDS = 10.0


def impatient_protocol() -> type[asyncio.Protocol]:
    """The class of the protocol; made on demand, for uvicorn is not in the base install."""
    import h11
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Impatient(H11Protocol):
        """Closes a connection whose next request is not complete, but for its body, in time."""

        _patience: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._patience = self.loop.call_later(HEADER_SECONDS, self._give_up)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            waiting = self.conn.their_state is h11.IDLE
            if waiting and self._patience is None:
                self._patience = self.loop.call_later(HEADER_SECONDS, self._give_up)
            elif not waiting:
                self._forget()

        def connection_lost(self, exc: Exception | None) -> None:
            self._forget()
            super().connection_lost(exc)

        def _forget(self) -> None:
            if self._patience is not None:
                self._patience.cancel()
                self._patience = None

        def _give_up(self) -> None:
            self._patience = None
            if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
                self.transport.close()

    return Impatient
