"""How tests watch, interrupt and kill runs of the arena: round robins and seasons."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from killing import KILL
from paths import ROOT

from cellgames.arena.records.record_lines import read_records
from cellgames.cli.main import main
from cellgames.utils.files import PathLike
from cellgames.utils.options import Options

if TYPE_CHECKING:  # the processes that are killed need it not
    import pytest

Write = Callable[[PathLike, str | bytes], None]


def split_options(kind: type[Options], given: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return the options among keywords, and the other keywords."""
    names = {option.name for option in kind.options()}
    others = {name: value for name, value in given.items() if name not in names}
    return kind(**{name: given[name] for name in given if name in names}), others


def unsigned(path: Path) -> bytes:
    """Take the checksums off the lines of a file of games, as the first versions wrote it; return the file."""
    path.write_bytes(games := re.sub(rb',"checksum":"[0-9a-f]{16}"}', b"}", path.read_bytes()))
    return games


def content(folder: Path) -> dict[str, bytes]:
    """The files of a folder by name."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def block_plots(patch: pytest.MonkeyPatch) -> None:
    """As if matplotlib were not installed; saves time."""
    patch.setitem(sys.modules, "matplotlib", None)
    patch.setitem(sys.modules, "matplotlib.figure", None)


def lose_patience(patch: pytest.MonkeyPatch, asked: int) -> None:
    """Let `arena_bots.Impatient` press Ctrl-C when it is asked for the `asked`-th time from now on."""
    patch.setattr("arena_bots.Impatient.asked", 0)
    patch.setenv("IMPATIENT", str(asked))


def stop_and_continue(
    words: Sequence[str], out: Path, asked: int, patch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[str, int, str]:
    """Type a command that its impatient agent stops, check how it says to go on, and go on.

    Args:
        words: of the command, without quotes; with `arena_bots:Impatient` among the agents.
        out: the folder, whose name has a space.
        asked: at which of its moves the agent presses Ctrl-C.
        patch: pytest's.
        capsys: pytest's.

    Returns:
        What was said on standard error, how many games were kept, and what the continued run printed.
    """
    lose_patience(patch, asked)
    assert main([*words, "--quiet", "--out", str(out), "--no-resume"]) == 130
    err = capsys.readouterr().err
    assert "Traceback" not in err
    command = err.splitlines()[-1].strip()
    assert f"cellgames {' '.join(words)}" in command
    assert command.endswith(f"--out '{out}'")
    assert "--no-resume" not in command
    kept = len(read_records(out / "games.jsonl").records)
    assert main([*words, "--quiet", "--out", str(out)]) == 0
    return err, kept, capsys.readouterr().out


def killed_at(moments: Iterable[str], script: str, root: Path) -> Path:
    """Run a script, which calls `kill_each` with its arguments, in a process of its own; returns `root`."""
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests" / "support")])
    subprocess.run(
        [sys.executable, "-c", script, str(root), *moments],
        env={**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
        check=True,
    )
    return root


def kill_each(run: Callable[[str, str], object], root: str, *moments: str) -> None:
    """Fork a process for each moment: `run` gets the moment and a folder in `root` named by it, and must be killed."""
    if sys.platform == "win32":
        raise OSError("expected a POSIX system")
    for moment in moments:
        child = os.fork()
        if child == 0:
            run(moment, os.path.join(root, moment))
            os._exit(1)
        assert os.waitpid(child, 0)[1] == KILL, moment


def _die() -> None:
    os.kill(os.getpid(), KILL)


def die_writing(name: str, write: Write) -> Write:
    """`write`, but the process dies when half of the file called `name` is written."""

    def write_or_die(path: PathLike, content: str | bytes) -> None:
        path = Path(path)
        if path.name == name:
            path.with_name(f".{name}.{os.getpid()}.part").write_text("half")
            _die()
        write(path, content)

    return write_or_die
