"""The search of one position that workers share: results, the journal, and the command."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
import torch
from native_code import native_library
from slow import slow_except

from cellgames.agents.torus.proof_search import ProofSearch
from cellgames.cli.main import main
from cellgames.cluster.workers import Work
from cellgames.envs.core import seeds
from cellgames.envs.torus.game import Torus
from cellgames.envs.torus.state import TorusState
from cellgames.lab.solving.shared_search import LeafWork, SharedSearch


@pytest.fixture(autouse=True)
def _native() -> None:
    native_library()


class InTurn:
    """Workers that do each piece at once, up to a number of them; then they stop the search."""

    count = 2

    def __init__(self, most: int = 1 << 30) -> None:
        self.left = most
        self._do: Callable[[Any], Any] | None = None

    def submit(self, work: Work[Any, Any], item: Any) -> Future[Any]:
        """See `Workers`."""
        if self.left == 0:
            raise KeyboardInterrupt
        self.left -= 1
        self._do = self._do or work.start()
        future = Future[Any]()
        future.set_result(self._do(item))
        return future


WORK = LeafWork(size=4, memory=1 << 20, nodes=600)


def opened(*moves: int) -> TorusState:
    game = Torus(4)
    state = game.init(seeds(0, 1))
    for move in moves:
        state = game.step(state, torch.tensor([move]))
    return state


@pytest.mark.parametrize(("moves", "value"), slow_except([((16,), 1)], [((0,), -1), ((16,), 1)]))
def test_it_says_who_wins(tmp_path: Path, moves: tuple[int, ...], value: int) -> None:
    search = SharedSearch(opened(*moves), WORK, tmp_path / "journal")
    found = list(search.run(InTurn()))[-1]
    assert found.value == value
    assert search.pieces > 10
    assert search.nodes == found.nodes > 1000
    if value == 1:
        state = Torus(4).step(opened(*moves), torch.tensor([found.move]))
        assert ProofSearch(4).solve(state).tolist() == [-1]


def test_it_goes_on_from_its_journal_and_not_from_another_one(tmp_path: Path) -> None:
    whole, journal = tmp_path / "whole", tmp_path / "journal"
    list(SharedSearch(opened(16), WORK, whole).run(InTurn()))
    with pytest.raises(KeyboardInterrupt):
        list(SharedSearch(opened(16), WORK, journal).run(InTurn(8)))
    kept = journal.read_text().splitlines()
    assert len(kept) > 4
    with journal.open("a") as file:
        file.write('{"leaf": "..')  # the process was killed here
    search = SharedSearch(opened(16), WORK, journal)
    assert search.pieces == len(kept) - 1
    assert search.nodes == sum(json.loads(line)["nodes"] for line in kept[1:])
    assert list(search.run(InTurn()))[-1].value == 1
    again = SharedSearch(opened(16), WORK, journal)
    assert again.progress.value == 1
    assert [step.value for step in again.run(InTurn(0))] == [1]
    with pytest.raises(ValueError, match="is not the journal of a search of this position"):
        SharedSearch(opened(0), WORK, journal)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--ray", "--winner"], "--ray and --journal FILE go together, with --winner"),
        (["--journal", "x", "--winner"], "--ray and --journal FILE go together, with --winner"),
        (["--journal", "x", "--winner", "--proof", "y", "--ray"], "--ray takes --journal, but not --table, --solved"),
        (["--journal", "x", "--winner", "--leaf-nodes", "0", "--ray"], "--leaf-nodes must be at least 1, got 0"),
        (["--table", "nowhere/x"], "there is no folder nowhere"),
        (["--table", __file__], "is no table of a Torus search"),
    ],
)
def test_mistakes_are_named(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "torus-v0", "--size", "4", *arguments]) == 2
    assert message in capsys.readouterr().err
