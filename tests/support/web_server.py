"""A server of the page on a free port, on a thread of the test's own process."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

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
        end = time.monotonic() + 20
        while not server.started:
            assert thread.is_alive(), "the server does not start"
            assert time.monotonic() < end, "the server takes too long to start"
            time.sleep(0.02)
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(10)
