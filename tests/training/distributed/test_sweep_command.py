"""Sweeps as far as they need no cluster: what may be varied, which trials there are, what is said of them."""

from __future__ import annotations

import csv
import dataclasses
import json
import math
import shlex
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from slow import slow_except
from training_runs import block_extras, tiny

import cellgames
from cellgames.arena.stats.tables import Tally
from cellgames.cli.commands.sweep_command import _progress_text
from cellgames.cli.commands.train_command import arguments_given
from cellgames.cli.main import main, parser
from cellgames.cluster import connection as cluster
from cellgames.training import PPOArguments, RunError
from cellgames.training.arguments import arguments_of
from cellgames.training.sweeps import sweep as sweeps
from cellgames.training.sweeps.search_space import draw_settings, format_values, grid_settings, parse_space
from cellgames.training.sweeps.sweep import Sweep, SweepOptions, plan, sweep
from cellgames.training.sweeps.sweep_options import evaluate_in_time
from cellgames.training.sweeps.sweep_reports import best_of, rank, report, train_command
from cellgames.training.sweeps.sweep_study import current, fail, open_study, start_trial, trial_arguments
from cellgames.training.sweeps.sweep_work import TrialWork
from cellgames.utils.report.files import write_report
from cellgames.utils.run_folders import opened

optuna = pytest.importorskip("optuna")

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial

# ---------------------------------------------------------------- what may be varied


def test_values_are_read() -> None:
    kinds = optuna.distributions
    Float, Int, Categorical = kinds.FloatDistribution, kinds.IntDistribution, kinds.CategoricalDistribution  # noqa: N806
    texts = ["learning-rate=1e-4..1e-2", "layers=1..4", "num_envs=8..1e3", "ent_coef=0,0.01", "sample=yes,no"]
    assert parse_space([*texts, "opponents=self|self=0.8,pool=0.2"], PPOArguments) == {
        "learning_rate": Float(1e-4, 1e-2, log=True),
        "layers": Int(1, 4),
        "num_envs": Int(8, 1000, log=True),
        "ent_coef": Categorical((0.0, 0.01)),
        "sample": Categorical((True, False)),
        "opponents": Categorical(("self", "self=0.8,pool=0.2")),
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
        ("opponents=self=0.5,pool=0.5", r"is one value: to vary it, give two or more with | between them"),
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

VARY = ("learning_rate=1e-4..1e-2", "layers=1..4", "ent_coef=0,0.01,0.1")
SPACE = parse_space(VARY, PPOArguments)


@pytest.mark.parametrize("text", slow_except(["0..1"], ["0.999..0.9999", "0..1", "0.5..4", "0.9..0.99"]))
def test_a_range_of_any_width_has_hundreds_of_values(text: str) -> None:
    low, high = map(float, text.split(".."))
    space = {"gamma": optuna.distributions.FloatDistribution(low, high)}
    values = {settings["gamma"] for settings in draw_settings(space, 500, seed=0)}
    assert 100 < len(values) <= 1001
    assert low <= min(values) < low + 0.01 * (high - low)
    assert high - 0.01 * (high - low) < max(values) <= high


def test_values_are_told_in_full() -> None:
    texts = ["learning_rate=0.001000001,0.00100000312", "num_envs=1000001..1000003", "max_grad_norm=1e-12,2,1e22"]
    reported = [format_values(values) for values in parse_space(texts, PPOArguments).values()]
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
    planned = plan(base, SweepOptions(vary=("num_epochs=1,2",), grid=True, seeds=2))
    names = ["001-seed=7", "001-seed=8", "002-seed=7", "002-seed=8"]
    assert [trial.user_attrs["name"] for trial in planned] == names
    assert trial_arguments(base, planned[3]) == dataclasses.replace(base, num_epochs=2, seed=8)
    with pytest.raises(ValueError, match="number of trials must not be given"):
        SweepOptions(vary=VARY, trials=3, grid=True)
    with pytest.raises(ValueError, match="trials must be a whole number from 1 to 10000, got 100000000"):
        SweepOptions(vary=VARY, trials=10**8)
    with pytest.raises(ValueError, match="at most 10000 trials, got 6 settings with 2000 seeds"):
        plan(base, SweepOptions(vary=VARY, trials=6, seeds=2000))


def asked_for(**changes: Any) -> dict[str, Any]:
    """What the study of a sweep keeps of its options."""
    vary = {"num_epochs": "1 | 2"}
    options = {"vary": vary, "grid": True, "trials": 2, "seeds": 1, "target": "random", "stopping": True}
    return {**options, "arguments": tiny().to_data(), **changes}


def test_a_sweep_may_grow_and_is_else_the_same(tmp_path: Path) -> None:
    sweeps._prepare(tmp_path, asked_for(), resume=True)
    study = sweeps._prepare(tmp_path, asked_for(trials=3, seeds=2), resume=True)
    start_trial(study, plan(tiny(), SweepOptions(vary=VARY))[0])
    for other, complaint in (
        (asked_for(vary={"num_epochs": "1 | 3"}), "vary: expected"),
        (asked_for(stopping=False), "stopping: expected True, got False"),
        (asked_for(arguments=tiny(num_envs=32).to_data()), "num_envs: expected 16, got 32"),
    ):
        with pytest.raises(RunError, match=f"is another sweep's. {complaint}"):
            sweeps._prepare(tmp_path, other, resume=True)
    assert open_study(tmp_path).user_attrs["asked"]["seeds"] == 2
    assert not sweeps._prepare(tmp_path, asked_for(stopping=False), resume=False).trials


def test_a_folder_in_which_nothing_ran_yet_may_become_another_sweeps(tmp_path: Path) -> None:
    sweeps._prepare(tmp_path, asked_for(), resume=True)
    study = sweeps._prepare(tmp_path, asked_for(arguments=tiny(num_envs=32).to_data()), resume=True)
    assert study.user_attrs["asked"]["arguments"]["num_envs"] == 32
    start_trial(study, plan(tiny(), SweepOptions(vary=VARY))[0])
    with pytest.raises(RunError, match="num_envs: expected 32, got 16"):
        sweeps._prepare(tmp_path, asked_for(), resume=True)


def test_a_study_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "study.log").write_text("no journal\n\n")
    with pytest.raises(RunError, match=r"study\.log cannot be read"):
        sweeps._prepare(tmp_path, asked_for(), resume=True)
    sweeps._prepare(tmp_path, asked_for(), resume=False)


