"""Sweeps as far as they need no cluster: what may be varied, which trials there are, what is said of them."""

from __future__ import annotations

import csv
import dataclasses
import json
import math
import shlex
import shutil
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from training_runs import block_extras, tiny

import cellgames
from cellgames.arena.stats.tables import Tally
from cellgames.cli.main import main, parser
from cellgames.cli.sweep_command import _progress_text
from cellgames.cli.train_command import asked
from cellgames.cluster import connection as cluster
from cellgames.training import PPOArguments, RunError
from cellgames.training.arguments import arguments_of
from cellgames.training.runs.logs import Logs
from cellgames.training.sweeps import sweep as sweeps
from cellgames.training.sweeps.sweep import SweepProgress, plan, sweep
from cellgames.training.sweeps.sweep_base import evaluated_in_time
from cellgames.training.sweeps.sweep_book import Book
from cellgames.training.sweeps.sweep_reports import (
    Again,
    Sweep,
    SweepTrial,
    best_of,
    ranked,
    train_command,
    wilson,
    write_reports,
)
from cellgames.training.sweeps.sweep_space import Choices, Range, draw_settings, grid_settings, parse_space
from cellgames.training.sweeps.sweep_trials import Job, evaluations, run_trial
from cellgames.utils.run_folders import opened

# ---------------------------------------------------------------- what may be varied


def test_values_are_read() -> None:
    texts = ["learning-rate=1e-4..1e-2", "layers=1..4", "num_envs=8..1e3", "ent_coef=0,0.01", "sample=yes,no"]
    assert parse_space([*texts, "opponents=self|self=0.8,pool=0.2"], PPOArguments) == {
        "learning_rate": Range(1e-4, 1e-2, log=True, whole=False),
        "layers": Range(1, 4, log=False, whole=True),
        "num_envs": Range(8, 1000, log=True, whole=True),
        "ent_coef": Choices((0.0, 0.01)),
        "sample": Choices((True, False)),
        "opponents": Choices(("self", "self=0.8,pool=0.2")),
    }


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("lr=1..2", "unknown setting 'lr'; ppo has num_envs, num_steps, num_epochs"),
        ("entropy", "expected NAME=LOW..HIGH or NAME=VALUE,VALUE,... to vary, got 'entropy'"),
        ("learning_rate=0.1..2", "learning_rate must be a number above 0 and at most 1, got 2"),
        ("learning_rate=0.1..0.01", "LOW below HIGH"),
        ("learning_rate=0.1..x", "learning_rate must be a number above 0 and at most 1, got 'x'"),
        ("layers=1,1.5", "layers must be a whole number, got 1.5"),
        ("sampling=latest|often", "sampling must be one of uniform, latest, prioritized, got 'often'"),
        ("sample=yes,maybe", "sample must be true or false, got 'maybe'"),
        ("ent_coef=0.1", "ent_coef=0.1 is one value"),
        ("opponents=self=0.5,pool=0.5", r"is one value: two or more, with | between them"),
        ("ent_coef=0,0.1,0", "ent_coef has a value twice"),
        ("seed=1,2", "seed cannot be varied: use --seeds"),
        ("total_steps=100,200", "total_steps cannot be varied: all trials get the same"),
        ("eval_opponents=random|greedy", "eval_opponents cannot be varied"),
        ("threads=1,2", "threads cannot be varied"),
    ],
)
def test_what_cannot_be_varied_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(ValueError) as refused:  # noqa: PT011  # the text is compared whole below
        parse_space([text], PPOArguments)
    assert complaint in str(refused.value)


def test_a_setting_is_varied_once_and_something_is() -> None:
    with pytest.raises(ValueError, match="ent_coef is varied twice"):
        parse_space(["ent_coef=0,1", "ent_coef=0..1"], PPOArguments)
    with pytest.raises(ValueError, match="nothing to vary"):
        parse_space([], PPOArguments)


# ---------------------------------------------------------------- which trials there are

SPACE = parse_space(["learning_rate=1e-4..1e-2", "layers=1..4", "ent_coef=0,0.01,0.1"], PPOArguments)


@pytest.mark.parametrize("text", ["0.999..0.9999", "0..1", "0.5..4", "0.9..0.99"])
def test_a_range_of_any_width_has_hundreds_of_values(text: str) -> None:
    low, high = map(float, text.split(".."))
    values = {Range(low, high, log=False, whole=False).at(share / 2000) for share in range(2001)}
    assert 100 < len(values) <= 1001
    assert (min(values), max(values)) == (low, high)


