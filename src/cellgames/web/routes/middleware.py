"""Checks of every request (host, origin, size of the body) and the security headers of every answer.

The server has no passwords. On this computer's own address it must answer only this computer's browser, and there only
the page itself: a foreign page can make a browser send requests (cross-site request forgery), and can point a name of
its own at 127.0.0.1 (DNS rebinding).
"""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import urlsplit

import h11
import uvicorn
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from typing_extensions import override
from uvicorn.protocols.http.h11_impl import H11Protocol

from cellgames.utils.errors import shown
from cellgames.web.sessions import VISITOR

LOCAL = ("127.0.0.1", "localhost", "::1")

MOST_BODY = 4_000_000
"""Most bytes of a request's body."""

_HEADERS = [
    (
        b"content-security-policy",
        b"default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; form-action 'none'; "
        b"frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]


class Guard:
    """ASGI middleware that refuses requests from other sites and requests that are too large.

    Args:
        app: The application behind it.
        hosts: Host names that requests may use for this server; None for any, if it is open to a network.
    """

    def __init__(self, app: ASGIApp, hosts: tuple[str, ...] | None = LOCAL) -> None:
        self._app, self._hosts = app, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request as ASGI defines it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        VISITOR.set((scope.get("client") or ("",))[0])

        async def guarded_send(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *_HEADERS]
            await send(message)

        if (refusal := self._refusal(scope["method"], Headers(scope=scope))) is not None:
            status, reason = refusal
            await JSONResponse({"error": reason}, status)(scope, receive, guarded_send)
            return
        size = 0

        async def limited_receive() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > MOST_BODY:  # the body can be longer than its content-length says
                raise HTTPException(413, _too_large(f"more than {MOST_BODY}"))
            return message

        await self._app(scope, limited_receive, guarded_send)

    def _refusal(self, method: str, headers: Headers) -> tuple[int, str] | None:
        """Return status and reason of a refusal; None if the request may pass."""
        host = headers.get("host", "")
        try:
            name = urlsplit(f"//{host}").hostname or ""  # without port and brackets
        except ValueError:
            name = ""
        if self._hosts is not None and name not in self._hosts:
            return 421, f"this server answers as {', '.join(self._hosts[:2])} only; --host opens it to a network"
        if method not in ("GET", "HEAD", "OPTIONS"):
            origin, site = headers.get("origin"), headers.get("sec-fetch-site", "same-origin")
            foreign = origin is not None and urlsplit(origin).netloc.lower() != host.lower()
            if foreign or site not in ("same-origin", "none"):
                return 403, "requests that change something are taken from the page itself only"
            kind = headers.get("content-type", "").partition(";")[0].strip().lower()
            if method == "POST" and kind != "application/json":
                return 415, f"expected a body of type application/json, got {shown(kind) if kind else 'none'}"
        length = headers.get("content-length", "0")
        if not length.isascii() or not length.isdigit():
            return 400, "expected a number as content-length"
        return (413, _too_large(length[:20])) if len(length) > 12 or int(length) > MOST_BODY else None


def _too_large(got: str) -> str:
    return f"expected a body of at most {MOST_BODY} bytes, got {got}"


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
