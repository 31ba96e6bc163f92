"""Share of positions in which agents keep the win on a solved board: `python -m benchmarks.agents.truth --size 4`.

Torus of size 3, 4 and 5 is judged by proof-number search, at size 5 in positions with 16 stones or more; so are Hex
and Y (`--game hex-v0`) on boards that it solves, after the swap. Every agent is asked for its move in the same
positions, in each of which some moves win and some lose, and the moves that win are counted. A page and its numbers go
to results/strength/torus-n3.md and torus-n3.json, hex-n4.md and so on.

Judging positions of Torus of size 4 and 5, and of Hex and Y, takes minutes. So they are kept beside the page, as
torus-n4-positions.json, and read from there the next time: a list of {"position": text, "winning": [actions]}.
`--positions` takes the first of them.

Letters: `L` positions, `N` cells.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

import cellgames
from benchmarks.pages import head, parser_of, typed_command, write_page
from cellgames.agents.base import AnyAgent, draw_seeds
from cellgames.agents.loading import load
from cellgames.agents.selection import select
from cellgames.agents.solving import ProofSearch, proof_search
from cellgames.envs.connection.game import ConnectionGame
from cellgames.envs.stones.stone_game import StoneGame
from cellgames.envs.stones.stone_state import StoneState
from cellgames.envs.torus.game import Torus
from cellgames.utils.files import write_atomic
from cellgames.utils.report.model import Table, markdown_table, percent
from cellgames.utils.statistics import wilson_interval

SIZE = 3
LEAST_STONES = {3: 0, 4: 0, 5: 16}
"""Sizes of Torus that can be judged, and the least number of stones of their positions."""

AGENTS = ("random", "greedy", "trained", "rollout:64", "mcts:100", "mcts:800", "gumbel:16", "gumbel:64", "perfect")
OUT = Path("results/strength")
MOST = 100_000  # positions; there are several million

_GAMES, _FEWER_GAMES = 4096, 64  # random games that are cut off at once: of Torus of size 3, else


@dataclass(frozen=True, eq=False)
class Judged:
    """Positions in which some moves win and some lose, [L], and the moves that win with best play, bool [L, N]."""

    game: StoneGame[Any]
    state: Any
    winning: Tensor

    def __len__(self) -> int:
        return len(self.state)

    def __getitem__(self, rows: Tensor | slice) -> Judged:
        return Judged(self.game, self.state[rows], self.winning[rows])


def sample(count: int, seed: int, game: StoneGame[Any] = Torus(SIZE)) -> Judged:  # noqa: B008  # frozen
    """Return distinct positions in which some moves win and some lose, `count` of them.

    They come from uniformly random play that is cut off after any number of turns with equal chance, from
    the first that can be judged on; games that end before count for nothing.
    """
    return next(found for found in _samples(seed, game) if len(found) >= count)[:count]


def _samples(seed: int, game: StoneGame[Any]) -> Iterator[Judged]:
    """Yield more and more positions for `sample`, the first ones always the same."""
    generator, actions = torch.Generator().manual_seed(seed), game.info.num_actions
    found = Judged(game, game.init(torch.zeros(0, dtype=torch.int64)), torch.zeros((0, actions), dtype=torch.bool))
    while True:
        more = _undecided(game, generator)
        state = StoneState.cat((found.state, more.state))
        _, same = game.board(state).unique(dim=0, return_inverse=True)
        place = torch.arange(len(state))
        first = torch.full_like(place, len(state)).scatter_reduce(0, same, place, "amin")
        kept = first[first < len(state)].sort().values
        found = Judged(game, state, torch.cat((found.winning, more.winning)))[kept]
        yield found


def _least_stones(game: StoneGame[Any]) -> int:
    """Return the least number of turns after which positions can be judged; in Hex and Y nobody may swap then."""
    if isinstance(game, ConnectionGame):
        return 2
    return LEAST_STONES[game.size]


def _undecided(game: StoneGame[Any], generator: torch.Generator) -> Judged:
    """Return what some random games give for `sample`, in random order."""
    games = _GAMES if isinstance(game, Torus) and game.size <= 3 else _FEWER_GAMES
    cells = game.num_cells
    state = game.init(draw_seeds(games, generator))
    end = torch.randint(_least_stones(game), cells, (games,), generator=generator)
    env_ids, parts = torch.arange(games), []
    for turn in range(cells):
        parts.append((env_ids[(end == turn) & ~state.done], state[(end == turn) & ~state.done]))
        state = game.step(state, game.random_actions(state, generator), checked=False)
    states: Any = StoneState.cat([part for _, part in parts])[torch.cat([env_ids for env_ids, _ in parts]).argsort()]
    search = _search(game)
    if isinstance(game, Torus):
        states = states[search.solve(states) == 1]
    winning = search.move_values(states) == 1
    both = winning.any(1) & (game.legal_actions(states) & ~winning).any(1)
    return Judged(game, states[both], winning[both])


@cache
def _search(game: StoneGame[Any]) -> ProofSearch[Any]:
    return proof_search(game)


def judged(game: StoneGame[Any], count: int, seed: int, path: Path) -> Judged:
    """Return the positions of `sample`, from a file if it has them; else the file is written, now and then.

    Size 3 is judged in a second, so it has no file, and so have other seeds than 0.
    """
    if (isinstance(game, Torus) and game.size <= 3) or seed:
        return sample(count, seed, game)
    if path.exists() and len(kept := _read(path, game)) >= count:
        return kept[:count]
    path.parent.mkdir(parents=True, exist_ok=True)
    for found in _samples(seed, game):
        _write_positions(path, found[:count])
        print(f"{min(count, len(found))} of {count} positions judged", file=sys.stderr)
        if len(found) >= count:
            return found[:count]
    raise AssertionError("there are always more positions")


def _write_positions(path: Path, positions: Judged) -> None:
    """Write a file of positions, a line each."""
    game = positions.game
    rows = [
        json.dumps({"position": game.state_to_string(positions.state[place : place + 1]), "winning": moves})
        for place, moves in enumerate(row.nonzero().squeeze(1).tolist() for row in positions.winning)
    ]
    write_atomic(path, "[\n" + ",\n".join(rows) + "\n]\n")


def _read(path: Path, game: StoneGame[Any]) -> Judged:
    """Return the positions of a file."""
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
        state = StoneState.cat([game.string_to_state(row["position"]) for row in rows])
        winning = torch.zeros((len(rows), game.info.num_actions), dtype=torch.bool)
        for place, row in enumerate(rows):
            winning[place, row["winning"]] = True
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise ValueError(f"{path} does not hold judged positions of size {game.size} ({error}); remove it") from error
    if (winning & ~game.legal_actions(state)).any():
        raise ValueError(f"{path} has winning moves that are not legal; remove it")
    return Judged(game, state, winning)


def answers(positions: Judged, spec: str | AnyAgent, seed: int) -> Tensor:
    """Return where an agent, asked for all positions at once, moves so that it still wins: bool [L]."""
    game, state, env_ids = positions.game, positions.state, torch.arange(len(positions))
    agent = load(spec, game) if isinstance(spec, str) else spec
    agent.start(game, state.current_player, env_ids)
    chosen = select(agent, game, state, env_ids, torch.Generator().manual_seed(seed))
    return positions.winning.gather(1, chosen[:, None]).squeeze(1)


def _row(spec: str, right: Tensor, stones: Tensor) -> dict[str, Any]:
    """Return an agent's numbers, in all positions and by how many stones they have."""
    count = int(right.sum())
    low, high = wilson_interval(count / len(right), len(right))
    by_stones = {number: right[stones == number].double().mean().item() for number in stones.unique().tolist()}
    share = count / len(right)
    return {"agent": spec, "right": count, "share": share, "low": low, "high": high, "by stones": by_stones}


