"""A small server that speaks the chat API, well or badly, for tests of language models."""

from __future__ import annotations

import contextlib
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from typing_extensions import override

KEY = "sk-very-secret-4711"

Handler = BaseHTTPRequestHandler
Behaviour = Callable[["Chat", Handler, dict[str, Any]], None]


class Chat(ThreadingHTTPServer):
    """The server, with the bodies of all requests and their headers `Authorization`; `behaviour` answers."""

    daemon_threads = True

    def __init__(self, behaviour: Behaviour) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.behaviour = behaviour
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    @override
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: clients may hang up."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        chat = self.server
        assert isinstance(chat, Chat)
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert self.path == "/v1/chat/completions"
        chat.requests.append(body)
        chat.keys.append(self.headers["Authorization"])
        chat.behaviour(chat, self, body)

    @override
    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""


def send(handler: Handler, content: bytes, status: int = 200, kind: str = "application/json", **headers: str) -> None:
    """Send an answer."""
    handler.send_response(status)
    handler.send_header("Content-Type", kind)
    handler.send_header("Content-Length", str(len(content)))
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    with contextlib.suppress(OSError):
        handler.wfile.write(content)


def completion(handler: Handler, text: str | None, usage: object = (100, 7)) -> None:
    """Send a completion with this text."""
    counted = {"prompt_tokens": usage[0], "completion_tokens": usage[1]} if isinstance(usage, tuple) else usage
    answer = {"choices": [{"message": {"role": "assistant", "content": text}}], "usage": counted}
    send(handler, json.dumps(answer).encode())


def example_of(body: dict[str, Any]) -> str:
    """Return the legal move that a question gives as an example."""
    found = re.findall(r"^MOVE: (\S+)$", body["messages"][1]["content"], re.MULTILINE)
    return str(found[-1])


def first_legal(chat: Chat, handler: Handler, body: dict[str, Any]) -> None:
    """Play the move of the example."""
    completion(handler, f"I take the first one.\nMOVE: {example_of(body)}")


@contextmanager
def serving(behaviour: Behaviour) -> Iterator[Chat]:
    """Run the server in a thread."""
    chat = Chat(behaviour)
    thread = threading.Thread(target=chat.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield chat
    finally:
        chat.shutdown()
        chat.server_close()
        thread.join()
