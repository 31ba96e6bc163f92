"""An arena of CodeClash (https://github.com/CodeClash-ai/CodeClash) in which language models write bots for Torus.

Copy this file to `codeclash/arenas/torus/torus.py`, add `TorusArena` to `ARENAS` of `codeclash/arenas/__init__.py`, and
lay beside it a `Torus.Dockerfile` whose image has git, Python and `pip install cellgames`. Other games need another
`game`, `description` and first bot in the players' repository; examples/bots/ has some.
"""

from __future__ import annotations

import csv
import shlex
from typing import Any

from codeclash.arenas.arena import CodeArena, RoundStats
from codeclash.constants import RESULT_TIE
from codeclash.utils.environment import assert_zero_exit_code


class TorusArena(CodeArena):
    """Rounds of games between the bots of all players, each pair from the same openings in both seats."""

    name = "Torus"
    submission = "bot.py"
    game = "torus-small-v0"
    description = (
        "Your bot (`bot.py`) plays Torus: connect a path of your colour around the board before your opponent does. It "
        "is a program that reads one JSON message a line from standard input and answers on standard output. "
        "`cellgames rules torus-small-v0` shows the rules, `cellgames check-bot torus-small-v0 --agent 'exec:python "
        "bot.py'` checks your bot, and `cellgames ladder torus-small-v0 --agent 'exec:python bot.py'` rates it."
    )

    def _game(self) -> str:
        """Return the words for the game; `parameters` in the configuration of the game change it."""
        given = self.game_config.get("parameters", {})
        return " ".join([self.game, *(shlex.quote(f"--param={name}={value}") for name, value in given.items())])

    def validate_code(self, agent: Any) -> tuple[bool, str | None]:
        """Return True if the bot answers as the protocol says, else False and the reason."""
        if self.submission not in agent.environment.execute("ls")["output"]:
            return False, f"there is no file {self.submission} in the root directory"
        command = f"cellgames check-bot {self._game()} --agent 'exec:python {self.submission}' --games 1"
        found = agent.environment.execute(command)
        return (True, None) if found["returncode"] == 0 else (False, found["output"].strip()[-1000:])

    def execute_round(self, agents: list[Any]) -> None:
        """Play a round robin in the container of the game; `sims_per_round` are the games of each pair."""
        bots = [
            shlex.quote(f"p{number}=exec:python /{agent.name}/{self.submission}") for number, agent in enumerate(agents)
        ]
        games = max(2, self.game_config["sims_per_round"] // 2 * 2)
        command = (
            f"cellgames round-robin {self._game()} --agents {' '.join(bots)} --games {games} --move-time 5 --no-store "
            f"--no-gif --quiet --out {self.log_env}/run"
        )
        assert_zero_exit_code(self.environment.execute(command))

    def get_results(self, agents: list[Any], round_num: int, stats: RoundStats) -> None:
        """Give each player a point for a win and half a point for a draw."""
        with open(self.log_round(round_num) / "run" / "ratings.csv", encoding="utf-8") as file:
            rows = {row["agent"]: row for row in csv.DictReader(file)}
        for number, agent in enumerate(agents):
            row = rows[f"p{number}"]
            stats.scores[agent.name] = stats.player_stats[agent.name].score = int(row["wins"]) + int(row["draws"]) / 2
        best = max(stats.scores.values())
        winners = [name for name, score in stats.scores.items() if score == best]
        stats.winner = winners[0] if len(winners) == 1 else RESULT_TIE
