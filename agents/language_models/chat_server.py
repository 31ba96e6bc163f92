"""A server that speaks the chat API of OpenAI: asked with time-outs, again after errors that pass, and never trusted.

The address and the key come from `OPENAI_BASE_URL` and `OPENAI_API_KEY`. The key goes to the server only: it is
replaced in everything that the server says, and no error contains it.
"""

from __future__ import annotations

import json
import os
import random
import threading
from collections.abc import Mapping
from time import perf_counter
from typing import TYPE_CHECKING, Any

from cellgames.utils.errors import InputError, clipped, shown
from cellgames.utils.extras import install

from .calls import SPENDING, Reply

if TYPE_CHECKING:
    import httpx

MOST_BYTES = 4 << 20
"""Bytes of an answer of the server."""

_OPENAI = "https://api.openai.com/v1"
_MOST_TEXT = 100_000  # characters of a model's answer that are looked at
_MOST_TOKENS = 1 << 40
_ATTEMPTS = 5
_FIRST_WAIT = 0.5  # seconds after the first failure; twice as many after each further one
_LONGEST_WAIT = 60.0
_REFUSALS = (401, 402, 403, 404)  # of the key, the account or the model: every further question would fail, too


class ChatError(Exception):
    """A failure of the server, in one line."""


class _PassingError(ChatError):
    """A failure after which asking again may help, after the seconds `wait` that the server asks for."""

    def __init__(self, text: str, wait: float = 0.0) -> None:
        super().__init__(text)
        self.wait = wait


class ChatServer:
    """The server at `OPENAI_BASE_URL`.

    Args:
        timeout: seconds for an answer.

    Raises:
        ValueError: the address or the key is missing, or cannot be used.
        ImportError: the extra `llm` is missing.
    """

    def __init__(self, timeout: float) -> None:
        address, key = os.environ.get("OPENAI_BASE_URL", ""), os.environ.get("OPENAI_API_KEY", "")
        if not (address or key):
            cause = "or set OPENAI_BASE_URL for another server, such as http://localhost:8000/v1"
            raise InputError("OPENAI_API_KEY", "a key in this environment variable", "none", cause, "llm:MODEL")
        if not (key.isascii() and key.isprintable()):
            raise InputError("OPENAI_API_KEY", "a key without spaces around it and special characters")
        try:
            import httpx
        except ImportError as error:
            raise ImportError(f"llm:MODEL needs httpx: {install('llm')}") from error
        try:
            url = httpx.URL((address or _OPENAI).rstrip("/") + "/chat/completions")
        except (httpx.InvalidURL, TypeError, ValueError):
            url = httpx.URL("")
        if url.scheme not in ("http", "https") or not url.host:
            raise InputError("OPENAI_BASE_URL", "an address such as http://localhost:8000/v1")
        self._secrets = [text for text in {key.strip(), url.password, address.strip()} if text and len(text) > 3]
        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        if key:
            headers["Authorization"] = f"Bearer {key.strip()}"
        self._url, self._timeout = url, timeout
        self._client = httpx.Client(headers=headers, follow_redirects=False)
        self._given_up = threading.Event()

    def ask(self, request: Mapping[str, Any], deadline: float | None = None) -> Reply:
        """Return the answer to a request: model, messages and options.

        It must be there at the deadline, a time of `perf_counter`; None allows each attempt the time-out.

        Raises:
            ChatError: the server gave no answer.
            RunStopped: the server refuses the key or the model.
        """
        body = json.dumps(request).encode()
        for attempt in range(1, _ATTEMPTS + 1):
            began = perf_counter()
            try:
                text, prompt, answer = self._attempt(body, deadline)
                estimated = prompt is None or answer is None
                if prompt is None or answer is None:
                    prompt, answer = -(-len(body) // 4), -(-len(text) // 4)
                return Reply(text, prompt, answer, round(perf_counter() - began, 3), estimated)
            except _PassingError as error:
                wait = max(error.wait, _FIRST_WAIT * 2 ** (attempt - 1) * random.uniform(0.8, 1.2))
                late = deadline is not None and perf_counter() + wait >= deadline
                if attempt == _ATTEMPTS or late or wait > _LONGEST_WAIT or self._given_up.wait(wait):
                    raise ChatError(f"{error} ({attempt} {'attempts' if attempt > 1 else 'attempt'})") from None
        raise AssertionError("unreachable")

    def give_up(self) -> None:
        """Let nobody wait for another attempt."""
        self._given_up.set()

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _attempt(self, body: bytes, deadline: float | None) -> tuple[str, int | None, int | None]:
        """Return the text of an answer and the numbers of tokens, None if the server does not count them."""
        import httpx

        end = perf_counter() + self._timeout if deadline is None else min(deadline, perf_counter() + self._timeout)
        content = bytearray()
        try:
            patience = httpx.Timeout(max(0.01, end - perf_counter()))
            with self._client.stream("POST", self._url, content=body, timeout=patience) as response:
                for part in response.iter_raw():
                    content += part
                    if len(content) > MOST_BYTES:
                        raise ChatError(f"the server sent more than {MOST_BYTES >> 20} MiB")
                    if perf_counter() > end:
                        raise _PassingError("the server was too slow")
        except httpx.TimeoutException:
            raise _PassingError("the server was too slow") from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            said = self._safe(str(error)) or type(error).__name__
            raise _PassingError(f"no answer from the server: {said}") from None
        if response.status_code != 200:
            raise self._refusal(response, bytes(content))
        try:
            data = json.loads(content)
            text, usage = data["choices"][0]["message"]["content"], data.get("usage")
            text = "" if text is None else text  # a refusal, or thoughts only
            if not isinstance(text, str):
                raise TypeError
        except (KeyError, IndexError, RecursionError, TypeError, ValueError):
            raise _PassingError(f"expected a chat completion, got {self._safe(shown(bytes(content[:200])))}") from None
        return self._hidden(text[:_MOST_TEXT]), _tokens(usage, "prompt_tokens"), _tokens(usage, "completion_tokens")

    def _refusal(self, response: httpx.Response, content: bytes) -> BaseException:
        status = response.status_code
        if status in _REFUSALS:  # what such an answer says may contain parts of the key
            return SPENDING.stop(
                f"the server refuses with status {status}: check OPENAI_API_KEY, OPENAI_BASE_URL and the name of the "
                "model"
            )
        try:
            said = json.loads(content)["error"]["message"]
        except (KeyError, IndexError, RecursionError, TypeError, ValueError):
            said = content[:200].decode(errors="replace")
        text = f"the server answers with status {status}: {self._safe(str(said))}"
        if status in (408, 409, 425, 429) or status >= 500:
            return _PassingError(text, _seconds(response.headers.get("retry-after", "")))
        return ChatError(text)

    def _hidden(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text

    def _safe(self, text: str) -> str:
        return clipped(self._hidden(text[:10_000]), 200)


def _tokens(usage: object, name: str) -> int | None:
    number = usage.get(name) if isinstance(usage, dict) else None
    return number if type(number) is int and 0 <= number < _MOST_TOKENS else None


def _seconds(text: str) -> float:
    """Return the seconds of a Retry-After; a date or anything else counts as none."""
    return float(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0.0
