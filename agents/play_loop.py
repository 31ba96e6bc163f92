"""The loop that plays matches, tournaments and evaluations: many games at once, many agents.

Letters: `B` games (envs), `P` seats, `T` turns of the longest game, `K` components of an action.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic

import torch
from torch import Tensor

from cellgames.envs.core import Game, State
from cellgames.envs.core.info import DRAW, LOSS, WIN
from cellgames.envs.core.seating import Seating
from cellgames.envs.core.state import S
from cellgames.utils.errors import InputError, check_at_least

from .base import AnyAgent, draw_seeds, takes_states
from .selection import Failure, Faults, select, start
from .time_control import Clocks, TimeControl


@dataclass(frozen=True)
class Played(Generic[S]):
    """Finished games, with those that agents forfeited.

    Attributes:
        actions: int64 [T, B], or [T, B, P] or [T, B, P, K] in simultaneous games; -1 beyond the end of an env's game.
        turns: int64 [B], how many turns each took; the opening counts.
        state: the final state, `B` games; a forfeited one stands where it was stopped.
        failures: by env, who failed in games that were stopped.
        clocks: thinking times of the agents; None without a time control.
    """

    actions: Tensor
    turns: Tensor
    state: S
    failures: Mapping[int, Failure] = field(default_factory=dict)
    clocks: Clocks | None = None


def play(
    game: Game[S],
    agents: Sequence[AnyAgent],
    seats: Tensor,
    seeds: Tensor,
    generators: Sequence[torch.Generator],
    *,
    opening: Tensor | None = None,
    on_turn: Callable[[int, S], None] | None = None,
    forfeits: bool | TimeControl = False,
) -> Played[S]:
    """Play one game in every environment to its end.

    Each turn every agent is asked once, about all the envs in which it is to move; envs that are over are
    not asked about. An agent's actions depend on its own generator only, not on the agents asked before it.

    Args:
        game: the rules.
        agents: the agents that play.
        seats: int64 [B, P], the index into `agents` of the agent on each seat of each env.
        seeds: int64 [B], the envs' seeds; the games live on their device.
        generators: one for each agent, consumed.
        opening: int64 [B, T0], or [B, T0, P] or [B, T0, P, K] in simultaneous games: forced first actions. -1
            from where an env's opening is shorter.
        on_turn: called with 0 and the first state, then after each turn with the number of turns played and
            the state; games that were forfeited are truncated there.
        forfeits: True if an agent that raises an error or gives no legal action loses that game only, which is
            stopped, while all others go on (see `forfeits`). Else errors end all games. A time control is True, and
            an agent that runs out of time loses, too; agents are then asked about one game after the other.

    Raises:
        ValueError: wrong shapes, an illegal opening, an agent that cannot play this kind of game, or, without
            `forfeits`, one that gives an illegal action.
    """
    info, device, batch = game.info, seeds.device, len(seeds)
    seats = seats.to(device)
    _check_arguments(game, agents, seats, generators)
    if opening is not None:
        opening = opening.to(device)
        _check_opening(game, opening, batch)
    for agent in agents:
        takes_states(agent, game)
    state = game.init(seeds)
    failures: dict[int, Failure] = {}
    faults = Faults() if forfeits else None
    clocks = Clocks(forfeits) if isinstance(forfeits, TimeControl) else None
    seating = Seating(game, seats)
    new = torch.arange(batch, device=device)
    seating.deal(new, seats, lambda index, places, env_ids: start(agents[index], game, places, env_ids, faults))
    if faults:
        state = _stopped(state, failures, faults, 0)
    if on_turn is not None:
        on_turn(0, state)
    record: list[Tensor] = []
    while not (done := state.done).all():
        turn = len(record)
        if turn > info.max_turns:
            raise RuntimeError(f"{game.id}: games should end after {info.max_turns} turns, but one goes on")
        actions = torch.full((batch, *info.action_shape), -1, dtype=torch.int64, device=device)
        waiting = ~done
        forced = opening is not None and turn < opening.shape[1]
        if opening is not None and forced:
            given = waiting & (opening[:, turn].reshape(batch, -1) >= 0).all(1)
            actions[given] = opening[given, turn]
            waiting = waiting & ~given
        faults = Faults() if forfeits else None
        env_ids, players = seating.to_move(state, waiting)
        for index, rows in seating.by_player(env_ids, players):
            who, seat = env_ids[rows], players[rows]
            chosen = select(agents[index], game, state, who, generators[index], seat, faults, clocks)
            actions[(who, seat) if info.simultaneous else who] = chosen
        if faults:
            state = _stopped(state, failures, faults, turn)
            actions[state.done] = -1
            if state.done.all():  # nobody is left to step
                if on_turn is not None:
                    on_turn(turn, state)
                break
        state = game.step(state, actions.clamp(min=0), checked=forced)  # the agents' own are checked
        record.append(actions)
        if on_turn is not None:
            on_turn(len(record), state)
    if failures:  # stopped, not ended
        env_ids = torch.tensor(list(failures), device=device)
        state = state.replace(truncated=state.truncated.index_fill(0, env_ids, False))
    _tell_results(game, agents, seats, state, failures)
    actions = torch.stack(record) if record else seeds.new_empty((0, batch, *info.action_shape))
    return Played(actions, state.turn.long(), state, failures, clocks)


def _tell_results(
    game: Game, agents: Sequence[AnyAgent], seats: Tensor, state: State, failures: Mapping[int, Failure]
) -> None:
    """Tell agents with a method `finish` how games have ended; who failed has lost to the others."""
    told = [(index, agent) for index, agent in enumerate(agents) if hasattr(agent, "finish")]
    if not told:
        return
    outcomes = game.outcome(state).long()
    for env_id, failure in failures.items():
        outcomes[env_id] = WIN if game.info.num_players == 2 else DRAW
        outcomes[env_id, list(failure.seats)] = LOSS
    for index, agent in told:
        env_ids, players = (seats == index).nonzero().unbind(1)
        agent.finish(players, env_ids, outcomes[env_ids, players])


def _stopped(state: S, failures: dict[int, Failure], faults: Faults, turn: int) -> S:
    """Return the state in which environments with faults take no more part: to the loop they are cut off."""
    found = faults.failures(turn)
    failures.update(found)
    return state.replace(truncated=state.truncated.index_fill(0, torch.tensor(list(found), device=state.device), True))


def _check_arguments(
    game: Game, agents: Sequence[AnyAgent], seats: Tensor, generators: Sequence[torch.Generator]
) -> None:
    shape = (len(seats), game.info.num_players)
    if tuple(seats.shape) != shape or seats.dtype != torch.int64:
        raise InputError("seats", f"int64 [B, P] = {list(shape)}", f"{seats.dtype} {list(seats.shape)}", where=game.id)
    if len(seats) and not bool(((seats >= 0) & (seats < len(agents))).all()):
        raise InputError("seats", f"indices of {len(agents)} agents", f"{int(seats.min())} to {int(seats.max())}")
    if len(generators) != len(agents) or len({id(generator) for generator in generators}) != len(agents):
        got = "the same one twice" if len(generators) == len(agents) else len(generators)
        raise InputError("generators", f"one of its own for each of {len(agents)} agents", got)


def _check_opening(game: Game, opening: Tensor, batch: int) -> None:
    trailing = game.info.action_shape
    if opening.ndim != 2 + len(trailing) or len(opening) != batch or tuple(opening.shape[2:]) != trailing:
        wanted = ", ".join(map(str, (batch, "T0", *trailing)))
        raise InputError("opening", f"shape [{wanted}]", list(opening.shape), where=game.id)
    given = (opening.reshape(*opening.shape[:2], -1) >= 0).all(2)
    gaps = given[:, 1:] & ~given[:, :-1]
    if gaps.any():
        env_id, turn = gaps.nonzero()[0].tolist()
        raise InputError("opening", "no gap (-1)", f"one before turn {turn + 1} of env {env_id}", where=game.id)


def random_openings(game: Game, count: int, plies: int, generator: torch.Generator) -> Tensor:
    """Return openings of uniformly random legal actions that leave the game unfinished.

    Envs that end within the opening are drawn again, so the openings are uniform play, given that it goes
    on. In games of chance an opening may be illegal under another seed than the one it was drawn with.

    Args:
        game: the rules.
        count: how many.
        plies: turns of each.
        generator: consumed.

    Returns:
        int64 [count, plies], or [count, plies, P] or [count, plies, P, K] in simultaneous games; what `play`
        takes as `opening`. Some may be equal.

    Raises:
        ValueError: hardly any game, or none, goes on for longer than `plies`.
    """
    info = game.info
    check_at_least(0, count=count, plies=plies)
    found: list[Tensor] = [torch.empty((0, plies, *info.action_shape), dtype=torch.int64, device="cpu")]
    missing, in_vain = count, 0
    while missing > 0:
        if plies >= info.max_turns or in_vain >= 50:
            cause = f"a game takes at most {info.max_turns}; ask for fewer"
            raise InputError("plies", "openings that leave the game unfinished", plies, cause, game.id)
        state: State = game.init(draw_seeds(max(missing, 64), generator))
        record = torch.empty((len(state), plies, *info.action_shape), dtype=torch.int64, device="cpu")
        for ply in range(plies):
            actions = record[:, ply] = game.random_actions(state, generator)
            state = game.step(state, actions, checked=False)
        found.append(record[~state.done][:missing])
        missing -= len(found[-1])
        in_vain = 0 if len(found[-1]) else in_vain + 1
    return torch.cat(found)


def moves(game: Game, played: Played, env_id: int) -> list[str]:
    """Return the actions of one environment, a string a turn; seats that act at once are separated by spaces.

    An action of several components is named by its number among all combinations, the last varying fastest.
    """
    info, turns = game.info, int(played.turns[env_id])
    seats = info.num_players if info.simultaneous else 1
    parts = played.actions[:turns, env_id].reshape(turns, seats, len(info.action_nvec)).tolist()
    return [" ".join(game.action_to_string(info.ravel_action(choices)) for choices in turn) for turn in parts]


def move_in_words(game: Game, state: State, move: str) -> list[str]:
    """Return the actions of one turn as people read them, one for each seat that acts.

    The turn is a string by `moves`, played in a batch of one; a `ValueError` names an action that the game lacks.
    """
    if not game.info.simultaneous:
        return [game.action_in_words(state, int(state.current_player), game.string_to_action(move))]
    names = enumerate(move.split(" "))
    return [game.action_in_words(state, seat, game.string_to_action(name)) for seat, name in names]


def parse_move(game: Game, move: str) -> Tensor:
    """Return the actions of one turn from a string by `moves`: int64 [], [P], [K] or [P, K].

    Raises:
        ValueError: the number of actions is not that of seats that act, or an action is unknown.
    """
    return parse_moves(game, [move], {})[0]


def parse_moves(game: Game, moves: Sequence[str], known: dict[str, list[int]]) -> Tensor:
    """Return the actions of turns from strings by `moves`, one row a turn; it raises what `parse_move` raises.

    `known` has the components of actions by their names, as far as they were read before; it is added to.
    """
    seats = game.info.num_players if game.info.simultaneous else 1
    parts: list[list[int]] = []
    for move in moves:
        names = move.split(" ")
        if len(names) != seats:
            raise InputError("names", f"{seats} action{'s' * (seats > 1)} in a turn", len(names))
        for name in names:
            if (choices := known.get(name)) is None:  # torch.unravel_index would import sympy
                choices = known[name] = game.info.unravel_action(game.string_to_action(name))
            parts.append(choices)
    return torch.tensor(parts, dtype=torch.int64, device="cpu").reshape(len(moves), *game.info.action_shape)
