"""Positions and records as data for a page: what it says of boards, what it hides, how large it may be."""

from __future__ import annotations

import base64
import dataclasses
import gzip
import json
from functools import cache
from itertools import islice, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from grid_adaptation_table import make as make_grid
from life_reference import next_cells
from refusals import refused
from twins import twin
from web_records import SMALL, recorded, registered_toy

import cellgames
from cellgames.arena import Record, ReplayError, replay
from cellgames.arena.season.cup import CupRecord, start_of
from cellgames.arena.season.games import Fixture
from cellgames.envs.cloth_of_gold_wild.rendering import wild_view
from cellgames.envs.core import Game, seeds
from cellgames.envs.core.drawing import to_svg
from cellgames.envs.toroidal_cup import COLS, ROWS, simulate
from cellgames.envs.torus.rendering import winning_path
from cellgames.web import limits
from cellgames.web.frames import frame, layout, replay_data, step_data, trial_data

Bytes = npt.NDArray[np.uint8]

IDS = list(SMALL)


def made(id: str) -> Any:
    return cellgames.make(id, **SMALL[id])


@cache
def played(record: str) -> list[Any]:
    return replay(Record.from_json(record))


@pytest.fixture(scope="module")
def records() -> dict[str, Record]:
    return {id: recorded(id) for id in IDS}


def plane(text: str) -> Bytes:
    return np.frombuffer(base64.b64decode(text), np.uint8)


def codes(game: Game, state: Any) -> list[int]:
    """What cells of a frame should be."""
    board = game.board(state)[0].flatten().tolist()
    return [value + 1 for value in board] if game.id == "grid-adaptation-v0" else board


def unpacked(packed: dict[str, Any]) -> tuple[Bytes, list[dict[str, Any]]]:
    """Frames of a packed sequence, [count, planes, cells], and what is told of each; not by the code that packs."""
    flat = np.frombuffer(gzip.decompress(base64.b64decode(packed["data"])), np.uint8)
    changes = flat.reshape(packed["count"], packed["planes"], packed["cells"])
    return np.bitwise_xor.accumulate(changes, 0), json.loads(gzip.decompress(base64.b64decode(packed["fields"])))


@pytest.mark.parametrize("id", IDS)
def test_frames_and_replays_hold_the_boards_and_who_moves(id: str, records: dict[str, Record]) -> None:
    record = records[id]
    game, states, data = made(id), played(record.to_json()), replay_data(record)
    assert json.loads(json.dumps(data, allow_nan=False))["layout"]["id"] == id
    planes, fields = unpacked(data["frames"])
    assert data["frames"]["count"] == len(planes) == len(fields) == len(data["marks"])
    ends = [data["marks"].index(turn + 1) - 1 for turn in range(len(record.moves))] + [len(planes) - 1]
    movers = []
    for turn, (before, state, end) in enumerate(zip([None, *states], states, ends, strict=False)):
        shown, board = frame(game, state, before), codes(game, state)
        assert json.loads(json.dumps(shown, allow_nan=False)) == shown
        assert plane(shown["cells"]).tolist() == planes[end, 0].tolist() == board
        assert all(len(plane(layer)) == len(board) for layer in shown["layers"].values())
        assert shown["turn"] == data["marks"][end] == fields[end]["turn"] == int(state.turn) == turn
        assert shown["done"] == fields[end]["done"] == bool(state.done)
        movers.append(None if game.info.simultaneous or shown["done"] else int(state.current_player))
        assert shown["player"] == movers[-1]
        assert len(shown["results"]) == game.info.num_players
        assert all(shown["results"]) == shown["done"]
    words = {"win": "wins", "loss": "loses", "draw": "draw"}
    assert shown["results"] == [words[outcome] for outcome in record.result.outcome]
    told = data["record"]
    assert (told["moves"], told["movers"]) == (list(record.moves), movers[:-1])
    assert told["result"]["outcome"] == list(record.result.outcome)


def test_torus_marks_the_last_move_and_the_path_that_has_won(records: dict[str, Record]) -> None:
    game, record = cellgames.make("torus-v0", size=4), records["torus-v0"]
    states = played(record.to_json())
    for move, state in zip(record.moves, states[1:], strict=True):
        assert frame(game, state)["last"] == [game.string_to_action(move)]
    assert frame(game, states[4], states[1])["last"] == sorted(map(game.string_to_action, record.moves[1:4]))
    end = frame(game, states[-1])
    winner = record.result.outcome.index("win")
    path = winning_path(game.board(states[-1])[0].tolist(), size=4, winner=winner)
    assert end["path"] == [list(step) for step in path]
    assert end["status"].startswith(("Black wins after", "White wins after")[winner])
    assert "closes around the torus" in end["status"]


