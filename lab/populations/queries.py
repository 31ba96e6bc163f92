"""Positions out of records, and the answers of agents that are asked about them.

Letters: `L` positions, `P` players, `A` actions (mask width), `G` groups of components of an action.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from cellgames.agents.base import AnyAgent, acting
from cellgames.agents.networks.networks import NetworkAgent
from cellgames.agents.playouts import RandomAgent, has_compound_turns
from cellgames.agents.selection import select
from cellgames.arena.play.match import generator
from cellgames.arena.records.record_lines import Record
from cellgames.arena.records.replays import start, stepped
from cellgames.envs.core import Game, State
from cellgames.utils.errors import InputError, check_at_least

_BATCH = 1024  # asked about at a time
_LONGEST_TURN = 1000  # actions; no game of the suite has turns of so many


@dataclass(frozen=True)
class Positions:
    """Positions in which a player has to decide.

    Attributes:
        state: `L` unfinished games.
        players: int64 [L], the seats to be asked.
        records: Number of the record that each comes from.
        plies: Number of that record's moves before it.
    """

    state: State
    players: Tensor
    records: tuple[int, ...]
    plies: tuple[int, ...]

    def __len__(self) -> int:
        """Return the number of positions."""
        return len(self.players)


@dataclass(frozen=True)
class Answers:
    """The answers of an agent in `L` positions, twice, each with its own random draws.

    Attributes:
        shares: float32 [2, L, W]: how often each choice is made. Choices of components with equally many of them, such
            as spaces for several tiles, are counted together (a group) where they have a choice; the shares of a group
            add up to 1.
        samples: The same out of `draws` draws each, where `shares` are chances; else `shares` themselves.
        weights: float32 [L, G]: 1 for groups in which there is a choice at all.
        widths: Widths of the groups.
        entropy: float64 [L], of the decision in nats, where the agent can tell its chances; None where it cannot.
        exact: True if the agent gave its probabilities, or always does the same.
    """

    shares: Tensor
    samples: Tensor
    weights: Tensor
    widths: tuple[int, ...]
    entropy: Tensor | None
    exact: bool


# ---------------------------------------------------------------- positions


def draw_positions(game: Game, records: Sequence[Record], count: int, seed: int) -> Positions:
    """Draw positions from games, all moves that agents made being equally likely, and no position twice.

    In games whose turns are several actions the positions are those at the beginning of the turns. Where all act at
    once one seat is drawn for each position.

    Args:
        game: The game with its parameters.
        records: The games.
        count: Number of positions, at most.
        seed: Seed that the draw follows from.

    Raises:
        ValueError: No agent made a move in these games.
        ReplayError: A record does not reproduce.
    """
    chance = generator(seed, "positions")
    moves = torch.tensor([len(record.moves) - record.opening for record in records], device="cpu")
    total = int(moves.sum())
    if total == 0:
        raise InputError("records", "games with moves of agents", "none")
    ends = moves.cumsum(0)
    drawn = torch.randperm(total, generator=chance, device="cpu")[:count].sort().values
    numbers = torch.searchsorted(ends, drawn, right=True).tolist()
    plies = [
        records[number].opening + int(place - (ends[number] - moves[number]))
        for number, place in zip(numbers, drawn.tolist(), strict=True)
    ]
    state, plies = _reached(game, records, numbers, plies)
    kept = sorted({pair: row for row, pair in reversed([*enumerate(zip(numbers, plies, strict=True))])}.values())
    state = state[kept]
    if game.info.simultaneous:
        players = torch.randint(game.info.num_players, (len(kept),), generator=chance, device="cpu")
    else:
        players = state.current_player
    return Positions(state, players, tuple(numbers[row] for row in kept), tuple(plies[row] for row in kept))


def _reached(
    game: Game, records: Sequence[Record], numbers: Sequence[int], plies: Sequence[int]
) -> tuple[State, list[int]]:
    """Return the positions after a number of moves, or where the turn began, and the number of moves up to there."""
    first = [start(game, records[number].seed, records[number].position) for number in numbers]
    turn_starts: State = type(first[0]).cat(first)
    at = [0] * len(numbers)
    for step in stepped(game, records, list(zip(numbers, plies, strict=True)), len(numbers)):
        new = (step.after.current_player != step.before.current_player) | (not has_compound_turns(game))
        index = torch.tensor(step.rows, device="cpu")[new]
        turn_starts = turn_starts.put(index, step.after[new])
        for row in index.tolist():
            at[row] = step.turn + 1
    return turn_starts, at


# ---------------------------------------------------------------- agents


def ask(
    game: Game,
    agent: AnyAgent,
    positions: Positions,
    draws: int,
    *parts: str | int,
    finished: Callable[[int], None] = lambda positions: None,
) -> Answers:
    """Ask an agent what it would do; it sees nothing of the games before, so memory does not help it.

    A network tells its chances, and so does the agent that plays at random. Others are asked 2 x `draws` times.

    Args:
        game: The game with its parameters.
        agent: The agent to ask.
        positions: The positions to ask about.
        draws: Number of draws for each of the two answers.
        parts: Seed and names that the random draws follow from.
        finished: Called with the number of positions just answered.
    """
    check_at_least(1, draws=draws)
    rows = torch.arange(len(positions), device="cpu")
    groups, widths = _groups(game)
    weights = torch.zeros(len(positions), len(widths), dtype=torch.float32, device="cpu")
    for part in rows.split(_BATCH):
        weights[part] = _choices(game, positions.state[part], positions.players[part], groups, len(widths))
    known = acting(agent, game)
    chance = generator(*parts)
    probabilities = [_probabilities(game, known, positions, part) for part in rows.split(_BATCH)]
    if probabilities and probabilities[0] is not None:
        chances = torch.cat([part for part in probabilities if part is not None])
        finished(len(positions))
        logs = chances.double().clamp(min=1e-300).log()
        drawn = chances.multinomial(2 * draws, replacement=True, generator=chance).view(-1, 2, draws).transpose(0, 1)
        samples = (
            torch.zeros(2, *chances.shape, dtype=torch.float32, device="cpu").scatter_add_(
                2, drawn, torch.ones(drawn.shape, dtype=torch.float32, device="cpu")
            )
            / draws
        )
        return Answers(
            chances.expand(2, -1, -1), samples, weights, widths, -(chances.double() * logs).sum(1), exact=True
        )
    sure = isinstance(known, NetworkAgent) and known.share == 1
    asked = rows if sure else rows.repeat_interleave(2 * draws)
    counts = torch.zeros(2, len(positions), sum(widths), dtype=torch.float32, device="cpu")
    for place in torch.arange(len(asked), device="cpu").split(_BATCH):
        part = asked[place]
        _play(game, agent, positions, part, place % 2 * (not sure), counts, groups, widths, chance)
        finished(int(part[-1]) + 1 - (int(asked[place[0] - 1]) + 1 if place[0] else 0))
    if sure:
        counts[1] = counts[0]
    split = [part / part.sum(2, keepdim=True).clamp(min=1) for part in counts.split(list(widths), 2)]
    shares = torch.cat(split, 2)
    return Answers(shares, shares, weights, widths, None, exact=sure)


def _probabilities(game: Game, agent: AnyAgent, positions: Positions, rows: Tensor) -> Tensor | None:
    """Chances of all actions, float32 [L, A], of agents that know them."""
    if len(game.info.action_nvec) > 1 or has_compound_turns(game):
        return None
    state, players = positions.state[rows], positions.players[rows]
    mask = _mask(game, state, players)
    if type(agent) is RandomAgent:
        return mask / mask.sum(1, keepdim=True)
    if isinstance(agent, NetworkAgent) and agent.share < 1:
        agent.network.eval()
        with torch.no_grad():
            return agent.choices(game.observe(state, players), mask).probabilities()
    return None


def _mask(game: Game, state: State, players: Tensor) -> Tensor:
    mask = game.legal_actions(state)
    return mask[torch.arange(len(state), device="cpu"), players] if game.info.simultaneous else mask


def _groups(game: Game) -> tuple[list[int], tuple[int, ...]]:
    """Return the group of each component of an action, and the widths of the groups."""
    nvec = game.info.action_nvec
    widths = tuple(dict.fromkeys(nvec))
    return [widths.index(choices) for choices in nvec], widths


def _choices(game: Game, state: State, players: Tensor, groups: Sequence[int], count: int) -> Tensor:
    """Return 1 for groups in which a component has several legal choices, else 0; float [L, G]."""
    parts = _mask(game, state, players).split(list(game.info.action_nvec), 1)
    found = torch.zeros(len(state), count, dtype=torch.float32, device="cpu")
    for group, part in zip(groups, parts, strict=True):
        found[:, group] = torch.maximum(found[:, group], (part.sum(1) > 1).float())
    return found


def _free(game: Game, state: State, players: Tensor, groups: Sequence[int]) -> Tensor:
    """Return 1 for components with a choice, or of a group in which none has one, else 0; float [L, components].

    Else agents would seem alike by what they have to do.
    """
    if has_compound_turns(game):  # components have a choice at some time of the turn
        return torch.ones(len(state), len(groups), dtype=torch.float32, device="cpu")
    parts = _mask(game, state, players).split(list(game.info.action_nvec), 1)
    free = torch.stack([(part.sum(1) > 1).float() for part in parts], 1)
    alike = torch.tensor([[group == other for other in groups] for group in groups], device="cpu")
    some = (free @ alike.float()) > 0
    return torch.where(some, free, 1.0)


def _play(
    game: Game,
    agent: AnyAgent,
    positions: Positions,
    env_ids: Tensor,
    half: Tensor,
    counts: Tensor,
    groups: Sequence[int],
    widths: Sequence[int],
    chance: torch.Generator,
) -> None:
    """Play one turn of the agent in positions `env_ids`; add it to `counts` [2, L, W] in the answers `half`."""
    state, players = positions.state[env_ids], positions.players[env_ids]
    agent.start(game, players, torch.arange(len(env_ids), device="cpu"))
    first = torch.tensor([sum(widths[:group]) for group in groups], device="cpu")
    free = _free(game, state, players, groups)
    going = torch.arange(len(env_ids), device="cpu")
    for _ in range(_LONGEST_TURN):
        actions = select(agent, game, state, going, chance, players[going] if game.info.simultaneous else None)
        places = actions.view(len(going), len(groups)) + first
        rows = half[going, None].expand_as(places), env_ids[going, None].expand_as(places), places
        counts.index_put_(rows, free[going], accumulate=True)
        if not has_compound_turns(game):
            return
        state = state.put(going, game.step(state[going], actions, checked=False))
        going = going[(state.current_player[going] == players[going]) & ~state.done[going]]
        if not len(going):
            return
