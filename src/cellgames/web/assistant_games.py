"""Games that an assistant plays against agents, in words: what the tools of `mcp_server` do.

As on the page, games, parameters and agents are taken from the catalog only, so that no text of an assistant imports
code, opens a file or starts a program.
"""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Mapping
from typing import Any

import torch

from cellgames.agents.language_models.prompts import MoveError, legal_moves, position_text, read_move, rules_text
from cellgames.agents.play_loop import Played, moves
from cellgames.agents.views import View, views_of
from cellgames.arena.records.record_lines import Forfeit
from cellgames.arena.records.replays import result, start
from cellgames.envs.core import Game, State
from cellgames.envs.core.raster import to_png
from cellgames.utils.foreign_text import listed as listed_names
from cellgames.utils.foreign_text import shown

from . import catalog
from .agent_seats import AgentSeats
from .sessions import specs_of

__all__ = ["MOST_GAMES", "AssistantGames", "RefusedError"]

MOST_GAMES = 16
"""Games at the same time."""

_MOST_MOVES = 100  # in one call


class RefusedError(ValueError):
    """A request that cannot be done; the message says why."""


class AssistantGames:
    """The games of one assistant, by number.

    Args:
        listed: specs of agents that the owner offers, by name, besides those of the catalog.
    """

    def __init__(self, listed: Mapping[str, str] | None = None) -> None:
        self._listed = dict(listed or {})
        self._lock = threading.Lock()
        self._games: dict[int, _OneGame] = {}
        self._started = 0

    def list_games(self) -> str:
        """Return the games with their parameters, a paragraph each, and the agents."""
        paragraphs = []
        for offer in catalog.games():
            parameters = "; ".join(map(_range, offer["settings"]))
            how = "all at once" if offer["simultaneous"] else "in turns"
            paragraphs.append(
                f"{offer['id']}: {offer['summary']}\n  seats ({how}): {', '.join(offer['players'])}\n"
                f"  parameters: {parameters}"
            )
        agents = [f"{kind.usage.partition('[')[0]}: {kind.summary}" for kind in catalog.OPEN_AGENTS.values()]
        agents += [f"{name}: offered by the owner of this server" for name in self._listed]
        paragraphs.append("\n  ".join(["Agents (some play some of the games only):", *agents]))
        return "\n\n".join(paragraphs)

    def rules(self, game: str, parameters: Mapping[str, Any] | None = None) -> str:
        """Return the rules of a game, how to read a position and how to name a move."""
        return rules_text(_made(game, parameters))

    def start(
        self,
        game: str,
        agent: str,
        seat: str | None = None,
        parameters: Mapping[str, Any] | None = None,
        seed: int | None = None,
    ) -> str:
        """Start a game and return its number, position and legal moves.

        Args:
            game: an id.
            agent: plays all other seats.
            seat: of the assistant, None for the first.
            parameters: of the game that are not the default.
            seed: of the game and the agent, None for any.
        """
        made = _made(game, parameters)
        players = made.info.players
        if seat is not None and seat not in players:
            raise RefusedError(f"expected a seat of {', '.join(players)}, got {shown(seat)}")
        if seed is not None and not 0 <= seed < 1 << 62:
            raise RefusedError(f"expected a seed from 0 to 2^62 - 1, got {shown(seed)}")
        own = 0 if seat is None else players.index(seat)
        try:
            one = _OneGame(made, own, agent, self._listed, secrets.randbelow(1 << 31) if seed is None else seed)
        except (ImportError, ValueError) as error:
            raise RefusedError(str(error)) from None
        with self._lock:
            self._make_room()
            self._started += 1
            number = self._started
            self._games[number] = one
        with one.lock:
            one.begin()
            text = f"This is game {number}: {made.id}, you are {players[own]} against {shown(agent)}.\n\n{one.text()}"
            return text if one.over else f"{text}\n\n{legal_moves(one.view())}"

    def position(self, number: int) -> str:
        """Return the position as the assistant may know it."""
        one = self._get(number)
        with one.lock:
            return one.text()

    def picture(self, number: int) -> bytes:
        """Return the position as the assistant may know it, as a PNG."""
        one = self._get(number)
        with one.lock:
            state = one.state
        return to_png(one.game.draw_for(state, one.own), 1.0)

    def legal_moves(self, number: int) -> str:
        """Return the legal moves by name."""
        one = self._get(number)
        with one.lock:
            return legal_moves(one.view())

    def play(self, number: int, names: str) -> str:
        """Play moves by name, let the others answer, and return the position after it."""
        one = self._get(number)
        words = names.split()
        if not 1 <= len(words) <= _MOST_MOVES:
            raise RefusedError(f"expected the name of a move, got {shown(names)}")
        with one.lock:
            for place, word in enumerate(words):
                before = f"; played before it: {' '.join(words[:place])}" if place else ""
                try:
                    one.play(word)
                except (MoveError, RefusedError) as error:
                    raise RefusedError(f"{error}{before}") from None
            return one.text()

    def resign(self, number: int) -> str:
        """Give a game up."""
        one = self._get(number)
        with one.lock:
            one.view()  # refuses after the end
            one.ended = "You have resigned, so you have lost."
            return one.text()

    def _get(self, number: int) -> _OneGame:
        with self._lock:
            one = self._games.get(number)
            known = [str(known) for known in self._games]
        if one is None:
            raise RefusedError(f"there is no game {shown(number)}; games: {listed_names(known) or 'none, start one'}")
        return one

    def _make_room(self) -> None:
        """Forget the oldest game that is over if there are too many."""
        if len(self._games) < MOST_GAMES:
            return
        over = [number for number, one in self._games.items() if one.over]
        if not over:
            raise RefusedError(f"{MOST_GAMES} games are being played; finish or resign one first")
        del self._games[over[0]]


