"""Analysis of a position: what is told, what is drawn where, and what the command says to people."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import torch
from analysis_bots import Planned
from command import Command
from refusals import refused
from web_records import RACE

import cellgames
from cellgames.agents import load
from cellgames.agents.playouts import RandomAgent
from cellgames.arena.analyse import search_analysis as analysis
from cellgames.arena.records import replays
from cellgames.arena.records.record_lines import Record, append
from cellgames.arena.records.replays import result
from cellgames.envs.core import Game, State, seeds
from cellgames.envs.core.drawing import Circle, Inset, Picture, Shape, Text
from cellgames.envs.torus.rendering import form

TORUS: Game = cellgames.make("torus-v0", size=3)
WON = ("a1", "c3+", "a2", "b3+", "a3")  # Black closes the ring in column a with the last move
PLANNED = "--in-process --agents analysis_bots:Planned"


def after(*moves: str) -> State:
    state: State = replays.after_moves(TORUS, moves)
    return state


@pytest.fixture(scope="module")
def found() -> analysis.Analysis:
    """White to move; a1 and b1 are taken, so the first legal moves are c1, a2, b2, c2."""
    return analysis.analyse(TORUS, after("a1", "c3+", "b1"), Planned())


def test_win_chances_are_those_of_the_player_to_move(found: analysis.Analysis) -> None:
    assert [move.win_chance for move in found.moves[:3]] == [0.5, 0.25, 0.75]
    assert math.isnan(found.moves[3].win_chance)
    assert (found.player, found.mover, found.turn) == (1, "white", 3)
    assert found.value == (-0.25, 0.25)
    assert found.win_chance == 0.625


def test_the_agent_is_started_in_the_movers_seat_and_the_position_is_left_alone() -> None:
    class Careless(Planned):
        def search(self, state: State, env_ids: Any, generator: Any) -> Any:
            planned = super().search(state, env_ids, generator)
            for field in state.tensors():
                field.zero_()
            return planned

    agent, state = Careless(), after("a1")
    before = state.clone()
    analysis.analyse(TORUS, state, agent)
    assert agent.started == [1]
    assert all(torch.equal(*pair) for pair in zip(state.tensors(), before.tensors(), strict=True))


def test_who_analyses_does_not_know_the_dice() -> None:
    game = cellgames.make("cloth-of-gold-small-v0", neutral_density=0.2)
    seen = []

    class Curious(Planned):
        def search(self, state: State, env_ids: Any, generator: Any) -> Any:
            seen.append(int(state.seed))
            return super().search(state, env_ids, generator)

    state = game.init(torch.tensor([123]))
    for seed in (1, 1, 2):
        analysis.analyse(game, state, Curious(), seed)
    assert seen[0] == seen[1] != seen[2]
    assert 123 not in seen


def test_the_table_shows_the_best_moves_and_sums_up_the_others(found: analysis.Analysis) -> None:
    assert analysis.table(found) == "\n".join(
        [
            "move  visits  visits %  win chance %  policy %",
            "a2         4      57.1          50.0      60.0",
            "b2         2      28.6          25.0      20.0",
            "c1         1      14.3          75.0      10.0",
            "c2         0       0.0             -      10.0",
        ]
    )
    assert analysis.table(found, 1).splitlines()[2:] == ["3 more moves have 42.9 % of the visits"]
    assert analysis.table(found, 3).splitlines()[4:] == ["1 more move has 0.0 % of the visits"]


def test_data_is_json_with_null_for_a_move_never_visited(found: analysis.Analysis) -> None:
    data = json.loads(json.dumps(analysis.to_data(found), allow_nan=False))
    assert data["position"] == "xx./.../... .../.../..o w"
    assert [*data["moves"][1].values()] == ["b2", 4, 2, 0.285714, 0.25, 0.2]
    assert data["moves"][3]["win_chance"] is None
    assert (data["chosen"], data["line"], data["win_chance"]) == ("a2", ["a2", "b3+", "a3+"], 0.625)


def test_a_real_search_sees_the_win_in_one_and_the_same_seed_sees_the_same() -> None:
    state = after(*WON[:-1])
    analysed = analysis.analyse(TORUS, state, load("mcts:50", TORUS), seed=4)
    assert (analysed.chosen, analysed.moves[0].name, [move.name for move in analysed.line]) == ("a3", "a3", ["a3"])
    assert analysed.moves[0].win_chance == 1.0
    assert analysed.win_chance > 0.6
    assert 1 <= analysed.visits <= 50
    assert len(analysed.moves) == 14  # the free cells
    assert analysis.to_data(analysed) == analysis.to_data(analysis.analyse(TORUS, state, load("mcts:50"), seed=4))


def test_a_solved_position_is_judged_by_the_solver() -> None:
    """Black's reply of the swap is lost, and the search of what follows names no move that keeps it."""
    game = cellgames.make("hex-small-v0")
    state, agent = replays.after_moves(game, ("c3",)), load("mcts:50", game)
    seen = analysis.review(
        game,
        state,
        game.string_to_action("c2"),
        analysis.analyse(game, state, agent),
        lambda state: analysis.analyse(game, state, agent),
    )
    assert (seen.best, seen.chance_best, seen.chance_played) == ("swap-pieces", 1.0, 0.0)