def test_values_are_told_in_full() -> None:
    texts = ["learning_rate=0.001000001,0.00100000312", "num_envs=1000001..1000003", "max_grad_norm=1e-12,2,1e22"]
    reported = [str(values) for values in parse_space(texts, PPOArguments).values()]
    assert reported == ["0.001000001 | 0.00100000312", "1000001..1000003", "1e-12 | 2 | 1e+22"]


def test_draws_fill_the_space_evenly() -> None:
    drawn = draw_settings(SPACE, 48, seed=3)
    rates = [settings["learning_rate"] for settings in drawn]
    assert sum(rate < 1e-3 for rate in rates) in range(22, 27)  # half of a range by logarithms
    assert min(rates) >= 1e-4
    assert max(rates) <= 1e-2
    assert all(count in range(9, 16) for count in Counter(settings["layers"] for settings in drawn).values())
    assert all(count in range(13, 20) for count in Counter(settings["ent_coef"] for settings in drawn).values())
    assert all(type(settings["layers"]) is int for settings in drawn)


def test_more_trials_begin_with_the_same_ones() -> None:
    assert draw_settings(SPACE, 20, seed=1)[:5] == draw_settings(SPACE, 5, seed=1)
    assert draw_settings(SPACE, 5, seed=1) != draw_settings(SPACE, 5, seed=2)


def test_few_settings_are_not_repeated() -> None:
    drawn = draw_settings(parse_space(["sample=yes,no", "num_epochs=1..3"], PPOArguments), 50, seed=0)
    assert len(drawn) == 6
    assert len({tuple(settings.values()) for settings in drawn}) == 6


def test_a_grid_has_all_combinations_and_no_ranges() -> None:
    space = parse_space(["num_epochs=1,2", "ent_coef=0,0.1,1"], PPOArguments)
    points = [tuple(settings.values()) for settings in grid_settings(space)]
    assert points == [(1, 0.0), (1, 0.1), (1, 1.0), (2, 0.0), (2, 0.1), (2, 1.0)]
    with pytest.raises(ValueError, match=r"a grid needs lists of values: learning_rate=0.0001..0.01 is a range"):
        grid_settings(SPACE)


def test_trials_are_each_setting_with_each_seed() -> None:
    base = tiny(seed=7)
    planned = plan(base, parse_space(["num_epochs=1,2"], PPOArguments), grid=True, seeds=2)
    assert [trial.name for trial in planned] == ["001-seed=7", "001-seed=8", "002-seed=7", "002-seed=8"]
    assert planned[3].arguments == dataclasses.replace(base, num_epochs=2, seed=8)
    with pytest.raises(ValueError, match="number of trials is not to be given"):
        plan(base, SPACE, trials=3, grid=True)
    with pytest.raises(ValueError, match="expected at most 10000 settings, got 100000000"):
        plan(base, SPACE, trials=10**8)
    with pytest.raises(ValueError, match="at most 10000 trials, got 6 settings with 2000 seeds each"):
        plan(base, SPACE, trials=6, seeds=2000)


def test_a_sweep_may_grow_and_is_else_the_same(tmp_path: Path) -> None:
    asked = {
        "vary": {"num_epochs": "1 | 2"},
        "grid": True,
        "trials": 2,
        "seeds": 1,
        "target": "random",
        "stopping": True,
    }
    first = {**asked, "arguments": tiny().to_data()}
    sweeps._prepare(tmp_path, first, resume=True)
    sweeps._prepare(tmp_path, {**first, "trials": 3, "seeds": 2}, resume=True)
    (tmp_path / "outcomes.json").write_text("{}")
    for other, complaint in (
        ({**first, "vary": {"num_epochs": "1 | 3"}}, "vary: expected"),
        ({**first, "stopping": False}, "stopping: expected True, got False"),
        ({**first, "arguments": tiny(num_envs=32).to_data()}, "num_envs: expected 16, got 32"),
    ):
        with pytest.raises(RunError, match=f"is another sweep's. {complaint}"):
            sweeps._prepare(tmp_path, other, resume=True)
    assert json.loads((tmp_path / "sweep.json").read_text())["seeds"] == 2
    sweeps._prepare(tmp_path, {**first, "stopping": False}, resume=False)
    assert not (tmp_path / "outcomes.json").exists()


