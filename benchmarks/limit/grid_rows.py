"""Rounds of Grid Adaptation, by the package and by C++."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

import cellgames
from cellgames.envs.core import seeds
from cellgames.envs.grid_adaptation.game import GridAdaptation
from cellgames.envs.grid_adaptation.state import GridState

from .measuring import Row
from .programs import call, difference, room

MATCHES, ROUNDS = 4096, 8  # of a call
CHECKED = 256
PLAYERS, PARTS, SPACES, CHOICES = 8, 7, 225, 919
SEEN = (38, 15, 15)  # of an observation
OBSERVED = 512  # matches whose players all observe

_MATCH = np.dtype(
    [
        *(("planes", "<i8", (4, 4)), ("placed", "<i8", 4), ("scores", "<i4", 8), ("garnets", "<i4", 8)),
        *(("public", "<i4", 8), ("rewards", "<f4", 8), ("sequence", "u1", 8), ("reserves", "u1", 8)),
        *(("bought", "u1", 8), ("tokens", "u1", 8), ("round", "u1"), ("tied", "u1"), ("over", "u1")),
        *(("candidate", "i1"), ("rest", "u1", 60)),
    ]
)
"""`LimitMatch` of sources/grid.cpp."""


class Play:
    """Matches that a C++ program plays at random.

    Args:
        matches: how many.

    Attributes:
        state: of the matches, bytes of `_MATCH`.
        actions, rewards, terminated: of the last round, as `Vector` gives them.
    """

    def __init__(self, matches: int) -> None:
        if call("limit_grid_match") != _MATCH.itemsize:
            raise RuntimeError("grid: the C++ program and the package have different matches")
        self.matches = matches
        self.state = room((matches, _MATCH.itemsize), torch.uint8)
        self.actions, self.rewards = room((matches, PLAYERS, PARTS)), room((matches, PLAYERS), torch.float32)
        self.terminated, self._seeds = room((matches,), torch.uint8), torch.arange(1, 5)
        self._free = room((matches, SPACES), torch.uint8)
        self._masks = room((matches, PLAYERS, CHOICES), torch.uint8)
        self._seen = room((matches, PLAYERS, *SEEN), torch.int16)
        call("limit_grid_start", matches, 1, self.state)

    def rounds(self, count: int, threads: int, full: bool, keep: bool = False) -> Tensor:
        """Play rounds and return what may be done next: free spaces, or all masks if `full`; see the program."""
        masks = self._masks if full else self._free
        arrays = (self.actions, self.rewards, self.terminated, masks)
        call("limit_grid_rounds", self.matches, count, threads, self._seeds, self.state, *arrays, int(full), int(keep))
        return masks

    def see(self, threads: int) -> Tensor:
        """Return what all players see, int16 [matches, 8, 38, 15, 15]; the next call overwrites it."""
        call("limit_grid_seen", self.matches, threads, self.state, self._seen)
        return self._seen

    def field(self, name: str) -> Tensor:
        """Return a field of all matches."""
        return torch.from_numpy(self.state.numpy().view(_MATCH)[:, 0][name].astype(np.int64))


def rounds(full: bool) -> Row:
    """Return the row of random rounds, with the free spaces or with all masks."""
    game = cellgames.make("grid-adaptation-v0")
    assert isinstance(game, GridAdaptation)
    _check(game)
    vector = game.vector(MATCHES, seed=0, reuse_buffers=True)
    generator, play = torch.Generator().manual_seed(0), Play(MATCHES)

    def ours() -> None:
        for _ in range(ROUNDS):
            vector.step_random(generator)
            if full:
                vector.legal_actions  # noqa: B018  # made when asked for
            else:
                game.free_spaces(vector.state)

    what = f"Grid Adaptation, random rounds of {MATCHES:,} matches of eight, {'all masks' if full else 'free spaces'}"
    name = "grid_masks" if full else "grid"
    return Row(name, what, "rounds", MATCHES * ROUNDS, ours, lambda threads: play.rounds(ROUNDS, threads, full))


def observed() -> Row:
    """Return the row of random rounds that all eight players observe."""
    game = cellgames.make("grid-adaptation-v0")
    assert isinstance(game, GridAdaptation)
    _check(game)
    vector = game.vector(OBSERVED, seed=0, reuse_buffers=True, observe=torch.int16)
    generator, play = torch.Generator().manual_seed(0), Play(OBSERVED)

    def ours() -> None:
        for _ in range(ROUNDS):
            vector.step_random(generator)
            vector.observation  # noqa: B018  # made when asked for

    def theirs(threads: int) -> None:
        for _ in range(ROUNDS):
            play.rounds(1, threads, full=False)
            play.see(threads)

    what = f"Grid Adaptation, random rounds of {OBSERVED:,} matches, observed by all eight players"
    return Row("grid_observed", what, "rounds", OBSERVED * ROUNDS, ours, theirs)


def _check(game: GridAdaptation) -> None:
    """Play whole matches of the program with the package: boards, points, purses, masks, tokens and ends."""
    play = Play(CHECKED)
    state = replace(game.init(seeds(0, CHECKED)), sequence=play.field("sequence"))
    running = torch.ones(CHECKED, dtype=torch.bool)
    for turn in range(game.rounds + 1):
        masks = play.rounds(1, 1 + turn % 2, full=True, keep=True).bool()
        after = game.step(state[running], play.actions[running])
        state = state.put(running.nonzero().squeeze(1), after)
        _compare(play, state, running)
        running = running & ~state.done
        for seat in range(PLAYERS):
            difference("grid, seen", game.observe(state, seat)[running], play.see(2)[running, seat])
        difference("grid", game.legal_actions(state)[running], masks[running])
    if not bool(state.done.all()):
        raise RuntimeError("grid: the C++ program and the package give different results")


def _compare(play: Play, state: GridState, running: Tensor) -> None:
    """Compare the matches that were running before the round."""
    for name in [
        "planes",
        "placed",
        "scores",
        "garnets",
        "public",
        "sequence",
        "reserves",
        "bought",
        "tokens",
        "round",
    ]:
        difference(f"grid, {name}", getattr(state, name)[running].long(), play.field(name)[running])
    tied = (play.field("tied").unsqueeze(1) >> torch.arange(PLAYERS)) & 1
    difference("grid, tied", state.tied[running].long(), tied[running])
    difference("grid, rewards", state.rewards[running], play.rewards[running])
    difference("grid, ends", state.done[running].long(), play.terminated.long()[running])
    # By lot where several could be the candidate; among the same ones, then.
    fewest = state.scores == state.scores.amin(1, keepdim=True)
    sure = running & state.done & (fewest.sum(1) == 1)
    difference("grid, candidate", state.candidate[sure], play.field("candidate")[sure])
