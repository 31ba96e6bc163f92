"""All that a player of Grid Adaptation has seen, matches that look like it, and what it says of the others' sequences.

Some tiles cannot have been born: whatever tiles were placed beside them, the majority of three parents would have
another digit. So somebody placed them, and has their sequence.

Letters: `L` matches that players look at, `S` draws of each, `X` determinized matches, `P` players, `R` rounds, `W`
words of a board.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from cellgames.agents.base import reaching
from cellgames.envs.core import chance
from cellgames.envs.grid_adaptation import rules
from cellgames.envs.grid_adaptation.game import GridAdaptation
from cellgames.envs.grid_adaptation.state import LARGEST, GridState
from cellgames.utils.errors import InputError, shown

from .decoding import Seen

_DEAL, _FLIP, _SPEND, _SEED = range(chance.USER, chance.USER + 4)
_MOSTLY = 3, 4  # three players in four do what is sensible: play a reserve tile, flip what the scores speak for
# After one more the price shows as the largest number.
_MOST_BOUGHT = next(bought for bought in range(64) if rules.price(bought + 1) > LARGEST)


@dataclass(frozen=True)
class Remembered(Seen):
    """What `L` players see, with their memory of the rounds that have been played.

    Attributes:
        earned: [L, R, 8] int64, what each sequence earned in a round; -1 where nobody looked.
        dealt: [L] int64, one's own sequence when it was first seen.
        held: [L, R, 8] bool, which sequences others have had in each round, as far as is known.
    """

    earned: Tensor
    dealt: Tensor
    held: Tensor


class History:
    """What seats have seen in all rounds, by environment, since observations show the last round alone.

    It keeps public scores, the board of the last round, and which sequences others have had in each round. Tiles of a
    player's own sequence say nothing, because they may be the player's own.
    """

    def __init__(self, game: GridAdaptation) -> None:
        self.game = game
        self._public = torch.zeros(0, game.players, game.rounds, 8, dtype=torch.int16, device="cpu")
        self._sequence = torch.zeros(0, game.players, dtype=torch.int64, device="cpu")
        self._held = torch.zeros(0, game.players, game.rounds, 8, dtype=torch.bool, device="cpu")
        self._boards = torch.zeros(0, game.players, 4, game.grid.words, dtype=torch.int64, device="cpu")
        self._rounds = torch.zeros(0, game.players, dtype=torch.int64, device="cpu")

    def start(self, players: Tensor, env_ids: Tensor) -> None:
        """Forget these matches: new ones begin. The arguments are those of `Agent.start`."""
        players, env_ids = players.cpu(), env_ids.cpu()
        for name, unseen in (("_public", -1), ("_sequence", -1), ("_held", 0), ("_boards", 0), ("_rounds", 0)):
            memory = reaching(getattr(self, name), env_ids)
            memory[env_ids, players] = unseen
            setattr(self, name, memory)

    def state_dict(self) -> dict[str, Tensor]:
        """Return the memory."""
        return {name: memory.clone() for name, memory in vars(self).items() if isinstance(memory, Tensor)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore the result of `state_dict`; a `ValueError` if it is of other games."""
        for name, own in self.state_dict().items():
            saved = state[name]
            if not isinstance(saved, Tensor) or (saved.shape[1:], saved.dtype) != (own.shape[1:], own.dtype):
                raise InputError("beliefs", f"{own.dtype} {list(own.shape)}", shown(saved))
            setattr(self, name, saved.clone())

    def look(self, seen: Seen, players: Tensor, env_ids: Tensor) -> Remembered:
        """Remember what is seen in rows, [L], and return it with all that is known of their matches."""
        players, env_ids, device = players.cpu(), env_ids.cpu(), seen.round.device
        boards, number, own = seen.planes.cpu(), seen.round.cpu(), seen.sequence.cpu()
        later = (number > 1).nonzero().squeeze(1)
        self._public[env_ids[later], players[later], number[later] - 2] = seen.public.cpu()[later].to(torch.int16)
        known = self._sequence[env_ids, players]
        self._sequence[env_ids, players] = torch.where(known < 0, own, known)
        # Boards before the first round are empty, so a player that joins late has seen none of the last round.
        follows = (number == self._rounds[env_ids, players] + 1) & (number > 1)
        placed = placed_sequences(self.game, self._boards[env_ids, players].permute(1, 2, 0).contiguous(), boards)
        placed &= torch.arange(8, device="cpu") != own[:, None]
        rows = follows.nonzero().squeeze(1)
        self._held[env_ids[rows], players[rows], number[rows] - 2] = placed[rows]
        self._boards[env_ids, players] = boards.permute(2, 0, 1)
        self._rounds[env_ids, players] = number
        earned = self._public[env_ids, players].to(seen.public)
        dealt, held = (part[env_ids, players].to(device) for part in (self._sequence, self._held))
        return Remembered(**vars(seen), earned=earned, dealt=dealt, held=held)


