"""The agents of a live game on their seats: started, asked for actions, and to blame if they fail."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import torch
from torch import Tensor

from cellgames.agents.base import AnyAgent
from cellgames.agents.language_models.calls import RunStopped
from cellgames.agents.selection import Faults, reason_of, select, start
from cellgames.agents.time_control import Clocks
from cellgames.arena.play.match import generator
from cellgames.arena.records.record_lines import Forfeit
from cellgames.envs.core import Game, State
from cellgames.envs.core.seating import Seating

from .limits import MOVE_S, OutOfTimeError, limited

_NOBODY: Mapping[int, Tensor] = MappingProxyType({})


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
        names = list(dict.fromkeys(spec for spec in specs if spec is not None))
        self._game = game
        self._generators = [generator(seed, "web", name) for name in names]
        self._agents = [load_agent(name) for name in names]
        self._seats = torch.tensor([[-1 if spec is None else names.index(spec) for spec in specs]], device="cpu")
        self._seating = Seating(game, self._seats)

    def start(self) -> Forfeit | None:
        """Start the agents in a new game; return a forfeit if one fails."""
        faults = Faults()

        def begin(player: int, seats: Tensor, env_ids: Tensor) -> None:
            start(self._agents[player], self._game, seats, env_ids, faults)

        self._seating.deal(torch.zeros(1, dtype=torch.int64, device="cpu"), self._seats, begin)
        return _forfeit(faults)

    def act(
        self, state: State, people: Mapping[int, Tensor] = _NOBODY, clocks: Clocks | None = None
    ) -> Tensor | Forfeit:
        """Return the next step's action, or a forfeit if an agent fails or takes longer than `MOVE_S` a seat.

        Args:
            state: A batch of one.
            people: By the seat of a person, the part of a joint action, int64 [K], if all act at once.
            clocks: Of the game; an agent that runs out of time forfeits, too.

        Returns:
            int64 [1], [1, P] or [1, P, K], as `Game.step` takes it.
        """
        faults, info = Faults(), self._game.info
        env_ids, seats = self._seating.to_move(state)

        def pick(player: int, env_ids: Tensor, seats: Tensor) -> Tensor:
            agent, chance = self._agents[player], self._generators[player]
            most = MOVE_S * len(seats)
            what = "a move" if len(seats) == 1 else f"the moves of {len(seats)} seats"
            message = f"ran out of time: it took more than {most:g} s of processor time for {what}"
            try:
                return limited(most, lambda: select(agent, self._game, state, env_ids, chance, seats, faults, clocks))
            except OutOfTimeError:
                faults.add(env_ids, seats, message)
                return torch.full((len(seats), *info.action_shape[info.simultaneous :]), -1, device="cpu")

        try:
            actions = self._seating.ask(env_ids, seats, pick)
        except (MemoryError, torch.OutOfMemoryError, RunStopped) as error:  # nobody else could end the game
            return Forfeit(int(seats[0]), reason_of(error), tuple(seats[1:].tolist()))
        if (forfeit := _forfeit(faults)) is not None:
            return forfeit
        if not info.simultaneous:
            return actions
        joint = torch.zeros((info.num_players, len(info.action_nvec)), dtype=torch.int64, device="cpu")
        joint[seats] = actions.view(len(seats), -1)
        for seat, chosen in people.items():
            joint[seat] = chosen
        return joint.view(1, *info.action_shape)


def _forfeit(faults: Faults) -> Forfeit | None:
    if not faults:
        return None
    failure = faults.failures(0)[0]
    return Forfeit(failure.seats[0], failure.reason, failure.seats[1:], failure.trace)