class _OneGame:
    """A game between the assistant and an agent on all other seats; `lock` is held by whoever uses it."""

    def __init__(self, game: Game, own: int, agent: str, listed: Mapping[str, str], seed: int) -> None:
        self.game, self.own, self.lock = game, own, threading.Lock()
        self.state: State = start(game, seed)
        self.ended = ""
        self._news = ""
        specs = specs_of([own], [agent], game.info.players)
        self._agents = AgentSeats(game, specs, lambda spec: catalog.load_agent(spec, game, listed), seed)

    @property
    def over(self) -> bool:
        return bool(self.ended) or bool(self.state.done)

    def begin(self) -> None:
        self._keep_forfeit(self._agents.start())
        self._let_others_play()

    def view(self) -> View:
        """Return what the assistant may know; refuse after the end."""
        if self.over:
            raise RefusedError("the game is over; start a new one")
        mask = self.game.legal_actions(self.state)
        own_mask = mask[:, self.own] if self.game.info.simultaneous else mask
        (view,) = views_of(self.game, self.state, torch.tensor([self.own], device="cpu"), own_mask)
        return view

    def play(self, name: str) -> None:
        view = self.view()
        if not name.isprintable() or len(name) > 200:
            raise MoveError(f"expected the name of a move, got {shown(name)}")
        chosen = torch.tensor(read_move(name, view), device="cpu")
        self._news = f"You played {name}."
        if self.game.info.simultaneous:
            found = self._agents.act(self.state, {self.own: chosen})
            if isinstance(found, Forfeit):
                self._keep_forfeit(found)
            else:
                self.state = self.game.step(self.state, found)
            return
        self.state = self.game.step(self.state, chosen.reshape(1, *self.game.info.action_shape))
        self._let_others_play()

    def text(self) -> str:
        """Return the news, the position and who is to move."""
        parts = [self._news] if self._news else []
        parts.append(position_text(self.game, self.state, self.own))
        parts.append(self._end() if self.over else f"It is your move as {self.game.info.players[self.own]}.")
        return "\n\n".join(parts)

    def _let_others_play(self) -> None:
        """Let the agents move until it is the assistant's turn."""
        if self.game.info.simultaneous:
            return
        answers: list[str] = []
        while not self.over and int(self.state.current_player) != self.own:
            found = self._agents.act(self.state)
            if isinstance(found, Forfeit):
                self._keep_forfeit(found)
                break
            after = self.game.step(self.state, found)
            answers += moves(self.game, Played(found[None], torch.ones(1, dtype=torch.int64, device="cpu"), after), 0)
            self.state = after
        if answers:
            self._news = f"{self._news} The answer: {' '.join(answers)}".strip()

    def _keep_forfeit(self, forfeit: Forfeit | None) -> None:
        if forfeit is not None:
            self.ended = f"The other side forfeits, so you have won: {forfeit.reason}"

    def _end(self) -> str:
        if self.ended:
            return self.ended
        ended = result(self.game, self.state)
        rows = zip(self.game.info.players, ended.outcome, ended.scores, strict=True)
        seats = "; ".join(f"{name}: {outcome}, score {score:g}" for name, outcome, score in rows)
        return f"The game is over. You: {ended.outcome[self.own]}. ({seats})"


def _made(game: str, parameters: Mapping[str, Any] | None) -> Game:
    try:
        return catalog.check_parameters(game, dict(parameters or {}))
    except ValueError as error:
        raise RefusedError(str(error)) from None


def _range(setting: Mapping[str, Any]) -> str:
    choices, default = setting["choices"], setting["default"]
    if isinstance(default, bool):
        return f"{setting['name']} (true or false, default {json.dumps(default)})"
    allowed = json.dumps(list(choices)) if choices else f"{setting['low']} to {setting['high']}"
    return f"{setting['name']} ({allowed}, default {default})"
