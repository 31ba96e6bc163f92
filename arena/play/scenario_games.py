"""Games of scenarios, and the scores of the focal agent in them (`scenarios`).

Letters: `P` seats, `F` seats of the focal agent.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch

from cellgames.agents.agent_names import Agents, by_name
from cellgames.agents.base import AnyAgent
from cellgames.agents.identity import identities
from cellgames.agents.loading import load
from cellgames.arena.records.checksums import plain
from cellgames.arena.records.record_lines import Record
from cellgames.arena.stats.comparisons import standing_points
from cellgames.envs import registry
from cellgames.envs.core import Game
from cellgames.runs.seeds import derive
from cellgames.utils.errors import InputError
from cellgames.utils.report.model import Cell, Report, Table
from cellgames.utils.statistics import mean_interval
from cellgames.utils.version import __version__

from . import match
from .match import GamePlayer, table_batches
from .match_options import FreeForAllOptions, MatchOptions
from .scenarios import Scenario
from .tournament import Stage, Tournament, all_games

NOTE = (
    "score: final score of a focal seat, the mean over the agent's seats and then over games; ahead: seats of the "
    "background that\nfinished behind a focal seat, a tie half, in %. Both with 95 % intervals over games. All agents "
    "meet the same background in the\nsame games and seats."
)
"""An explanation of the columns of `scenario_table`."""


@dataclass(frozen=True)
class ScenarioScore:
    """The result of an agent in a scenario.

    Attributes:
        scenario: Id of the scenario.
        agent: Name of the focal agent.
        games: How many.
        score: Mean final score of a focal seat (per capita).
        low: Lower bound of its 95 % interval over games.
        high: Upper bound.
        ahead: Share of pairs of a focal and a background seat in which the focal one finished ahead, a tie half.
        ahead_low: Lower bound of its 95 % interval over games.
        ahead_high: Upper bound.
        others: Mean final score of a background seat.
        forfeits: Games that the focal agent forfeited.
    """

    scenario: str
    agent: str
    games: int
    score: float
    low: float
    high: float
    ahead: float
    ahead_low: float
    ahead_high: float
    others: float
    forfeits: int


def scenario_game(scenario: Scenario) -> Game:
    """Return the game of a scenario with its parameters."""
    return registry.make(scenario.game, **scenario.parameters)


def background(scenario: Scenario, game: Game) -> dict[str, AnyAgent]:
    """Return the agents of the background by the names that they have in records, such as "background-greedy"."""
    return {_name(spec): load(spec, game, name=_name(spec)) for spec in dict.fromkeys(scenario.background)}


def _name(spec: str) -> str:
    return f"background-{spec.replace(':', '-')}"


def scenario_seats(scenario: Scenario, games: int, seed: int) -> list[tuple[int, ...]]:
    """Draw which place of the table, focal ones first, has each seat in each game.

    In a block of `P` games everybody moves on by one seat from game to game, so the focal agent has every seat equally
    often. The seats depend on the scenario, the seed and the number of the game alone.
    """
    seats, found = scenario.seats, list[tuple[int, ...]]()
    for block in range(-(-games // seats)):
        chance = match.generator(seed, "scenario", scenario.id, block)
        order = torch.randperm(seats, generator=chance, device="cpu").tolist()
        found += [(*order[turn:], *order[:turn]) for turn in range(seats)]
    return found[:games]


def play_scenario(
    scenario: Scenario,
    agent: AnyAgent,
    options: MatchOptions | None = None,
    *,
    progress: bool = False,
    keep: Callable[[Sequence[Record]], None] = lambda records: None,
) -> list[Record]:
    """Play the games of a scenario; in their records the background has names of its own.

    Args:
        scenario: the table.
        agent: the focal agent, loaded for the game of the scenario. It is not told who the others are.
        options: None for the defaults; games, seed, chunk and clocks count. No move is forced.
        progress: True to report on standard error.
        keep: gets each chunk of games as it ends.

    Raises:
        ValueError: the agent has the name of an agent of the background.
    """
    options = options or MatchOptions()
    game = scenario_game(scenario)
    others = background(scenario, game)
    if agent.name in others:
        raise InputError("agent", "another name", agent.name, "an agent of the background has it")
    names = sorted([agent.name, *others])
    places = [names.index(name) for name in (agent.name,) * scenario.focal + tuple(map(_name, scenario.background))]
    tables = scenario_seats(scenario, options.games, options.seed)
    common = {name: getattr(options, name) for name in ("games", "chunk", "clock", "move_time", "policies")}
    # Games of a scenario are the same whatever other scenarios are played.
    many = FreeForAllOptions(seed=derive(options.seed, "scenario", scenario.id), **common)
    seated = [tuple(places[place] for place in table) for table in tables]
    batches = table_batches(names, seated, many, scenario.id)
    found: list[Record] = []
    player = GamePlayer(game, {agent.name: agent, **others}, many)
    label = f"{agent.name} in {scenario.name}"
    Tournament(player, keep=keep, progress=progress).run(all_games([Stage(batches, label)], found))
    return found


def scenario_score(scenario: Scenario, agent: str, records: Sequence[Record]) -> ScenarioScore:
    """Return the score of the focal agent in the games of `play_scenario`."""
    scores, shares, others, failed = [], [], [], 0
    for record in records:
        focal = [seat for seat, name in enumerate(record.agents) if name == agent]
        rest = [seat for seat in range(len(record.agents)) if seat not in focal]
        scores.append(statistics.fmean(record.result.scores[seat] for seat in focal))
        others.append(statistics.fmean(record.result.scores[seat] for seat in rest))
        points = standing_points(record)
        shares.append(
            statistics.fmean((points[a] > points[b]) + (points[a] == points[b]) / 2 for a in focal for b in rest)
        )
        failed += record.result.forfeit is not None and not set(focal).isdisjoint(record.result.forfeit.seats)
    low, high = mean_interval(scores)
    ahead_low, ahead_high = mean_interval(shares)
    return ScenarioScore(
        scenario.id,
        agent,
        len(records),
        statistics.fmean(scores),
        low,
        high,
        statistics.fmean(shares),
        max(ahead_low, 0.0),
        min(ahead_high, 1.0),
        statistics.fmean(others),
        failed,
    )


def scenario_table(scores: Sequence[ScenarioScore], scenarios: Mapping[str, Scenario]) -> Table:
    """Return a row for each scenario and agent, for people."""
    rows: list[Sequence[Cell]] = []
    for own in scores:
        scenario = scenarios[own.scenario]
        interval = f"{own.low:.2f} to {own.high:.2f}"
        ahead = f"{100 * own.ahead_low:.1f} to {100 * own.ahead_high:.1f}"
        row: tuple[Any, ...] = (scenario.name, own.agent, f"{scenario.focal} of {scenario.seats}", f"{own.score:.2f}")
        rows.append((*row, interval, f"{own.others:.2f}", f"{100 * own.ahead:.1f}", ahead))
    columns = ("scenario", "focal agent", "seats", "score", "95 %", "their score", "ahead %", "95 % ahead")
    return Table("", columns, rows, text=("scenario", "focal agent"))


def scenario_report(
    command: str, scenarios: Sequence[Scenario], scores: Sequence[ScenarioScore], agents: Agents, options: MatchOptions
) -> Report:
    """Return a page with the scores of agents in scenarios of one game, and all numbers."""
    by_id = {scenario.id: scenario for scenario in scenarios}
    lines = "\n".join(f"- {scenario.name}: {scenario.summary}." for scenario in scenarios)
    parts = (f"`{command}`, {options.games} games each.", scenario_table(scores, by_id), NOTE, lines)
    found = []
    for scenario in scenarios:
        game, background = scenario_game(scenario), {_name(spec): spec for spec in scenario.background}
        own = [asdict(score) for score in scores if score.scenario == scenario.id]
        about = {"id": scenario.id, "parameters": plain(game.parameters), "focal": scenario.focal}
        about |= {"background": list(scenario.background)}
        about |= {"identities": {**identities(by_name(agents), game), **identities(background, game)}}
        found.append({**about, "scores": [{name: None if x != x else x for name, x in one.items()} for one in own]})
    played = {"seed": options.seed, "games": options.games, "scenarios": found}
    data = {"command": command, "version": __version__, "game": scenarios[0].game, **played}
    return Report(f"Scenarios of {scenarios[0].game}", parts, data)
