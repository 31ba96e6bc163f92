"""Answers of language models, kept in the folder of a run, so that a run that goes on does not pay for them twice."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cellgames.runs.comparing import ANSWERS
from cellgames.runs.run_folder import run_folder

from .spending import SPENDING

__all__ = ["KeptAnswers", "Reply", "answers_of_run", "key_of"]


@dataclass(frozen=True)
class Reply:
    """An answer of a model.

    Attributes:
        text: what it says.
        prompt_tokens: of the question.
        answer_tokens: of the answer, thoughts included.
        seconds: from the question to the answer.
        estimated: True if the server did not count the tokens: a token is taken for four characters then.
    """

    text: str
    prompt_tokens: int
    answer_tokens: int
    seconds: float
    estimated: bool = False

    @property
    def tokens(self) -> int:
        """The tokens of the question and the answer."""
        return self.prompt_tokens + self.answer_tokens


def key_of(request: Mapping[str, Any]) -> str:
    """Return the name of a request among the kept answers: BLAKE2b of the model, the messages and the options."""
    return hashlib.blake2b(json.dumps(request, sort_keys=True).encode(), digest_size=16).hexdigest()


class KeptAnswers:
    """Answers by the keys of their requests; a request that is under way is not sent a second time.

    Args:
        folder: of the run; None keeps answers in memory only.
    """

    def __init__(self, folder: Path | None) -> None:
        self._path = None if folder is None else folder / ANSWERS
        self._lock = threading.Lock()
        self._under_way: dict[str, Future[Reply]] = {}
        self._kept: dict[str, Reply] = {} if self._path is None else dict(_read(self._path))
        SPENDING.add_kept(len(self._kept), sum(reply.tokens for reply in self._kept.values()))

    def get(self, key: str, about: Mapping[str, Any], ask: Callable[[], Reply]) -> Reply:
        """Return the kept answer, or ask and keep the answer; any error of `ask` is raised.

        Args:
            key: of the request.
            about: what the line of the file tells besides.
            ask: sends the request.
        """
        with self._lock:
            if (kept := self._kept.get(key)) is not None:
                SPENDING.add_reused()
                return kept
            other = self._under_way.get(key)
            if other is None:
                mine = self._under_way[key] = Future()
        if other is not None:
            SPENDING.add_reused()
            return other.result()
        try:
            with SPENDING.call():
                reply = ask()
                SPENDING.add(reply.tokens, reply.seconds)
                self._keep(key, about, reply)
        except BaseException as error:
            mine.set_exception(error)
            raise
        finally:
            with self._lock:
                del self._under_way[key]
        mine.set_result(reply)
        return reply

    def _keep(self, key: str, about: Mapping[str, Any], reply: Reply) -> None:
        line = json.dumps(
            {
                "key": key,
                **about,
                "prompt_tokens": reply.prompt_tokens,
                "answer_tokens": reply.answer_tokens,
                **({"estimated": True} if reply.estimated else {}),
                "seconds": round(reply.seconds, 3),
                "answer": reply.text,
            }
        )
        with self._lock:
            self._kept[key] = reply
            if self._path is not None:
                with self._path.open("ab") as file:  # one write a line: several processes may add to the file
                    file.write(f"{line}\n".encode())
                    file.flush()
                    os.fsync(file.fileno())


def _read(path: Path) -> list[tuple[str, Reply]]:
    """Return the answers in a file; lines that are none are skipped, and a torn last line gets its end."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return []
    if content and not content.endswith(b"\n"):
        with path.open("ab") as file:
            file.write(b"\n")
    found = []
    for line in content.splitlines():
        try:
            data = json.loads(line)
            prompt, answer, seconds = data["prompt_tokens"], data["answer_tokens"], data["seconds"]
            if type(prompt) is int and type(answer) is int:
                reply = Reply(str(data["answer"]), prompt, answer, float(seconds), bool(data.get("estimated")))
                found.append((str(data["key"]), reply))
        except (KeyError, RecursionError, TypeError, ValueError):
            continue
    return found


_opened: dict[Path | None, KeptAnswers] = {}
_opening = threading.Lock()


def answers_of_run() -> KeptAnswers:
    """Return the kept answers of the run that this process is in; outside of a run they are kept in memory."""
    folder = run_folder()
    place = None if folder is None else folder.resolve()
    with _opening:
        if place not in _opened or (place is not None and not (place / ANSWERS).exists()):  # a run that starts over
            _opened[place] = KeptAnswers(place)
        return _opened[place]
