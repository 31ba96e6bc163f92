"""A server that speaks the chat API of OpenAI, by OpenAI's client: it asks again after errors that pass.

The address and the key come from `OPENAI_BASE_URL` and `OPENAI_API_KEY`. The key is replaced in everything that the
server says, and no error contains it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from time import perf_counter
from typing import Any

from cellgames.utils.errors import InputError, clipped, shown
from cellgames.utils.extras import install

from .calls import SPENDING, Reply

RETRIES = 4
"""Further attempts after an error that passes, if no clock runs."""

_MOST_TEXT = 100_000  # characters of a model's answer that are looked at
_REFUSALS = (401, 402, 403, 404)  # of the key, the account or the model: every further question would fail, too


class ChatError(Exception):
    """A failure of the server, in one line."""


class ChatServer:
    """The server at `OPENAI_BASE_URL`.

    Args:
        timeout: seconds for an answer.

    Raises:
        ValueError: the address or the key is missing, or cannot be used.
        ImportError: the extra `llm` is missing.
    """

    def __init__(self, timeout: float) -> None:
        address, key = (os.environ.get(name, "").strip() for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"))
        if not (address or key):
            cause = "or set OPENAI_BASE_URL for another server, such as http://localhost:8000/v1"
            raise InputError("OPENAI_API_KEY", "the key of the server that llm:MODEL asks", "none", cause)
        if not (key.isascii() and (key or "-").isprintable()):
            raise InputError("OPENAI_API_KEY", "a key without spaces around it and special characters")
        if address and not address.startswith(("http://", "https://")):
            raise InputError("OPENAI_BASE_URL", "an address such as http://localhost:8000/v1")
        try:
            import openai
        except ImportError as error:
            raise ImportError(f"llm:MODEL needs openai: {install('llm')}") from error
        self._errors, self._timeout, self._key = openai, timeout, key
        try:
            self._client = openai.OpenAI(api_key=key or "-", base_url=address or "https://api.openai.com/v1")
        except Exception:  # of the client below, and it may repeat a password in the address
            raise InputError("OPENAI_BASE_URL", "an address such as http://localhost:8000/v1") from None

    def ask(self, request: Mapping[str, Any], deadline: float | None = None) -> Reply:
        """Return the answer to a request: model, messages and options.

        It must be there at the deadline, a time of `perf_counter`; None allows each attempt the time-out.

        Raises:
            ChatError: the server gave no answer.
            RunStopped: the server refuses the key or the model.
        """
        began, errors = perf_counter(), self._errors
        seconds = self._timeout if deadline is None else max(0.01, min(self._timeout, deadline - began))
        client = self._client.with_options(timeout=seconds, max_retries=RETRIES if deadline is None else 0)
        found: Any = "no JSON"
        try:
            found = client.chat.completions.create(**request)
            text, usage = found.choices[0].message.content or "", found.usage  # none if it refuses, or only thinks
            if not isinstance(text, str):
                raise TypeError
        except errors.APITimeoutError:
            raise ChatError("the server was too slow") from None
        except errors.APIStatusError as error:
            if error.status_code in _REFUSALS:  # what such an answer says may contain parts of the key
                raise SPENDING.stop(
                    f"the server refuses with status {error.status_code}: check OPENAI_API_KEY, OPENAI_BASE_URL and "
                    "the name of the model"
                ) from None
            said = self._hidden(str(error.message))
            raise ChatError(f"the server answers with status {error.status_code}: {clipped(said, 200)}") from None
        except (errors.OpenAIError, UnicodeError) as error:
            raise ChatError(f"no answer from the server: {clipped(self._hidden(str(error)), 200)}") from None
        except (AttributeError, IndexError, RecursionError, TypeError, ValueError):
            raise ChatError(f"expected a chat completion, got {shown(self._hidden(str(found)))}") from None
        counted: tuple[Any, Any] = getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None)
        estimated = not all(type(number) is int and number >= 0 for number in counted)
        if estimated:
            counted = -(-len(json.dumps(request)) // 4), -(-len(text) // 4)
        return Reply(self._hidden(text[:_MOST_TEXT]), *counted, round(perf_counter() - began, 3), estimated)

    def _hidden(self, text: str) -> str:
        return text.replace(self._key, "***") if len(self._key) > 3 else text  # others are no secrets
