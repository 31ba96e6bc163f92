"""Agents that are language models: `llm:MODEL`. docs/language_models.md says how one is asked.

Prompts have a game and a position in words; answers are read strictly.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from time import perf_counter
from typing import Any, Literal
from urllib.parse import parse_qsl

import torch
from torch import Tensor

from cellgames.agents.base import BaseAgent, PartialAnswerError
from cellgames.agents.views import View
from cellgames.envs.core import Game
from cellgames.envs.registry import plugin_of
from cellgames.utils.errors import InputError, shown
from cellgames.utils.options import Options, option

from .calls import KeptAnswers, answers_of_run
from .chat_server import ChatError, ChatServer

_SEEDS = 1 << 31
_MOST_REPEATED = 2000  # characters of a wrong answer that the model is shown again


@dataclass(frozen=True, kw_only=True)
class ModelOptions(Options):
    """Options of `llm:MODEL?NAME=VALUE&NAME=VALUE`."""

    temperature: float | None = option(0.0, "sampling temperature; none leaves it to the server", low=0, high=10)
    seed: int | None = option(
        0, "is sent along; above temperature 0 a number of the run is added; none sends none", low=0, high=_SEEDS - 1
    )
    retries: int = option(2, "further tries after an answer that is no legal move", low=0, high=20)
    timeout: float = option(120.0, "seconds for an answer", low=0.1, high=3600)
    parallel: int = option(8, "questions at the same time", low=1, high=64)
    answer_tokens: int | None = option(
        None, "most tokens of an answer; none leaves it to the server", low=1, high=10_000_000
    )
    prompt_price: float = option(0.0, "dollars for a million tokens of questions", low=0, high=1e6)
    answer_price: float = option(
        0.0, "dollars for a million tokens of answers, for the costs in reports", low=0, high=1e6
    )
    legal_moves: Literal["shown", "hidden"] = option("shown", "hidden leaves the legal moves out of the questions")

    @classmethod
    def parse(cls, text: str) -> ModelOptions:
        """Return the options of the text after the question mark; a `ValueError` says what is wrong with it."""
        known = {one.name: one for one in cls.options()}
        found: dict[str, Any] = {}
        try:
            for name, value in parse_qsl(text, strict_parsing=True) if text else ():
                if name not in known or name in found:
                    raise InputError("options", f"options of {', '.join(sorted(known))}, each once", shown(name))
                none = value == "none" and known[name].optional
                found[name] = None if none else value if known[name].choices else known[name].kind(value)
        except InputError:
            raise
        except ValueError:
            raise InputError("options", "options such as llm:MODEL?temperature=0&retries=2", shown(text)) from None
        return cls(**found)


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

    def act_on_views(self, views: Sequence[View], env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Ask the model about each game.

        Raises:
            PartialAnswerError: it failed in some of them.
            RunStopped: a limit of the spending is reached, or the server refuses the key.
        """
        game = views[0].game
        rules, answers = _system_message(game), answers_of_run()
        seeds = torch.randint(_SEEDS, (len(views),), generator=generator, device=generator.device).tolist()
        shape = (len(views), len(game.info.action_nvec))
        chosen, failures = torch.full(shape, -1, dtype=torch.int64, device="cpu"), {}
        questions, ask = zip(views, seeds, strict=True), self._ask
        with ThreadPoolExecutor(self.options.parallel) as pool:
            asked = [pool.submit(ask, view, rules, seed, answers) for view, seed in questions]
            try:
                for row, answer in enumerate(asked):
                    try:
                        chosen[row] = torch.tensor(answer.result(), device="cpu")
                    except (ChatError, MoveError) as error:
                        failures[row] = str(error)
            except BaseException:  # answers under way are still kept
                pool.shutdown(wait=True, cancel_futures=True)
                raise
        actions = chosen.squeeze(1) if shape[1] == 1 else chosen
        if failures:
            raise PartialAnswerError(actions, failures)
        return actions

    def _ask(self, view: View, rules: str, seed: int, answers: KeptAnswers) -> list[int]:
        """Return the move in one game."""
        limits = [] if self.clock is None else [self.clock[name] for name in ("left", "move") if name in self.clock]
        deadline = perf_counter() + min(limits) if limits else None
        hidden, prices = self.options.legal_moves == "hidden", (self.options.prompt_price, self.options.answer_price)
        messages = [{"role": "system", "content": rules}, {"role": "user", "content": question(view, hidden=hidden)}]
        options = self.options
        own = options.seed if options.temperature == 0 or options.seed is None else (options.seed + seed) % _SEEDS
        sent = {"temperature": options.temperature, "seed": own, "max_tokens": options.answer_tokens}
        sent = {name: value for name, value in sent.items() if value is not None}
        for attempt in range(options.retries + 1):
            request = {"model": self._model, "messages": messages, **sent}
            about = {"model": self._model, "agent": self.name, "turn": view.turn, "player": view.player}
            about |= {"retry": attempt} if attempt else {}
            about |= {"prices": prices} if any(prices) else {}
            reply = answers.get(request, about, partial(self._server.ask, request, deadline))
            try:
                return read_answer(reply.answer, view, hidden=hidden)
            except MoveError as error:
                if attempt == self.options.retries:
                    raise MoveError(f"no legal move in {attempt + 1} answers; the last one: {error}") from None
                said = reply.answer[-_MOST_REPEATED:] or "(nothing)"
                wrong = f"This answer does not count: {error}. Answer again, with a legal move in the last line."
                messages = [*messages, {"role": "assistant", "content": said}, {"role": "user", "content": wrong}]
        raise AssertionError("unreachable")


