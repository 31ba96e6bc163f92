"""Datasets for offline learning: what is written, and batches of tensors."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
import torch
from command import Command
from recorded_games import records, write_runs
from refusals import refused
from torch.utils.data import DataLoader

import cellgames
from cellgames.arena import Forfeit, Record, replay
from cellgames.cli.main import main
from cellgames.envs.core import Game
from cellgames.lab import OfflineDataset, export_decisions

pytest.importorskip("pyarrow")

GAMES: dict[str, Game] = {
    "torus": cellgames.make("torus-v0", size=3),
    "cloth": cellgames.make("cloth-of-gold-small-v0", shaping=0.5),
    "grid": cellgames.make("grid-adaptation-small-v0"),
    "cup": cellgames.make("toroidal-cup-small-v0"),
}
RESULTS = {"win": 1, "draw": 0, "loss": -1}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_runs(tmp_path_factory.mktemp("runs"), GAMES)


@pytest.mark.parametrize("name", GAMES)
def test_a_row_is_a_decision(name: str, runs: Path, tmp_path: Path) -> None:
    game, played, path = GAMES[name], records(runs, name), tmp_path / "decisions.parquet"
    written = export_decisions(played, path)
    (batch,) = OfflineDataset(path, 100_000)
    assert written.decisions == len(batch["game"])
    row, info = 0, game.info
    for number, record in enumerate(played):
        states, owed, ends = replay(record), torch.zeros(info.num_players), []
        for turn, state in enumerate(states[:-1]):
            seats = range(info.num_players) if info.simultaneous else [int(state.current_player)]
            masks = game.legal_actions(state)[0].view(len(seats), -1)
            names = record.moves[turn].split(" ")
            for place, seat in enumerate(seats):
                seen = {key: values[row] for key, values in batch.items()}
                assert (int(seen["game"]), int(seen["turn"]), int(seen["seat"])) == (number, turn, seat)
                assert bool(seen["forced"]) == (turn < record.opening)
                assert torch.equal(seen["observation"], game.observe(state, seat)[0])
                assert torch.equal(seen["mask"], masks[place])
                assert info.admits(seen["mask"][None], seen["action"].view(1, -1)).all()
                if len(info.action_nvec) == 1:
                    assert int(seen["action"]) == game.string_to_action(names[place])
                assert int(seen["result"]) == RESULTS[record.result.outcome[seat]]
                rest = sum(float(after.rewards[0, seat]) for after in states[turn + 1 :])
                assert float(seen["reward_to_go"]) == pytest.approx(rest, abs=1e-5)
                owed[seat] += seen["reward"]
                ends += [(number, seat)] if seen["last"] else []
                row += 1
        assert sorted(ends) == [(number, seat) for seat in range(info.num_players)]
        first = batch["game"] == number
        for seat in range(info.num_players):  # the rewards between decisions add up
            start = batch["reward_to_go"][first & (batch["seat"] == seat)][0]
            assert float(owed[seat]) == pytest.approx(float(start), abs=1e-5)
    assert row == written.decisions


def test_batches_stream_in_any_order(runs: Path, tmp_path: Path) -> None:
    paths = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    for path in paths:
        export_decisions(records(runs, "torus"), path)
    whole = torch.cat([batch["observation"].flatten(1) for batch in OfflineDataset(paths, 7)])
    shuffled = OfflineDataset(paths, 7, shuffle=True, seed=3)
    first, second = (torch.cat([batch["observation"].flatten(1) for batch in shuffled]) for _ in range(2))
    again = torch.cat([b["observation"].flatten(1) for b in OfflineDataset(paths, 7, shuffle=True, seed=3)])
    assert len(shuffled) == -(-len(whole) // 7)
    assert not torch.equal(first, whole)
    assert not torch.equal(first, second)
    assert torch.equal(first, again)
    assert sorted(first.tolist()) == sorted(whole.tolist())
    few = next(iter(DataLoader(OfflineDataset(paths, 5, columns=["action", "result"]), batch_size=None)))
    assert {name: tuple(values.shape) for name, values in few.items()} == {"action": (5,), "result": (5,)}
    assert shuffled.info["game"] == "torus-v0"
    assert shuffled.info["agents"][0] == list(records(runs, "torus")[0].agents)


def test_what_cannot_be_written_or_read_is_explained(runs: Path, tmp_path: Path) -> None:
    torus, path = records(runs, "torus"), tmp_path / "x.parquet"
    with refused("records"):
        export_decisions([*torus, *records(runs, "cloth")], path)
    stopped = dataclasses.replace(torus[0].result, outcome=("win", "loss"), forfeit=Forfeit(1, "it crashed"))
    forfeited = dataclasses.replace(torus[0], moves=torus[0].moves[:1], result=stopped)
    with refused("records", "none"):
        export_decisions([forfeited], path)
    assert not path.exists()
    assert export_decisions([forfeited, torus[1]], path)[::2] == (1, 1)
    (batch,) = OfflineDataset(path, 1000)
    assert set(batch["game"].tolist()) == {1}
    other = tmp_path / "y.parquet"
    export_decisions(records(runs, "cup"), other)
    with refused(str(other), "others"):
        OfflineDataset([path, other])
    with refused("columns", "'value'"):
        OfflineDataset(path, columns=["value"])
    with refused(str(path), "none"):
        OfflineDataset(path, columns=["policy"])
    (tmp_path / "z.parquet").write_text("no table")
    with refused(str(tmp_path / "z.parquet"), expected="a Parquet file"):
        OfflineDataset(tmp_path / "z.parquet")


def test_a_table_by_the_command_line(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "t.parquet"
    assert main(["export", str(runs / "torus"), "--format", "parquet", "--record", "2", "--out", str(out)]) == 0
    assert "decisions of 1 game\n" in capsys.readouterr().out
    (batch,) = OfflineDataset(out, 1000)
    assert len(batch["turn"]) == len(records(runs, "torus")[1].moves)


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An evaluation with policies, and the same one without."""
    folder = tmp_path_factory.mktemp("searched")
    words = ["evaluate", "torus-v0", "--size", "3", "--agents", "mcts:8", "random", "--games", "4", "--no-store"]
    for name, more in (("bare", []), ("kept", ["--policies"])):
        assert main([*words, *more, "--out", str(folder / name)]) == 0
    return folder