def test_trials_with_other_settings_are_refused(tmp_path: Path) -> None:
    study, planned = open_study(tmp_path), plan(tiny(), SweepOptions(vary=VARY, trials=2))
    start_trial(study, planned[0])
    study.tell(0, 0.5)
    assert [trial.state.name for trial in current(open_study(tmp_path), planned)] == ["COMPLETE", "WAITING"]
    planned[0].params = {**planned[0].params, "layers": 7}
    with pytest.raises(RunError, match=r"trial 001-seed=0 of .* had other settings. layers: expected \d, got 7"):
        current(study, planned)


def test_a_trial_that_failed_is_tried_again(tmp_path: Path) -> None:
    study, planned = open_study(tmp_path), plan(tiny(), SweepOptions(vary=VARY, trials=1))
    start_trial(study, planned[0])
    fail(study, "001-seed=0", "its worker died")
    (failed,) = current(study, planned)
    assert (failed.state.name, failed.user_attrs["error"]) == ("FAIL", "its worker died")
    start_trial(study, failed)
    (again,) = current(study, planned)
    assert (again.state.name, again.params, "error" in again.user_attrs) == ("RUNNING", failed.params, False)
    start_trial(study, again)  # as another driver does when the first one was killed
    assert len(study.trials) == 2


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
        suited = evaluate_in_time(base, space)
        num_envs = 256 if vary.startswith("num_envs") else base.num_envs
        actions = num_envs * base.num_steps * (game.info.num_players if game.info.simultaneous else 1)
        assert suited == dataclasses.replace(base, eval_every=suited.eval_every)
        assert 1 <= suited.eval_every <= base.eval_every
        assert suited.eval_every * actions <= steps // 9 or suited.eval_every == 1
        # As rarely as that allows, or as before.
        assert suited.eval_every == base.eval_every or (suited.eval_every + 1) * actions > steps // 9


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(RunError, match=r"holds no study\.log, but thesis\.tex"):
        sweeps._prepare(tmp_path, asked_for(), resume=False)


