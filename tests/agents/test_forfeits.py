"""Agents that fail forfeit their games, whatever they do and in whatever way they play, and everything else goes on."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from slow import slow_except
from torch import Tensor

import cellgames
from cellgames.agents import BaseAgent, Played, load, play
from cellgames.agents.programs.program_agent import Engine
from cellgames.agents.selection import AgentError, naming
from cellgames.arena import Forfeit, Record, ReplayError, Result, free_for_all, match, replay, verify
from cellgames.arena.play.match_options import FreeForAllOptions, MatchOptions
from cellgames.arena.stats.ratings import comparisons
from cellgames.arena.stats.tables import forfeits, make_tables
from cellgames.envs.core import Game, seeds

TORUS = cellgames.make("torus-small-v0", size=4)
GRID = cellgames.make("grid-adaptation-small-v0", players=2)
CUP = cellgames.make("toroidal-cup-small-v0", teams=4, max_generations=20)


def first_legal(game: Game, mask: Tensor) -> Tensor:
    """The first legal choice of every component, [L] or [L, K]."""
    parts = [part.int().argmax(1) for part in mask.split(list(game.info.action_nvec), dim=1)]
    return parts[0] if len(parts) == 1 else torch.stack(parts, dim=1)


class Steady(BaseAgent):
    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        self.game = game
        super().start(game, players, env_ids)

    def act(self, observation: Tensor, action_mask: Tensor, env_ids: Tensor, generator: torch.Generator) -> Any:
        return self.answer(first_legal(self.game, action_mask), env_ids)

    def answer(self, actions: Tensor, env_ids: Tensor) -> Any:
        return actions


class Nonsense(Steady):
    """Answers what a function makes of the right actions."""

    def __init__(self, name: str, change: Callable[[Tensor, Tensor], Any]) -> None:
        super().__init__(name)
        self.change = change

    def answer(self, actions: Tensor, env_ids: Tensor) -> Any:
        return self.change(actions, env_ids)


class NoStart(Steady):
    """Cannot begin."""

    def start(self, game: Game, players: Tensor, env_ids: Tensor) -> None:
        raise KeyError("odd")


class Always(Steady):
    """Raises an error whenever it is asked."""

    def act(self, *_: Any) -> Tensor:
        raise ArithmeticError("lost my way\nin <Board at 0x7f0012ab>")


def run(game: Game, agents: list[Any], num_envs: int = 12, **options: Any) -> Played:
    """Every agent sits everywhere in turn."""
    players = game.info.num_players
    seats = torch.tensor([[(env_id + seat) % len(agents) for seat in range(players)] for env_id in range(num_envs)])
    generators = [torch.Generator().manual_seed(index) for index in range(len(agents))]
    return play(game, agents, seats, seeds(0, num_envs), generators, **{"forfeits": True, **options})


def same_env(one: Played, other: Played, env_id: int) -> bool:
    turns = int(one.turns[env_id])
    return bool(
        one.turns[env_id] == other.turns[env_id]
        and torch.equal(one.actions[:turns, env_id], other.actions[:turns, env_id])
        and one.state[env_id].equal(other.state[env_id])
    )


# What a bot does in the game of that number: a step, or what it makes of the right action; the reason, others by way.
DEEDS: dict[str, tuple[str, str, dict[str, str]]] = {
    "raises": ("raise RuntimeError('lost')", "RuntimeError: lost", {"gtp": "it ended with exit code 1"}),
    "illegal": (
        *("action = 77", "illegal action 77: expected a number from 0 to"),
        {"gtp": "expected a move, got '77'"},
    ),
    "nonsense": (
        *("action = {} if WAY == 'gtp' else 0.5", "expected action"),
        {"in process": "must give whole numbers, got torch.float32", "gtp": "expected a move, got '{}'"},
    ),
    "hangs": ("time.sleep(99)", "it did not answer within", {}),
    "exits": ("os._exit(3)", "it ended with exit code 3", {}),
    "floods": ("os.write(1, b'x' * 5_000_000)", "it sent a line of more than 1,048,576 bytes", {}),
    "eats memory": (
        *("hog = b'x' * (3 << 26 if WAY == 'gtp' else 7 << 27); time.sleep(99)", "GiB of memory, and 0."),
        {},
    ),
}
DEED = """
import os, time
def deed(WAY, number, action):
    steps = {steps!r}
    if number < len(steps):
        own = dict(globals(), WAY=WAY, action=action)
        exec(steps[number], own)
        return own["action"]
    return action
