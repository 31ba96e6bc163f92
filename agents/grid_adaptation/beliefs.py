"""Beliefs about the others' sequences, from all boards that a player has seen.

Some tiles cannot have been born: whatever tiles were placed beside them, the majority of three parents would have
another digit. So somebody placed them, and has their sequence. Letters: `L` matches, `S` draws of each, `P` players,
`R` rounds, `W` words of a board.
"""

from __future__ import annotations

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import reaching
from cellgames.envs.core import chance
from cellgames.envs.grid_adaptation import rules
from cellgames.envs.grid_adaptation.game import GridAdaptation

from .decoding import Seen
from .determinization import History, Remembered, draw_sequences

_TRIES = 16  # draws among which one that contradicts no fact is looked for
_TRY = chance.USER + 60


def placed_sequences(game: GridAdaptation, before: Tensor, after: Tensor) -> Tensor:
    """Return the sequences of which a tile was certainly placed in a round, bool [L, 8].

    Args:
        game: the rules.
        before: the board before the round, as `Seen.planes`: int64 [4, W, L].
        after: the same after it.
    """
    grid, (tiles, *digits) = game.grid, before
    near = grid.neighbour_counts(tiles)
    new = after[0] & ~tiles
    impossible = torch.zeros_like(new)
    two, three = near[1] & ~near[0] & ~near[2], near[0] & near[1] & ~near[2]  # eight neighbours look like none
    for digit, now in zip(digits, after[1:], strict=True):
        ones = grid.neighbour_counts(digit)
        several, none, single = ones[1] | ones[2], ~(ones[0] | ones[1] | ones[2]), ones[0] & ~ones[1] & ~ones[2]
        # With two parents that agree the third one changes nothing; three have a majority.
        impossible |= (now & ((two & none) | (three & (none | single)))) | (~now & (two | three) & several)
    sure = grid.trim(new & impossible)
    found = []
    for sequence in range(8):
        same = sure
        for value, now in zip(rules.DIGITS, after[1:], strict=True):
            same = same & (now if sequence & value else ~now)
        found.append((same != 0).any(0))
    return torch.stack(found, 1)


class Witness(History):
    """The memory of a player that also looks for tiles that others have placed.

    It keeps the board of the last round, and which sequences others have had in each round. Tiles of a player's own
    sequence say nothing, because they may be the player's own.
    """

    def __init__(self, game: GridAdaptation) -> None:
        super().__init__(game)
        self._held = torch.zeros(0, game.players, game.rounds, 8, dtype=torch.bool, device="cpu")
        self._boards = torch.zeros(0, game.players, 4, game.grid.words, dtype=torch.int64, device="cpu")
        self._rounds = torch.zeros(0, game.players, dtype=torch.int64, device="cpu")

    @override
    def start(self, players: Tensor, env_ids: Tensor) -> None:
        super().start(players, env_ids)
        players, env_ids = players.cpu(), env_ids.cpu()
        self._held, self._boards = reaching(self._held, env_ids), reaching(self._boards, env_ids)
        self._rounds = reaching(self._rounds, env_ids)
        self._held[env_ids, players], self._boards[env_ids, players] = False, 0
        self._rounds[env_ids, players] = 0

    def facts(self, seen: Seen, players: Tensor, env_ids: Tensor) -> Tensor:
        """Remember the boards of rows, and return which sequences others have had in each round, bool [L, R, 8]."""
        players, env_ids, device = players.cpu(), env_ids.cpu(), seen.round.device
        boards, number, own = seen.planes.cpu(), seen.round.cpu(), seen.sequence.cpu()
        # Boards before the first round are empty, so a player that joins late has seen none of the last round.
        follows = (number == self._rounds[env_ids, players] + 1) & (number > 1)
        placed = placed_sequences(self.game, self._boards[env_ids, players].permute(1, 2, 0).contiguous(), boards)
        placed &= torch.arange(8, device="cpu") != own[:, None]
        rows = follows.nonzero().squeeze(1)
        self._held[env_ids[rows], players[rows], number[rows] - 2] = placed[rows]
        self._boards[env_ids, players] = boards.permute(2, 0, 1)
        self._rounds[env_ids, players] = number
        return self._held[env_ids, players].to(device)


def likely_sequences(
    game: GridAdaptation, seen: Seen, players: Tensor, remembered: Remembered, held: Tensor, seeds: Tensor
) -> Tensor:
    """Return draws of the others' sequences in this round before its flips, int64 [L, S, P - 1], by seats.

    Each is a draw from the prior of `determinize`, given the facts: the first of 16 that contradicts none of them,
    or the one that contradicts fewest.

    Args:
        game: the rules.
        seen: views of the players.
        players: int64 [L], their seats.
        remembered: memories of the players.
        held: bool [L, R, 8], the result of `Witness.facts`.
        seeds: int64 [L, S].
    """
    draws = seeds.shape[1]
    tries = _TRIES if bool(held.any()) else 1
    lots = chance.draw(seeds[:, :, None], _TRY, torch.arange(tries, device=seeds.device))  # [L, S, tries]
    each = torch.arange(len(seen), device=seeds.device).repeat_interleave(draws * tries)
    sequence, _, contradicted = draw_sequences(
        game, seen[each], players[each], remembered[each], lots.flatten(), held[each]
    )
    best = contradicted.view(-1, tries).argmin(1)  # the first one of the smallest
    chosen = sequence.view(-1, tries, game.players)[torch.arange(len(best), device=best.device), best]
    seats = torch.arange(game.players - 1, device=seeds.device)
    others = seats + (seats >= players[:, None]).long()  # [L, P - 1]
    return chosen.view(len(seen), draws, -1).gather(2, others[:, None].expand(-1, draws, -1))
