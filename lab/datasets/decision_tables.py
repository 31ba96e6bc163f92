"""Recorded games as a table of decisions in Parquet, for offline learning: `pip install "cellgames[research]"`.

Letters: `P` players, `A` actions (the sum over the action's components), `K` components of an action.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from cellgames.arena.records.record_lines import Record
from cellgames.arena.records.replays import ReplayError, Step, game_of, stepped
from cellgames.envs.core import Game
from cellgames.utils.errors import InputError, shown
from cellgames.utils.files import PathLike, replacing

META = b"cellgames"
"""The key of the table's metadata: JSON with the game and the shapes of the lists."""

COLUMNS = {
    "game": "int64",
    "turn": "int32",
    "seat": "int16",
    "forced": "bool",
    "observation": "list",
    "mask": "list",
    "action": "list",
    "reward": "float32",
    "reward_to_go": "float32",
    "result": "int8",
    "last": "bool",
}
"""Columns and their kinds; lists have a fixed size."""

POLICY = "policy"
"""The column of search policies, a list; tables of records without policies have none."""

_GAMES = 32  # that are played at the same time, and stand in the table in order
_ROWS = 4096  # of a row group, what a reader holds at a time


class Written(NamedTuple):
    """The numbers of games and decisions in a table, and of forfeited games that were left out."""

    games: int
    decisions: int
    forfeited: int


class Decisions(NamedTuple):
    """The decisions of some games, ordered by game, turn and seat.

    Attributes:
        columns: by name, a row for each decision; those of `COLUMNS`, and `POLICY` if it was asked for.
        finals: by number of the game, what its seats see at the end [P, ...].
    """

    columns: dict[str, np.ndarray[Any, Any]]
    finals: dict[int, np.ndarray[Any, Any]]