# ---------------------------------------------------------------- a trial


def run_trial(
    folder: Path, monkeypatch: pytest.MonkeyPatch, *, token: str = "this disk", **changes: Any
) -> FrozenTrial:
    """Run a trial in this process, and return it as the study has it; `changes` are settings of the run."""
    block_extras(lambda name, value: monkeypatch.setitem(sys.modules, name, value))
    base = tiny(**{"total_steps": 200, "eval_every": 1, **changes})
    study, (planned,) = open_study(folder), plan(base, SweepOptions(vary=("num_epochs=2..3",), trials=1))
    study.set_user_attr("token", "this disk")
    start_trial(study, current(study, [planned])[0])
    TrialWork(folder, token, "random", True, base.to_data(), "").start()(planned.user_attrs["name"])
    return current(study, [planned])[0]


def evaluations(out: Path, table: str = "progress.csv") -> list[dict[str, float]]:
    """The table of a run."""
    with (out / table).open(newline="", encoding="utf-8") as file:
        return [{name: float(value) for name, value in line.items()} for line in csv.DictReader(file)]


def test_a_trial_reports_its_evaluations_and_then_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trial = run_trial(tmp_path, monkeypatch)
    lines = evaluations(tmp_path / "trials" / "001-seed=0")
    assert trial.intermediate_values == {int(line["steps"]): line["random"] for line in lines}
    assert len(lines) >= 3
    assert (trial.state.name, trial.value) == ("COMPLETE", lines[-1]["random"])
    assert trial.user_attrs["seconds"] == pytest.approx(
        evaluations(tmp_path / "trials" / "001-seed=0", "timing.csv")[-1]["seconds"], abs=1e-3
    )
    with (tmp_path / "study.log").open() as file:
        events = len(file.readlines())
    TrialWork(tmp_path, "this disk", "random", True, tiny().to_data(), "").start()("001-seed=0")
    with (tmp_path / "study.log").open() as file:
        assert len(file.readlines()) <= events + 1  # nothing is left to do


def test_a_trial_that_failed_before_reports_all_evaluations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run_trial(tmp_path, monkeypatch)
    study = open_study(tmp_path)
    start_trial(study, first)  # a further trial, though its run is finished
    TrialWork(tmp_path, "this disk", "random", True, tiny(total_steps=200, eval_every=1).to_data(), "").start()(
        "001-seed=0"
    )
    assert [trial.intermediate_values for trial in study.trials] == [first.intermediate_values] * 2


def test_a_trial_waits_for_a_worker_that_is_still_at_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "trials" / "001-seed=0"
    folder.mkdir(parents=True)
    at_work = opened(folder, ())
    at_work.__enter__()
    waited: list[float] = []

    def sleep(seconds: float) -> None:
        waited.append(seconds)
        if len(waited) == 2:
            at_work.__exit__(None, None, None)

    monkeypatch.setattr("cellgames.training.sweeps.sweep_work.time.sleep", sleep)
    assert run_trial(tmp_path, monkeypatch).state.name == "COMPLETE"
    assert len(waited) == 2


def test_a_trial_that_cannot_run_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = run_trial(tmp_path, monkeypatch, opponents="nobody")
    assert failed.state.name == "FAIL"
    assert "nobody" in failed.user_attrs["error"]
    for folder in (tmp_path, tmp_path / "elsewhere"):
        with pytest.raises(cluster.ClusterError, match="does not see"):
            TrialWork(folder, "another disk", "random", True, tiny().to_data(), "").start()