@cache
def _system_message(game: Game) -> str:
    how = "The players move in turns."
    if game.info.simultaneous:
        how = "All players move at the same time, and know nothing of each other's moves."
    return f"You play a board game, to win. Here are its rules.\n\n{rules_text(game)}\n\n{how}"


ANSWER = (
    "Think as long as you need, but keep it short. The last line of your answer must be MOVE: and the name of your "
    "move, such as\nMOVE: {example}\nNothing may follow it. A move that is not legal is not played."
)

_MOST_MOVES = 400
_LINE = re.compile(r"MOVE: *([!-~]{1,200})")


class MoveError(ValueError):
    """An answer that is no legal move; the message says what was expected."""


def rules_text(game: Game) -> str:
    """Return the rules, the parameters, how to read a position and how to name a move, in paragraphs."""
    plugin = plugin_of(game)
    prompt, page = plugin.prompt, plugin.page
    paragraphs = [f"The game is {game.info.title} ({game.id}). Its players are {', '.join(game.info.players)}."]
    paragraphs += prompt.rules if prompt is not None else page.rules if page is not None else ()
    paragraphs.append(f"Parameters of this game: {json.dumps(dict(game.parameters))}.")
    if prompt is not None:
        paragraphs += [f"Positions: {prompt.position}", f"Moves: {prompt.moves}"]
    return "\n\n".join(paragraphs)


def legal_moves(view: View) -> str:
    """Return the legal moves by name; of more than `_MOST_MOVES` only some, spread evenly.

    Where an action has several components, the legal choices of each are listed.
    """
    game, legal = view.game, view.legal
    if len(legal) == 1:
        return f"Legal moves ({len(legal[0])}): {_names(view, 0, _MOST_MOVES)}"
    lines = ["A move has several parts. The legal choices of each part, by itself:"]
    lines += [f"  part {part + 1}: {_names(view, part, _MOST_MOVES // 2)}" for part in range(len(legal))]
    example = torch.stack([part.int().argmax() for part in view.mask.split(list(game.info.action_nvec))]).tolist()
    return "\n".join([*lines, f"The first choice of every part gives the move {_name(game, example)}"])


def question(view: View, *, hidden: bool = False) -> str:
    """Return the question for a move; `hidden` leaves out the legal moves."""
    name = view.game.info.players[view.player]
    return "\n\n".join(
        [
            f"You are {name}. {view.turn} {'step has' if view.turn == 1 else 'steps have'} been played.",
            f"{view.game.text_for(view.state, view.player)}\nIn one line: {view.position}",
            *([] if hidden else [legal_moves(view)]),
            ANSWER.format(example=_example(view, hidden)),
        ]
    )


def read_answer(text: str, view: View, *, hidden: bool = False) -> list[int]:
    """Return the legal action that ends an answer, a choice for each component, or raise a `MoveError`."""
    last = text.strip().rpartition("\n")[2].strip()
    if (match := _LINE.fullmatch(last)) is None:
        raise MoveError(f"expected a last line such as MOVE: {_example(view, hidden)}, got {shown(last)}")
    game = view.game
    try:
        choices = game.info.unravel_action(game.string_to_action(match[1]))
    except ValueError as error:
        raise MoveError(str(error)) from None
    for part, (choice, legal) in enumerate(zip(choices, view.legal, strict=True)):
        if choice not in legal:
            raise MoveError(game.why_illegal(view.state, view.player, part, choice))
    return choices


def _name(game: Game, choices: list[int]) -> str:
    return game.action_to_string(game.info.ravel_action(choices))


def _example(view: View, hidden: bool) -> str:
    return "NAME" if hidden else _name(view.game, [choices[0] for choices in view.legal])


def _names(view: View, part: int, most: int) -> str:
    legal = view.legal[part]
    some = legal if len(legal) <= most else [legal[index * len(legal) // most] for index in range(most)]
    names = " ".join(view.game.choice_to_string(part, choice) for choice in some)
    return names if len(some) == len(legal) else f"{names}\n({len(legal)} in all; these are {most} of them)"