def test_a_folder_in_which_nothing_ran_yet_may_become_another_sweeps(tmp_path: Path) -> None:
    asked = {"vary": {}, "grid": True, "trials": 2, "seeds": 1, "target": "random", "stopping": True}
    sweeps._prepare(tmp_path, {**asked, "arguments": tiny().to_data()}, resume=True)
    sweeps._prepare(tmp_path, {**asked, "arguments": tiny(num_envs=32).to_data()}, resume=True)
    assert json.loads((tmp_path / "sweep.json").read_text())["arguments"]["num_envs"] == 32
    (tmp_path / "trials").mkdir()
    with pytest.raises(RunError, match="num_envs: expected 32, got 16"):
        sweeps._prepare(tmp_path, {**asked, "arguments": tiny().to_data()}, resume=True)


def test_outcomes_of_trials_with_other_settings_are_refused(tmp_path: Path) -> None:
    planned = plan(tiny(), SPACE, trials=2)
    book = Book(tmp_path, planned, lambda progress: None)
    book.started(planned[0].name)
    book.result(planned[0].name, {"state": "finished", "steps": 480, "score": 0.5, "seconds": 1.0})
    assert Book(tmp_path, planned, lambda progress: None).ended() == 1
    other = dataclasses.replace(planned[0], settings={**planned[0].settings, "layers": 7})
    with pytest.raises(RunError, match=r"trial 001-seed=0 had other settings. layers: expected \d, got 7"):
        Book(tmp_path, [other], lambda progress: None)


# ---------------------------------------------------------------- in time to be stopped


@pytest.mark.parametrize(
    ("id", "vary"),
    [
        ("torus-small-v0", "ent_coef=0,0.1"),
        ("torus-small-v0", "num_envs=64,256"),
        ("toroidal-cup-small-v0", "num_epochs=1,2"),
    ],
)
def test_trials_are_evaluated_before_the_first_rung(id: str, vary: str) -> None:
    game, space = cellgames.make(id), parse_space([vary], PPOArguments)
    for steps in (200_000, 5_000_000):
        base = PPOArguments.fitted(game, total_steps=steps)
        suited = evaluated_in_time(base, space)
        num_envs = 256 if vary.startswith("num_envs") else base.num_envs
        actions = num_envs * base.num_steps * (game.info.num_players if game.info.simultaneous else 1)
        assert suited == dataclasses.replace(base, eval_every=suited.eval_every)
        assert 1 <= suited.eval_every <= base.eval_every
        assert suited.eval_every * actions <= steps // 9 or suited.eval_every == 1
        # As rarely as that allows, or as before.
        assert suited.eval_every == base.eval_every or (suited.eval_every + 1) * actions > steps // 9


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(RunError, match=r"holds no sweep\.json, but thesis\.tex"):
        sweeps._prepare(tmp_path, {"arguments": {}}, resume=False)


# ---------------------------------------------------------------- a trial


def reports(monkeypatch: pytest.MonkeyPatch, folder: Path, **changes: Any) -> list[dict[str, Any]]:
    """What a trial in this process reports; `changes` are fields of its job."""
    reported: list[dict[str, Any]] = []
    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "ray.tune", SimpleNamespace(report=reported.append))
    block_extras(lambda name, value: monkeypatch.setitem(sys.modules, name, value))
    (folder / "token").write_text("this disk")
    trials = {"good": tiny(total_steps=200, eval_every=1).to_data(), "bad": tiny(opponents="nobody").to_data()}
    job = Job(folder, folder / "token", "this disk", "random", trials, "", cluster.build())
    run_trial({"trial": changes.pop("trial", "good")}, dataclasses.replace(job, **changes))
    return reported


def test_a_trial_reports_its_evaluations_and_then_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reported = reports(monkeypatch, tmp_path)
    lines = evaluations(tmp_path / "good")[1:]
    assert [(line["steps"], line["random"]) for line in lines] == [(line["steps"], line["score"]) for line in reported]
    assert [line["state"] for line in reported] == ["running"] * (len(reported) - 1) + ["finished"]
    assert len(reported) >= 2
    again = reports(monkeypatch, tmp_path)
    assert again == [{**reported[-1], "warnings": []}]  # nothing is left to do


def test_a_trial_waits_for_a_worker_that_is_still_at_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "good").mkdir()
    at_work = opened(tmp_path / "good", ())
    at_work.__enter__()
    waited: list[float] = []

    def sleep(seconds: float) -> None:
        waited.append(seconds)
        if len(waited) == 2:
            at_work.__exit__(None, None, None)

    monkeypatch.setattr("time.sleep", sleep)
    assert reports(monkeypatch, tmp_path)[-1]["state"] == "finished"
    assert len(waited) == 2


