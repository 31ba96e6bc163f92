"""A server of the page on a free port, on a thread of the test's own process."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from waits import until

pytest.importorskip("fastapi", reason="needs FastAPI: pip install cellgames[web]")
uvicorn = pytest.importorskip("uvicorn", reason="needs uvicorn: pip install cellgames[web]")

from cellgames.web.routes.middleware import uvicorn_config  # noqa: E402
from cellgames.web.routes.server import create_app  # noqa: E402  # after the word on what is missing


@contextmanager
def served(results: Path, store: Path | None = None, **options: Any) -> Iterator[str]:
    """The address of a server that stops at the end."""
    with socket.socket(proto=socket.IPPROTO_TCP) as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        config = uvicorn_config(create_app(results, store, **options), log_level="error", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        until(lambda: server.started or not thread.is_alive(), 20.0)
        assert server.started, "the server does not start"
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(10)
