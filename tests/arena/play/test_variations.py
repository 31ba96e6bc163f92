"""Variations of recorded games: the tree, its list, and what records refuse."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from store_games import game

from cellgames.arena.records.record_lines import Record
from cellgames.arena.records.variations import MoveNode, Variation, listed, merged, move_tree

TRIED = (Variation(-1, "a1"), Variation(0, "b1", "so it went"), Variation(0, "c1"), Variation(-1, "b2", "better"))


def test_a_record_keeps_its_variations() -> None:
    record = replace(game(0), variations=TRIED)
    data = json.loads(record.to_json())
    assert data["variations"] == [[-1, "a1"], [0, "b1", "so it went"], [0, "c1"], [-1, "b2", "better"]]
    assert Record.from_json(record.to_json()) == record
    assert list(data)[-1] == "variations"  # where the page looks for them
    assert "variations" not in json.loads(game(0).to_json())


def test_the_game_is_the_first_line_of_the_tree() -> None:
    root = move_tree(["b2", "a3"], TRIED)
    assert [child.move for child in root.children] == ["b2", "a1"]
    assert root.children[0].comment == "better"
    assert [child.move for child in root.children[0].children] == ["a3"]
    again = move_tree((), listed(root))
    assert listed(again) == listed(root)
    assert listed(root)[:2] == (Variation(-1, "b2", "better"), Variation(0, "a3"))


def test_two_trees_become_one() -> None:
    later = (Variation(-1, "b2", "best"), Variation(0, "c3"))
    assert merged(TRIED, later) == (*TRIED[:3], Variation(-1, "b2", "best"), Variation(3, "c3"))
    assert merged(TRIED, ()) == merged((), TRIED) == TRIED


def test_a_long_line_is_no_deep_recursion() -> None:
    moves = [f"m{number}" for number in range(20_000)]
    root: MoveNode = move_tree(moves)
    assert [one.move for one in listed(root)] == moves


@pytest.mark.parametrize(
    "variations",
    [
        {},
        "a1",
        [["a1"]],
        [[0, "a1"]],
        [[-2, "a1"]],
        [[True, "a1"]],
        [[-1, ""]],
        [[-1, "a1", 3]],
        [[-1, "a1", "", ""]],
        [[-1, "a1", "x" * 2001]],
        [[-1, "x" * 101]],
        [[-1, "a1"]] * 20_001,
    ],
)
def test_other_variations_are_refused(variations: Any) -> None:
    line = json.dumps({**game(0).to_data(), "variations": variations})
    with pytest.raises(ValueError, match=r"^variations(\[0\])?: expected .{1,400}$"):
        Record.from_json(line)
