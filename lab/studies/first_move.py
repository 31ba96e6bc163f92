"""A study: what should Torus be opened with, and why? `python -m cellgames.lab.studies.first_move`.

By the board's symmetries there are only two first moves, an octagon and a square. Boards that are solved say which one
wins. On larger ones agents of rising strength play from both, with a few random plies after the first move so that few
games are alike, and a tree search judges every reply. Full boards of random colours say how often a cell decides.
A page, its numbers and its plots go to results/studies/torus_first_move/.

Letters: `B` games, `N` cells, `R` replies.
"""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from benchmarks.commands import check_least, typed_command
from torch import Tensor

import cellgames
from cellgames.agents.base import AnyAgent, acting
from cellgames.agents.loading import load
from cellgames.agents.play_loop import play, random_openings
from cellgames.agents.selection import select
from cellgames.agents.torus.proof_search import ProofSearch
from cellgames.arena.analyse.search_analysis import Searcher
from cellgames.arena.play.match import generator
from cellgames.envs.core import WIN, seeds
from cellgames.envs.core.drawing import Notes, grid
from cellgames.envs.core.raster import to_rgb
from cellgames.envs.torus.filling import winners
from cellgames.envs.torus.game import Torus
from cellgames.envs.torus.geometry import cell_to_name, num_cells
from cellgames.envs.torus.state import TorusState
from cellgames.runs.seeds import derive
from cellgames.utils.errors import InputError
from cellgames.utils.progress import progress
from cellgames.utils.report.files import write_report
from cellgames.utils.report.model import Cell, Plot, Report, Section, Table
from cellgames.utils.report.plots import prepare
from cellgames.utils.report.text import percent
from cellgames.utils.statistics import normal_quantile, wilson_interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIRST_MOVES = ("octagon", "square")
AGENTS: Mapping[int, tuple[str, ...]] = {
    5: ("random", "greedy", "mcts:100", "trained", "gumbel:64"),
    8: ("random", "greedy", "mcts:100", "trained", "gumbel:64"),
}
"""Of every size, the weakest first."""
SOLVED_SIZES = (2, 3)
JUDGE = "gumbel:256"
PLIES = 2  # random ones after the first move
OUT = Path("results/studies/torus_first_move")

_FULL = 200_000  # boards of random colours
_TOGETHER = 50  # games at the same time
_CHEAP = {"random": 50}  # so many times the games, since they cost next to nothing
_CHOICES = 64  # times that an agent is asked for its own first move
_COLOURS = {"octagon": "#0072b2", "square": "#d55e00"}  # blue and vermillion of Okabe and Ito


def first_cell(size: int, kind: str) -> int:
    """The cell that stands for all of its kind."""
    return size * size * FIRST_MOVES.index(kind)


# ---------------------------------------------------------------- what is known


def solved(size: int) -> dict[str, Any]:
    """By first move: whether it wins with best play, and the replies that beat it."""
    game, truth = Torus(size), ProofSearch(size)
    empty = game.init(seeds(0, 1))
    wins = truth.move_values(empty)[0] == 1
    found: dict[str, Any] = {}
    for kind in FIRST_MOVES:
        cell = first_cell(size, kind)
        after = game.step(empty, torch.tensor([cell]))
        beaten = (truth.move_values(after)[0] == 1).nonzero().squeeze(1).tolist()
        found[kind] = {"wins": bool(wins[cell]), "beaten by": [cell_to_name(reply, size) for reply in beaten]}
    return found


def influence(size: int, seed: int, boards: int = _FULL) -> dict[str, float]:
    """How often the winner of a full board of random colours changes with the colour of one octagon, or one square."""
    chance = generator(seed, "influence", size)
    cells, count = num_cells(size), dict.fromkeys(FIRST_MOVES, 0)
    for done in range(0, boards, 1 << 14):
        some = min(boards - done, 1 << 14)
        board = torch.randint(1, 3, (some, cells), generator=chance, dtype=torch.int8)
        mover, lots = torch.zeros(some, dtype=torch.int64), torch.zeros(some, cells, dtype=torch.int32)
        before = winners(board, mover, lots)  # full boards: neither mover nor lots matter
        for kind in FIRST_MOVES:
            changed = board.clone()
            changed[:, first_cell(size, kind)] = 3 - board[:, first_cell(size, kind)]
            count[kind] += int((winners(changed, mover, lots) != before).sum())
    return {kind: times / boards for kind, times in count.items()}


# ---------------------------------------------------------------- games