def _tables(positions: Judged, rows: Sequence[dict[str, Any]]) -> tuple[Table, Table]:
    """Return the shares of all agents, and those by stones."""
    shares = [(row["agent"], percent(row["share"]), f"{percent(row['low'])} to {percent(row['high'])}") for row in rows]
    state = positions.state
    chance = positions.winning.sum(1).double() / positions.game.legal_actions(state).sum(1)
    by_stones = []
    for number in state.turn.unique().tolist():
        same = state.turn == number
        each = (percent(row["by stones"][number]) for row in rows)
        by_stones.append((number, int(same.sum()), percent(chance[same].mean().item()), *each))
    return (
        Table("", ("agent", "moves that keep the win", "95 % interval"), shares, text=("agent",)),
        Table("", ("stones", "positions", "of all moves", *(row["agent"] for row in rows)), by_stones, text=()),
    )


def _name(game: StoneGame[Any]) -> str:
    """Return the name of a board's files."""
    return f"{game.id.partition('-')[0]}-n{game.size}"


def _game(options: argparse.Namespace) -> StoneGame[Any]:
    """Return the game of the options; raise a `ValueError` unless it can be judged."""
    game = cellgames.make(options.game, size=options.size)
    if not isinstance(game, StoneGame) or (isinstance(game, Torus) and game.size not in LEAST_STONES):
        raise ValueError(f"Torus of size 3 to 5, Hex and Y can be judged, got {game}")
    return game


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and write the page; return the exit code."""
    parser = parser_of("benchmarks.agents.truth", __doc__, OUT, seed=True)
    parser.add_argument("--size", type=int, default=SIZE, help=f"of the board (default {SIZE})")
    parser.add_argument("--game", metavar="GAME", default=Torus.id, help=f"Torus, Hex or Y (default {Torus.id})")
    parser.add_argument("--agents", nargs="+", metavar="SPEC", default=AGENTS, help=f"(default {' '.join(AGENTS)})")
    parser.add_argument("--positions", type=int, default=1000, metavar="N", help="how many (default 1000)")
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = parser.parse_args(given)
    if not 1 <= options.positions <= MOST:
        parser.error(f"--positions must be from 1 to {MOST}, got {options.positions}")
    try:
        game = _game(options)
        for spec in options.agents:
            load(spec, game)
        positions = judged(game, options.positions, options.seed, options.out / f"{_name(game)}-positions.json")
    except ValueError as error:
        parser.error(str(error))
    rows = []
    for spec in options.agents:
        began = time.perf_counter()
        rows.append(_row(spec, answers(positions, spec, options.seed), positions.state.turn))
        print(f"{spec}: {time.perf_counter() - began:.0f} s", file=sys.stderr)
    shares, by_stones = _tables(positions, rows)
    command = typed_command("benchmarks.agents.truth", given)
    page = (
        f"`{command}`: {len(positions)} positions out of random games, all different, seed {options.seed}; cellgames "
        f"{cellgames.__version__}. In each some moves win and some lose with best play, as the solver says; every "
        "agent was asked once in each.",
        shares,
        "In %. By the stones on the board, with the share of winning moves among the legal ones:",
        by_stones,
    )
    title = f"{game.info.title} of size {game.size}: how often agents keep a won position"
    numbers = {"size": game.size, "seed": options.seed, "positions": len(positions), "rows": rows}
    write_page(options.out / f"{_name(game)}.md", title, page, {**head(command), **numbers})
    print(markdown_table(shares))
    return 0


if __name__ == "__main__":
    sys.exit(main())