def test_cloth_of_gold_marks_territories_and_what_was_placed(records: dict[str, Record]) -> None:
    game = made("cloth-of-gold-v0")
    bits = layout(game)["marks"]
    contested = 0
    for before, state in pairwise(played(records["cloth-of-gold-v0"].to_json())):
        shown, infos = frame(game, state, before), game.infos(state, 0)
        marks = plane(shown["layers"]["marks"])
        for side in (0, 1):
            assert int((marks & bits[f"territory_{side}"] > 0).sum()) == int(infos["territory"][0, side])
        assert dict(shown["text"])["contested"] == int(infos["contested"])
        assert shown["infos"]["nobodys"] == [int(infos["contested"]), int(infos["killed"])]
        assert shown["infos"]["units"] == infos["units"][0].tolist()
        placed = int((marks & bits["placed"] > 0).sum())
        assert placed == (0 if shown["done"] else game.max_units - int(state.left))
        if int(state.acts) == 1:
            assert len(shown["last"]) == 1
            assert marks[shown["last"][0]] & bits["placed"]
        contested += dict(shown["text"])["contested"]
    assert contested


def test_grid_adaptation_marks_births_and_deaths(records: dict[str, Record]) -> None:
    game = made("grid-adaptation-v0")
    bits = layout(game)["marks"]
    for before, state in pairwise(played(records["grid-adaptation-v0"].to_json())):
        if int(before.round) > game.rounds:
            continue
        shown = frame(game, state, before)
        old, new, marks = np.array(codes(game, before)), plane(shown["cells"]), plane(shown["layers"]["marks"])
        number = {name: int((marks & bits[name] > 0).sum()) for name in ("placed", "born", "died")}
        assert number["placed"] == int(game.grid.count(state.placed.movedim(0, -1)[None])[0]) > 0
        assert (old > 0).sum() + number["placed"] + number["born"] - number["died"] == (new > 0).sum()
        ghosts = (marks & bits["died"] > 0) & (old > 0)
        assert (marks[ghosts] // bits["ghost"] == old[ghosts]).all()
        assert not (marks & bits["born"] > 0)[(old > 0) | (new == 0)].any()


@pytest.mark.parametrize(("teams", "survivors"), [(2, "recolour"), (3, "keep")])
def test_a_film_of_the_cup_holds_every_generation(teams: int, survivors: str) -> None:
    game: Any = cellgames.make("toroidal-cup-small-v0", teams=teams, survivors=survivors, max_generations=70)
    record = recorded(game.id, **game.parameters)
    states: list[Any] = replay(record)
    before, after = states[-2:]
    told = step_data(game, before, after)
    boards, fields = unpacked(told["film"])
    keep = list(range(len(boards)))
    kept = game.life(after.start, keep=keep).boards
    assert [shown["generation"] for shown in fields] == keep
    for generation in keep:
        assert boards[generation, 0].tolist() == kept[generation][0].flatten().tolist()
    assert told["frames"] == [frame(game, after, before)]
    assert fields[-1]["done"]
    assert len(keep) == int(after.generations) + 1
    assert step_data(game, states[0], states[1])["film"] is None


def test_a_trial_run_of_wild_cloth_of_gold_does_not_tell_the_dice_to_come() -> None:
    game: Any = cellgames.make("cloth-of-gold-wild-small-v0", height=16, width=16, generations=40)
    state = game.init(seeds(3, 1))
    state = game.step(state, torch.tensor([int(game.legal_actions(state)[0].nonzero()[0])]))
    film = trial_data(game, state, 0)
    assert trial_data(game, state, 0) == film
    worlds = islice(game.worlds(state), 41)
    true = [[[kind, row * 16 + col] for kind, row, col in wild_view(game, now).animals or ()] for now in worlds]
    tried = [shown["animals"] for shown in unpacked(film)[1]]
    assert tried[0] == true[0] != []
    assert tried != true


def test_a_trial_run_of_the_cup_places_the_shape_in_hand_and_knows_no_later_one() -> None:
    game: Any = made("toroidal-cup-v0")
    states: list[Any] = replay(recorded("toroidal-cup-v0"))
    for seat, state in ((0, states[0]), (1, states[1])):
        action = [int(game.legal_actions(state)[0, seat].nonzero()[7])]
        joint = torch.tensor([[int(mask.nonzero()[0]) for mask in game.legal_actions(state)[0]]])
        joint[0, seat] = action[0]
        placed = game.step(state, joint).start
        start = torch.where((placed == seat + 1) | (state.start > 0), placed, 0)
        found, fields = unpacked(trial_data(game, state, seat, action))
        last = int(game.life(start).generations)
        boards = game.life(start, keep=range(last)).boards
        assert [shown["generation"] for shown in fields] == list(range(last + 1))
        for generation, board in boards.items():
            assert found[generation, 0].tolist() == board[0].flatten().tolist()
        other = state.queue.clone()
        other[:, 1 - seat] = -1
        other[:, seat, 1:] = -1
        assert trial_data(game, state.replace(queue=other), seat, action) == trial_data(game, state, seat, action)
    with refused("", cause="the board is empty: choose a place for the shape first"):
        trial_data(game, states[0], 0)
    illegal = int((~game.legal_actions(states[1])[0, 0]).nonzero()[0])
    with refused("action"):
        trial_data(game, states[1], 0, [illegal])


def test_a_trial_run_of_grid_adaptation_is_a_round_in_which_only_one_player_gets_tiles() -> None:
    game: Any = make_grid(players=3, rounds=4)
    state = game.init(seeds(5, 1))
    none, keep = game.spaces, [0, 0, 3]
    own, others = [16, 17, 18, 33, *keep], [200, 201, 202, none, *keep]  # what two name nobody gets
    film = trial_data(game, state, 0, own)
    found, fields = unpacked(film)
    after = game.step(state, torch.tensor([[own, others, others]]))
    assert found[1, 0].tolist() == codes(game, after)
    assert fields[1]["infos"]["points"] == [int(after.scores[0, 0]), None, None]
    assert fields[1]["infos"]["sequence"][1:] == [None, None]
    assert [shown["status"] for shown in fields[:2]] == ["Trial run, before round 1", "Trial run, after round 1 of 4"]
    assert len(found) == 5
    for past, now in pairwise(found[1:, 0]):
        live = {divmod(int(cell), game.size) for cell in np.flatnonzero(past)}
        assert {divmod(int(cell), game.size) for cell in np.flatnonzero(now)} == next_cells(
            live, game.size, game.size, False
        )
    bits = layout(game)["marks"]
    assert np.flatnonzero(found[0, 1] & bits["placed"]).tolist() == sorted(own[:4])
    assert not (found[1:, 1] & bits["placed"]).any()
    assert trial_data(game, twin(game, state, 0), 0, own) == film
    with refused("action"):
        trial_data(game, after, 0, [int(np.flatnonzero(found[1, 0])[0]), none, none, none, *keep])


@pytest.mark.parametrize("seed", range(2))
def test_the_end_of_the_other_games_says_who_has_won_and_why(seed: int) -> None:
    record = recorded("grid-adaptation-v0", seed=seed)
    end, points = frame(made("grid-adaptation-v0"), replay(record)[-1]), list(record.result.scores)
    assert end["places"] == [1 + sum(other > own for other in points) for own in points]
    assert end["status"].startswith(f"Player {end['places'].index(1) + 1}")
    doomed = record.result.outcome.index("loss")
    assert f"Player {doomed + 1}, last with {min(points):.0f}, is the Elimination Candidate" in end["status"]
    record = recorded("toroidal-cup-v0", seed=seed)
    end, live = frame(made("toroidal-cup-v0"), replay(record)[-1]), list(record.result.scores)
    who = "A draw: " if live[0] == live[1] else f"Team {1 + live.index(max(live))} wins"
    assert end["status"].startswith(who)
    record = recorded("hex-v0", seed=seed)
    side = ("White wins", "Black wins")[record.result.outcome[0] == "win"]
    assert frame(made("hex-v0"), replay(record)[-1])["status"].startswith(f"{side} after {record.result.turns} moves")


def test_a_player_of_grid_adaptation_sees_where_it_has_placed_itself_and_no_more(records: dict[str, Record]) -> None:
    game: Any = made("grid-adaptation-v0")
    record = records["grid-adaptation-v0"]
    bits, rounds = layout(game)["marks"], 0
    for (before, state), move in zip(pairwise(played(record.to_json())), record.moves, strict=True):
        if bool(state.done):
            break
        flat = game.string_to_action(move.split(" ")[0])
        own = [int(choice) for choice in np.unravel_index(flat, game.info.action_nvec)]
        shown = frame(game, state, before, viewer=0, action=own)
        other, earlier = (twin(game, one, 0).replace(placed=torch.zeros_like(one.placed)) for one in (state, before))
        assert shown == frame(game, other, earlier, viewer=0, action=own)
        marks, board, old = plane(shown["layers"]["marks"]), plane(shown["cells"]), plane(frame(game, before)["cells"])
        named = sorted({cell for cell in own[:4] if cell < game.spaces})
        assert np.flatnonzero(marks & bits["placed"]).tolist() == shown["last"] == named
        new = sorted(set(np.flatnonzero((board > 0) & (old == 0)).tolist()) - set(named))
        assert np.flatnonzero(marks & bits["born"]).tolist() == new
        assert ((marks & bits["died"] > 0) == ((old > 0) & (board == 0))).all(), "not what was placed and is gone"
        assert shown == step_data(game, before, state, viewer=0, action=own)["frames"][0]
        rounds += 1
    assert rounds >= 3
    assert [entry["playing"] for entry in layout(game)["legend"][:2]] == ["named by you", "new"]


def test_who_votes_sees_the_points_and_others_do_not() -> None:
    game = make_grid(players=4, rounds=1, flip_rounds=())
    state = game.init(seeds(1, 1))
    state = state.replace(
        turn=state.turn + 1,
        round=state.round + 1,
        scores=torch.tensor([[30.0, 9.0, 9.0, 20.0]]),
        tokens=torch.tensor([[2, 0, 0, 0]]),
        tied=torch.tensor([[False, True, True, False]]),
    )
    voter, other = frame(game, state, viewer=0), frame(game, state, viewer=3)
    assert voter["infos"]["points"] == [30, 9, 9, 20]
    assert voter["infos"]["sequence"][1:] == [None] * 3
    assert other["infos"]["points"] == [None, None, None, 20]
    assert other["infos"]["tokens"] == [None, None, None, 0]


def test_a_game_of_the_cups_season_is_shown_from_its_arrangement() -> None:
    start = {"pattern": "randys", "seed": 4, "survivors": "recolour", "max_generations": 60}
    end = simulate([start_of(start)], ROWS, COLS, max_generations=60)
    scores = end.scores[0].tolist()
    record = CupRecord(
        fixture=Fixture("day 1", 2, ("<b>Blue</b>", "Red")),
        scores=tuple(scores),
        generations=int(end.generations),
        winner=int(end.winner),
        truncated=bool(end.truncated),
        **start,  # type: ignore[arg-type]
    )
    data = replay_data(record)
    planes, fields = unpacked(data["frames"])
    assert [np.flatnonzero(planes[0, 0] == team).tolist() for team in (1, 2)] == list(map(sorted, start_of(start)))
    assert planes[-1, 0].tolist() == end.board[0].flatten().tolist()
    assert fields[-1]["infos"]["cells"] == scores
    assert data["record"]["agents"] == ["<b>Blue</b>", "Red"]
    wrong = dataclasses.replace(record, scores=(scores[0] + 1, scores[1]))
    with pytest.raises(ReplayError):
        replay_data(wrong)


@pytest.mark.parametrize(
    ("id", "fields", "parameter"),
    [
        ("torus-v0", {"moves": ("a1",) * (limits.MOVES + 1)}, "record"),
        ("torus-v0", {"agents": ("one",)}, "agents"),
        ("toroidal-cup-v0", {"parameters": {"max_generations": 10**6}}, "game"),
        ("toroidal-cup-v0", {"parameters": {"rows": 512, "cols": 512}}, "game"),
        (
            "cloth-of-gold-v0",
            {"parameters": {"height": 256, "width": 256, "generations": 1}, "moves": ("r0c0",) * 2000},
            "record",
        ),
    ],
)
def test_records_that_ask_for_too_much_are_refused_before_they_are_played(
    id: str, fields: dict[str, Any], parameter: str, records: dict[str, Record], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cellgames.arena.records.replays.replay", lambda record: pytest.fail("it was played"))
    with refused(parameter):
        replay_data(dataclasses.replace(records[id], **fields))


def test_other_games_are_shown_by_their_own_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    toy = registered_toy(monkeypatch)
    record = recorded(toy.id, **toy.parameters)
    data, states = replay_data(record), replay(record)
    _, fields = unpacked(data["frames"])
    assert data["layout"]["kind"] == "picture"
    assert [picture["svg"] for picture in fields] == [to_svg(toy.draw(state)) for state in states]
    assert fields[-1]["done"]
    assert fields[-1]["infos"]["score"] == pytest.approx(states[-1].scores[0].tolist())
