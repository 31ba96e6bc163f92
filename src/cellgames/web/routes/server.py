"""The server of the page: JSON under /api and the page's own files.

It reads records below one folder and one store. It writes live games to a folder of their own, and a finished game to
that store, and to the file of games beside it, when asked to.
Everything from a browser is checked: requests by `middleware`, games and agents by `catalog`, files by
`record_library`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from cellgames.utils.errors import MOST_SHOWN, clipped
from cellgames.web.analysis_board import AnalysisBoard
from cellgames.web.live_game import RefusedError
from cellgames.web.record_library import Library
from cellgames.web.sessions import FullError, Sessions

from .middleware import LOCAL, Guard

try:
    from fastapi import FastAPI, Request
    from fastapi.exceptions import RequestValidationError
    from fastapi.responses import HTMLResponse, JSONResponse, Response
    from fastapi.staticfiles import StaticFiles
    from starlette.exceptions import HTTPException
    from starlette.middleware.gzip import GZipMiddleware
    from starlette.types import Scope
    from typing_extensions import override
except ImportError as error:
    raise ImportError(f'the page needs FastAPI: pip install "cellgames[web]" ({error})') from error

_STATUS = {FullError: 503, RefusedError: 409, ValueError: 400, LookupError: 404}

STATIC = Path(__file__).parents[1] / "static"


class KeptFiles(StaticFiles):
    """The page's files, which a browser keeps when their address has a version."""

    @override
    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        kept = scope["query_string"].startswith(b"v=")
        response.headers["cache-control"] = "public, max-age=31536000, immutable" if kept else "no-cache"
        return response


def create_app(
    results: Path = Path("results"),
    store: Path | None = None,
    *,
    games: Path | None = None,
    agents: Mapping[str, str] | None = None,
    hosts: tuple[str, ...] | None = LOCAL,
    origin: str = "",
) -> FastAPI:
    """Return the server as an ASGI application.

    Args:
        results: The folder with records and trained weights; may be missing.
        store: The file of a store of games; may be missing; None for no store.
        games: The folder of live games, which are found there again after a restart; None for a temporary one.
        agents: Specs of more agents that visitors may choose, by name.
        hosts: Host names under which it answers; None for any, if it is open to a network.
        origin: Where others reach the server, for the links of games; "" for as the page's own browser does.
    """
    from .analysis_routes import analysis_routes
    from .app_state import AppState
    from .play_routes import play_routes, session_of
    from .record_routes import record_routes

    app = FastAPI(
        title="Cellgames",
        description="Watch and play games with cells. All times are seconds, all seats are numbered from 0.",
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
    )
    app.state.shared = state = AppState(Library(results), store, agents, origin)
    if games is None:
        app.state.temporary = TemporaryDirectory(prefix="cellgames-", ignore_cleanup_errors=True)
        games = Path(app.state.temporary.name)
    app.state.sessions = sessions = Sessions(games, lambda saved: session_of(state, saved, saved))
    app.add_middleware(GZipMiddleware, minimum_size=2000, compresslevel=4)
    app.add_middleware(Guard, hosts=hosts)

    async def refused(request: Request, error: Exception) -> Response:
        status, reason = _refusal(error)
        return JSONResponse({"error": clipped(reason)}, status)

    for kind in (*_STATUS, HTTPException, RequestValidationError, Exception):
        app.add_exception_handler(kind, refused)

    # --- the page ---------------------------------------------------------------------------------------------

    content = b"".join(path.read_bytes() for path in sorted(STATIC.iterdir()))
    page = re.sub(
        r'"(/static/[^"]+)"', rf'"\1?v={sha256(content).hexdigest()[:12]}"', (STATIC / "index.html").read_text("utf-8")
    )

    @app.get("/", include_in_schema=False)
    async def index() -> Response:
        return HTMLResponse(page, headers={"cache-control": "no-cache"})

    app.mount("/static", KeptFiles(directory=STATIC), name="static")

    app.include_router(play_routes(state, sessions, alone=hosts is not None))
    app.include_router(record_routes(state, sessions))
    app.state.analysis = board = AnalysisBoard()
    app.include_router(analysis_routes(state, sessions, board))
    return app


def _refusal(error: Exception) -> tuple[int, str]:
    """Return the status and the reason with which a request is answered that has failed."""
    if isinstance(error, HTTPException):
        return error.status_code, str(error.detail)
    if isinstance(error, RequestValidationError):
        first = error.errors()[0]
        place = ".".join(str(part)[:MOST_SHOWN] for part in first["loc"][:4] if part != "body")
        return 422, f"{place}: {first['msg']}" if place else first["msg"]
    for kind, status in _STATUS.items():
        if isinstance(error, kind):
            return status, str(error.args[0] if kind is LookupError and error.args else error)
    said = error.strerror if isinstance(error, OSError) else error  # the path of a file is not for strangers
    return 500, f"{type(error).__name__}: {said}"
