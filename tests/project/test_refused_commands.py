"""Commands that are refused: exit code 2, one line that says why, no traceback, and no file is written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from command import Command
from store_games import game

from cellgames.arena.records.store import Store
from cellgames.cli.main import main

REFUSED: dict[str, tuple[tuple[str, str], ...]] = {
    "": (
        ("lst", "there is no command 'lst'; did you mean list?"),
        ("tournament", "there is no command 'tournament'; the commands are list, rules, play"),
        ("play", "the following arguments are required: GAME"),
        ("train tours-v0", "got 'tours-v0'; did you mean 'torus-v0'?"),
        ("free-for-all torus-v0 --agents random greedy --games 0", "games: expected a whole number"),
    ),
    "play torus-v0": (
        ("--agents nowhere:Bot", "there is no module 'nowhere'"),
        ("--param height=3", "got 'height'"),
        ("--param size", "--param: expected NAME=VALUE, such as size=5"),
        ("--param size=3 wraps=1", "unrecognized arguments: wraps=1; did you mean --param wraps=1?"),
        ("--size 3 --param size=4", "--param: expected each parameter once"),
        ("--size big", "size: expected a whole number from 2 to 16, got 'big'"),
        ("--seed 9223372036854775808", "expected a seed from -2^63 to 2^63 - 1"),
        ("--as black --watch", "--as: it gives you a seat and --watch gives all seats to agents"),
        ("--position abc", "expected a position of size 8"),
        ("--out no/such/folder/file", "no/such/folder/file: No such file or directory"),
    ),
    "round-robin": (
        ("torus-v0 --agents random", "expected at least two agents, got random"),
        ("torus-v0 --agents random random", "different names, got more than one random"),
        ("torus-v0 --agents random greedy --games 7", "games: expected even"),
        ("torus-v0 --agents random greedy --anchor x", "anchor: expected one of the agents"),
        ("torus-v0 --agents random greedy --out foreign", "expected an empty folder, or run.json in it"),
        ("torus-v0 --agents random greedy --out foreign/file", "expected a folder, got the file"),
    ),
    "season torus-v0": (
        ("", "torus-v0: --agents: expected some, or a file of teams with agents"),
        ("--agents nobody", "got 'nobody'"),
        ("--agents random --teams 7", "teams: expected 8 or more"),
        ("--agents random --teams 99999", "expected 0 to 1760 teams to make up names for, got 99999"),
        ("--agents random --teams no.csv", "no.csv: No such file or directory"),
        ("--agents random --teams twice.csv", "different names, got more than one Owls"),
        ("--agents random --teams columns.csv", "columns.csv: column: expected one of"),
        ("--agents random --league-sizes 3 17", "expected 4 teams or more, for the playoffs"),
        ("--agents random --league-sizes 3 5", "that add up to 20 teams, got 3 5"),
        ("--agents random --days 48", "days: expected an odd number from 1, got 48"),
        ("--agents random --within 50", "within: expected a share from 0 to 1, got 50.0"),
        ("--agents random --chunk 0", "chunk: expected a whole number of at least 1, got 0"),
        ("--agents random --opening-plies -1", "opening_plies: expected a whole number of at least 0"),
        ("--agents random --patterns randys", "--patterns: it is for teams without agents"),
    ),
    "season grid-adaptation-v0 --agents random": (
        ("--teams 8", "game: expected two players, got 8; cellgames free-for-all ranks agents"),
    ),
    "season toroidal-cup-v0": (("--param teams=4", "--param: expected one of max_generations, survivors, for teams"),),
    "train torus-v0": (
        ("--random-plies 2 --algo maskable-ppo", "--random-plies: it is not an option of maskable-ppo"),
        ("--opponents nobody", "got 'nobody'"),
        ("--eval-opponents nobody", "got 'nobody'"),
        ("--device abacus", "device: expected auto, cpu, cuda or cuda:N, got 'abacus'"),
        ("--device cuda:99", "got 'cuda:99'"),
        ("--channels 1025", "got 1025"),
        ("--start-from nowhere.safetensors", "nowhere.safetensors: expected"),
        ("--out foreign", "expected an empty folder, or arguments.json in it"),
    ),
    "evaluate": (
        ("--agents greedy", "GAME: expected a game, unless AGENT is a file of weights"),
        ("--agents foreign", "agent.safetensors: expected a file of weights, got none"),
        ("torus-v0 --agents greedy greedy", "--agents: greedy cannot be measured against itself"),
        ("torus-v0 --agents greedy --games 7", "games: expected even, since each opening is played in both seats"),
    ),
    "leaderboard --store store.sqlite": (
        ("--param size=5", "--param: it needs GAME, since games have different parameters"),
        ("torus-v0 --param size=4", "store.sqlite: it has no such games"),
        ("--agents greedy", "--agents and --version: expected games between different agents"),
        ("--anchor nobody", "anchor: expected one of"),
        ("--add nowhere", "expected the folder of a run"),
    ),
    "analyse": (
        ("", "GAME: expected a game, or --records with a file of games"),
        ("toroidal-cup-small-v0 --agents mcts:5", "game: expected a game in turns with perfect information"),
        ("torus-v0 --moves x9", "move 1, 'x9': cell: expected a cell from a1 to h8"),
        ("torus-v0 --size 3 --moves a1,c3+,a2,b3+,a3", "expected one where the game goes on, got black has won"),
        ("torus-v0 --ply 3", "--record and --ply: they choose a position of --records FILE,"),
        ("torus-v0 --top 0", "argument --top: expected a whole number from 1, got '0'"),
        ("torus-v0 --out board.gif", "expected a file that ends in .svg, .png, got board.gif"),
        ("torus-v0 --mistakes", "--moves: expected moves to review, or a record with --records"),
        ("torus-v0 --moves a1 --mistakes --top 3", "--top: it is for one position, and --mistakes reviews a game"),
        ("torus-v0 --agents random greedy --top 3", "--top: it is for the analysis of a position"),
        ("torus-v0 --games 4", "--games: it is for an analysis of games"),
        ("--agents random greedy", "GAME: expected a game for --agents to play"),
        ("--store games.jsonl --moves a1", "--moves: it is for the analysis of a position, and --store for"),
        ("cloth-of-gold-v0 --records games.jsonl --record 1", "games.jsonl: GAME: expected torus-v0"),
        ("torus-v0 --records games.jsonl --size 4", "games.jsonl: --records: expected games of torus-v0 with size=4"),
        ("--records foreign/empty", "expected records, got none"),
    ),
    "analyse --records games.jsonl": (
        ("--record 1 --mistakes --ply 99", "--ply: expected 1 to 15, the moves of the game"),
        ("--ply 2", "expected one game, got 3; choose one by its number from 1"),
        ("--record 4", "number: expected 1 to 3, got 4"),
        ("--record 1 --moves a1", "--records: it says where the position comes from"),
        ("--record 1 --size 4", "games.jsonl: size: expected 3, as in the record"),
        ("--games 4", "--games: it says what --agents play, but the games are given"),
        ("--only behaviour", "--only behaviour: expected --agents, since it asks them"),
        ("--only behaviour --agents random", "--only behaviour: expected two or more --agents, which it compares"),
        ("--only flows", "--only: expected parts that are known of Torus(size=3)"),
        ("--out games.jsonl", "expected a folder, got the file"),
        ("--out picture.png", "--out: expected a folder for an analysis of games, not one picture"),
    ),
    "serve": (
        ("--port 70000", "--port: expected 0 to 65535"),
        ("--results none", "--results: expected a folder"),
        ("--results foreign --store none/d/x.sqlite", "--store: expected a file in a folder that is there"),
        ("--results foreign --store twice.csv --port 0", "twice.csv: expected a store of games"),
    ),
    "replay": (
        ("missing.jsonl", "missing.jsonl: No such file or directory"),
        ("foreign", "expected a folder with games.jsonl"),
        ("foreign/file", "file, line 1: expected a JSON object, got 'not a record'"),
        ("games.jsonl --show", "--show: expected one game"),
        ("games.jsonl --step --seed 2 --agents greedy", "--agents: expected some that play: random"),
        ("games.jsonl --record 4", "--record: expected 1 to 3"),
        ("games.jsonl --record 1 --seed 2", "none of the 3 games has all of that"),
        ("games.jsonl --list --out game.gif", "--out: --list only lists the games"),
        ("games.jsonl --out game.avi", "ends in .gif, .mp4, .png, .html, got game.avi"),
        ("games.jsonl --out no/such/game.gif", "--out: expected a file in a folder that is there"),
    ),
}
"""By the first words of the command: the other words, and a part of the message."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with files that the commands name."""
    folder = tmp_path_factory.mktemp("refused")
    (folder / "foreign").mkdir()
    texts = {
        **{"foreign/file": "not a record\n", "foreign/empty": "", "columns.csv": "name,bot\n"},
        "twice.csv": "\n".join(["Owls", "Owls", *(f"t{number}" for number in range(6))]),
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    with Store(folder / "store.sqlite") as store:
        store.add([game(number, ("random", "greedy")) for number in range(6)], source=("file", "somewhere"))
    words = ["play", "torus-v0", "--size", "3", "--watch", "--out", str(folder / "games.jsonl"), "--seed"]
    assert [main([*words, seed]) for seed in "012"] == [0, 0, 0]
    return folder


@pytest.fixture(autouse=True)
def _unchanged(place: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each command is typed in the folder, and leaves it as it is."""

    def files() -> dict[Path, bytes]:
        return {path: b"" if path.is_dir() else path.read_bytes() for path in place.rglob("*")}

    monkeypatch.chdir(place)
    before = files()
    yield
    assert files() == before


@pytest.mark.parametrize(
    ("line", "message"), [(f"{first} {rest}", said) for first, rows in REFUSED.items() for rest, said in rows]
)
def test_errors_are_one_line_without_a_traceback(line: str, message: str, command: Command) -> None:
    assert message in command.refused(line.split())
