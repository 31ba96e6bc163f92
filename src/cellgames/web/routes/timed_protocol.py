"""The settings of uvicorn that limit unfinished requests and connections."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
import uvicorn
from typing_extensions import override
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CONNECTIONS = 500
"""Most connections at the same time; the server tells others to come again (503)."""

_REQUEST_S = 30.0  # from the first byte of a request, or the start of a connection, to the last byte


class TimedProtocol(H11Protocol):
    """Uvicorn's HTTP protocol that closes a connection whose request does not arrive as a whole in time.

    Uvicorn limits the time between two requests, but neither that before the first one nor that within one. Without a
    limit each half request would be kept for ever (the attack "slowloris").
    """

    _timer: asyncio.TimerHandle | None = None

    @override
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        super().connection_made(transport)
        self._watch(True)

    @override
    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        state: Any = self.conn.their_state
        self._watch(state in (h11.IDLE, h11.SEND_BODY))

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._watch(False)

    def _watch(self, waits: bool) -> None:
        """Let the timer run while a request is awaited or not whole."""
        if not waits and self._timer is not None:
            self._timer.cancel()
            self._timer = None
        elif waits and self._timer is None:
            self._timer = self.loop.call_later(_REQUEST_S, self.transport.close)


def uvicorn_config(app: Any, **more: Any) -> uvicorn.Config:
    """Return the configuration of uvicorn for the server; `more` are other fields of `uvicorn.Config`."""
    limits: dict[str, Any] = {"http": TimedProtocol, "ws": "none", "limit_concurrency": MOST_CONNECTIONS}
    return uvicorn.Config(app, access_log=False, **limits, **more)
