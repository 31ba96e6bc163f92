"""Shares of seats: intervals, races of variants, the command, and the order of placement that makes seats equal."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

import cellgames
from cellgames.cli.main import main
from cellgames.envs.cloth_of_gold import ClothOfGold, ClothState
from cellgames.envs.core import seeds
from cellgames.lab.balance import Balance, interval_at_all_times, race, variants


def test_an_interval_holds_at_all_times_at_once() -> None:
    wins = (np.random.default_rng(0).random((300, 2000)) < 0.5).cumsum(1)
    missed = 0
    for row in wins.tolist():
        bounds = [interval_at_all_times(row[n - 1], n) for n in range(20, 2001, 20)]
        missed += not all(low <= 0.5 <= high for low, high in bounds)
    assert missed <= 0.05 * len(wins)
    assert interval_at_all_times(0, 0) == (0.0, 1.0)
    low, high = interval_at_all_times(3500, 7000)
    assert 0.48 < low < high < 0.52


def test_variants_change_nothing_then_one_option_then_several() -> None:
    found = list(variants({"order": ("alternate", "drawn"), "max_units": (3,)}, together=2))
    assert found[0] == {}
    assert found[1:4] == [{"order": "alternate"}, {"order": "drawn"}, {"max_units": 3}]
    assert found[4:] == [{"order": "alternate", "max_units": 3}, {"order": "drawn", "max_units": 3}]


def test_a_variant_that_is_unfair_for_one_agent_is_not_played_by_the_next() -> None:
    game = cellgames.make("torus-v0", size=2)
    told: list[Balance] = []
    rows = race("torus-v0", [({}, game)], ["perfect", "random"], 400, chunk=100, margin=0.2, told=told.append)
    assert rows == told
    assert [row.agent for row in rows] in (["perfect"], ["perfect", "random"])
    assert all(row.games == row.decided for row in rows)
    fair = race("torus-v0", [({}, game)], ["random"], 400, chunk=100, margin=0.3)[0]
    assert (fair.verdict, fair.lost, fair.cut, fair.last) == ("equal", 0, 0, None)


def test_added_options_come_last_and_are_marked() -> None:
    small = {"height": 8, "width": 8, "generations": 2, "max_rounds": 2}
    games = [
        (more, cellgames.make("cloth-of-gold-v0", **small, **more)) for more in ({"order": "drawn"}, {"max_units": 3})
    ]
    rows = race("cloth-of-gold-v0", games, ["random"], 20, chunk=20)
    assert [(row.options, row.added) for row in rows] == [("max_units=3", False), ("order=drawn", True)]
    assert all(row.games == 20 and row.decided + row.lost == 20 for row in rows)
    assert all(0 <= (row.last or 0) <= row.decided for row in rows)


class Mirrored(ClothOfGold):
    """The game in which lots fall the other way."""

    def places_first(self, seeds: Tensor, round: Tensor) -> Tensor:
        return 1 - super().places_first(seeds, round)


def mirrored(state: ClothState) -> ClothState:
    """The same games with the players exchanged."""
    pairs = {name: getattr(state, name).flip(1) for name in ("units", "territory", "live", "scores", "rewards")}
    places = torch.tensor([1, 0, 3, 2, 4, 5])  # of the columns of rounds
    players = {name: 1 - getattr(state, name) for name in ("first", "current_player")}
    return state.replace(**pairs, **players, rounds=state.rounds[..., places])


def test_by_lot_the_players_can_be_exchanged() -> None:
    """Lots fall either way with the same probability, so equal agents win equally often in both seats."""
    options = {"height": 10, "width": 9, "generations": 6, "radius": 4, "max_units": 4, "max_rounds": 4}
    game, other = ClothOfGold(**options, order="drawn"), Mirrored(**options, order="drawn")  # type: ignore[arg-type]
    state, chance = game.init(seeds(3, 40)), torch.Generator().manual_seed(1)
    assert 10 < int(state.first.sum()) < 30
    same = other.init(seeds(3, 40))
    while not bool(state.done.all()):
        assert mirrored(state).equal(same)
        legal = game.legal_actions(state)
        assert torch.equal(legal, other.legal_actions(same))
        actions = torch.multinomial((legal | state.done[:, None]).float(), 1, generator=chance).squeeze(1)
        state, same = game.step(state, actions), other.step(same, actions)
    assert torch.equal(game.outcome(state).flip(1), other.outcome(same))


def test_a_position_says_who_places_first() -> None:
    game = cellgames.make("cloth-of-gold-fair-small-v0", height=8, width=8, generations=2)
    for seed in range(6):
        state = game.init(seeds(seed, 1))
        state = game.step(state, game.legal_actions(state).int().argmax(1))
        line = game.state_to_string(state)
        assert line.startswith(("move:a ", "move:b/b ")[int(state.first)])
        assert game.string_to_state(line, seed=seed + 1).first.equal(state.first)


def test_the_command_writes_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "balance"
    words = ["balance", "torus-v0", "--size", "2", "--agents", "random", "--games", "40", "--chunk", "20", "--quiet"]
    assert main([*words, "--json", "--out", str(folder)]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert json.loads((folder / "report.json").read_text())["rows"] == rows
    assert (rows[0]["agent"], rows[0]["games"], rows[0]["verdict"]) == ("random", 40, "open")
    assert "| torus-v0 |" in (folder / "report.md").read_text()
    assert main([*words, "--against", str(folder)]) == 0
    assert f"1 of 1 rows agree with {folder}" in capsys.readouterr().out
    assert main([*words, "--against", str(tmp_path)]) == 2
    assert main(["balance", "torus-v0", "--vary", "size"]) == 2
    assert main(["balance", "grid-adaptation-small-v0", "--agents", "random"]) == 2
    capsys.readouterr()
    assert main(["balance", "torus-v0", "--agents", "random", "nobody"]) == 2
    assert capsys.readouterr().err.startswith("cellgames: agent: got ")  # before random plays