def openings(game: Torus, kind: str, count: int, seed: int) -> Tensor:
    """The first move and random plies after it, int64 [B, 1 + PLIES]; the plies are the same for both kinds."""
    first = first_cell(game.size, kind)
    after = random_openings(game, count, PLIES, generator(seed, "plies", game.size))
    # A ply on the cell of the first move goes to the other kind's cell, which no ply can then be on twice.
    other = sum(first_cell(game.size, name) for name in FIRST_MOVES) - first
    clash = (after == first).any(1) & (after == other).any(1)
    after = torch.where(after == first, other, after)
    spare = (first + 1) if first + 1 != other else first + 2
    after[clash] = torch.tensor([other, spare])
    return torch.cat([torch.full((count, 1), first), after], 1)


def share_of_black(size: int, spec: str, kind: str, games: int, seed: int) -> tuple[dict[str, Any], Tensor]:
    """An agent against itself from the openings of a kind: Black's share of the wins, and which games it won, [B]."""
    game, parts = Torus(size), []
    opening = openings(game, kind, games, seed)
    with progress(games, label=f"size {size}, {spec}, {kind}") as finished:
        for number, part in enumerate(opening.split(_TOGETHER * _CHEAP.get(spec, 1))):
            pair: list[AnyAgent] = [load(spec, game), load(spec, game)]
            chances = [generator(seed, "play", size, spec, number, player) for player in range(2)]
            played = play(game, pair, torch.tensor([[0, 1]] * len(part)), seeds(seed, len(part)), chances, opening=part)
            assert isinstance(played.state, TorusState)
            parts.append(torch.stack([game.outcome(played.state)[:, 0] == WIN, played.turns]))
            finished(len(part))
    black, turns = torch.cat(parts, 1).double()
    wins = int(black.sum())
    low, high = wilson_interval(wins / games, games)
    row = {"games": games, "wins": wins, "share": wins / games, "low": low, "high": high, "turns": turns.mean().item()}
    return row, black


def difference(octagon: Tensor, square: Tensor) -> tuple[float, float]:
    """How much more often Black wins from an octagon, and half the width of the 95 % interval; the games are pairs."""
    apart = octagon - square
    return apart.mean().item(), normal_quantile(0.95) * apart.std().item() / len(apart) ** 0.5


def own_choice(size: int, spec: str, seed: int) -> float:
    """How often an agent opens with an octagon if it may choose."""
    game, agent = Torus(size), load(spec, Torus(size))
    played: list[int] = []
    for number in range(_CHOICES if spec in ("random", "greedy") else 8):
        state = game.init(seeds(seed, 1))
        agent.start(game, state.current_player, torch.tensor([0]))
        played += select(agent, game, state, torch.tensor([0]), generator(seed, "choice", spec, number)).tolist()
    return sum(cell < size * size for cell in played) / len(played)


# ---------------------------------------------------------------- replies


def replies(size: int, kind: str, spec: str, seed: int) -> tuple[TorusState, Tensor, Tensor]:
    """The board after a first move, all replies, int64 [R], and White's chance after each as a search sees it, [R]."""
    game, first = Torus(size), first_cell(size, kind)
    after = game.step(game.init(seeds(seed, 1)), torch.tensor([first]))
    cells = game.legal_actions(after)[0].nonzero().squeeze(1)
    states = game.step(TorusState.cat([after] * len(cells)), cells)
    agent = acting(load(spec, game), game)
    if not isinstance(agent, Searcher):
        raise InputError("spec", "an agent that searches", f"{spec!r}")
    rows = torch.arange(len(cells))
    agent.start(game, states.current_player, rows)
    found = agent.search(states, rows, generator(seed, "replies", size, kind, spec))
    return after, cells, (found.value[:, 1].double() + 1) / 2


def judged(size: int, spec: str, seed: int) -> dict[str, Any]:
    """How many replies on a solved board a search takes for what they are: those that win above one half."""
    right, total = 0, 0
    for kind in FIRST_MOVES:
        after, cells, chances = replies(size, kind, spec, seed)
        truth = (ProofSearch(size).move_values(after)[0] == 1)[cells]
        right, total = right + int(((chances > 0.5) == truth).sum()), total + len(cells)
    return {"agent": spec, "right": right, "replies": total}


def _map_of_replies(size: int, spec: str, seed: int) -> tuple[bytes, dict[str, Any]]:
    """A PNG of both boards with White's chances in percent, and the numbers."""
    from PIL import Image

    pictures, data = [], {}
    for kind in FIRST_MOVES:
        after, cells, chances = replies(size, kind, spec, seed)
        numbers = dict(zip(cells.tolist(), chances.tolist(), strict=True))
        best = max(numbers, key=lambda cell: numbers[cell])
        notes = Notes(
            f"Torus, size {size}: Black has opened with {'an' if kind == 'octagon' else 'a'} {kind}",
            shares=numbers,
            numbers={cell: f"{100 * chance:.0f}" for cell, chance in numbers.items()},
            meaning="White's chance to win after the reply, in %",
            of="for White",
            least=min(numbers.values()),
        )
        pictures.append(Torus(size).draw_annotated(after, notes))
        data[kind] = {
            "best": cell_to_name(best, size),
            "chance": numbers[best],
            "chances": {cell_to_name(cell, size): round(chance, 4) for cell, chance in numbers.items()},
        }
    out = io.BytesIO()
    Image.fromarray(to_rgb(grid(pictures, 2))).save(out, format="png", optimize=True)
    return out.getvalue(), data


