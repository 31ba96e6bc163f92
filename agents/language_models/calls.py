"""Calls of language models: their limits in this process, and the answers that the folder of a run keeps.

A run that goes on does not pay for answers twice. Importing this imports no torch.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cellgames.runs.run_folder import ANSWERS, run_folder


class RunStopped(KeyboardInterrupt):  # it is no error: a run stops by it as by Ctrl-C, and can go on
    """A reason to stop the run instead of forfeiting games."""


class Spending:
    """Calls that were answered, and what they took.

    Attributes:
        max_calls: answered calls at which the run stops; None without a limit.
        max_tokens: tokens at which the run stops.
        calls: answered in this process.
        tokens: tokens of the prompts and answers.
        seconds: time that they took in all.
        kept_calls: answered before, whose answers the folder of the run keeps; they count towards the limits.
        kept_tokens: tokens of the kept answers.
        reused: answers that were taken from there instead of asking.
        stopped: the reason why the run was stopped, "" if it was not.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.clear()

    def clear(self, max_calls: int | None = None, max_tokens: int | None = None) -> None:
        """Begin to count anew, with these limits."""
        self.max_calls, self.max_tokens = max_calls, max_tokens
        self.calls = self.tokens = self.kept_calls = self.kept_tokens = self.reused = self._under_way = 0
        self.seconds = 0.0
        self.stopped = ""

    @contextmanager
    def call(self) -> Iterator[None]:
        """Hold a place among the calls while one is under way; raise `RunStopped` if a limit is reached."""
        with self._lock:
            calls, tokens = self.calls + self.kept_calls + self._under_way, self.tokens + self.kept_tokens
            if self.max_calls is not None and calls >= self.max_calls:
                raise self.stop(f"{calls} calls are answered or under way, and --max-calls is {self.max_calls}")
            if self.max_tokens is not None and tokens >= self.max_tokens:
                raise self.stop(f"{tokens} tokens are spent, and --max-tokens is {self.max_tokens}")
            self._under_way += 1
        try:
            yield
        finally:
            with self._lock:
                self._under_way -= 1

    def stop(self, reason: str) -> RunStopped:
        """Return the error that stops the run, and keep its reason for the end."""
        self.stopped = self.stopped or reason
        return RunStopped(reason)

    def count(self, **more: float) -> None:
        """Add numbers to attributes of these names."""
        with self._lock:
            for name, number in more.items():
                setattr(self, name, getattr(self, name) + number)

    def lines(self) -> list[str]:
        """Return the lines to print at the end of a command, no line if no model was asked."""
        found = [f"stopped, since {self.stopped}; with a larger limit the run goes on"] if self.stopped else []
        if self.calls or self.reused:
            line = f"language models: {self.calls} calls, {self.tokens} tokens, {self.seconds:.1f} s"
            found.append(line + (f"; {self.reused} answers were there already" if self.reused else ""))
        return found


SPENDING = Spending()
"""The calls of this process."""


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


class KeptAnswers:
    """Answers by the keys of requests, in the folder of a run if there is one; none is asked for twice at a time.

    A key is BLAKE2b of the model, the messages and the options.
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

    def get(self, request: Mapping[str, Any], about: Mapping[str, Any], ask: Callable[[], Reply]) -> Reply:
        """Return the kept answer, or ask and keep it with further fields of its line; any error of `ask` is raised."""
        key = hashlib.blake2b(json.dumps(request, sort_keys=True).encode(), digest_size=16).hexdigest()
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
    """Return a sentence on what each language model of a run's folder took, by the number of games of each agent."""
    calls, retries, tokens, dollars = Counter[str](), Counter[str](), Counter[str](), defaultdict[str, float](float)
    for data, reply in _read(folder / ANSWERS):
        agent = str(data.get("agent"))
        calls[agent] += 1
        retries[agent] += "retry" in data
        tokens[agent] += reply.prompt_tokens + reply.answer_tokens
        each, said = data.get("prices", (0, 0))
        dollars[agent] += (each * reply.prompt_tokens + said * reply.answer_tokens) / 1e6
    return [
        f"{agent} answered {calls[agent]} questions in {games[agent]} games, {retries[agent]} of them asked again "
        f"since an answer was no legal move; {tokens[agent] / games[agent]:.0f} tokens"
        + (f" and {dollars[agent] / games[agent]:.2g} dollars" if dollars[agent] else "")
        + " a game."
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