def arrow() -> Any:
    """Return pyarrow; the `ImportError` names the extra."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError(f'Parquet needs pyarrow ({error}): pip install "cellgames[research]"') from None
    return pyarrow


def export_decisions(
    records: Sequence[Record], path: PathLike, *, played: Callable[[int], None] = lambda games: None
) -> Written:
    """Write a row for each decision of recorded games to a Parquet file, which appears whole or not at all.

    The games are played again. They must be of one game with the same parameters, since lists have a fixed size.
    Forfeited games are left out. The table has the column `policy` if a record has policies.

    Args:
        records: to write.
        path: path of the file.
        played: called with the number of games just written.

    Raises:
        ValueError: no games that came to their end, or different ones.
        ReplayError: a record does not reproduce.
        ImportError: pyarrow is missing.
    """
    pyarrow, path = arrow(), Path(path)
    game, numbers = finished(records)
    rows = 0
    with replacing(path) as part:
        schema = _schema(pyarrow, game, records)
        with pyarrow.parquet.ParquetWriter(part, schema, compression="zstd") as writer:
            for columns, _ in decisions(game, records, numbers):
                rows += len(columns["game"])
                writer.write_table(_table(pyarrow, schema, columns), row_group_size=_ROWS)
                played(len({*columns["game"].tolist()}))
    return Written(len(numbers), rows, len(records) - len(numbers))


def finished(records: Sequence[Record]) -> tuple[Game, list[int]]:
    """Return the game of all records, and the numbers of those that came to their end.

    Raises:
        ValueError: no such games, or different ones.
    """
    kinds = sorted({json.dumps([record.game, record.parameters], sort_keys=True) for record in records})
    if len(kinds) > 1:
        raise InputError("records", "games with the same rules", f"{shown(kinds[0])} and {shown(kinds[1])}")
    numbers = [number for number, record in enumerate(records) if record.result.forfeit is None]
    if not numbers:
        raise InputError("records", "games that came to their end", "none")
    return game_of(records[0]), numbers


def _schema(pyarrow: Any, game: Game, records: Sequence[Record]) -> Any:
    info = game.info
    numbers = pyarrow.from_numpy_dtype(torch.empty(0, dtype=info.observation.dtype, device="cpu").numpy().dtype)
    lists = {
        "observation": pyarrow.list_(numbers, int(np.prod(info.observation.shape))),
        "mask": pyarrow.list_(pyarrow.bool_(), info.num_actions),
        "action": pyarrow.list_(pyarrow.int32(), len(info.action_nvec)),
        POLICY: pyarrow.list_(pyarrow.float32(), info.num_actions),
    }
    names = COLUMNS | ({POLICY: "list"} if any(record.policies for record in records) else {})
    kinds = {
        name: lists.get(name) or getattr(pyarrow, f"{kind}_" if kind == "bool" else kind)()
        for name, kind in names.items()
    }
    meta = {
        "format": 1,
        "game": game.id,
        "parameters": game.parameters,
        "version": records[0].version,
        "players": list(info.players),
        "observation_shape": list(info.observation.shape),
        "action_nvec": list(info.action_nvec),
        "simultaneous": info.simultaneous,
        "agents": [list(record.agents) for record in records],
        "seeds": [record.seed for record in records],
    }
    return pyarrow.schema(list(kinds.items()), metadata={META: json.dumps(meta).encode()})


def decisions(game: Game, records: Sequence[Record], numbers: Sequence[int]) -> Iterator[Decisions]:
    """Play games again and yield their decisions, those of some games at a time.

    Args:
        game: the rules.
        records: records of the game; policies are asked for if one of them has some.
        numbers: which of them.

    Raises:
        ReplayError: a record does not reproduce.
    """
    with_policies = any(record.policies for record in records)
    for first in range(0, len(numbers), _GAMES):
        yield _decisions_of(game, records, numbers[first : first + _GAMES], with_policies)


def _decisions_of(game: Game, records: Sequence[Record], numbers: Sequence[int], with_policies: bool) -> Decisions:
    rows = [(number, len(records[number].moves)) for number in numbers]
    parts: list[dict[str, np.ndarray[Any, Any]]] = []
    earned: list[tuple[list[int], np.ndarray[Any, Any]]] = []  # by turn: games, and rewards [B, P]
    results: dict[int, np.ndarray[Any, Any]] = {}
    finals: dict[int, np.ndarray[Any, Any]] = {}
    for step in stepped(game, records, rows, batch=len(rows)):
        ids = [rows[row][0] for row in step.rows]
        part = _decisions(game, step, ids, [records[number].opening for number in ids])
        if with_policies:
            part[POLICY] = _policies(game, [records[number] for number in ids], step.turn, len(part["game"]))
        parts.append(part)
        earned.append((ids, step.after.rewards.double().numpy()))
        outcome, done = game.outcome(step.after).numpy(), step.after.done.tolist()
        for place in [place for place in range(len(ids)) if done[place]]:
            results[ids[place]], last = outcome[place], step.after[place]
            seen = [game.observe(last, seat)[0].numpy() for seat in range(game.info.num_players)]
            finals[ids[place]] = np.stack(seen)
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    order = np.lexsort((columns["seat"], columns["turn"], columns["game"]))
    columns = {name: values[order] for name, values in columns.items()}
    columns |= _rewards(columns["game"], columns["turn"], columns["seat"], earned)
    columns["result"] = np.array(
        [results[number][seat] for number, seat in zip(columns["game"], columns["seat"], strict=True)], dtype=np.int8
    )
    return Decisions(columns, finals)


def _decisions(game: Game, step: Step, ids: Sequence[int], openings: Sequence[int]) -> dict[str, np.ndarray[Any, Any]]:
    """Return the columns of one turn that are known before it is played."""
    info, state, count = game.info, step.before, len(ids)
    seats = range(info.num_players) if info.simultaneous else (None,)
    mask = game.legal_actions(state).view(count, len(seats), -1)
    actions = step.actions.view(count, len(seats), -1)
    found: list[dict[str, np.ndarray[Any, Any]]] = []
    for place, seat in enumerate(seats):
        player = state.current_player if seat is None else torch.full_like(state.current_player, seat)
        found.append(
            {
                "game": np.array(ids, dtype=np.int64),
                "turn": np.full(count, step.turn, dtype=np.int32),
                "seat": player.numpy().astype(np.int16),
                "forced": np.array([step.turn < opening for opening in openings]),
                "observation": game.observe(state, player).reshape(count, -1).numpy(),
                "mask": mask[:, place].numpy(),
                "action": actions[:, place].numpy().astype(np.int32),
            }
        )
    return {name: np.concatenate([part[name] for part in found]) for name in found[0]}


def _policies(game: Game, records: Sequence[Record], turn: int, rows: int) -> np.ndarray[Any, Any]:
    """Return the policies of a turn, float32 [rows, A], which add up to 1; zeros without a policy."""
    found = np.zeros((rows, game.info.num_actions), dtype=np.float32)
    for row, record in enumerate(records):
        policy = record.policies[turn] if record.policies else None
        if policy and rows == len(records) and len(game.info.action_nvec) == 1:  # searches are for games in turns
            try:
                found[row, [game.string_to_action(action) for action in policy]] = list(policy.values())
                found[row] /= found[row].sum()
            except ValueError as error:
                raise ReplayError(f"policy of move {turn + 1}", cause=str(error)) from None
    return found


def _rewards(
    games: np.ndarray[Any, Any],
    turns: np.ndarray[Any, Any],
    seats: np.ndarray[Any, Any],
    earned: Sequence[tuple[list[int], np.ndarray[Any, Any]]],
) -> dict[str, np.ndarray[Any, Any]]:
    """Return each seat's reward until its next decision or the end, all that it still gets, and its last decisions."""
    by_game: dict[int, list[np.ndarray[Any, Any]]] = {}
    for ids, rewards in earned:
        for place, number in enumerate(ids):
            by_game.setdefault(number, []).append(rewards[place])
    # Rewards from a turn on, by game: [turns + 1, P].
    sums = {
        number: np.concatenate((np.cumsum(np.array(steps)[::-1], 0)[::-1], np.zeros((1, len(steps[0])))))
        for number, steps in by_game.items()
    }
    rest = np.array([sums[number][turn, seat] for number, turn, seat in zip(games, turns, seats, strict=True)])
    after, last = np.zeros_like(rest), np.zeros(len(rest), dtype=bool)
    later: dict[tuple[int, int], float] = {}
    for row in range(len(rest) - 1, -1, -1):
        key = int(games[row]), int(seats[row])
        last[row] = key not in later
        after[row] = later.get(key, 0.0)
        later[key] = rest[row]
    return {
        "reward": (rest - after).astype(np.float32),
        "reward_to_go": rest.astype(np.float32),
        "last": last,
    }


def _table(pyarrow: Any, schema: Any, columns: dict[str, np.ndarray[Any, Any]]) -> Any:
    arrays = []
    for field in schema:
        values = columns[field.name]
        if field.name in ("observation", "mask", "action", POLICY):
            flat = pyarrow.array(np.ascontiguousarray(values).reshape(-1), field.type.value_type)
            arrays.append(pyarrow.FixedSizeListArray.from_arrays(flat, field.type.list_size))
        else:
            arrays.append(pyarrow.array(values, field.type))
    return pyarrow.table(arrays, schema=schema)