# ---------------------------------------------------------------- the page


def _draw_shares(figure: Figure, rows: Sequence[Mapping[str, Any]]) -> None:
    """Draw Black's share by agent and first move, a panel for each size."""
    sizes = sorted({row["size"] for row in rows})
    prepare(figure, "Torus: games that Black wins, by its first move", 4.4 * len(sizes), 3.7)
    for axes, size in zip(figure.subplots(1, len(sizes), sharey=True, squeeze=False)[0], sizes, strict=True):
        here = [row for row in rows if row["size"] == size]
        names = list(dict.fromkeys(row["agent"] for row in here))
        axes.axhline(50, color="#b8b8b8", linewidth=1)
        for kind, marker, shift in zip(FIRST_MOVES, "os", (-0.08, 0.08), strict=True):
            lines = [row for row in here if row["first"] == kind]
            places = [names.index(row["agent"]) + shift for row in lines]
            shares = [100 * row["share"] for row in lines]
            spans = [
                [100 * (row["share"] - row["low"]) for row in lines],
                [100 * (row["high"] - row["share"]) for row in lines],
            ]
            axes.errorbar(places, shares, spans, fmt=f"-{marker}", color=_COLOURS[kind], label=kind, linewidth=1.2)
        axes.set_xticks(range(len(names)), names, rotation=20, ha="right")
        axes.set_title(f"size {size}", fontsize=10)
        axes.set_ylim(0, 100)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    figure.axes[0].set_ylabel("games that Black wins, %")
    figure.axes[0].legend(title="first move", frameon=False, loc="lower left", fontsize=9)


def _report(options: argparse.Namespace, data: Mapping[str, Any], maps: Mapping[str, bytes]) -> Report:
    """Return the report; `maps` are the pictures of the replies by file name."""

    def interval(row: Mapping[str, Any]) -> str:
        return f"{percent(row['share'])} ({percent(row['low'])} to {percent(row['high'])})"

    by_agent: dict[tuple[int, str], dict[str, Any]] = {}
    for row in data["games"]:
        by_agent.setdefault((row["size"], row["agent"]), {})[row["first"]] = row
    gaps = {(row["size"], row["agent"]): (row["difference"], row["margin"]) for row in data["differences"]}
    played: list[Sequence[Cell]] = []
    for (size, agent), both in by_agent.items():
        octagon, square = (both[kind] for kind in FIRST_MOVES)
        gap = f"{100 * gaps[size, agent][0]:+.1f} ± {100 * gaps[size, agent][1]:.1f}"
        chosen = percent(octagon["own choice"])
        played.append((size, agent, octagon["games"], interval(octagon), interval(square), gap, chosen))
    exact: list[Sequence[Cell]] = []
    for size, found in data["solved"].items():
        for kind, known in found.items():
            ends = "wins" if known["wins"] else "loses"
            exact.append((size, kind, ends, ", ".join(known["beaten by"]) or "none"))
    decides: list[Sequence[Cell]] = []
    for size, both in data["influence"].items():
        values = [both[kind] for kind in FIRST_MOVES]
        decides.append((size, *map(percent, values), f"{values[0] / values[1]:.2f}"))
    check = data["judge on the solved board"]
    better = sum(gap > margin for gap, margin in gaps.values())
    claim = "every agent does better" if better == len(gaps) else f"{better} of {len(gaps)} agents surely do better"
    last = {size: (agent, both) for (size, agent), both in by_agent.items()}
    strongest = ", and ".join(
        f"{percent(both['octagon']['share'])} % of its games from an octagon and {percent(both['square']['share'])} % "
        f"from a square at size {size} ({agent})"
        for size, (agent, both) in last.items()
    )
    best = " ".join(
        f"At size {size} it gives White at most {percent(found['octagon']['chance'])} % after an octagon and "
        f"{percent(found['square']['chance'])} % after a square (at {found['square']['best']})."
        for size, found in data["replies"].items()
    )
    columns = ("size", "first move", "with best play", "replies that beat it")
    shares = ("size", "agent", "games", "octagon", "square", "difference", "opens with an octagon")
    plot = Plot("black_share", "", partial(_draw_shares, rows=data["games"]), "Black's share by agent and first move")
    parts = (
        f"`{options.command}`; cellgames {cellgames.__version__}, torch {torch.__version__.split('+')[0]}. Game by "
        "Mark Steere.",
        "Translations bring any octagon to any other and any square to any other, so Torus has two first moves: an "
        "octagon, which touches eight cells, and a square, which touches four. **Open with an octagon.** On the boards "
        f"that are solved it wins and a square loses; on larger boards {claim} from an octagon than from a square, and "
        f"the last of them, against itself, wins as Black {strongest}.",
        Section(
            "What is known",
            (
                Table("", columns, exact, text=columns[1:]),
                "The first stone lies on a1 or a1+. From `cellgames.agents.torus.ProofSearch`: all positions, "
                "not a sample.",
            ),
        ),
        Section(
            "What agents make of it",
            (
                f"Each agent plays itself from a first move and {PLIES} random plies, the same for both kinds; the "
                "share of the games that Black wins, in %, with Wilson's 95 % intervals, and the difference with that "
                "of the pairs of games. The last column: how often the agent opens with an octagon where it may "
                "choose.",
                Table("", shares, played, text=()),
                plot,
                "Random play gains from the octagon too, and loses by the square: on a full board both sides hold half "
                "of the cells, so who holds a square more holds an octagon less.",
            ),
        ),
        Section(
            "Why",
            (
                f"On full boards of random colours ({_FULL:,} of each size) the colour of one octagon decides the "
                "winner that often, in %, beside that of one square:",
                Table("", ("size", "octagon", "square", "ratio"), decides, text=()),
                "An octagon has twice the neighbours of a square, and every square's neighbours are octagons: a path "
                "can do without squares, and never without octagons.",
            ),
        ),
        Section(
            "The best replies",
            (
                f"`{JUDGE}` searched every position after a first move and a reply. {best} On the solved board of "
                f"size {check['size']} the same kind of search takes {check['right']} of {check['replies']} replies "
                "for what they are.",
                *(f"![Chances of White after every reply, {name}]({name})" for name in maps),
            ),
        ),
        Section(
            "Limits",
            (
                "The larger boards are not solved: what stands here of them is what these agents make of them. An "
                "agent against itself tells of the move and of the agent's blind spots together, and the agents with "
                "networks were trained by self-play on boards of these sizes. The "
                f"{PLIES} random plies after the first move blur what best play would make of it: the shares say how "
                "much of the advantage survives a careless ply of either side. Nothing here tells what happens with a "
                "swap rule, which the difference would call for.",
            ),
        ),
    )
    return Report("What to open with on the torus", parts, data, more_files=maps)