def better_flip(sequence: Tensor, public: Tensor) -> Tensor:
    """Return the flip, int64 [X, P] as in actions, that would have earned most by `public`, [X, 8]; 0 if none did."""
    turned = torch.stack([sequence ^ change for change in (0, 1, 2, 4)], 2)
    return public.gather(1, turned.flatten(1)).view_as(turned).argmax(2)


def determinize(game: GridAdaptation, seen: Remembered, players: Tensor, seeds: Tensor) -> GridState:
    """Return matches that look to players, int64 [X], as they are seen, and as they remember them.

    What is hidden is drawn: the others' sequences at the deal, any of those that are left in any order; flips, mostly
    as the public scores advise; how many reserve tiles were played and bought. Their points follow from the public
    scores of the rounds; a round that nobody looked at is taken to be like the first that is known. The observations
    are of rounds, not of the voting step. A match depends on its own seed alone, int64 [X], and is drawn anew from
    another one.
    """
    state: GridState = game.init(chance.draw(seeds, _SEED, torch.zeros_like(seeds)))
    sequence, points, _ = draw_sequences(game, seen, players, seeds)
    reserves, bought, garnets = _spent(game, seen, seeds)
    seats = torch.arange(game.players, device=seeds.device)
    own = seats == players[:, None]

    def with_own(others: Tensor, mine: Tensor) -> Tensor:
        return torch.where(own, mine[:, None], others)

    price = torch.tensor([rules.price(number) for number in range(_MOST_BOUGHT + 1)], device=seeds.device)
    return state.replace(
        turn=(seen.round - 1).to(torch.int32),
        scores=with_own(points, seen.points).to(state.scores.dtype),
        planes=seen.planes.movedim(-1, 0),
        sequence=with_own(sequence, seen.sequence),
        reserves=with_own(reserves, seen.reserves),
        bought=with_own(bought, torch.searchsorted(price, seen.price.contiguous())),
        garnets=with_own(garnets, seen.garnets),
        public=seen.public,
        round=seen.round,
    )


