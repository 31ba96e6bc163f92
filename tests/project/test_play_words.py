"""What people type in `cellgames play` besides moves: hints, rules, files; and `cellgames rules`."""

from __future__ import annotations

import re
from argparse import Namespace
from pathlib import Path

import pytest
import torch
from command import Command

import cellgames
from cellgames.arena.records.record_lines import read_records
from cellgames.cli.commands.play_command import _own_seat
from cellgames.envs import registry
from cellgames.plugins import GamePlugin
from cellgames.web.frames import replay_data
from cellgames.web.hints import hint


def test_a_hint_names_the_winning_move_and_its_value(command: Command) -> None:
    """Column a lacks one stone of a ring of Black."""
    position = "x../x../... .oo/.../... b"
    words = f"play torus-v0 --size 3 --in-process --agents arena_bots:Last --position '{position}'"
    told = r"your move: \S+ suggests a3: you are winning, your chance to win is 100 %\.\n"
    assert re.search(told, command(words, "hint", "quit"))


@pytest.mark.parametrize(("wish", "seat"), [("Red", 0), ("red", 0), ("team_2", 1), ("Team 2", 1)])
def test_a_seat_is_chosen_whatever_its_capitals(wish: str, seat: int) -> None:
    assert _own_seat(Namespace(watch=False, seat=wish), ["Red", "team_2"]) == seat


def test_moves_of_the_cup_are_read_with_the_names_of_their_shapes(command: Command, tmp_path: Path) -> None:
    out = tmp_path / "cup.jsonl"
    shown = command(f"play toroidal-cup-small-v0 --param shapes=1 --out '{out}'", "r2c6/0")
    assert "\nTeam 1 (you) plays R-pentomino r2c6/0\n" in shown
    shown = command(["replay", out, "--show"])
    assert re.search(r"^1\. R-pentomino r2c6/0, R-pentomino r\d+c\d+/\d$", shown, re.M)
    (record,) = read_records(out).records
    assert re.fullmatch(r"r2c6/0 r\d+c\d+/\d", record.moves[0])  # records keep the short names
    assert replay_data(record)["record"]["words"][0][0] == "R-pentomino r2c6/0"


@pytest.mark.parametrize("id", ["grid-adaptation-small-v0", "toroidal-cup-small-v0"])
def test_hints_where_all_act_at_once_are_legal_and_use_what_the_seat_sees(id: str) -> None:
    game = cellgames.make(id)
    state = game.init(torch.tensor([5]))
    for seat in range(game.info.num_players):
        text = hint(game, state, seat).words
        move = re.match(r"greedy suggests (?:R-pentomino )?(\S+)\. ", text)
        assert move is not None
        chosen = game.string_to_action(move[1])
        seen = game.legal_actions(state)[0, seat].split(list(game.info.action_nvec))
        for part, choice in zip(seen, game.info.unravel_action(chosen), strict=True):
            assert part[choice]


@pytest.mark.parametrize("plugin", registry.plugins(), ids=lambda plugin: plugin.id)
def test_rules_have_goal_board_moves_and_credit(plugin: GamePlugin, command: Command) -> None:
    page, prompt, info = plugin.page, plugin.prompt, registry.make(plugin.id).info
    assert page is not None
    assert prompt is not None
    shown = command(["rules", plugin.id])
    for text in (info.title, info.credit, *page.rules, *page.goals, prompt.position, prompt.moves):
        assert text in shown
    assert f"play {plugin.id} --agents greedy" in shown
    board = shown.partition("\nA board after some moves of agents")[2].partition("\n\n" + prompt.position)[0]
    assert plugin.colours is not None
    rows = [match for line in board.split("\n") if (match := re.fullmatch(plugin.colours.row, line))]
    assert len(rows) > 4
    assert re.search("|".join(plugin.colours.signs), "".join(match[1] for match in rows))