"""
BOTS = {
    "isolated": """
import torch
from cellgames.agents import BaseAgent
class Bot(BaseAgent):
    way = "isolated"
    def act(self, observation, action_mask, env_ids, generator):
        taken = ~action_mask  # the opening, the only stone, tells the game
        games = torch.where(taken.sum(1) == 1, taken.int().argmax(1), 99)
        return torch.tensor([deed(self.way, *one) for one in zip(games.tolist(), action_mask.int().argmax(1).tolist())])
""",
    "gtp": """
import sys
for line in sys.stdin:
    word, *rest = line.split()
    answer = ""
    if word == "protocol_version":
        answer = 2
    elif word == "boardsize":
        size = int(rest[0])
    elif word == "clear_board":
        cells, moves = [f"{col}{row + 1}{kind}" for kind in ("", "+") for row in range(size) for col in "abcd"], []
    elif word == "play":
        number = number if moves else cells.index(rest[1])
        moves.append(rest[1])
    elif word == "genmove":
        answer = deed("gtp", number, next(cell for cell in cells if cell not in moves))
        moves.append(answer)
    print(f"= {answer}\\n", flush=True)
""",
}


def bot(way: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a bot that does the deeds, each in the game of its number."""
    path = folder / f"deeds_{way}.py"
    path.write_text(DEED.format(steps=[step for step, _, _ in DEEDS.values()]) + BOTS[way])
    monkeypatch.chdir(folder)
    small = way == "gtp"  # without torch
    agent = load(f"gtp:{shlex.join([sys.executable, str(path)])}" if small else f"isolated:{path.stem}:Bot")
    assert isinstance(agent, Engine)
    agent._limits = replace(agent._limits, move=5.0 if small else 6.0, memory=1 << 27 if small else 3 << 28)
    return agent


def opened(agent: Any, games: int) -> Played:
    """Play games in which the agent moves second, after another opening in each."""
    chances = [torch.Generator().manual_seed(number) for number in (1, 2)]
    opening, seats = torch.arange(games)[:, None], torch.tensor([[0, 1]] * games)
    return play(TORUS, [Steady("first"), agent], seats, seeds(0, games), chances, opening=opening, forfeits=True)


