"""Answers of language models, kept in the folder of a run, so that a run that goes on does not pay for them twice."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cellgames.runs.comparing import ANSWERS
from cellgames.runs.run_folder import run_folder

from .spending import SPENDING


@dataclass(frozen=True)
class Reply:
    """An answer of a model.

    Attributes:
        answer: text of the answer.
        prompt_tokens: tokens of the question.
        answer_tokens: tokens of the answer, thoughts included.
        seconds: from the question to the answer.
        estimated: True if the server did not count the tokens: a token is taken for four characters then.
    """

    answer: str
    prompt_tokens: int
    answer_tokens: int
    seconds: float
    estimated: bool = False


def key_of(request: Mapping[str, Any]) -> str:
    """Return the name of a request among the kept answers: BLAKE2b of the model, the messages and the options."""
    return hashlib.blake2b(json.dumps(request, sort_keys=True).encode(), digest_size=16).hexdigest()


class KeptAnswers:
    """Answers by the keys of their requests; a request that is under way is not sent a second time.

    Args:
        folder: folder of the run; None keeps answers in memory only.
    """

    def __init__(self, folder: Path | None) -> None:
        self._path = None if folder is None else folder / ANSWERS
        self._lock = threading.Lock()
        self._answers: dict[str, Future[Reply]] = {}
        lines = () if self._path is None else _read(self._path)
        for key, reply in {str(data.get("key")): reply for data, reply in lines}.items():
            SPENDING.count(kept_calls=1, kept_tokens=reply.prompt_tokens + reply.answer_tokens)
            self._answers[key] = Future()
            self._answers[key].set_result(reply)

    def get(self, key: str, about: Mapping[str, Any], ask: Callable[[], Reply]) -> Reply:
        """Return the kept answer, or ask and keep the answer; any error of `ask` is raised.

        Args:
            key: digest of the request.
            about: further fields of the line in the file.
            ask: sends the request.
        """
        with self._lock:
            known, mine = self._answers.get(key), Future[Reply]()
            self._answers.setdefault(key, mine)
        if known is not None:
            SPENDING.count(reused=1)
            return known.result()
        try:
            with SPENDING.call():
                reply = ask()
                SPENDING.count(calls=1, tokens=reply.prompt_tokens + reply.answer_tokens, seconds=reply.seconds)
                if self._path is not None:
                    line = json.dumps({"key": key, **about, **asdict(reply)}).encode() + b"\n"
                    with self._lock, self._path.open("ab") as file:  # one write a line: other processes may add, too
                        file.write(line)
                        file.flush()
                        os.fsync(file.fileno())
        except BaseException as error:
            del self._answers[key]
            mine.set_exception(error)
            raise
        mine.set_result(reply)
        return reply


def costs(folder: Path, games: Mapping[str, int]) -> list[str]:
    """Return a sentence on what each language model of a run took.

    Args:
        folder: folder of the run.
        games: number of games of each agent.
    """
    calls, retries, tokens = Counter[str](), Counter[str](), Counter[str]()
    for data, reply in _read(folder / ANSWERS):
        agent = str(data.get("agent"))
        calls[agent] += 1
        retries[agent] += "retry" in data
        tokens[agent] += reply.prompt_tokens + reply.answer_tokens
    return [
        f"{agent} answered {calls[agent]} questions in {games[agent]} games, {retries[agent]} of them asked again "
        f"since an answer was no legal move; {tokens[agent] / games[agent]:.0f} tokens a game."
        for agent in sorted(calls)
        if games.get(agent)
    ]


def _read(path: Path) -> Iterator[tuple[dict[str, Any], Reply]]:
    """Yield the lines of a file with their answers; skip malformed lines and terminate an incomplete last line."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return
    if content and not content.endswith(b"\n"):
        with path.open("ab") as file:
            file.write(b"\n")
    for line in content.splitlines():
        try:
            data = json.loads(line)
            counted = int(data["prompt_tokens"]), int(data["answer_tokens"])
            yield data, Reply(str(data["answer"]), *counted, float(data["seconds"]), bool(data.get("estimated")))
        except (KeyError, OverflowError, RecursionError, TypeError, ValueError):
            continue


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