def test_policies_are_kept_when_they_are_wanted(searched: Path, tmp_path: Path) -> None:
    """They change nothing else; each belongs to a move of the agent that searches, and adds up to 1."""
    kept, bare = records(searched, "kept"), records(searched, "bare")
    assert "policies" not in (searched / "bare" / "games.jsonl").read_text()
    assert [dataclasses.replace(record, policies=()) for record in kept] == bare
    for record in kept:
        seat = record.agents.index("mcts:8")
        searching = [turn % 2 == seat and turn >= record.opening for turn in range(len(record.moves))]
        assert [policy is not None for policy in record.policies] == searching
        assert all(sum(policy.values()) == pytest.approx(1, abs=1e-3) for policy in record.policies if policy)
    path = tmp_path / "kept.parquet"
    export_decisions(kept, path)
    (batch,) = OfflineDataset(path, 1000)
    own = batch["policy"].sum(1) > 0
    assert torch.allclose(batch["policy"].sum(1)[own], torch.ones(int(own.sum())))
    assert not (batch["policy"] > 0)[~batch["mask"]].any()
    first = next(policy for policy in kept[0].policies if policy)
    row = batch["policy"][own & (batch["game"] == 0)][0]
    assert {GAMES["torus"].action_to_string(action) for action in row.nonzero().flatten().tolist()} == set(first)
    export_decisions(bare, tmp_path / "bare.parquet")
    assert "policy" not in next(iter(OfflineDataset([path, tmp_path / "bare.parquet"], 10)))


@pytest.mark.parametrize("policies", ['[{"a1":2}]', "[1]", "{}", '[{"a1":"x"}]', "[{}]", "[null,null]"])
def test_policies_that_are_none_are_refused(policies: str, searched: Path) -> None:
    record = dataclasses.replace(records(searched, "bare")[0], moves=("a1",))
    line = record.to_json()[:-1] + f',"policies":{policies}}}'
    with refused("policies"):
        Record.from_json(line)


@pytest.mark.parametrize("name", ["kept", *GAMES])
def test_a_seat_is_an_episode_of_minari(
    name: str, runs: Path, searched: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    minari = pytest.importorskip("minari")
    pytest.importorskip("h5py")
    game, folder = GAMES.get(name, GAMES["torus"]), searched if name == "kept" else runs
    played = records(folder, name)
    out = tmp_path / "datasets" / "played-v0"
    assert main(["export", str(folder / name), "--format", "minari", "--out", str(out)]) == 0
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(out.parent))
    dataset = minari.load_dataset("played-v0")
    assert dataset.total_episodes == len(played) * game.info.num_players
    about = list(dataset.storage.get_episode_metadata(range(dataset.total_episodes)))
    for episode, what in zip(dataset.iterate_episodes(), about, strict=True):
        record, seat = played[int(what["game"])], game.info.players.index(what["player"])
        states = replay(record)
        assert (what["agent"], what["seed"]) == (record.agents[seat], record.seed)
        assert int(what["result"]) == RESULTS[record.result.outcome[seat]]
        turns = episode.infos["turn"].tolist()
        assert turns[-1] == len(record.moves)
        for row, turn in enumerate(turns):
            seen = torch.from_numpy(episode.observations["observation"][row])
            assert torch.equal(seen, game.observe(states[turn], seat)[0])
        assert dataset.observation_space.contains(_row(episode.observations, 0))
        assert all(dataset.action_space.contains(action) for action in episode.actions)
        assert bool(episode.terminations[-1]) != bool(episode.truncations[-1])
        assert not (episode.terminations | episode.truncations)[:-1].any()
        total = sum(float(state.rewards[0, seat]) for state in states[turns[0] + 1 :])
        assert float(episode.rewards.sum()) == pytest.approx(total, abs=1e-5)
        assert ("policy" in episode.infos) == (name == "kept")


def _row(values: Any, row: int) -> Any:
    if isinstance(values, dict):
        return {name: _row(value, row) for name, value in values.items()}
    return tuple(_row(value, row) for value in values) if isinstance(values, tuple) else values[row]


def test_a_folder_that_minari_cannot_take_is_refused(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("minari")
    (tmp_path / "there-v0").mkdir()
    for name, reason in (("torus", "named as Minari names datasets"), ("there-v0", "is there already")):
        assert main(["export", str(runs / "torus"), "--format", "minari", "--out", str(tmp_path / name)]) == 2
        assert reason in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["there-v0"]


@pytest.mark.parametrize(
    ("kind", "part"), [("parquet", "decision_tables._table"), ("minari", "minari_datasets._episodes")]
)
def test_an_export_that_is_stopped_leaves_no_file(
    kind: str, part: str, runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    def stopped(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(f"cellgames.lab.datasets.{part}", stopped)
    words = f"export '{runs / 'torus'}' --format {kind} --out '{tmp_path / kind}-v0'"
    assert command.both(words, code=130) == ("", "\nStopped.\n")
    assert not [*tmp_path.iterdir()]
