"""Output that fits a terminal and is coloured there; a pipe gets plain text, whole lines and no colours."""

from __future__ import annotations

import os
import re
import select
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from command import Command
from processes import environment, python
from recorded_games import write_runs

import cellgames
from cellgames.cli.main import parser
from cellgames.utils.report.model import Table, plain_table

CODE = re.compile(r"\x1b\[[0-9;]*m")


def output(words: Sequence[str], *, columns: int = 80, typed: str = "", **variables: str) -> str:
    """Return what a command, or a program after -c, shows at a terminal of this width."""
    if sys.platform == "win32":
        pytest.skip("Windows has no pseudo terminals of this kind")
    import pty

    there = environment(TERM="xterm-256color", COLUMNS=str(columns), INPUTRC=os.devnull)
    there = {name: value for name, value in there.items() if name not in ("NO_COLOR", "FORCE_COLOR")} | variables
    ours, theirs = pty.openpty()
    command = [sys.executable, *([] if words[:1] == ["-c"] else ["-m", "cellgames"]), *words]
    process = subprocess.Popen(command, env=there, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    os.write(ours, typed.encode())
    shown = b""
    while select.select([ours], [], [], 60)[0]:
        try:
            read = os.read(ours, 4096)
        except OSError:  # the process has closed its end
            break
        if not read:
            break
        shown += read
    os.close(ours)
    assert process.wait(60) == 0, shown
    return shown.decode().replace("\r\n", "\n")


def test_without_arguments_all_commands_stand_by_purpose(command: Command) -> None:
    shown = command("")
    assert command("--help") == shown
    (commands,) = (action.choices for action in parser()._actions if isinstance(action.choices, dict))
    listed = re.findall(r"^  ([a-z-]+)  +[A-Z]", shown, re.MULTILINE)
    assert sorted(listed) == sorted(commands)
    groups = [block.split("\n") for block in shown.split("\n\n")[2:-1]]
    assert len(groups) >= 5
    for title, *lines in groups:
        words = re.findall(r"^  Example: .*?cellgames (.*)$", "\n".join(lines), re.MULTILINE)
        assert len(words) == 1, title
        typed = shlex.split(words[0])
        parser().parse_args(typed)
        assert any(line.split()[0] == typed[0] for line in lines), title


def test_no_colour_where_it_is_not_wanted_or_rich_is_missing() -> None:
    plain = CODE.sub("", output([]))
    assert output([], NO_COLOR="1") == plain
    program = (
        "import sys; sys.modules['rich'] = sys.modules['rich.text'] = None\n"
        "from cellgames.cli.main import main; main([])"
    )
    assert output(["-c", program]) == plain


def test_columns_that_do_not_fit_stand_in_blocks() -> None:
    names = [f"agent-{number}" for number in range(6)]
    rows: list[list[str | int]] = [
        [number, name, *(f"{number}{other}.0" for other in range(6))] for number, name in enumerate(names, 1)
    ]
    table = Table("", ("rank", "agent", *names), rows)
    whole = plain_table(table)
    assert plain_table(table, 200) == whole
    blocks = [block.split("\n") for block in plain_table(table, 35).split("\n\n")]
    assert len(blocks) == 3
    assert max(len(line) for block in blocks for line in block) <= 35
    assert all(len(block) == 7 and block[1].startswith("   1  agent-0") for block in blocks)
    joined = [" ".join([first, *(line[15:] for line in others)]) for first, *others in zip(*blocks, strict=True)]
    assert [line.split() for line in joined] == [line.split() for line in whole.split("\n")]


def test_long_work_says_that_it_goes_on_and_short_work_nothing() -> None:
    program = (
        "import time\n"
        "from cellgames.utils.progress import waiting\n"
        "with waiting('Searching', after_s={after}): time.sleep(0.5)\n"
        "print('done')"
    )
    shown = output(["-c", program.format(after=0.1)])
    assert re.search(r"\rSearching \.\.\. \d+ s \(Ctrl-C stops\).*\r +\rdone\n$", shown, re.DOTALL)
    assert output(["-c", program.format(after=9)]) == "done\n"
    piped = python("-c", program.format(after=0.1))
    assert (piped.stdout, piped.stderr) == ("done\n", "")


def test_an_export_that_is_stopped_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    def stopped(*arguments: object) -> None:
        raise KeyboardInterrupt

    write_runs(tmp_path, {"runs": cellgames.make("torus-v0", size=2)})
    monkeypatch.setattr("cellgames.arena.formats.sgf_files._game_to_sgf", stopped)
    words = f"export '{tmp_path / 'runs'}' --format sgf --out '{tmp_path / 'games.sgf'}'"
    assert command.both(words, code=130) == ("", "\nStopped.\n")
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]


def test_the_board_of_the_cup_shows_every_cell() -> None:
    """In half blocks where there is room, else in braille."""
    program = (
        "import os\nfrom cellgames.cli.main import main\nfor columns in (80, 40):\n"
        "    os.environ['COLUMNS'] = str(columns); main(['play', 'toroidal-cup-small-v0']); print('=====')"
    )
    wide, narrow, _ = output(["-c", program], typed=2 * "r2c2/0\nquit\n").split("=====")
    for shown, high in ((wide, 2), (narrow, 4)):
        plain = CODE.sub("", shown)
        assert "Team 1 (you) plays" in plain
        rows = [line[4:] for line in plain.split("\n") if re.match(r" *\d+ [ \u2580\u2584\u2800-\u28ff]*$", line)]
        assert len(rows) == 2 * 24 // high, "two boards, before and after the first shapes"
        signs = "".join(rows[len(rows) // 2 :])
        dots = sum((ord(sign) - 0x2800).bit_count() if sign >= "\u2800" else sign != " " for sign in signs)
        live = sum(map(int, re.findall(r"^. Team \d: (\d+) cells", plain, re.MULTILINE)[2:]))
        assert live - len(re.findall(r"\x1b\[[0-9;]*48;", shown)) == dots > 5
