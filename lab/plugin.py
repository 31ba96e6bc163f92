"""The lab's additions to the core: its commands, agents, sections of reports, formats, and answers to the page."""

from __future__ import annotations

from cellgames.plugins import Additions

_COMMANDS = "cellgames.lab.commands"
_GRID = "cellgames.envs.grid_adaptation.game:GridAdaptation"
_TALK = "cellgames.envs.grid_adaptation_talk.game:GridAdaptationTalk"
_FLOWS = "cellgames.lab.life.score_flows:sections"

ADDITIONS = Additions(
    commands={
        "Train agents": {
            "exploit": (
                f"{_COMMANDS}.exploit_command",
                "Find a best response to a frozen agent, and measure how much it wins",
            ),
            "league": (
                f"{_COMMANDS}.league_command",
                "Train a population, round by round, against a mixture of its members",
            ),
            "evolve": (
                f"{_COMMANDS}.evolve_command",
                "Search for designs: arrangements of a team of the Cup, or first turns of Cloth of Gold",
            ),
        },
        "Understand games and agents": {
            "balance": (
                f"{_COMMANDS}.balance_command",
                "Measure how often each seat wins, and search for fair options",
            ),
            "compare": (f"{_COMMANDS}.compare_command", "Compare training runs over their seeds"),
            "explain": (f"{_COMMANDS}.explain_command", "Explain recorded games by intervening"),
            "probe": (f"{_COMMANDS}.probe_command", "Probe what a network knows"),
            "solve": (
                f"{_COMMANDS}.solve_command",
                "Solve a position: who wins with best play, and by which moves",
            ),
        },
    },
    agents=(
        (
            "league:FOLDER",
            "the mixture of a league, which draws a member by the meta-strategy for each game",
            "cellgames.lab.populations.league_agent:league_agent",
        ),
        (
            "response:N:AGENT",
            "a best response to another agent by search, N simulations a move, such as response:64:trained",
            "cellgames.lab.populations.response:response",
        ),
    ),
    parts={"time-series": "cellgames.lab.life.time_series:sections"},
    sections={_GRID: (_FLOWS,), _TALK: (_FLOWS, "cellgames.lab.talk.talk_section:sections")},
    asked_sections={
        None: ("cellgames.lab.populations.behaviour:sections",),
        _TALK: ("cellgames.lab.talk.talk_section:asked_sections",),
    },
    formats={
        "parquet": (
            "cellgames.lab.datasets.decision_tables:export_decisions",
            "a row for each decision of all games, for offline learning",
        ),
        "minari": (
            "cellgames.lab.datasets.minari_datasets:export_minari",
            "a dataset of Farama's Minari, an episode for each seat of each game",
        ),
    },
    answers={
        "worth": (
            "cellgames.lab.interventions.worth_layer:explained",
            "Return what the parts of a recorded game were worth, played again without each of them.",
        )
    },
)
