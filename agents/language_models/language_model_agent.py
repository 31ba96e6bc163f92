"""Agents that are language models: `llm:MODEL`. docs/language_models.md says how one is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from functools import partial
from time import perf_counter
from typing import Any
from urllib.parse import parse_qsl

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import BaseAgent, PartialAnswerError
from cellgames.agents.views import View
from cellgames.envs.core import Game
from cellgames.utils.errors import InputError, check_one_of, shown

from .chat_server import ChatError, ChatServer
from .kept_answers import KeptAnswers, answers_of_run, key_of
from .prompts import MoveError, question, read_answer, rules_text

_SEEDS = 1 << 31
_MOST_REPEATED = 2000  # characters of a wrong answer that the model is shown again


@dataclass(frozen=True)
class ModelOptions:
    """Options of `llm:MODEL?NAME=VALUE&NAME=VALUE`.

    Attributes:
        temperature: sampling temperature; `none` leaves it to the server.
        seed: is sent along; above temperature 0 a number of the run is added. `none` sends none.
        retries: further tries after an answer that is no legal move.
        timeout: seconds for an answer.
        parallel: questions at the same time.
        answer_tokens: most tokens of an answer; `none` leaves it to the server.
        legal_moves: `hidden` leaves the legal moves out of the questions.
    """

    temperature: float | None = 0.0
    seed: int | None = 0
    retries: int = 2
    timeout: float = 120.0
    parallel: int = 8
    answer_tokens: int | None = None
    legal_moves: str = "shown"

    @classmethod
    def parse(cls, text: str) -> ModelOptions:
        """Return the options of the text after the question mark; a `ValueError` says what is wrong with it."""
        known = {field.name for field in fields(cls)}
        found: dict[str, Any] = {}
        try:
            pairs = parse_qsl(text, strict_parsing=True) if text else []
        except ValueError:
            raise InputError("options", "options such as llm:MODEL?temperature=0&retries=2", shown(text)) from None
        for name, value in pairs:
            if name not in known or name in found:
                raise InputError("options", f"options of {', '.join(sorted(known))}, each once", shown(name))
            found[name] = _legal_moves(value) if name == "legal_moves" else _value(name, value)
        return cls(**found)


_RANGES: dict[str, tuple[type, float, float]] = {
    "temperature": (float, 0, 10),
    "seed": (int, 0, _SEEDS - 1),
    "retries": (int, 0, 20),
    "timeout": (float, 0.1, 3600),
    "parallel": (int, 1, 64),
    "answer_tokens": (int, 1, 10_000_000),
}


def _value(name: str, text: str) -> float | None:
    kind, low, high = _RANGES[name]
    if text == "none" and name in ("temperature", "seed", "answer_tokens"):
        return None
    try:
        value: float = kind(text)
    except ValueError:
        value = -1
    if not low <= value <= high:
        wanted = "a whole number" if kind is int else "a number"
        raise InputError("", f"{wanted} from {low:g} to {high:g} for {name}", shown(text))
    return value


def _legal_moves(text: str) -> str:
    check_one_of("legal_moves", text, ["shown", "hidden"])
    return text


class LanguageModelAgent(BaseAgent):
    """A language model that is asked for moves in words.

    Questions about several games are asked at the same time. An answer that is no legal move is answered by what is
    wrong with it; after the last retry the game is forfeited. Answers are kept in the folder of the run.

    Args:
        spec: the model's name, and options after a question mark (`ModelOptions`).

    Attributes:
        clock: for the next question, as in `ProgramAgent`.

    Raises:
        ValueError: no name, a bad option, or no server in the environment.
        ImportError: the extra `llm` is missing.
    """

    def __init__(self, spec: str) -> None:
        super().__init__(f"llm:{spec}")
        self._model, mark, options = spec.partition("?")
        if not self._model.strip() or (mark and not options):
            raise InputError("spec", "the name of a model, such as llm:MODEL or llm:MODEL?retries=2", shown(spec))
        self.options = ModelOptions.parse(options)
        self.clock: Mapping[str, float] | None = None
        self._server = ChatServer(self.options.timeout)
        self._rules: tuple[Game, str] | None = None

    @override
    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        self._rules = game, _system_message(game)

    def act_on_views(self, views: Sequence[View], env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Ask the model about each game.

        Raises:
            PartialAnswerError: it failed in some of them.
            RunStopped: a limit of the spending is reached, or the server refuses the key.
        """
        game = views[0].game
        if self._rules is None or self._rules[0] != game:
            self._rules = game, _system_message(game)
        rules, answers = self._rules[1], answers_of_run()
        seeds = torch.randint(_SEEDS, (len(views),), generator=generator, device=generator.device).tolist()
        shape = (len(views), len(game.info.action_nvec))
        chosen, failures = torch.full(shape, -1, dtype=torch.int64, device="cpu"), {}
        with ThreadPoolExecutor(self.options.parallel) as pool:
            asked = [
                pool.submit(self._ask, view, rules, seed, answers) for view, seed in zip(views, seeds, strict=True)
            ]
            try:
                for row, answer in enumerate(asked):
                    try:
                        chosen[row] = torch.tensor(answer.result(), device="cpu")
                    except (ChatError, MoveError) as error:
                        failures[row] = str(error)
            except BaseException:  # answers under way are still kept
                self._server.give_up()
                pool.shutdown(wait=True, cancel_futures=True)
                raise
        actions = chosen.squeeze(1) if shape[1] == 1 else chosen
        if failures:
            raise PartialAnswerError(actions, failures)
        return actions

    def close(self) -> None:
        """Close the connections; the next question opens them again."""
        self._server.close()
        self._server = ChatServer(self.options.timeout)

    def _ask(self, view: View, rules: str, seed: int, answers: KeptAnswers) -> list[int]:
        """Return the move in one game."""
        limits = [] if self.clock is None else [self.clock[name] for name in ("left", "move") if name in self.clock]
        deadline = perf_counter() + min(limits) if limits else None
        hidden = self.options.legal_moves == "hidden"
        messages = [{"role": "system", "content": rules}, {"role": "user", "content": question(view, hidden=hidden)}]
        for attempt in range(self.options.retries + 1):
            request = {"model": self._model, "messages": messages, **self._sent_options(seed)}
            about = {"model": self._model, "agent": self.name, "turn": view.turn, "player": view.player}
            about |= {"retry": attempt} if attempt else {}
            reply = answers.get(key_of(request), about, partial(self._server.ask, request, deadline))
            try:
                return read_answer(reply.answer, view, hidden=hidden)
            except MoveError as error:
                if attempt == self.options.retries:
                    raise MoveError(f"no legal move in {attempt + 1} answers; the last one: {error}") from None
                said = reply.answer[-_MOST_REPEATED:] or "(nothing)"
                wrong = f"This answer does not count: {error}. Answer again, with a legal move in the last line."
                messages = [*messages, {"role": "assistant", "content": said}, {"role": "user", "content": wrong}]
        raise AssertionError("unreachable")

    def _sent_options(self, seed: int) -> dict[str, float]:
        options = self.options
        own = options.seed if options.temperature == 0 or options.seed is None else (options.seed + seed) % _SEEDS
        sent = {"temperature": options.temperature, "seed": own, "max_tokens": options.answer_tokens}
        return {name: value for name, value in sent.items() if value is not None}


def _system_message(game: Game) -> str:
    how = (
        "All players move at the same time, and know nothing of each other's moves."
        if game.info.simultaneous
        else "The players move in turns."
    )
    return f"You play a board game, to win. Here are its rules.\n\n{rules_text(game)}\n\n{how}"
