"""The mixture of a league as an agent: it draws a member by the meta-strategy for each game, which plays it to its end.

A mixture is a file `mixture.json` in a folder, as `populations.league` writes it:

    {"format": 1, "game": "torus-v0", "parameters": {"size": 3},
     "members": [{"name": "psro-001", "agent": "members/psro-001/agent.safetensors", "identity": "..."}, ...],
     "tables": [{"weight": 0.25, "seats": [0]}, {"weight": 0.75, "seats": [1, 1, 2, 2]}]}

A table of one member has it in all seats of the mixture. A table with one member for each seat of the game is drawn for
the whole table, seated in a random order; the mixture plays the seats that are its own.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.agent_specs import file_of
from cellgames.agents.base import AnyAgent, BaseAgent, Seats, must_start, reaching, takes_states
from cellgames.agents.loading import load
from cellgames.agents.networks.agent_files import MIXTURE_FILE
from cellgames.envs.core import Game
from cellgames.utils.errors import InputError, clipped, shown

FORMAT = 1
_MOST = 1000  # members, or seats of a table


@dataclass(frozen=True)
class Mixture:
    """The content of the file.

    Attributes:
        game: id.
        parameters: parameters of the game.
        names: names of members.
        specs: specs of members; paths are relative to the file's folder.
        identities: identities of members, as `agents.loading` tells them.
        tables: members by seat, one for all seats or one for each.
        weights: weights of the tables; their sum is 1.
    """

    game: str
    parameters: dict[str, Any]
    names: tuple[str, ...]
    specs: tuple[str, ...]
    identities: tuple[str, ...]
    tables: tuple[tuple[int, ...], ...]
    weights: tuple[float, ...]

    def shares(self) -> tuple[float, ...]:
        """Return the share of the seats of each member."""
        found = [0.0] * len(self.names)
        for table, weight in zip(self.tables, self.weights, strict=True):
            for member in table:
                found[member] += weight / len(table)
        return tuple(found)


def mixture_text(mixture: Mixture) -> str:
    """Return the text of the file."""
    members = zip(mixture.names, mixture.specs, mixture.identities, strict=True)
    data = {
        "format": FORMAT,
        "game": mixture.game,
        "parameters": mixture.parameters,
        "members": [{"name": name, "agent": spec, "identity": known} for name, spec, known in members],
        "tables": [
            {"weight": weight, "seats": list(table)}
            for table, weight in zip(mixture.tables, mixture.weights, strict=True)
            if weight > 0
        ],
    }
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def read_mixture(folder: Path) -> Mixture:
    """Return the mixture in a folder.

    Raises:
        ValueError: the file is missing or damaged.
    """
    path = folder / MIXTURE_FILE
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(folder, f"the folder of a league, with {MIXTURE_FILE}", "none") from None
    except (OSError, ValueError) as error:
        raise InputError(path, "a file that can be read", clipped(str(error))) from None
    try:
        if data["format"] != FORMAT:
            raise InputError("format", f"format {FORMAT}", shown(data["format"]))
        members = data["members"]
        found = Mixture(
            str(data["game"]),
            dict(data["parameters"]),
            tuple(str(member["name"]) for member in members),
            tuple(str(member["agent"]) for member in members),
            tuple(str(member["identity"]) for member in members),
            tuple(tuple(table["seats"]) for table in data["tables"]),
            tuple(float(table["weight"]) for table in data["tables"]),
        )
        places = [place for table in found.tables for place in table]
        if not 0 < len(members) <= _MOST or not all(0 < len(table) <= _MOST for table in found.tables):
            raise InputError("members", f"1 to {_MOST} members, and tables of as many seats")
        if not all(type(place) is int and 0 <= place < len(members) for place in places):
            raise InputError("tables", "numbers of members as seats")
        if not (all(weight > 0 for weight in found.weights) and abs(sum(found.weights) - 1) < 1e-6):
            raise InputError("weights", "weights above 0 that add up to 1")
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(path, "the mixture of a league", cause=clipped(str(error))) from None
    return found


class LeagueAgent(BaseAgent):
    """An agent that draws a member for each game at its first move there, by its generator.

    In games in turns one member has all seats of the mixture in a game.

    Args:
        folder: with the file of the mixture.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(f"league:{folder}")
        self.mixture, self._folder = read_mixture(folder), folder
        self._members: list[AnyAgent] | None = None
        self._game: Game | None = None
        self._seats = Seats()
        self._held: Tensor | None = None  # bool [environments, P], and the members drawn, int64, -1 before
        self._drawn = torch.zeros((0, 0), dtype=torch.int64, device="cpu")

    def members(self, game: Game) -> list[AnyAgent]:
        """Return the members as agents for a game; the same ones until another game is asked for.

        Raises:
            ValueError: one cannot be loaded, does not play this game, or searches on states.
        """
        if self._members is None or game != self._game:
            loaded = []
            for name, spec in zip(self.mixture.names, self.mixture.specs, strict=True):
                file = file_of(spec)
                there = spec if file is None else f"{file.before}{os.path.join(self._folder, file.path)}{file.after}"
                loaded.append(load(there, game, name=name))
                if takes_states(loaded[-1], game):
                    raise InputError("member", "agents that play by observations", name, where=f"agent {self.name!r}")
            self._members, self._game = loaded, game
        return self._members

    def check_game(self, game: Game) -> None:
        """Raise a `ValueError` unless the mixture was made for the game, or its members serve it."""
        if game.id != self.mixture.game:
            raise InputError(f"agent {self.name!r}", f"a game of {self.mixture.game}, the league's", game.id)
        seats = game.info.num_players
        if wrong := [table for table in self.mixture.tables if len(table) not in (1, seats)]:
            raise InputError(f"agent {self.name!r}", f"{len(wrong[0])} seats, as its tables have", seats)
        self.members(game)

    @override
    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        if self._game != game or self._held is None or self._held.device != env_ids.device:
            self.check_game(game)
            shape = (0, game.info.num_players)
            self._held = torch.zeros(shape, dtype=torch.bool, device=env_ids.device)
            self._drawn = torch.zeros(shape, dtype=torch.int64, device=env_ids.device)
        self._seats.start(game, players, env_ids)
        self._held, self._drawn = reaching(self._held, env_ids), reaching(self._drawn, env_ids)
        self._held[env_ids] = False
        self._held[env_ids, players] = True
        self._drawn[env_ids] = -1

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Tensor:
        """Choose actions: those of the members that were drawn."""
        if self._members is None or self._game is None or self._held is None:
            raise must_start(self)
        self._draw(env_ids.unique(), generator)
        # In games in turns one member has all seats.
        together = self._game.info.simultaneous
        seats = self._seats.of(env_ids) if together else self._held[env_ids].int().argmax(1)
        drawn = self._drawn[env_ids, seats]
        answer: Tensor | None = None
        for number in drawn.unique().tolist():
            rows = (drawn == number).nonzero().squeeze(1)
            member: Any = self._members[number]
            found = member.act(observation[rows], action_mask[rows], env_ids[rows], generator)
            if answer is None:
                answer = found.new_zeros((len(env_ids), *found.shape[1:]))
            answer[rows] = found
        assert answer is not None
        return answer

    def _draw(self, env_ids: Tensor, generator: torch.Generator) -> None:
        """Draw a table for each of the environments that has none, and start its members."""
        assert self._members is not None
        assert self._game is not None
        assert self._held is not None
        new = env_ids[(self._held[env_ids] & (self._drawn[env_ids] < 0)).any(1)]
        if not len(new):
            return
        seats, count = self._game.info.num_players, len(new)
        lots = torch.rand((count, 1 + seats), generator=generator, device=generator.device, dtype=torch.float64).cpu()
        weights, tables = torch.tensor(self.mixture.weights, dtype=torch.float64, device="cpu"), self.mixture.tables
        if not self._game.info.simultaneous:
            shares = torch.tensor(self.mixture.shares(), dtype=torch.float64, device="cpu")
            weights, tables = shares, tuple((member,) for member in range(len(shares)))
        places = torch.searchsorted(weights.cumsum(0), lots[:, 0].contiguous()).clamp(max=len(tables) - 1).tolist()
        order = lots[:, 1:].argsort(1).tolist()
        drawn = [
            [tables[place][turn if len(tables[place]) > 1 else 0] for turn in turns]
            for place, turns in zip(places, order, strict=True)
        ]
        self._drawn[new] = torch.tensor(drawn, device=self._drawn.device)
        for number, member in enumerate(self._members):
            env, seat = (self._held[new] & (self._drawn[new] == number)).nonzero().unbind(1)
            if len(env):
                member.start(self._game, seat, new[env])


def league_agent(folder: Path) -> LeagueAgent:
    """Return the mixture in a folder as an agent."""
    return LeagueAgent(folder)
