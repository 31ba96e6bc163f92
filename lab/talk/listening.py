"""The effect of a word on a listener's next tile: a policy in one state with two different words.

Letters: `L` pairs of a state and its counterfactual, `N` spaces of the board.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from cellgames.agents.base import AnyAgent
from cellgames.arena.records.record_lines import Record
from cellgames.arena.records.replays import stepped
from cellgames.envs.grid_adaptation_talk.game import GridAdaptationTalk
from cellgames.envs.grid_adaptation_talk.state import TalkState
from cellgames.runs.run_folder import derive
from cellgames.utils.progress import progress
from cellgames.utils.statistics import bootstrap_weights, percentile_interval

_DRAWS = 2000  # of the bootstrap
_SAMPLES = 16  # draws of agents that are no networks


@dataclass(frozen=True)
class Dependence:
    """The total variation between an agent's choices of its first tile, with a word and with another one.

    Attributes:
        agent: The listener.
        states: Number of states.
        variation: Mean total variation, from 0 (it does not listen) to 1. For an agent that is no network, the share of
            draws that differ with the same random numbers, which is at least that.
        low: Lower end of the 95 % interval (bootstrap over states).
        high: Its upper end.
        exact: True for a network, whose policy is known.
    """

    agent: str
    states: int
    variation: float
    low: float
    high: float
    exact: bool


def with_other_word(game: GridAdaptationTalk, state: TalkState, seat: Tensor, generator: torch.Generator) -> TalkState:
    """Return states in which one word of the last talk step that reached a seat, int64 [L], is another one."""
    env_ids, players = torch.arange(len(state)), game.players
    sender = (seat + torch.randint(1, players, (len(state),), generator=generator)) % players
    place = seat - (seat > sender).long() if game.talk == "private" else torch.zeros_like(seat)
    last = state.talks - 1
    change = torch.randint(1, game.words + 1, (len(state),), generator=generator)
    name = "heard" if state.heard.shape[1] else "said"
    words = getattr(state, name).clone()
    at = env_ids, last, sender, place
    words[at] = ((words[at] + change) % (game.words + 1)).to(words.dtype)
    return state.replace(**{name: words})


def dependence(
    game: GridAdaptationTalk,
    name: str,
    agent: AnyAgent,
    records: Sequence[Record],
    positions: int = 400,
    seed: int = 0,
    *,
    shown: bool = False,
) -> Dependence:
    """Return the dependence of an agent's first tile on a word of the talk step before it.

    Args:
        game: Grid Adaptation with talk, with its parameters.
        name: Of the agent, as in records; it is asked in seats of its own if it has some there.
        agent: the agent to ask, without memory of the match.
        records: Games whose states after talk are the positions.
        positions: the most states to ask about.
        seed: Of the choice of states and of words.
        shown: True to show on standard error the progress of an agent that takes longer than two seconds.
    """
    generator = torch.Generator().manual_seed(derive("listening", seed))
    state, seat = _positions(game, name, records, positions, generator)
    other = with_other_word(game, state, seat, generator)
    policy = _policy(game, agent, state, seat)
    if policy is None:
        with progress(2 * _SAMPLES, label=f"ask {name}", unit="times", shown=shown, after_s=2.0) as asked:
            found = _differing(game, agent, (state, other), seat, seed, asked)
    else:
        changed = _policy(game, agent, other, seat)
        assert changed is not None  # the same agent
        found = (policy - changed).abs().sum(1) / 2
    values = found.double().numpy()
    weights = bootstrap_weights(np.random.default_rng(derive("listening", seed)), len(values), _DRAWS)
    low, high = map(float, percentile_interval(weights @ values / len(values)))
    return Dependence(name, len(values), float(values.mean()), low, high, policy is not None)


def _positions(
    game: GridAdaptationTalk, name: str, records: Sequence[Record], most: int, generator: torch.Generator
) -> tuple[Any, Tensor]:
    """Return states in which a round follows talk, and a seat for each."""
    states, seats = [], []
    for step in stepped(game, records):
        before: Any = step.before
        due = game.places_tiles(before) & ~before.done
        for place in due.nonzero().flatten().tolist():
            names = records[step.rows[place]].agents
            own = [seat for seat, each in enumerate(names) if each == name] or list(range(game.players))
            states.append(before[place])
            seats.append(own[int(torch.randint(len(own), (), generator=generator))])
    chosen = torch.randperm(len(states), generator=generator)[:most].tolist()
    return TalkState.cat([states[at] for at in chosen]), torch.tensor([seats[at] for at in chosen])


def _asked(game: GridAdaptationTalk, agent: Any, state: TalkState, seat: Tensor) -> tuple[Tensor, Tensor]:
    """Let an agent take the seats, and return what they see: observations and masks."""
    agent.start(game, seat, torch.arange(len(state)))
    return game.observe(state, seat), game.legal_actions(state)[torch.arange(len(state)), seat]


def _policy(game: GridAdaptationTalk, agent: Any, state: TalkState, seat: Tensor) -> Tensor | None:
    """Return a network's probabilities of the space of its first tile, float [L, N + 1]; None for other agents."""
    observed, mask = _asked(game, agent, state, seat)
    playing = agent.playing(game) if hasattr(agent, "playing") else agent
    network = getattr(playing, "network", None)
    if network is None or network.game != game:
        return None
    with torch.no_grad():
        logits = network(observed)[0]
    spaces = game.spaces + 1
    return torch.softmax(logits[:, :spaces].masked_fill(~mask[:, :spaces], -1e9), 1)


def _differing(
    game: GridAdaptationTalk,
    agent: Any,
    states: tuple[TalkState, TalkState],
    seat: Tensor,
    seed: int,
    asked: Callable[[int], None],
) -> Tensor:
    """Return the share of draws in which an agent's first tile differs between two states, float [L]."""
    total = torch.zeros(len(seat))
    for draw in range(_SAMPLES):
        chosen = []
        for state in states:
            observed, mask = _asked(game, agent, state, seat)
            generator = torch.Generator().manual_seed(derive("draws", seed, draw))
            chosen.append(agent.act(observed, mask, torch.arange(len(seat)), generator)[:, 0])
            asked(1)
        total += (chosen[0] != chosen[1]).float()
    return total / _SAMPLES