def test_arguments_survive_json() -> None:
    base = tiny(eval_opponents=("random", "greedy"))
    assert arguments_of(json.loads(json.dumps(base.to_data()))) == base


# ---------------------------------------------------------------- what is said of them


def made(*ends: tuple[str, int, float], seeds: int = 1) -> list[FrozenTrial]:
    """Trials with these states, steps and scores."""
    planned = plan(tiny(), SweepOptions(vary=VARY, trials=len(ends) // seeds, seeds=seeds))
    trials = []
    for trial, (state, steps, score) in zip(planned, ends, strict=True):
        failed = {"error": "too | bad"} if state == "FAIL" else {}
        trials.append(
            optuna.create_trial(
                state=optuna.trial.TrialState[state],
                value=None if failed else score,
                params=trial.params,
                distributions=trial.distributions,
                user_attrs={**trial.user_attrs, "seconds": 1.5, **failed},
                intermediate_values={
                    steps * part // 4: 0.5 + (score - 0.5) * part / 4 for part in range(5 * (steps > 0))
                },
            )
        )
    return trials


def test_trials_are_ranked() -> None:
    ends = [("PRUNED", 100, 0.9), ("COMPLETE", 480, 0.4), ("FAIL", 0, math.nan), ("COMPLETE", 480, 0.6)]
    trials = sorted(made(*ends, ("PRUNED", 300, 0.2)), key=rank)
    assert [(trial.state.name, trial.last_step) for trial in trials] == [
        *(("COMPLETE", 480), ("COMPLETE", 480), ("PRUNED", 300), ("PRUNED", 100), ("FAIL", None))
    ]
    best = best_of(trials)
    assert best is not None
    assert best.value == 0.6
    assert best_of(trials[2:]) is None


def test_of_several_seeds_the_mean_decides() -> None:
    ends = [("COMPLETE", 480, 1.0), ("COMPLETE", 480, 0.2), ("COMPLETE", 480, 0.7), ("COMPLETE", 480, 0.8)]
    best = best_of(sorted(made(*ends, ("COMPLETE", 480, 0.99), ("PRUNED", 100, 0.3), seeds=2), key=rank))
    assert best is not None
    assert (best.user_attrs["name"], best.value) == ("002-seed=1", 0.8)


def test_reports_tell_all(tmp_path: Path) -> None:
    ends = [("COMPLETE", 480, 0.75), ("COMPLETE", 480, 0.3), ("PRUNED", 160, 0.2), ("FAIL", 0, math.nan)]
    trials = sorted(made(*ends), key=rank)
    (tmp_path / "trials" / "001-seed=0").mkdir(parents=True)
    (tmp_path / "trials" / "001-seed=0" / "agent.safetensors").write_bytes(b"weights")
    again = {"trial": "001-seed=0", "target": "random", "games": 16, "score": 0.75, "low": 0.5, "high": 0.9}
    found = Sweep(tmp_path, tiny(), "random", trials, best_of(trials), again)
    write_report(tmp_path, report(found, {"seeds": 1, "stopping": True}), pytest.fail)
    with (tmp_path / "trials.csv").open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert [line["state"] for line in lines] == ["finished", "finished", "stopped", "failed"]
    assert [line["score"] for line in lines] == ["0.75", "0.3", "0.2", ""]
    with (tmp_path / "timing.csv").open(encoding="utf-8") as file:
        assert {line["trial"]: line["seconds"] for line in csv.DictReader(file)} == {
            line["trial"]: "1.5" for line in lines
        }
    interval = Tally(games=4, wins=3, losses=1, draws=0, distinct=4).interval()
    assert [float(lines[0][f"score_{end}"]) for end in ("low", "high")] == pytest.approx(interval, abs=1e-4)
    assert lines[3]["error"] == "too | bad"
    page = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "too \\| bad" in page
    assert "1 of 4 trials were stopped early" in page
    assert all(f"| {trial.user_attrs['name']} |" in page for trial in trials)
    assert "In 16 new games it was ahead in 75.0 %" in page
    for name in ("settings.png", "curves.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
        assert f"]({name})" in page
    assert (tmp_path / "best.safetensors").read_bytes() == b"weights"
    assert json.loads((tmp_path / "best.json").read_text()) == again


def test_the_command_of_a_trial_asks_for_its_arguments() -> None:
    game = cellgames.make("torus-v0", size=3)
    vary = ("sample=yes,no", "opponents=self|self=0.5,pool=0.5", "learning_rate=1e-4..1e-1")
    base = PPOArguments.fitted(game, total_steps=300, eval_opponents=("random",), threads=1, device="cpu")
    for trial in plan(base, SweepOptions(vary=vary, trials=4)):
        arguments = trial_arguments(base, trial)
        words = shlex.split(train_command(arguments))
        assert words[0] == "cellgames"
        assert arguments_given(parser().parse_args(words[1:])) == arguments


def test_progress_is_a_line() -> None:
    ends = [("COMPLETE", 480, 0.5), ("RUNNING", 480, 0.625), ("PRUNED", 100, 0.25), ("RUNNING", 0, 0), ("FAIL", 0, 0)]
    trials = [*made(*ends), *plan(tiny(), SweepOptions(vary=VARY, trials=7))]
    line = "3 of 12 trials, 1 stopped early, 1 failed, 2 running, best so far 62 % (002-seed=0)"
    assert _progress_text(trials) == line
    assert _progress_text(trials[5:]) == "0 of 7 trials"


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"seeds": 0}, "seeds must be a whole number of at least 1, got 0"),
        ({"trials": 0}, "trials must be a whole number from 1 to 10000, got 0"),
        ({"ray_workers": 0}, "ray_workers must be a whole number of at least 1, got 0"),
        ({"ray": "10.0.0.5"}, "ray must be local, auto or HOST:PORT, got '10.0.0.5'"),
        ({"gpus": -1}, "gpus must be a number of at least 0, got -1"),
        ({"gpus": math.nan}, "gpus must be a number of at least 0, got nan"),
        ({"gpus": 1.5}, "gpus must be a share from 0 to 1, or a whole number, got 1.5"),
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
        sweep(tiny(**common), tmp_path / "out", SweepOptions(vary=("num_epochs=1,2",), **others))
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
        (("--vary", "num_epochs=1,2", "--grid", "--trials", "3"), "the number of trials must not be given"),
        ((), "nothing to vary"),
        (("--algo", "alphazero", "--vary", "ent_coef=0,1"), "unknown setting 'ent_coef'; alphazero has"),
    ):
        assert command(*words) == 2
        assert complaint in capsys.readouterr().err


def test_a_sweep_without_a_finished_trial_ends_with_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[tuple[Any, ...]] = []

    def failed(base: PPOArguments, out: Path, options: SweepOptions, **others: Any) -> Sweep:
        asked.append((base.eval_every, str(out), options.stopping))
        return Sweep(tmp_path, base, "random", made(("FAIL", 0, math.nan)))

    monkeypatch.setattr("cellgames.cli.commands.sweep_command.load_ray", lambda: None)
    monkeypatch.setattr(sweeps, "sweep", failed)
    assert command("--vary", "num_epochs=1,2", "layers=1..3", "--num-envs", "8", "--num-steps", "4") == 1
    reported = capsys.readouterr().out
    assert "001-seed=0" in reported
    assert "failed: too | bad" in reported
    assert "Best" not in reported
    command("--vary", "num_epochs=1,2", "--no-stopping", "--eval-every", "7")
    out = str(Path("results") / "sweep" / "torus-v0-size=2-ppo-num_epochs-layers-seed=0")
    assert asked == [(1, out, True), (7, out.replace("-layers", ""), False)]
