"""`cellgames replay`: records of moves, and games of the Cup's own seasons, played again."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cellgames.cli.console import print_columns, print_next, read_line, warn
from cellgames.cli.shared_options import add_agents, add_command, add_out, add_record, chosen_games
from cellgames.utils.errors import InputError, check_place
from cellgames.utils.progress import progress, waiting

if TYPE_CHECKING:
    from cellgames.arena.records.record_lines import Record
    from cellgames.arena.season.cup import CupRecord

_TEXT = (
    "Play recorded games again. The command checks every move and the result; the exit code is 1 if one\n"
    "differs. It takes the folder of a round robin, of free-for-all games, an evaluation or a season, or a\n"
    "file of records. --agents, --seed and --record choose games, --list shows them, --step goes through one."
)
_EXAMPLES = (
    "results/torus5",
    "results/torus5 --agents greedy random --list",
    "results/torus5 --record 17 --step",
    "results/torus5 --record 17 --out game.gif",
)
_PICTURES = (".gif", ".mp4", ".png", ".html")
_AT_ONCE = 1024  # games that are checked between two lines of progress
_STEP_HELP = "Enter: next, b: back, a number: go there, e: to the end, q: leave"


def add(commands: Any) -> None:
    """Add the command."""
    command = add_command(commands, "replay", "PATH ", run, _TEXT, _EXAMPLES)
    command.add_argument("path", metavar="PATH", type=Path, help="the folder of a run, or a file of records")
    add_record(command, "only this game, from 1")
    add_agents(command, "only games of all these agents, or of these teams", required=False, play=False)
    command.add_argument("--seed", metavar="N", type=int, help="only games with this seed")
    command.add_argument("--list", action="store_true", help="list the games")
    command.add_argument("--show", action="store_true", help="print every position of one game; of Life, start and end")
    command.add_argument("--step", action="store_true", help="go through one game, position by position")
    text = "save one game: .gif, .mp4 (a video), .png (its last position), .html (plays in a browser)"
    add_out(command, text, "FILE")


def run(arguments: argparse.Namespace) -> int:
    """Play the games of a file again; return the exit code."""
    from cellgames.arena.records import replays
    from cellgames.arena.season import cup

    one = [f"--{name}" for name in ("show", "step", "out") if getattr(arguments, name) not in (None, False)]
    if arguments.list and one:
        raise InputError(one[0], cause="--list only lists the games; leave one of the two out")
    if arguments.out is not None:
        _check_out(arguments.out)
    records, torn = cup.read_games(arguments.path)
    if torn:
        warn(torn)
    if not records:
        raise InputError(arguments.path, "records", "none")
    arranged = isinstance(records[0], cup.CupRecord)
    numbers = chosen_games(arguments, records, arguments.seed)
    if arguments.list:
        print_columns([(str(number), _line(records[number - 1])) for number in numbers])
        return 0
    if one and len(numbers) > 1:
        cause = f"choose it with --record 1 to {len(records)} (--list shows them)"
        raise InputError(one[0], "one game", len(numbers), cause)
    failed = _failed(cup.verify if arranged else replays.verify, records, numbers)
    if failed:
        number, reason = failed[0]
        more = f" ({len(failed) - 1} more of {len(numbers)} games fail)" if len(failed) > 1 else ""
        warn(f"{arguments.path}, game {number}: {reason}{more}")
        return 1
    record: Any = records[numbers[0] - 1]
    if arguments.show or arguments.step:
        texts, ending = (cup.texts(record), []) if arranged else (_texts(record), _ending(record))
        if arguments.show:
            print(*texts, *ending, sep="\n\n", end="\n\n")
        if arguments.step:
            _step(texts, ending)
    if arguments.out is not None:
        _save(record, arguments.out)
        print(f"Saved {arguments.out}")
    games = "The game was" if len(numbers) == 1 else f"All {len(numbers)} games were"
    compared = "scores, generations and winners" if arranged else "moves and results"
    print(f"{games} played again with the recorded {compared}.")
    if not one and len(numbers) > 1 and sys.stdout.isatty():
        print_next((f"replay {shlex.quote(str(arguments.path))} --record {numbers[0]} --step", ""))
    return 0


def _check_out(out: Path) -> None:
    """Refuse a file that could not be written before games are played."""
    suffix = out.suffix.lower()
    if suffix not in _PICTURES:
        raise InputError("--out", f"a file that ends in {', '.join(_PICTURES)}", out)
    check_place("--out", out)
    if suffix in (".gif", ".mp4"):
        from cellgames.utils.animations import check_animation

        check_animation(out)
    elif suffix == ".png":
        from cellgames.envs.core.raster import require_pillow

        require_pillow()


def _failed(
    verify: Callable[[Any], Iterator[tuple[int, ValueError]]], records: Sequence[Any], numbers: Sequence[int]
) -> list[tuple[int, str]]:
    """Return the number and the error of each game that does not play as it is recorded."""
    failed = []
    with progress(len(numbers), label="replay", after_s=2.0) as advance:
        for start in range(0, len(numbers), _AT_ONCE):
            part = numbers[start : start + _AT_ONCE]
            found = verify([records[number - 1] for number in part])
            failed += [(part[place], str(error)) for place, error in found]
            advance(len(part))
    return sorted(failed)


def _save(record: Any, out: Path) -> None:
    from cellgames.arena.records import replays
    from cellgames.arena.season import cup

    arranged, suffix = isinstance(record, cup.CupRecord), out.suffix.lower()
    if suffix == ".png":
        from cellgames.envs.core.raster import to_png
        from cellgames.utils.files import write_atomic

        with waiting("Drawing the position"):
            last = cup.end_of(record).draw() if arranged else replays.game_of(record).draw(replays.replay(record)[-1])
            write_atomic(out, to_png(last))
    elif suffix == ".html":
        from cellgames.web.frames import export_html

        with waiting("Making the page"):
            export_html(record, out)
    elif arranged:
        with waiting("Playing again"):
            steps = cup.film(record)
        replays.save_film(steps, out, frame_ms=60, progress=True)
    else:
        replays.animate(record, out, progress=True)


def _step(texts: Sequence[str], ending: Sequence[str]) -> None:
    """Go through the positions of a game as a person asks for them; the end of the input leaves."""
    here, last = 0, len(texts) - 1
    print(f"{last} steps. {_STEP_HELP}\n")
    while True:
        print(texts[here])
        if here == last:
            print(*ending, sep="\n", end="\n" if ending else "")
        try:
            word = read_line(f"\n{here} of {last}> ").strip().lower()
        except EOFError:
            print()
            return
        if word in ("q", "quit", "exit"):
            return
        if word in ("", "n", "next"):
            if here == last:
                return
            here += 1
        elif word in ("b", "back"):
            here = max(0, here - 1)
        elif word in ("e", "end"):
            here = last
        elif word.isdecimal() and int(word) <= last:
            here = int(word)
        else:
            print(f"{word!r} is no step from 0 to {last}. {_STEP_HELP}")


def _line(record: Record | CupRecord) -> str:
    """Return the line of a game in a list."""
    from cellgames.arena.season.cup import CupRecord

    about = f"{' - '.join(record.agents)}, seed {record.seed}"
    if isinstance(record, CupRecord):
        winner = record.agents[record.winner - 1] if record.winner else "nobody"
        scores = "-".join(map(str, record.scores))
        return f"{about}, {record.fixture.occasion}, {record.pattern}: {scores}, {winner} wins"
    ends = "forfeited" if record.result.forfeit is not None else "-".join(record.result.outcome)
    return f"{about}, {ends}, {len(record.moves)} moves"


def _texts(record: Record) -> list[str]:
    from cellgames.agents.play_loop import move_in_words
    from cellgames.arena.records import replays

    game = replays.game_of(record)
    states = replays.replay(record)
    texts = [game.text(states[0])]
    for number, (before, after, move) in enumerate(zip(states, states[1:], record.moves, strict=False), 1):
        seat = int(before.current_player)
        who = "" if game.info.simultaneous else f"{game.info.players[seat]} ({record.agents[seat]}) "
        forced = " (opening)" if number <= record.opening else ""
        texts.append(f"{number}. {who}{', '.join(move_in_words(game, before, move))}{forced}\n\n{game.text(after)}")
    return texts


def _ending(record: Record) -> list[str]:
    from cellgames.arena.records.replays import game_of
    from cellgames.cli.terminal import VERBS

    players = game_of(record).info.players
    ends = zip(players, record.agents, record.result.outcome, strict=True)
    lines = ["Result: " + ", ".join(f"{player} ({agent}) {VERBS[outcome]}" for player, agent, outcome in ends)]
    if (forfeit := record.result.forfeit) is not None:
        seats = " and ".join(f"{players[seat]} ({record.agents[seat]})" for seat in forfeit.seats)
        lines.append(f"Forfeited by {seats}: {forfeit.reason}")
    return lines