def draw_sequences(
    game: GridAdaptation, seen: Remembered, players: Tensor, seeds: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Return sequences now and points so far, int64 [X, P] both; one's own places have no meaning.

    The arguments are those of `determinize`. The third result counts the sequences of `Remembered.held` that nobody has
    in the draw, int64 [X].
    """
    seats = torch.arange(game.players, device=seeds.device)
    all_eight = torch.arange(8, device=seeds.device)
    lots = chance.draw(seeds[:, None], _DEAL, all_eight)
    # The seven that are left in any order, one's own at the end; the others take the first of them by seats.
    dealt = lots.where(all_eight != seen.dealt[:, None], -1).argsort(1, descending=True)
    place = torch.where(seats == players[:, None], 7, seats - (seats > players[:, None]).long())
    sequence = dealt.gather(1, place)
    points, contradicted = torch.zeros_like(sequence), torch.zeros_like(seeds)
    public, told = _filled(seen.earned), bool(seen.held.any())
    for number in range(1, int(seen.round.max()) if len(seen) else 0):
        played = (number < seen.round)[:, None]
        if number in game.flip_rounds:
            advised = better_flip(sequence, public[:, number - 2] if number > 1 else public[:, 0] * 0)
            lots = chance.draw(seeds[:, None], _FLIP, seats + game.players * number)
            flip = torch.where(_mostly(lots), advised, chance.uniform_int(lots >> 8, 4))
            sequence = torch.where(played, rules.flipped(sequence, flip), sequence)
        points = points + torch.where(played, public[:, number - 1].gather(1, sequence), 0)
        if told:
            others = torch.nn.functional.one_hot(sequence.where(seats != players[:, None], 8), 9).any(1)[:, :8]
            contradicted = contradicted + (seen.held[:, number - 1] & ~others & played).sum(1)
    return sequence, points, contradicted


def _mostly(lots: Tensor) -> Tensor:
    return chance.uniform_int(lots, _MOSTLY[1]) < _MOSTLY[0]


def _filled(public: Tensor) -> Tensor:
    """Return scores of all rounds, int64 [X, R, 8], those not known like the first that is."""
    known = public[:, :, 0] >= 0
    first = public[torch.arange(len(public), device=public.device), known.int().argmax(1)]
    return torch.where(known[:, :, None], public, first[:, None]).clamp(min=0)


def _spent(game: GridAdaptation, seen: Seen, seeds: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return reserve tiles, extra tiles bought and garnets as if all players were others: int64 [X, P] each."""
    seats = torch.arange(game.players, device=seeds.device)
    shape = (len(seeds), game.players)
    held, bought = seats.new_full(shape, game.reserves), seats.new_zeros(shape)
    garnets = seats.new_full(shape, game.starting_garnets)
    most = int(seen.round.max()) if len(seen) else 0
    for number in range(1, min(most, game.reserves + _MOST_BOUGHT + 1)):
        lots = chance.draw(seeds[:, None], _SPEND, seats + game.players * number)
        plays = (number < seen.round)[:, None] & _mostly(lots)
        price = rules.price(bought)
        buys = plays & (held == 0) & (garnets >= price)
        garnets = garnets - torch.where(buys, price, 0)
        bought = bought + buys.long()
        held = held - (plays & (held > 0)).long()
    return held, bought, garnets


_TRIES = 16  # draws among which one that contradicts no fact is looked for
_TRY = chance.USER + 60


def placed_sequences(game: GridAdaptation, before: Tensor, after: Tensor) -> Tensor:
    """Return the sequences of which a tile was certainly placed in a round, bool [L, 8].

    The boards before and after it are int64 [4, W, L], as `Seen.planes`.
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


def likely_sequences(game: GridAdaptation, seen: Remembered, players: Tensor, seeds: Tensor) -> Tensor:
    """Return draws of the others' sequences in this round before its flips, int64 [L, S, P - 1], by seats.

    Each is a draw from the prior of `determinize`, given the facts: the first of 16 that contradicts none of them,
    or the one that contradicts fewest. Seats are int64 [L], seeds int64 [L, S].
    """
    draws = seeds.shape[1]
    tries = _TRIES if bool(seen.held.any()) else 1
    lots = chance.draw(seeds[:, :, None], _TRY, torch.arange(tries, device=seeds.device))  # [L, S, tries]
    each = torch.arange(len(seen), device=seeds.device).repeat_interleave(draws * tries)
    sequence, _, contradicted = draw_sequences(game, seen[each], players[each], lots.flatten())
    best = contradicted.view(-1, tries).argmin(1)  # the first one of the smallest
    chosen = sequence.view(-1, tries, game.players)[torch.arange(len(best), device=best.device), best]
    seats = torch.arange(game.players - 1, device=seeds.device)
    others = seats + (seats >= players[:, None]).long()  # [L, P - 1]
    return chosen.view(len(seen), draws, -1).gather(2, others[:, None].expand(-1, draws, -1))