def main(arguments: Sequence[str] | None = None) -> int:
    """Play, search and write; the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m cellgames.lab.studies.first_move", description=__doc__.split("\n")[0]
    )
    parser.add_argument(
        "--games", type=int, default=400, metavar="N", help="of each agent and first move (default 400)"
    )
    parser.add_argument("--sizes", type=int, nargs="+", choices=[*AGENTS], default=[*AGENTS], metavar="N")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of all chance (default 0)")
    parser.add_argument("--out", type=Path, default=OUT, metavar="DIR", help=f"the folder (default {OUT})")
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = parser.parse_args(given)
    check_least(parser, options, games=2)
    options.command = typed_command("cellgames.lab.studies.first_move", given)
    data: dict[str, Any] = {"command": options.command, "version": cellgames.__version__, "seed": options.seed}
    data["solved"] = {size: solved(size) for size in SOLVED_SIZES}
    data["influence"] = {size: influence(size, options.seed) for size in (*SOLVED_SIZES[1:], *options.sizes)}
    data["games"], data["differences"] = [], []
    for size in sorted(options.sizes):
        for spec in AGENTS[size]:
            chosen, won = own_choice(size, spec, options.seed), {}
            for kind in FIRST_MOVES:
                games = options.games * _CHEAP.get(spec, 1)
                row, won[kind] = share_of_black(size, spec, kind, games, derive(options.seed, "games", size))
                data["games"].append({"size": size, "agent": spec, "first": kind, "own choice": chosen, **row})
                print(f"size {size}, {spec}, {kind}: {percent(row['share'])} % for Black", file=sys.stderr)
            gap, margin = difference(won["octagon"], won["square"])
            data["differences"].append({"size": size, "agent": spec, "difference": gap, "margin": margin})
    data["judge on the solved board"] = {"size": SOLVED_SIZES[-1], **judged(SOLVED_SIZES[-1], JUDGE, options.seed)}
    data["replies"], maps = {}, dict[str, bytes]()
    for size in sorted(options.sizes):
        maps[f"replies_{size}.png"], data["replies"][size] = _map_of_replies(size, JUDGE, options.seed)
    write_report(options.out, _report(options, data, maps))
    print(f"Written to {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
