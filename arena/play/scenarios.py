"""Scenarios: fixed tables of background agents, among which an agent is scored as the focal player.

They follow Melting Pot (Leibo and others 2021, "Scalable Evaluation of Multi-Agent Reinforcement Learning with Melting
Pot", ICML): an agent is measured with others that it has not been trained with. In *visitors* scenarios it has one seat
and the background has all others; in *residents* scenarios it has all seats but one or two. The background consists of
agents of the package. `scenario_games` plays them.

A scenario never changes: another table gets another number. Scores compare between runs as long as the background's
identities, which every evaluation writes down, are the same. Importing this imports no torch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cellgames.utils.errors import InputError, check_one_of
from cellgames.utils.foreign_text import listed


@dataclass(frozen=True)
class Scenario:
    """A table with seats for the focal agent, and who has the others.

    Attributes:
        id: The game's id and the scenario's name, such as "grid-adaptation-v0/visitors-1".
        focal: Number of seats of the focal agent.
        background: Specs of the agents in the other seats, one for each seat.
        parameters: The game's parameters that differ from its defaults.
    """

    id: str
    focal: int
    background: tuple[str, ...]
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def game(self) -> str:
        """Id of the game."""
        return self.id.rpartition("/")[0]

    @property
    def name(self) -> str:
        """Name of the scenario within its game."""
        return self.id.rpartition("/")[2]

    @property
    def seats(self) -> int:
        """Number of seats."""
        return self.focal + len(self.background)

    @property
    def summary(self) -> str:
        """A line that says who sits at the table, and the parameters of the game."""
        others = ", ".join(f"{count} {spec}" for spec, count in Counter(self.background).items())
        text = f"{self.focal} of {self.seats} seats; in the others {others}"
        return "; ".join([text, *(f"{name}={value}" for name, value in self.parameters.items())])


_FOUR_TEAMS = {"teams": 4}

SCENARIOS: Mapping[str, Scenario] = {
    scenario.id: scenario
    for scenario in (
        Scenario("grid-adaptation-v0/visitors-1", 1, ("greedy",) * 7),
        Scenario("grid-adaptation-v0/visitors-2", 1, ("greedy",) * 3 + ("rollout:16",) * 2 + ("random",) * 2),
        Scenario("grid-adaptation-v0/visitors-3", 1, ("trained",) * 4 + ("mcts:16",) * 3),
        Scenario("grid-adaptation-v0/residents-1", 6, ("greedy",) * 2),
        Scenario("grid-adaptation-v0/residents-2", 6, ("trained", "rollout:16")),
        Scenario("grid-adaptation-small-v0/visitors-1", 1, ("greedy",) * 3),
        Scenario("grid-adaptation-small-v0/visitors-2", 1, ("greedy", "rollout:16", "random")),
        Scenario("grid-adaptation-small-v0/visitors-3", 1, ("trained", "trained", "mcts:16")),
        Scenario("grid-adaptation-small-v0/residents-1", 3, ("greedy",)),
        Scenario("grid-adaptation-small-v0/residents-2", 3, ("mcts:16",)),
        Scenario("toroidal-cup-v0/visitors-1", 1, ("greedy",) * 3, _FOUR_TEAMS),
        Scenario("toroidal-cup-v0/visitors-2", 1, ("greedy", "rollout:16", "random"), _FOUR_TEAMS),
        Scenario("toroidal-cup-v0/residents-1", 3, ("greedy",), _FOUR_TEAMS),
        Scenario("toroidal-cup-small-v0/visitors-1", 1, ("greedy",) * 3, _FOUR_TEAMS),
        Scenario("toroidal-cup-small-v0/visitors-2", 1, ("greedy", "rollout:16", "random"), _FOUR_TEAMS),
        Scenario("toroidal-cup-small-v0/visitors-3", 1, ("mcts:16", "mcts:16", "rollout:16"), _FOUR_TEAMS),
        Scenario("toroidal-cup-small-v0/residents-1", 3, ("greedy",), _FOUR_TEAMS),
        Scenario("toroidal-cup-small-v0/residents-2", 3, ("mcts:16",), _FOUR_TEAMS),
    )
}
"""All scenarios by id."""


def scenarios_of(game: str) -> tuple[Scenario, ...]:
    """Return the scenarios of a game.

    Raises:
        ValueError: the game has none.
    """
    found = tuple(scenario for scenario in SCENARIOS.values() if scenario.game == game)
    if not found:
        games = listed(list(dict.fromkeys(scenario.game for scenario in SCENARIOS.values())))
        raise InputError("game", f"one with scenarios ({games})", f"{game}")
    return found


def choose_scenarios(game: str, names: Iterable[str] = ()) -> tuple[Scenario, ...]:
    """Return scenarios of a game by their names or ids, all of them without any.

    Raises:
        ValueError: the game has none, or none of a name.
    """
    there = scenarios_of(game)
    known = {key: scenario for scenario in there for key in (scenario.name, scenario.id)}
    wanted = list(names)
    if missing := [name for name in wanted if name not in known]:
        check_one_of("scenarios", missing[0], [scenario.name for scenario in there])
    return tuple({known[name].id: known[name] for name in wanted}.values()) if wanted else there
