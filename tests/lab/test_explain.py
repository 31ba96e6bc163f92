"""`cellgames explain`: planted games whose answers are known, replays against plain ones, and the command."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import lab_torch_defaults
import numpy as np
import pytest
import torch
import torch_defaults
from native_code import native_library
from refusals import refused
from strategy_records import a_game, played
from web_records import registered_toy

import cellgames
from cellgames.arena.records.record_lines import Forfeit, Outcome, Record, append
from cellgames.arena.records.replays import replay
from cellgames.cli.main import main
from cellgames.envs.connection import ConnectionGame, Hex
from cellgames.envs.core import IllegalActionError, seeds
from cellgames.envs.core.drawing import to_svg
from cellgames.lab import Explanation, Options, explain, explain_world
from cellgames.lab.interventions.cloth_world import cloth_world
from cellgames.lab.interventions.cup_world import CupWorld
from cellgames.lab.interventions.worth_pictures import draw_worth

CUP = cellgames.make("toroidal-cup-small-v0")
CLOTH = cellgames.make("cloth-of-gold-small-v0", generations=6, max_rounds=3, max_units=4)
GRID = cellgames.make("grid-adaptation-small-v0")
TORUS = cellgames.make("torus-v0", size=3)

BLOCK = {(0, 0), (0, 1), (1, 0), (1, 1)}
BLINKER = {(0, 0), (0, 1), (0, 2)}
GLIDER = {(0, 1), (1, 0), (2, 0), (2, 1), (2, 2)}  # flies down to the left


def planted(*shapes: tuple[int, set[tuple[int, int]], int, int]) -> CupWorld:
    """The world of an arrangement: team, cells, row and column of each shape."""
    start = np.zeros((CUP.rows, CUP.cols), np.int8)
    for team, cells, top, left in shapes:
        for row, col in cells:
            start[(top + row) % CUP.rows, (left + col) % CUP.cols] = team
    return CupWorld(CUP, start, (), Options(at=0))


def explained(world: Any, *kinds: str, pairs: str = "") -> Explanation:
    return explain_world(world, ("first", "second"), kinds, pairs=pairs)


@pytest.fixture(scope="module")
def records() -> dict[str, Record]:
    return {game.id: played(game, ["random"], 1)[0] for game in (CUP, CLOTH, GRID, TORUS)}


def test_a_glider_that_kills_the_decisive_block_is_worth_the_game() -> None:
    """Team 1 has a block, team 2 a blinker and a glider that runs into the block so that both vanish."""
    for col in range(20, 27):
        found = explained(planted((1, BLOCK, 12, 12), (2, BLINKER, 3, 40), (2, GLIDER, 4, col)), "object")
        if found.scores == (0, 3):
            break
    else:
        pytest.fail("no glider kills the block")
    worth = {effect.name.split()[1]: effect for effect in found.effects}
    assert (worth["glider"].player, worth["glider"].worth, worth["glider"].result) == (1, 4, 2)
    assert worth["glider"].scores == (4, 3)
    assert worth["block"].worth == 5, "without it the glider would live"
    assert worth["blinker"].worth == 3


def test_a_redundant_cell_is_worth_nothing_and_two_of_a_block_matter_together() -> None:
    """A block without one cell becomes a block again; without two cells it dies."""
    world = planted((1, BLOCK, 6, 6), (1, {(0, 0)}, 15, 10), (2, BLOCK, 6, 36), (2, BLOCK, 15, 36))
    found = explained(world, pairs="cell")
    cells = {effect.name: effect.worth for effect in found.of_kind("cell")}
    assert len(cells) == 13
    assert set(cells.values()) == {0}
    both = {(pair.first, pair.second): pair for pair in found.pairs}
    block = both["team_1 cell r6c6", "team_1 cell r6c7"]
    assert (block.worth, block.alone, block.interaction) == (4, (0, 0), 4)
    assert both["team_1 cell r6c6", "team_1 cell r15c10"].interaction == 0
    assert [pair.interaction for pair in found.pairs[:18]] == [4] * 18, "the pairs of each of three blocks"
    assert not any(pair.interaction for pair in found.pairs[18:])


def test_objects_are_taken_from_the_board_at_their_moment(records: dict[str, Record]) -> None:
    found = explain(records[CUP.id], ["object"], options=Options(at=100))
    state: Any = replay(records[CUP.id])[-1]
    board = CUP.life(state.start, keep=[100]).boards[100][0].flatten()
    cells = sorted(cell for effect in found.effects for cell in effect.cells)
    assert cells == board.nonzero().squeeze(1).tolist(), "every live cell belongs to one object"
    assert found.scores == tuple(records[CUP.id].result.scores)


def test_each_placement_of_the_cup_is_what_a_plain_replay_says(records: dict[str, Record]) -> None:
    record = records[CUP.id]
    found = explain(record, ["placement", "turn", "move"], options=Options(moves=3))
    end: Any = replay(record)[-1]
    assert len(found.of_kind("placement")) == 2 * len(record.moves)
    assert len(found.of_kind("move")) == 3 * 2 * len(record.moves)
    for effect in found.of_kind("placement"):
        start = end.start.flatten(1).clone()
        assert (start[0, list(effect.cells)] == effect.player + 1).all()
        start[0, list(effect.cells)] = 0
        scores = CUP.life(start.view_as(end.start)).scores[0].tolist()
        assert effect.scores == tuple(scores)
        own, other = record.result.scores[effect.player], record.result.scores[1 - effect.player]
        assert effect.worth == (own - other) - (scores[effect.player] - scores[1 - effect.player])


def test_each_placement_of_cloth_is_what_a_plain_replay_says(records: dict[str, Record]) -> None:
    """Play the recorded moves one by one, leave out what is not legal, and end turns that have nothing left."""
    record = records[CLOTH.id]
    found = explain(record, ["placement"])
    actions, world = [CLOTH.string_to_action(move) for move in record.moves], cloth_world(CLOTH, record, Options())
    assert len(found.effects) >= 12
    for effect in found.effects[::4]:
        mine = world._touching(effect.turn, effect.cells[0])  # the unit's own moves
        state, left_out = CLOTH.init(torch.tensor([record.seed])), 0
        for number, action in enumerate(actions):
            if bool(state.done):
                break
            if number in mine:
                continue
            try:
                state = CLOTH.step(state, torch.tensor([action]))
            except IllegalActionError:
                if action == CLOTH.end_turn:
                    state = CLOTH.play_turn(state, torch.tensor([[-1]]))
                else:
                    left_out += 1
        units = state.live[0].tolist()
        assert (effect.scores, effect.left_out) == (tuple(units), left_out)


def test_grid_actions_are_what_plain_replays_say(records: dict[str, Record]) -> None:
    record = records[GRID.id]
    found = explain(record, ["action", "part", "move"], options=Options(moves=2))
    states: list[Any] = replay(record)
    assert {effect.left_out for effect in found.effects} != {0}, "tiles were placed where others had come to lie"
    last = [effect for effect in found.of_kind("part") if effect.turn == GRID.rounds - 1]
    for effect in last:  # nothing follows the last round but the vote, so that points are those of the round
        before = states[effect.turn].scores[0]
        assert all(after >= score for after, score in zip(effect.scores, before.tolist(), strict=True))
    points = np.array(record.result.scores)
    assert found.scores == tuple(points)
    effect = found.of_kind("action")[0]
    scores = np.array(effect.scores)
    lead = [s[effect.player] - np.delete(s, effect.player).mean() for s in (points, scores)]
    assert effect.worth == pytest.approx(lead[0] - lead[1])


def test_stones_of_the_winning_path_are_worth_the_game(records: dict[str, Record]) -> None:
    native_library()  # it solves positions exactly
    found = explain(records[TORUS.id], ["stone", "move"], pairs="stone")
    winner = found.outcome.index(1)
    stones = found.of_kind("stone")
    assert {effect.worth for effect in stones if effect.player == winner} <= {0, 2}
    assert any(effect.worth == 2 for effect in stones if effect.player == winner)
    assert not any(effect.worth for effect in stones if effect.player != winner), "the game was over with them"
    assert {effect.worth for effect in found.of_kind("move")} <= {-2, 0, 2}
    with refused("pairs", "move"):
        explain(records[TORUS.id], pairs="move")


def moved(game: ConnectionGame, names: str, options: Options) -> Explanation:
    """An explanation of a game with these moves, which ends by them."""
    state = game.init(seeds(0, 1))
    for name in names.split():
        state = game.step(state, torch.tensor([game.string_to_action(name)]))
    outcome: list[Outcome] = ["win" if value > 0 else "loss" for value in game.outcome(state)[0].tolist()]
    record = a_game(game, names.split(), ("x", "y"), outcome, scores=state.scores[0].tolist())
    return explain(record, ("stone", "move"), options=options)


def test_stones_of_hex_that_connect_are_worth_the_game_and_a_swap_is_a_move() -> None:
    """Black opens in the middle, White takes it over and connects left and right; b1 helps nobody."""
    found = moved(Hex(size=3), "b2 swap-pieces b1 c1 b3 a3", Options())
    assert found.measure.endswith("by exact solution")
    stones = {effect.name: effect for effect in found.of_kind("stone")}
    assert set(stones) == {"white swap-pieces", "black b1", "white c1", "black b3", "white a3"}
    assert {name for name, effect in stones.items() if effect.worth == 2} == {"white swap-pieces"}
    assert stones["white swap-pieces"].cells == (4,)
    # Every first stone loses, since the other player may swap; not to swap loses after the middle.
    assert all(effect.worth == 0 for effect in found.of_kind("move") if effect.turn == 0)
    swaps = [effect for effect in found.of_kind("move") if effect.turn == 1]
    assert swaps
    assert all(effect.worth == 2 and not effect.cells for effect in swaps)
    for kind in found.kinds:
        assert "Hex" in to_svg(draw_worth(found, kind))


def test_explanations_repeat_and_are_drawn(records: dict[str, Record]) -> None:
    for id, record in records.items():
        options = Options(moves=2)
        first, second = (explain(record, options=options) for _ in range(2))
        assert first.effects == second.effects, id
        for kind in first.kinds:
            assert "worth" in to_svg(draw_worth(first, kind))
    with refused("kind", "nothing"):
        draw_worth(first, "nothing")


def test_games_may_begin_in_the_middle(records: dict[str, Record]) -> None:
    """Units from before the record stay on the board, and rounds count as the game counts them."""
    for id in (CLOTH.id, GRID.id, CUP.id):
        record = records[id]
        states = replay(record)
        game: Any = {game.id: game for game in (CUP, CLOTH, GRID)}[id]
        ply = next(n for n in range(len(states)) if id != CLOTH.id or int(states[n].round) >= 1) or 1  # type: ignore[attr-defined]
        later = dataclasses.replace(
            record, position=game.state_to_string(states[ply]), moves=record.moves[ply:], opening=0, summary={}
        )
        if id == CUP.id:
            later = dataclasses.replace(later, result=dataclasses.replace(later.result, turns=record.result.turns))
        kinds = ["cell", "object"] if id != GRID.id else ["action"]
        found = explain(later, kinds)
        assert found.scores == explain(record, kinds).scores
        assert found.effects


def test_forfeits_and_games_without_interventions_are_refused(
    records: dict[str, Record], monkeypatch: pytest.MonkeyPatch
) -> None:
    record = records[TORUS.id]
    result = dataclasses.replace(record.result, forfeit=Forfeit(0, "crashed"))
    with refused("record", "a forfeit"):
        explain(dataclasses.replace(record, result=result))
    toy = registered_toy(monkeypatch)
    with refused("game", toy.id):
        explain(played(toy, ["random"], 1)[0])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, records: dict[str, Record]) -> Path:
    monkeypatch.chdir(tmp_path)
    for id, record in records.items():
        append(tmp_path / f"{id}.jsonl", [record])
    append(tmp_path / "two.jsonl", [records[TORUS.id]] * 2)
    return tmp_path


def test_the_command_writes_tables_pictures_and_a_page(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["explain", f"{CUP.id}.jsonl", "--kinds", "placement", "cell", "--pairs", "placement"]
    assert main([*command, "--html", "game.html"]) == 0
    said = capsys.readouterr().out
    assert "the outcome hung on" in said
    assert "pairs of placements" in said
    out = folder / "results" / "explain" / f"{CUP.id}-1"
    names = {path.name for path in out.iterdir()}
    assert names == {
        *("report.md", "report.json", "placements.csv", "cells.csv", "pairs.csv"),
        *("worth_placement.png", "worth_cell.png"),
    }
    data = json.loads((out / "report.json").read_text())
    assert data["effects"][0]["kind"] == "placement"
    assert "stay as they were placed" in (out / "report.md").read_text()
    assert '"worth"' in (folder / "game.html").read_text()
    assert main([*command, "--json", "--out", "other"]) == 0
    assert json.loads(capsys.readouterr().out)["effects"] == data["effects"]


def test_many_games_are_explained_by_averages_over_games(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    games = played(CUP, ["random"], 4)
    append(folder / "four.jsonl", games)
    command = ["explain", "four.jsonl", "--games", "3", "--kinds", "placement", "object"]
    assert main([*command, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    rows = {(row["kind"], row["part"]): row for row in data["averages"]}
    effects = [explain(record, ["placement", "object"]).effects for record in games[:3]]
    means = [np.mean([effect.worth for effect in one if effect.kind == "placement"]) for one in effects]
    row = rows["placement", ""]
    assert (data["games"], row["games"], row["parts"]) == (3, 3, 2 * len(games[0].moves))
    assert row["worth"] == pytest.approx(np.mean(means), abs=1e-4)
    assert row["worth_high"] - row["worth_low"] == pytest.approx(2 * 1.96 * np.std(means, ddof=1) / 3**0.5, rel=1e-3)
    assert row["turned"] == pytest.approx(
        np.mean([any(e.result for e in one if e.kind == "placement") for one in effects])
    )
    blocks = [[e.worth for e in one if e.kind == "object" and " block r" in e.name] for one in effects]
    assert rows["object", "block"]["worth"] == pytest.approx(np.mean([np.mean(b) for b in blocks if b]), abs=1e-4)
    assert main(command) == 0
    assert "decided, % of games" in capsys.readouterr().out
    out = folder / "results" / "explain" / "four-games=3"
    assert {path.name for path in out.iterdir()} == {"report.md", "report.json", "averages.csv"}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["two.jsonl", "--games", "2", "--record", "1"], "--games: it explains many games"),
        (["two.jsonl", "--games", "0"], "--games: expected at least 1"),
        (["two.jsonl"], "two.jsonl: expected one game"),
        (["two.jsonl", "--record", "3"], "--record: expected 1 to 2"),
        ([f"{TORUS.id}.jsonl", "--kinds", "glider"], "expected kinds out of stone, move, got 'glider'"),
        ([f"{TORUS.id}.jsonl", "--moment", "99"], "expected a ply from 1 to"),
        ([f"{CUP.id}.jsonl", "--moment", "99999"], "expected a generation from 0 to"),
        ([f"{CLOTH.id}.jsonl", "--moment", "99"], "expected a round from 1 to"),
        ([f"{GRID.id}.jsonl", "--moment", "1"], "at: expected None, got 1"),
        ([f"{TORUS.id}.jsonl", "--searcher", "random"], "agent: expected one that searches"),
        ([f"{TORUS.id}.jsonl", "--places", "0"], "--places: expected at least 1"),
        ([f"{TORUS.id}.jsonl", "--html", "no/game.html"], "--html: expected a file in a folder that is there"),
        (["nothing.jsonl"], "No such file"),
    ],
)
def test_mistakes_are_named(folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], expected: str) -> None:
    words = [*words, "--moment", "2"] if "--searcher" in words else words
    assert main(["explain", *words]) == 2
    assert expected in capsys.readouterr().err
    assert not (folder / "results").exists()


@pytest.mark.slow
def test_defaults_of_torch_change_no_explanation() -> None:
    torch_defaults.check(lab_torch_defaults.__file__, "insight")
