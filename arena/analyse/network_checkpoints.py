"""The networks that a training run has kept, as agents, and how their games begin.

A run keeps snapshots in `pool/`, evenly spread over its steps, and its last network in `agent.safetensors`, as
`agents.saved` writes them (`cellgames train --snapshot-every` and `--pool-limit` say how many).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from cellgames.agents import play_loop as loop
from cellgames.agents.base import AnyAgent
from cellgames.agents.networks.file_names import WEIGHTS_FILE, WEIGHTS_SUFFIX
from cellgames.agents.networks.saved import load_network, read_about
from cellgames.agents.playouts.random_agent import has_compound_turns
from cellgames.agents.selection import select
from cellgames.arena.play.evaluation import play_evaluation
from cellgames.arena.play.match import generator
from cellgames.arena.play.match_options import MatchOptions
from cellgames.arena.records.record_lines import Record, Result, plain
from cellgames.envs import registry
from cellgames.envs.core import Game, State
from cellgames.envs.core.seating import Seating
from cellgames.runs.seeds import derive
from cellgames.utils.foreign_text import shown
from cellgames.utils.version import __version__

from .reader import make_reader

__all__ = ["Checkpoint", "checkpoints", "first_steps", "game_of_run", "games_between", "load"]

POOL = "pool"
_MOVES = 2  # of a seat, or turns of a game in turns, that are played of a beginning


@dataclass(frozen=True)
class Checkpoint:
    """A network that a run has kept.

    Attributes:
        steps: Number of steps that it had learned from.
        path: File of its weights.
    """

    steps: int
    path: Path

    @property
    def name(self) -> str:
        """The name in tables."""
        return f"step {self.steps:,}"


def checkpoints(folder: Path) -> list[Checkpoint]:
    """Return the networks that a run has kept, the oldest first.

    Raises:
        ValueError: No run's folder, or fewer than two networks in it, or weights that cannot be read.
    """
    if not folder.is_dir():
        raise ValueError(f"{folder}: expected the folder of a run of `cellgames train`, found none")
    paths = sorted((folder / POOL).glob(f"*{WEIGHTS_SUFFIX}"))
    paths += [folder / WEIGHTS_FILE] if (folder / WEIGHTS_FILE).is_file() else []
    found: dict[int, Checkpoint] = {}
    for path in paths:
        steps = read_about(path)["made"].get("steps")
        if not isinstance(steps, int):
            raise ValueError(
                f"{path}: expected weights that say after how many steps they were kept, got {shown(steps)}"
            )
        found[steps] = Checkpoint(steps, path)  # the last network is also the last snapshot
    if len(found) < 2:
        raise ValueError(
            f"{folder}: expected the networks of a run of `cellgames train` at two moments or more, in {POOL}/ and "
            f"{WEIGHTS_FILE}, found {len(found)}"
        )
    return [found[steps] for steps in sorted(found)]


def game_of_run(found: Sequence[Checkpoint]) -> Game:
    """Return the game that the networks learned.

    Raises:
        ValueError: Not the same for all.
    """
    abouts = [read_about(checkpoint.path) for checkpoint in found]
    games = [registry.make(about["game"], **about["parameters"]) for about in abouts]
    if any(game != games[0] for game in games):
        raise ValueError(f"expected networks of one game, got {games[0]} and others in {found[0].path.parent}")
    return games[0]


def load(found: Sequence[Checkpoint]) -> dict[str, AnyAgent]:
    """Return the networks as agents that sample their actions, by name."""
    return {
        checkpoint.name: load_network(checkpoint.path).network.agent(checkpoint.name, sample=True)
        for checkpoint in found
    }


def games_between(game: Game, agents: Mapping[str, AnyAgent], games: int, seed: int) -> list[Record]:
    """Play games of the first, the middle and the last agent against each other, from which positions can come.

    Args:
        game: The game with its parameters.
        agents: Agents by name, in their order.
        games: Games of each pair, an even number.
        seed: Seed that all random draws follow from.
    """
    names = list(agents)
    some = list(dict.fromkeys((names[0], names[len(names) // 2], names[-1])))
    pairs = [(a, b) for place, a in enumerate(some) for b in some[place + 1 :]]
    plies = 0 if has_compound_turns(game) else 2  # where turns are several actions chance makes no turns
    found: list[Record] = []
    for a, b in pairs:
        options = MatchOptions(games=games, seed=derive(seed, a, b), opening_plies=plies)
        found += play_evaluation(game, {a: agents[a], b: agents[b]}, options)
    return found


# ---------------------------------------------------------------- first steps


def first_steps(game: Game, agent: AnyAgent, games: int, seed: int) -> Counter[str]:
    """Count how games of an agent with itself begin, by the first one or two steps of an opening (`readers`).

    Args:
        game: The game with its parameters.
        agent: The agent in all seats.
        games: Number of games; the same ones for every agent.
        seed: Seed that all random draws follow from.
    """
    seeds = torch.tensor([derive(seed, "first steps", number) for number in range(games)], device="cpu")
    state: State = game.init(seeds)
    chance, seats = generator(seed, "first steps", "agent"), game.info.num_players
    seating = Seating(game, torch.zeros(games, seats, dtype=torch.int64, device="cpu"))
    seating.deal(
        torch.arange(games, device="cpu"),
        seating.seats.clone(),
        lambda _, places, env_ids: agent.start(game, places, env_ids),
    )
    played: list[torch.Tensor] = []
    turns = torch.zeros(games, dtype=torch.int64, device="cpu")  # begun and ended
    while not (done := state.done | (turns >= _MOVES)).all():
        going = (~done).nonzero().squeeze(1)
        actions = torch.zeros((games, *game.info.action_shape), dtype=torch.int64, device="cpu")
        env_ids, places = seating.to_move(state, ~done)
        chosen = select(agent, game, state, env_ids, chance, places)
        actions[(env_ids, places) if game.info.simultaneous else env_ids] = chosen
        before = state
        state = state.put(going, game.step(state[going], actions[going], checked=False))
        turns += ~done & ((state.current_player != before.current_player) | game.info.simultaneous)
        played.append(actions)
    parts = loop.Played(torch.stack(played), state.turn.long(), state)
    reader, nothing = make_reader(game), Result((), (), 0, False)
    found: Counter[str] = Counter()
    for env_id, env_seed in enumerate(seeds.tolist()):
        moves = tuple(loop.moves(game, parts, env_id))
        names = (agent.name,) * seats
        record = Record(game.id, __version__, plain(game.parameters), env_seed, names, 0, moves, nothing)
        found.update(", ".join(opening.steps[:2]) for opening in reader.openings(record))
    return found
