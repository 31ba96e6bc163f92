"""The agents of a live game: those on seats, to blame if they fail, and hints for people."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor

from cellgames.agents.base import AnyAgent
from cellgames.agents.language_models.calls import RunStopped
from cellgames.agents.loading import load
from cellgames.agents.selection import Faults, reason_of, select, start
from cellgames.agents.time_control import Clocks
from cellgames.arena.analyse.search_analysis import Analysis, analyse, default_agent
from cellgames.arena.play.match import generator
from cellgames.arena.records.record_lines import Forfeit
from cellgames.envs import registry
from cellgames.envs.core import Game, State

from .limits import MOVE_S, OutOfTimeError, limited


class AgentSeats:
    """The agents of one game. One agent plays all seats that name it.

    Args:
        game: The game with its parameters.
        specs: The agent of each seat; None for a person's.
        load_agent: Makes an agent of a spec.
        seed: Seed of the agents' random draws.
    """

    def __init__(
        self, game: Game, specs: Sequence[str | None], load_agent: Callable[[str], AnyAgent], seed: int
    ) -> None:
        self._game, self._agents = game, list[tuple[AnyAgent, torch.Generator, Tensor]]()
        for name in dict.fromkeys(spec for spec in specs if spec is not None):
            seats = torch.tensor([seat for seat, spec in enumerate(specs) if spec == name], device="cpu")
            self._agents.append((load_agent(name), generator(seed, "web", name), seats))

    def start(self) -> Forfeit | None:
        """Start the agents in a new game; return a forfeit if one fails."""
        faults = Faults()
        for agent, _, seats in self._agents:
            start(agent, self._game, seats, torch.zeros_like(seats), faults)
        return _forfeit(faults)

    def act(self, state: State, people: Mapping[int, Tensor], clocks: Clocks | None = None) -> Tensor | Forfeit:
        """Return the next step's action, or a forfeit if an agent fails or takes longer than `MOVE_S` a seat.

        Args:
            state: A batch of one.
            people: By the seat of a person, the part of a joint action, int64 [K], if all act at once.
            clocks: Of the game; an agent that runs out of time forfeits, too.

        Returns:
            int64 [1], [1, K], [1, P] or [1, P, K], as `Game.step` takes it.
        """
        game, info, faults = self._game, self._game.info, Faults()
        joint = torch.zeros((info.num_players, len(info.action_nvec)), dtype=torch.int64, device="cpu")
        for seat, chosen in people.items():
            joint[seat] = chosen
        mover = slice(None) if info.simultaneous else int(state.current_player)
        asked = [
            (agent, chance, own if info.simultaneous else own[own == mover]) for agent, chance, own in self._agents
        ]
        for agent, chance, seats in asked:
            if not len(seats):
                continue
            env_ids, most = torch.zeros_like(seats), MOVE_S * len(seats)
            try:
                ask = partial(select, agent, game, state, env_ids, chance, seats, faults, clocks)
                joint[seats] = limited(most, ask).view(len(seats), -1)
            except OutOfTimeError:
                what = "a move" if len(seats) == 1 else f"the moves of {len(seats)} seats"
                reason = f"ran out of time: it took more than {most:g} s of processor time for {what}"
                faults.add(env_ids, seats, reason)
            except (MemoryError, torch.OutOfMemoryError, RunStopped) as error:  # nobody else could end the game
                first, *others = sorted(torch.cat([seats for *_, seats in asked]).tolist())
                return Forfeit(first, reason_of(error), tuple(others))
        return _forfeit(faults) or joint[mover].view(1, *info.action_shape)


def _forfeit(faults: Faults) -> Forfeit | None:
    if not faults:
        return None
    failure = faults.failures(0)[0]
    return Forfeit(failure.seats[0], failure.reason, failure.seats[1:], failure.trace)


# ---------------------------------------------------------------- hints for people

_IN_LIFE = "gumbel:16"
"""The search by the values of whole turns: each of its simulations takes many generations of Life."""

_WORDS = (
    (0.95, "you are winning"),
    (0.75, "you are far ahead"),
    (0.6, "you are ahead"),
    (0.4, "the game is even"),
    (0.25, "you are behind"),
    (0.05, "you are far behind"),
    (0.0, "you are losing"),
)


class Hint(NamedTuple):
    """A suggested move: the sentence that names it, and its number; None where an action has several parts."""

    words: str
    action: int | None


def hint(game: Game, state: State, seat: int) -> Hint:
    """Return a suggestion for a seat that is to act in an unfinished game, a batch of one.

    A search suggests where it can see the whole position. Elsewhere `greedy` does, which sees what the seat sees.
    """
    if (found := searched(game, state)) is None:
        return _from_greedy(game, state, seat)
    chance = found.win_chance
    words = next(words for least, words in _WORDS if chance >= least)
    line = " ".join(move.name for move in found.line[1:6])
    expected = f" It expects {line} next." if line else ""
    text = f"{found.agent} suggests {found.chosen}: {words}, your chance to win is {100 * chance:.0f} %.{expected}"
    return Hint(text, next(move.action for move in found.moves if move.name == found.chosen))


def searched(game: Game, state: State) -> Analysis | None:
    """Return a quick search of a position; None where none can see the whole of it, or play the game."""
    if game.info.simultaneous or not game.info.perfect_information:
        return None
    living = "turns" in registry.plugin_of(game).networks
    try:
        return analyse(game, state, load(_IN_LIFE, game) if living else default_agent(game))
    except (ValueError, ImportError):  # a game that no search plays, no weights, or nothing that reads them
        return None


def _from_greedy(game: Game, state: State, seat: int) -> Hint:
    try:
        agent = load("greedy", game)
    except ValueError:
        return Hint(f"There are no hints in {game.info.title}: it has no agent that could give them.", None)
    env_ids, seats = torch.zeros(1, dtype=torch.int64, device="cpu"), torch.tensor([seat], device="cpu")
    agent.start(game, seats, env_ids)
    chosen = select(agent, game, state, env_ids, torch.Generator().manual_seed(0), seats)[0]
    action = game.info.ravel_action(parts := chosen.reshape(-1).tolist())
    words = game.action_in_words(state, seat, action)
    text = f"greedy suggests {words}. It looks one move ahead and gives no chance to win."
    return Hint(text, action if len(parts) == 1 else None)