@pytest.mark.skipif(sys.platform != "linux", reason="memory is looked at by /proc")
@pytest.mark.parametrize("way", slow_except(["gtp"], BOTS))
def test_what_a_process_does_wrong_costs_its_game_only(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each game has its deed and its opening; in the last one the bot does nothing wrong."""
    agent = bot(way, tmp_path, monkeypatch)
    played = opened(agent, len(DEEDS) + 1)
    agent.close()
    assert list(played.failures) == list(range(len(DEEDS)))
    assert TORUS.outcome(played.state).ne(0).any(1).tolist() == [False] * len(DEEDS) + [True]
    for (_, reason, others), failure in zip(DEEDS.values(), played.failures.values(), strict=True):
        assert failure.seats == (1,)
        assert failure.turn == 1
        assert others.get(way, reason) in failure.reason


@pytest.mark.parametrize("deed", ["raises", "illegal", "nonsense"])
def test_an_exception_in_this_process_forfeits_the_games_of_the_call(deed: str) -> None:
    """An illegal action is found in its game; what else happens, such as the end of the process, stops the run."""
    own: dict[str, Any] = {}
    step, reason, others = DEEDS[deed]
    exec(DEED.format(steps=[step]) + BOTS["isolated"], own)
    own["Bot"].way = "in process"
    clean, played = opened(Steady("good"), 4), opened(own["Bot"]("bad"), 4)
    assert list(played.failures) == ([0] if deed == "illegal" else [0, 1, 2, 3])
    assert others.get("in process", reason) in played.failures[0].reason
    assert all(same_env(played, clean, env_id) for env_id in range(4) if env_id not in played.failures)


def test_where_nobody_forfeits_the_error_can_name_the_agent() -> None:
    with pytest.raises(AgentError) as caught, naming(Always("bad")):
        run(TORUS, [Always("bad"), Steady("other")], forfeits=False)
    assert caught.value.agent == "bad"
    assert caught.value.reason == "ArithmeticError: lost my way in <Board at 0x...>"
    assert "test_forfeits.py" in caught.value.trace


def test_an_agent_that_cannot_start_forfeits_its_games() -> None:
    played = run(TORUS, [NoStart("bad"), Steady("other")])
    assert {failure.reason for failure in played.failures.values()} == {"KeyError: 'odd'"}
    assert {failure.turn for failure in played.failures.values()} == {0}
    assert len(played.failures) == 12
    assert len(played.actions) == 0


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), SystemExit(), MemoryError("too much")], ids=lambda error: type(error).__name__
)
def test_what_ends_the_process_or_fills_the_memory_is_nobodys_forfeit(error: BaseException) -> None:
    def end(actions: Tensor, env_ids: Tensor) -> Any:
        raise error

    with pytest.raises(type(error)):
        run(TORUS, [Nonsense("bad", end), Steady("other")])


def test_all_seats_at_once() -> None:
    clean = run(GRID, [Steady("bad"), Steady("other")], 6)
    rounds: dict[int, int] = {}

    def change(actions: Tensor, env_ids: Tensor) -> Tensor:
        wrong = torch.zeros(len(env_ids), dtype=torch.bool)
        for row, env_id in enumerate(env_ids.tolist()):
            rounds[env_id] = rounds.get(env_id, 0) + 1
            wrong[row] = env_id in (1, 4) and rounds[env_id] == 2
        return torch.where(wrong[:, None], 10_000, actions)

    played = run(GRID, [Nonsense("bad", change), Steady("other")], 6)
    assert {env_id: failure.seats for env_id, failure in played.failures.items()} == {1: (1,), 4: (0,)}
    assert {failure.turn for failure in played.failures.values()} == {1}
    assert all(same_env(played, clean, env_id) for env_id in (0, 2, 3, 5))


def test_seats_that_fail_in_the_same_turn_fail_together() -> None:
    played = run(GRID, [Always("bad"), NoStart("other")], 3)
    assert [played.failures[env_id].seats for env_id in range(3)] == [(1,), (0,), (1,)], "before anyone is asked"
    both = run(GRID, [Always("bad"), Always("worse")], 2)
    assert both.failures[0].seats == both.failures[1].seats == (0, 1)


def test_nobody_is_blamed_with_the_reason_of_another() -> None:
    both = Result(("loss", "loss"), (0.0, 0.0), 0, False, Forfeit(0, "no model", (1,)))
    alone = replace(both, outcome=("loss", "win"), forfeit=Forfeit(0, "no luck"))
    record = Record("torus-v0", "1", {"size": 3}, 0, ("one", "other"), 0, (), both)
    found = forfeits([record, replace(record, agents=("other", "one"), result=alone)])
    assert {agent: (own.games, own.reason) for agent, own in found.items()} == {
        "one": (1, "no model"),
        "other": (2, "no luck"),
    }
    assert forfeits([record])["other"].reason == "failed in the same turn as another"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: {"outcome": r.outcome[::-1]}, "the result differs: outcome recorded"),
        (lambda r: {"forfeit": Forfeit(1 - r.forfeit.seat, "x")}, "whose turn it is"),
        (lambda r: {"forfeit": Forfeit(7, "x")}, "expected different seats from 0 to 1"),
        (lambda r: {"turns": 1}, "turns recorded 1"),
        (lambda r: {"truncated": True}, "truncated recorded True"),
        (lambda r: {"forfeit": None}, "too few moves"),
    ],
)
def test_a_wrong_forfeit_does_not_replay(change: Callable[[Result], dict[str, Any]], message: str) -> None:
    bad = Nonsense("bad", lambda actions, env_ids: torch.where((env_ids % 3 == 0) & (actions > 9), 99, actions))
    records = (played := match(TORUS, bad, Steady("other"), MatchOptions(games=12))).records
    assert f"bad forfeited {sum(one.result.forfeit is not None for one in records)} games of 12: " in str(played)
    record = next(record for record in records if record.result.forfeit)
    with pytest.raises(ReplayError) as caught:
        replay(replace(record, result=replace(record.result, **change(record.result))))
    over = next(record for record in records if not record.result.forfeit)
    assert message in caught.value.cause
    with pytest.raises(ReplayError):
        replay(replace(over, result=replace(over.result, forfeit=Forfeit(0, "x"))))


def test_in_games_of_many_the_one_who_failed_is_behind_and_the_rest_is_not_compared(tmp_path: Path) -> None:
    late = Nonsense("late", lambda actions, env_ids: actions.masked_fill(env_ids == 2, -1))
    bots = [late, Steady("a"), Steady("b"), Steady("c")]
    done = free_for_all(CUP, bots, FreeForAllOptions(games=8, chunk=4), out=tmp_path)
    failed = [record for record in done.records if record.result.forfeit]
    assert len(failed) == 2
    for record in failed:
        seat = record.result.forfeit.seat if record.result.forfeit else -1
        assert record.agents[seat] == "late"
        assert record.result.outcome == tuple("loss" if other == seat else "draw" for other in range(4))
        found = [(r.first, r.second, r.outcome) for r in comparisons(record)]
        assert len(found) == 3
        assert all(
            (first, how) == ("late", "second") or (second, how) == ("late", "first") for first, second, how in found
        )
    assert not list(verify(done.records))
    own = done.tables.forfeits["late"]
    assert (own.games, own.reason) == (2, "illegal action -1: expected a number from 0 to 143")
    assert {line.agent: line.tally.seats for line in done.tables.standings} == {"late": 8, "a": 6, "b": 6, "c": 6}


def test_a_game_that_only_ever_stops_has_tables_without_numbers(tmp_path: Path) -> None:
    bots = [Always("bad"), Steady("a"), Steady("b"), Steady("c")]
    done = free_for_all(CUP, bots, FreeForAllOptions(games=4), out=tmp_path)
    *others, last = done.tables.standings
    assert [line.tally.seats for line in others] == [0, 0, 0]
    assert (last.agent, last.tally.place) == ("bad", 4.0)
    assert "nan" not in (tmp_path / "report.md").read_text() + (tmp_path / "ratings.csv").read_text()
    json.loads((tmp_path / "ratings.json").read_text(), parse_constant=pytest.fail)


def test_games_that_both_seats_forfeit_are_lost_by_both() -> None:
    played = match(GRID, Always("bad"), Always("worse"), MatchOptions(games=2, opening_plies=0))
    assert {record.result.outcome for record in played.records} == {("loss", "loss")}
    assert played.records[0].result.forfeit == Forfeit(0, "ArithmeticError: lost my way in <Board at 0x...>", (1,))
    assert Record.from_json(played.records[0].to_json()) == played.records[0]
    assert not list(verify(played.records))
    assert make_tables(played.records, resamples=0).payoffs.score[0, 1] == 0.0
    assert make_tables(played.records, by_score=True, resamples=0).forfeits["worse"].games == 2