def test_a_trial_that_cannot_run_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = reports(monkeypatch, tmp_path, trial="bad")
    assert [line["state"] for line in failed] == ["failed"]
    assert "nobody" in failed[0]["error"]
    other = dataclasses.replace(cluster.build(), cellgames="0.0.1")
    refused = [*reports(monkeypatch, tmp_path, text="another disk"), *reports(monkeypatch, tmp_path, build=other)]
    assert [line["state"] for line in refused] == ["refused", "refused"]
    assert "does not see" in refused[0]["error"]
    assert "has other versions" in refused[1]["error"]


def test_arguments_survive_json() -> None:
    base = tiny(eval_opponents=("random", "greedy"))
    assert arguments_of(json.loads(json.dumps(base.to_data()))) == base


# ---------------------------------------------------------------- what is said of them


def made(out: Path, *ends: tuple[str, int, float], seeds: int = 1) -> list[SweepTrial]:
    """Trials with these states, steps and scores, and folders with tables."""
    planned = plan(tiny(), SPACE, trials=len(ends) // seeds, seeds=seeds)
    trials = []
    for trial, (state, steps, score) in zip(planned, ends, strict=True):
        folder = out / "trials" / trial.name
        folder.mkdir(parents=True)
        lines = [{"steps": steps * part // 4, "random": 0.5 + (score - 0.5) * part / 4} for part in range(5)]
        Logs(folder, "", (), 0, lambda message: None).table(lines)
        error = "too | bad" if state == "failed" else ""
        trials.append(
            SweepTrial(trial.name, trial.settings, trial.arguments, state, steps, score, 1.5, error, folder)  # type: ignore[arg-type]  # a text
        )
    return trials


def test_intervals_are_wilsons() -> None:
    for wins, games in ((0, 4), (7, 10), (55, 100), (400, 400)):
        low, high = wilson(wins / games, games)
        assert (low == 0, high == 1) == (wins == 0, wins == games)
        tally = Tally(games=games, wins=wins, losses=games - wins, draws=0, distinct=games)
        assert wilson(wins / games, games) == pytest.approx(tally.interval(), abs=1e-9)


def test_trials_are_ranked(tmp_path: Path) -> None:
    ends = [("stopped", 100, 0.9), ("finished", 480, 0.4), ("failed", 0, math.nan), ("finished", 480, 0.6)]
    trials = ranked(made(tmp_path, *ends, ("stopped", 300, 0.2)))
    assert [(trial.state, trial.steps) for trial in trials] == [
        *(("finished", 480), ("finished", 480), ("stopped", 300), ("stopped", 100), ("failed", 0))
    ]
    best = best_of(trials)
    assert best is not None
    assert best.score == 0.6
    assert best_of(trials[2:]) is None


def test_of_several_seeds_the_mean_decides(tmp_path: Path) -> None:
    ends = [("finished", 480, 1.0), ("finished", 480, 0.2), ("finished", 480, 0.7), ("finished", 480, 0.8)]
    best = best_of(ranked(made(tmp_path, *ends, ("finished", 480, 0.99), ("stopped", 100, 0.3), seeds=2)))
    assert best is not None
    assert (best.name, best.score) == ("002-seed=1", 0.8)


def test_reports_tell_all(tmp_path: Path) -> None:
    ends = [("finished", 480, 0.8), ("finished", 480, 0.3), ("stopped", 160, 0.2), ("failed", 0, math.nan)]
    trials = ranked(made(tmp_path, *ends))
    found = Sweep(tmp_path, "random", trials, best_of(trials), Again("001-seed=0", 16, 0.75), 0)
    write_reports(found, {"seeds": 1, "stopping": True}, pytest.fail)
    with (tmp_path / "trials.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert [line["state"] for line in lines] == ["finished", "finished", "stopped", "failed"]
    assert [line["score"] for line in lines] == ["0.8", "0.3", "0.2", ""]
    assert lines[3]["error"] == "too | bad"
    page = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "failed: too \\| bad" in page
    assert "1 of 4 trials were stopped early" in page
    assert all(f"| {trial.name} |" in page for trial in trials)
    assert "in 16 new games it was ahead in 75.0 %" in page
    for name in ("settings.png", "curves.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
        assert f"]({name})" in page


def test_the_command_of_a_trial_asks_for_its_arguments() -> None:
    game = cellgames.make("torus-v0", size=3)
    vary = ["sample=yes,no", "opponents=self|self=0.5,pool=0.5", "learning_rate=1e-4..1e-1"]
    base = PPOArguments.fitted(game, total_steps=300, eval_opponents=("random",), threads=1, device="cpu")
    for trial in plan(base, parse_space(vary, PPOArguments), trials=4):
        words = shlex.split(train_command(trial.arguments))
        assert words[0] == "cellgames"
        assert asked(parser().parse_args(words[1:])) == trial.arguments


def test_progress_is_a_line() -> None:
    assert _progress_text(SweepProgress(3, 12, 1, 0, 2, "002-seed=0", 0.625)) == (
        "3 of 12 trials, 1 stopped early, 2 running, best so far 62 % (002-seed=0)"
    )
    assert _progress_text(SweepProgress(0, 12, 0, 0, 0, "", math.nan)) == "0 of 12 trials"


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"seeds": 0}, "at least one seed"),
        ({"trials": 0}, "at least one trial"),
        ({"workers": 0}, "at least one worker"),
        ({"gpus": -1}, "GPUs of a trial as a share from 0 to 1, or several whole ones, got -1"),
        ({"gpus": math.nan}, "or several whole ones, got nan"),
        ({"gpus": 1.5}, "or several whole ones, got 1.5"),
        ({"gpus": 1}, "need no GPU"),
        ({"target": "gredy"}, "did you mean 'greedy'"),
        ({"opponents": "self=0.5,gredy=0.5"}, "did you mean 'greedy'"),
        ({"opponents": "self=2=3=x"}, "opponents are names and shares"),
        ({"eval_opponents": ("nobody",)}, "unknown agent 'nobody'"),
        ({"start_from": "nowhere.safetensors"}, "nowhere.safetensors"),
    ],
)
def test_what_makes_no_sense_is_refused_before_there_is_a_folder(
    options: dict[str, Any], complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "load_ray", lambda: None)
    common = {name: value for name, value in options.items() if name in ("opponents", "eval_opponents", "start_from")}
    others = {name: value for name, value in options.items() if name not in common}
    with pytest.raises(ValueError, match=complaint):
        sweep(tiny(**common), ["num_epochs=1,2"], tmp_path / "out", **others)
    assert not (tmp_path / "out").exists()


def command(*words: str) -> int:
    return main(["sweep", "torus-v0", "--size", "2", "--total-steps", "400", *words])


def test_without_ray_one_line_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    assert command("--vary", "num_epochs=1,2", "--out", str(tmp_path / "out")) == 2
    shown = capsys.readouterr().err
    assert 'pip install "cellgames[ray]"' in shown
    assert len(shown.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_the_command_line_is_checked_before_anything_starts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)  # it is not missed yet
    for words, complaint in (
        (("--vary", "lr=1..2"), "unknown setting 'lr'"),
        (("--vary", "num_epochs=1,2", "--num-epochs", "3"), "num_epochs is varied, so --num-epochs is not to be given"),
        (("--algo", "alphazero", "--vary", "ent_coef=0,1"), "unknown setting 'ent_coef'; alphazero has"),
    ):
        assert command(*words) == 2
        assert complaint in capsys.readouterr().err
    with pytest.raises(SystemExit) as ended:
        command("--vary", "num_epochs=1,2", "--grid", "--trials", "3")
    assert ended.value.code == 2


def test_a_sweep_without_a_finished_trial_ends_with_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[tuple[Any, ...]] = []

    def failed(base: PPOArguments, space: Any, out: Path, **options: Any) -> Sweep:
        asked.append((base.eval_every, str(out), options["stopping"]))
        return Sweep(tmp_path, "random", ranked(made(tmp_path, ("failed", 0, math.nan))), None, None, 0)

    monkeypatch.setattr("cellgames.cli.sweep_command.load_ray", lambda: None)
    monkeypatch.setattr(sweeps, "sweep", failed)
    assert command("--vary", "num_epochs=1,2", "layers=1..3", "--num-envs", "8", "--num-steps", "4") == 1
    reported = capsys.readouterr().out
    assert "001-seed=0" in reported
    assert "failed: too | bad" in reported
    assert "Best" not in reported
    shutil.rmtree(tmp_path / "trials")
    command("--vary", "num_epochs=1,2", "--no-stopping", "--eval-every", "7")
    out = str(Path("results") / "sweep" / "torus-v0-size=2-ppo-num_epochs-layers-seed=0")
    assert asked == [(1, out, True), (7, out.replace("-layers", ""), False)]
