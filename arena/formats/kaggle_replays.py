"""Recorded games as JSON in the form of kaggle-environments' replays."""

from __future__ import annotations

from typing import Any

from cellgames.arena.records.record_lines import Record
from cellgames.arena.records.replays import game_of, replay
from cellgames.envs.core import Game, State

__all__ = ["record_to_kaggle"]

_RESULTS = {"win": 1, "draw": 0, "loss": -1}


def record_to_kaggle(record: Record) -> dict[str, Any]:
    """Return a game as `env.toJSON()` of kaggle-environments has it: `steps` with an entry for each seat.

    A step's `action` led to its `observation`, as there; the first step has none. The observation holds what the seat
    may know of the position, as text, and the names of its legal actions. Rewards are the outcome at the end (1, 0 or
    -1) and 0 before.

    Raises:
        ReplayError: the record does not reproduce.
    """
    game, states = game_of(record), replay(record)
    last = len(states) - 1
    rewards = [_RESULTS[outcome] for outcome in record.result.outcome]
    failed = record.result.forfeit.seats if record.result.forfeit is not None else ()
    statuses = ["ERROR" if seat in failed else "DONE" for seat in range(len(record.agents))]
    steps = []
    for number, state in enumerate(states):
        actions = _actions(game, states[number - 1], record.moves[number - 1]) if number else {}
        active = range(len(record.agents)) if game.info.simultaneous else (int(state.current_player),)
        names = _legal(game, state)
        steps.append(
            [
                {
                    "action": actions.get(seat),
                    "reward": rewards[seat] if number == last else 0,
                    "info": {},
                    "observation": {
                        "step": number,
                        "player": seat,
                        "position": game.view_to_string(state, seat),
                        "legal": names[seat if game.info.simultaneous else 0] if seat in active else [],
                    },
                    "status": statuses[seat] if number == last else "ACTIVE" if seat in active else "INACTIVE",
                }
                for seat in range(len(record.agents))
            ]
        )
    return {
        "id": f"{record.game}-{record.seed}",
        "name": record.game,
        "title": game.info.title,
        "version": record.version,
        "schema_version": 1,
        "configuration": {**record.parameters, "episodeSteps": game.info.max_turns + 1, "seed": record.seed},
        "info": {
            "TeamNames": list(record.agents),
            "opening": record.opening,
            "forfeit": record.result.forfeit.reason if record.result.forfeit is not None else None,
        },
        "steps": steps,
        "rewards": rewards,
        "statuses": statuses,
    }


def _actions(game: Game, before: State, move: str) -> dict[int, str]:
    if game.info.simultaneous:
        return dict(enumerate(move.split(" ")))
    return {int(before.current_player): move}


def _legal(game: Game, state: State) -> list[list[Any]]:
    """Return the names of legal actions of each row of the mask; of actions with components a list for each."""
    info = game.info
    mask = game.legal_actions(state)[0].view(-1, info.num_actions)
    found: list[list[Any]] = []
    for row in mask:
        parts = [
            [game.choice_to_string(component, choice) for choice in part.nonzero().flatten().tolist()]
            for component, part in enumerate(row.split(list(info.action_nvec)))
        ]
        found.append(parts[0] if len(parts) == 1 else parts)
    return found
