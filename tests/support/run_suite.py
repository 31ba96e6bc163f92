"""What holds for runs of every kind: tests of the cases of a module (`class TestRuns(RunSuite)`)."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import pytest
import torch
from arena_runs import EXTRAS, PLOTS, block
from processes import KILL

from cellgames.arena.records.record_lines import RECORDS
from cellgames.runs.run_folder import ANSWERS, LOGS, TENSORBOARD, TIMING, RunError, exclusive

NOT_COMPARED = (TIMING, TENSORBOARD, LOGS, ANSWERS)
"""Names of the files and folders that hold times, dates or names of machines. All others of equal runs are equal."""


@dataclass(frozen=True)
class Case:
    """A kind of run.

    Attributes:
        run: runs it in a folder to the end; it takes options.
        settings: name of the file with its settings.
        fixed: a setting that cannot change; "" for a run that is repeated from its beginning.
        other: options with another value of it.
        small: options of a smaller run, which grows into the whole one; none if it ends otherwise then.
        grows: the setting that is smaller in it.
        lines: name of its file of games.
        reads: True if a run that goes on reads the games again.
    """

    run: Callable[..., Any]
    settings: str
    fixed: str = "seed"
    other: Mapping[str, Any] = field(default_factory=lambda: {"seed": 1})
    small: Mapping[str, Any] = field(default_factory=dict)
    grows: str = ""
    lines: str = RECORDS
    reads: bool = True


def files(folder: Path) -> dict[str, bytes]:
    """Return the content of all files that equal runs have in common, by their relative paths."""
    found = {path.relative_to(folder): path for path in sorted(folder.rglob("*")) if path.is_file()}
    return {name.as_posix(): found[name].read_bytes() for name in found if not {*name.parts} & {*NOT_COMPARED}}


def different_files(one: Path, other: Path) -> list[str]:
    """Return the relative paths of files in which two runs differ."""
    first, second = files(one), files(other)
    return sorted(name for name in first.keys() | second.keys() if first.get(name) != second.get(name))


def play_all(cases: Mapping[str, Case], root: Path, points: int) -> Path:
    """Run every case to its end, then again in forks that are killed, and in two at once; return `root`.

    Forks need not import torch, which takes longer than a run.
    """
    calls, dies = 0, 0

    def count(descriptor: int) -> None:
        """Count the writes to the disk, and end the process at one of them."""
        nonlocal calls
        calls += 1
        if calls == dies:
            os.kill(os.getpid(), KILL)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", count)
        for name, case in cases.items():
            calls = 0
            case.run(root / name / "whole")
            total, calls = calls, 0
            parts = range(points) if points > 2 else (1, 2)  # two: on the way; more: also at both ends
            for point in sorted({1 + (total - 1) * part // max(3, points - 1) for part in parts}):
                dies = point
                assert _exit_code(_start(case, root / name / f"killed {point}")) == -KILL, (name, point, total)
            dies = 0
    name, case = next(iter(cases.items()))  # all take the lock that `test_a_folder_in_use_is_refused` tries with each
    codes = sorted(map(_exit_code, [_start(case, root / name / "both") for _ in range(2)]))
    assert codes in ([0, 0], [0, _REFUSED]), (name, codes)
    return root


_REFUSED = 3  # exit code of a process whose run was refused


def _start(case: Case, folder: Path) -> int:
    assert sys.platform != "win32"
    if child := os.fork():
        return child
    code = 1
    try:
        torch.set_num_threads(1)  # torch's own threads do not survive a fork
        case.run(folder)
        code = 0
    except RunError:
        code = _REFUSED
    finally:
        os._exit(code)


def _exit_code(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.skipif(os.name != "posix", reason="it forks, kills and locks")
class RunSuite:
    """Tests of the cases of a module with `CASES`, which a subclass names."""

    KINDS: ClassVar[str]

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Run each test with the name of each case."""
        if "name" in metafunc.fixturenames:
            metafunc.parametrize("name", [*import_module(self.KINDS).CASES])

    @pytest.fixture(autouse=True, scope="class")
    @classmethod
    def _no_pictures(cls) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            block(patch, *PLOTS, *EXTRAS)
            yield

    @pytest.fixture(scope="class")
    @classmethod
    def done(cls, tmp_path_factory: pytest.TempPathFactory) -> Path:
        """A folder with the runs of all cases: whole, killed twice, and by two processes."""
        return play_all(import_module(cls.KINDS).CASES, tmp_path_factory.mktemp("runs"), 2)

    @pytest.fixture(scope="class")
    @classmethod
    def everywhere(cls, tmp_path_factory: pytest.TempPathFactory) -> Path:
        """The same, killed at many writes."""
        return play_all(import_module(cls.KINDS).CASES, tmp_path_factory.mktemp("everywhere"), 9)

    @pytest.fixture
    def case(self, name: str) -> Case:
        """The case of this name."""
        case: Case = import_module(self.KINDS).CASES[name]
        return case

    @pytest.fixture
    def whole(self, name: str, done: Path) -> Path:
        """The folder of a run that nothing disturbed."""
        return done / name / "whole"

    @pytest.fixture
    def out(self, whole: Path, tmp_path: Path) -> Path:
        """A copy of it."""
        return Path(shutil.copytree(whole, tmp_path / "run"))

    @pytest.fixture
    def another(self, name: str, case: Case, done: Path) -> Path:
        """The folder of a run with other options, which is run once."""
        folder = done / name / "another"
        if not folder.exists():
            case.run(folder, **case.other)
        return folder

    def test_a_killed_run_goes_on_and_ends_with_equal_files(self, name: str, case: Case, done: Path) -> None:
        killed = sorted((done / name).glob("killed *"))
        assert len(killed) > 1
        for number, folder in enumerate(killed):
            lines = folder / case.lines
            if number % 2 and lines.is_file() and lines.stat().st_size > 9:  # also within a line
                os.truncate(lines, lines.stat().st_size - 9)
            case.run(folder)
            assert different_files(done / name / "whole", folder) == [], folder
            assert not [*folder.rglob("*.part")]
        if (done / name / "both").exists():  # two processes at once leave the run of one
            assert different_files(done / name / "whole", done / name / "both") == []

    @pytest.mark.slow
    def test_it_ends_so_wherever_it_is_killed(self, name: str, case: Case, everywhere: Path) -> None:
        self.test_a_killed_run_goes_on_and_ends_with_equal_files(name, case, everywhere)

    def test_a_folder_in_use_is_refused(self, case: Case, out: Path) -> None:
        before, lock = files(out), exclusive(out)
        assert lock is not None
        with pytest.raises(RunError):
            case.run(out)
        os.close(lock)
        assert files(out) == before

    def test_a_finished_run_changes_nothing_but_mends_its_reports(self, case: Case, out: Path, whole: Path) -> None:
        for name in ("report.md", "ratings.csv", "standings.json", "schedule.json", "result.json", "progress.csv"):
            (out / name).unlink(missing_ok=True)
        if (agent := out / "agent.safetensors").exists():
            agent.write_bytes(agent.read_bytes()[:-9])
        (out / ".left.json.12.part").write_text("of a process that was killed")
        (out / "deep").mkdir()
        (out / "deep" / ".left.json.12.part").write_text("another one")
        case.run(out)
        assert files(out) == files(whole)

    def test_a_run_grows_and_does_not_shrink(self, case: Case, tmp_path: Path, whole: Path) -> None:
        if not case.grows:
            pytest.skip("it does not grow")
        case.run(tmp_path / "run", **case.small)
        small = files(tmp_path / "run")
        assert small != files(whole)
        case.run(tmp_path / "run")
        assert files(tmp_path / "run") == files(whole)
        with pytest.raises(RunError) as error:
            case.run(tmp_path / "run", **case.small)
        assert error.value.fields == (case.grows,)
        assert files(tmp_path / "run") == files(whole)

    def test_another_run_is_refused_with_the_field(self, case: Case, out: Path) -> None:
        if not case.fixed:
            pytest.skip("it takes the place of any other")
        before = files(out)
        with pytest.raises(RunError) as error:
            case.run(out, **case.other)
        assert case.fixed in error.value.fields
        assert "\n" not in str(error.value)
        assert files(out) == before

    def test_starting_over_deletes_the_run_and_nothing_else(
        self, case: Case, tmp_path: Path, whole: Path, another: Path
    ) -> None:
        shutil.copytree(another, tmp_path / "run")
        (tmp_path / "run" / "notes.txt").write_text("mine")
        case.run(tmp_path / "run", resume=False)
        assert (tmp_path / "run" / "notes.txt").read_text() == "mine"
        assert different_files(tmp_path / "run", whole) == ["notes.txt"]

    def test_other_folders_and_files_are_left_alone(self, case: Case, tmp_path: Path) -> None:
        (tmp_path / "thesis.tex").write_text("years of work")
        (tmp_path / ".draft.part").write_text("more of it")
        for resume in (True, False):
            for place in (tmp_path, tmp_path / "thesis.tex", tmp_path / "thesis.tex" / "run"):
                with pytest.raises(RunError):
                    case.run(place, resume=resume)
        assert sorted(path.name for path in tmp_path.iterdir()) == [".draft.part", "thesis.tex"]

    @pytest.mark.parametrize("text", ["", "[]", "{", "[" * 100_000])
    def test_damaged_settings_are_refused_by_name(self, case: Case, out: Path, text: str) -> None:
        if not case.fixed:
            pytest.skip("it takes the place of any other")
        (out / case.settings).write_text(text)
        before = files(out)
        with pytest.raises(RunError) as error:
            case.run(out)
        assert case.settings in str(error.value)
        assert files(out) == before

    def test_changed_lines_are_played_again(self, case: Case, out: Path, whole: Path) -> None:
        path = out / case.lines
        if not path.is_file() or not case.fixed:
            pytest.skip("it keeps no games, or plays all of them again")
        lines = path.read_bytes().splitlines(keepends=True)
        assert all(b'"checksum":"' in line for line in lines)
        for changed in ([lines[0].replace(b'"', b"'", 1), *lines[1:-1], lines[-1][:-20]], []):  # damaged and torn, lost
            path.write_bytes(b"".join(changed))
            case.run(out)
            assert files(out) == files(whole)

    def test_games_of_another_run_are_refused(self, case: Case, out: Path, another: Path) -> None:
        path = out / case.lines
        if not path.is_file() or not case.reads:
            pytest.skip("it keeps no games that it reads again")
        path.write_bytes((another / case.lines).read_bytes())
        with pytest.raises(RunError) as error:
            case.run(out)
        assert case.lines in str(error.value)