def test_the_first_default_agent_that_can_search_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    for first, taken in (("analysis_bots:Planned", "analysis_bots:Planned"), ("nowhere:Bot", "mcts:7")):
        monkeypatch.setattr(analysis, "DEFAULT_AGENTS", (first, "mcts:7"))
        assert analysis.default_agent(TORUS).name == taken
    with refused("game", "grid-adaptation-v0"):
        analysis.default_agent(cellgames.make("grid-adaptation-small-v0"))


def test_agents_that_only_play_finished_games_and_batches_are_refused() -> None:
    for agent in (RandomAgent(), load("rollout:8", TORUS)):
        with refused("agent", repr(agent.name)):
            analysis.analyse(TORUS, after(), agent)
    with refused("position", "black has won, white has lost, turn 5"):
        analysis.analyse(TORUS, after(*WON), Planned())
    with refused("state", "2"):
        analysis.analyse(TORUS, TORUS.init(seeds(0, 2)), Planned())


def board(shown: Picture) -> tuple[Shape, ...]:
    """The shapes of the innermost picture, but for the letters and numbers around the board."""
    (inset,) = (shape for shape in shown.shapes if isinstance(shape, Inset))
    if any(isinstance(shape, Inset) for shape in inset.picture.shapes):
        return board(inset.picture)
    return tuple(shape for shape in inset.picture.shapes if not (isinstance(shape, Text) and shape.size == 0.4))


def written(shapes: tuple[Shape, ...]) -> dict[str, list[str]]:
    """Texts on the board by the name of the nearest cell."""
    texts = dict[str, list[str]]()
    for shape in shapes:
        if isinstance(shape, Text):
            at = (shape.x, shape.y - 0.35 * shape.size)
            cell = min(range(18), key=lambda cell: math.dist(form(3).centre(cell), at))
            texts.setdefault(TORUS.action_to_string(cell), []).append(shape.text)
    return texts


def test_win_chances_and_the_line_stand_in_their_cells(found: analysis.Analysis) -> None:
    shapes = board(analysis.draw(TORUS, after("a1", "c3+", "b1"), found))
    assert written(shapes) == {"a2": ["50", "1"], "b2": ["25"], "c1": ["75"], "b3+": ["2"], "a3+": ["3"]}
    stones = [shape.fill for shape in shapes if isinstance(shape, Circle)][-3:]
    assert stones == ["#ffffff", "#25282d", "#ffffff"]  # White moves first


def test_the_command_prints_position_table_and_line(command: Command, tmp_path: Path) -> None:
    shown = command(f"analyse torus-v0 --size 3 --moves 'a1, c3+ b1' --top 2 {PLANNED} --out {tmp_path}/drawn.svg")
    assert shown.startswith("White to move, turn 4\n    a   b   c\n 1  x  [x]  .\n")
    assert "white to move, win chance 62.5 %, best a2 (analysis_bots:Planned, 7 visits)" in shown
    assert "b2         2      28.6          25.0      20.0\n2 more moves have 14.3 % of the visits\n" in shown
    assert shown.endswith(f"\nLine: a2 b3+ a3+\nSaved {tmp_path / 'drawn.svg'}\n")
    assert ElementTree.parse(tmp_path / "drawn.svg").findtext("{*}title")


def test_json_is_all_that_is_printed_when_asked_for(command: Command, tmp_path: Path) -> None:
    words = f"analyse torus-v0 --size 3 --position 'x../.../... .../.../.o. b' {PLANNED} --json"
    data = json.loads(command(f"{words} --out {tmp_path}/drawn.png"))
    assert (data["mover"], data["chosen"]) == ("black", "c1")
    assert (tmp_path / "drawn.png").read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize(
    ("words", "moves"), [("torus-small-v0", WON[:-1]), ("torus-small-v0 --ply 2", WON[:2]), ("--ply 0 --size 3", ())]
)
def test_a_record_knows_its_game(words: str, moves: tuple[str, ...], command: Command, tmp_path: Path) -> None:
    file = tmp_path / "games.jsonl"
    append(file, [Record("torus-v0", "0", TORUS.parameters, 0, ("x", "y"), 0, WON, result(TORUS, after(*WON)))] * 2)
    data = json.loads(command(f"analyse {words} --records {file} --record 1 {PLANNED} --json"))
    assert data["position"] == TORUS.state_to_string(after(*moves))


def test_a_planted_blunder_is_printed_with_the_better_move_and_the_loss(command: Command) -> None:
    words = f"analyse torus-v0 --size 5 --position '{RACE}' --moves 'c2 a5' --agents mcts:200 --mistakes"
    shown = command(words)
    assert shown.startswith("Torus, 2 moves, searched by mcts:200\n")
    assert "1      black   c2 ??      a5           100             0     100\n" in shown
    assert shown.endswith("Black: 1 blunder in 1 move. White: no mistakes in 1 move.\n")
    assert "a5 ??" not in shown
