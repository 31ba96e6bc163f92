"""The command line as tests type it; `conftest` has it as the fixture `command`."""

from __future__ import annotations

import io
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from cellgames.cli.main import main


@dataclass(frozen=True)
class Command:
    """Runs commands: `command("play torus-v0", "a1", "quit")` types two lines, and gives what they print."""

    patch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]

    def __call__(self, words: str | Sequence[object], *typed: str, code: int = 0) -> str:
        """The output of a command that ends with this code."""
        return self.both(words, *typed, code=code)[0]

    def refused(self, words: str | Sequence[object], code: int = 2) -> str:
        """The one line on standard error of a command that ends with this code and prints nothing else."""
        out, err = self.both(words, code=code)
        assert (out, err.count("\n")) == ("", 1)
        assert err.startswith("cellgames")
        return err

    def both(self, words: str | Sequence[object], *typed: str, code: int = 0) -> tuple[str, str]:
        """What a command prints, and what it says on standard error."""
        self.patch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in typed)))
        self.capsys.readouterr()
        try:
            ended = main(shlex.split(words) if isinstance(words, str) else list(map(str, words)))
        except SystemExit as left:
            ended = int(left.code or 0)
        out, err = self.capsys.readouterr()
        assert ended == code, (words, out, err)
        return out, err
