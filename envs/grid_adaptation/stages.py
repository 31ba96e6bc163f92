"""A step of many matches in stages: pure functions that the compiler turns into one pass over memory each.

Cut so that no stage works anything out twice that it reads once, and so that none takes long to compile.

Letters: `P` players, `N` words of a board (see `boards.packedboards`), `B` matches, innermost in memory. A player's
*orders* are one word: three tiles and the reserve tile, `PLACE` bits each, then its sequence. A tile's place is its
word times 64 plus its bit in that word, or `NOWHERE`.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from cellgames.envs.boards.bitboards import WORD, bit_of_rank, popcount
from cellgames.envs.boards.packedboards import PackedGrid
from cellgames.envs.kernels.compiling import kernel
from cellgames.envs.kernels.lookup_tables import table

from . import ending, rules
from .state import BUY, FLIP, MOST_TILES, RESERVE, SLOTS, first_values

if TYPE_CHECKING:
    from .game import GridAdaptation

Stage = Callable[..., Iterable[Tensor]]

PLACE = 12
NOWHERE = (1 << PLACE) - 1
SEQUENCE = 4 * PLACE  # its first bit
_IN_WORD = WORD.bit_length() - 1


def run(game: GridAdaptation, stage: Stage, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> None:
    """Write what `stage(game, *inputs)` gives into `outputs`, which may be among the inputs.

    Tensors are contiguous, or always the same parts of such.

    Flags are stored as bytes: the compiler does not vectorize storing what is bool.
    """
    count = len(inputs)

    def write(*arguments: Tensor) -> None:
        for out, value in zip(arguments[count:], stage(game, *arguments[:count]), strict=True):
            out.copy_(value.to(torch.int32).to(torch.uint8) if value.dtype == torch.bool else value)

    write.__qualname__ = f"stage {stage.__name__}"  # for whoever reads warnings
    arguments = [*inputs, *(out.view(torch.uint8) if out.dtype == torch.bool else out for out in outputs)]
    key = (game, stage, inputs[0].shape[-1], inputs[0].device)
    kernel(write, arguments, key=key)(arguments)


# --- what players submit ------------------------------------------------------------------------------------------


def submitted(
    game: GridAdaptation,
    round: Tensor,
    sequence: Tensor,
    reserves: Tensor,
    bought: Tensor,
    garnets: Tensor,
    actions: Tensor,
) -> tuple[Tensor, ...]:
    """Return sequences, reserves, tiles bought, garnets and orders, [P, B] each, after actions [P, 7, B]."""
    *tiles, reserve, flip, buy, _ = actions.unbind(1)
    sequence = rules.flipped(sequence, torch.where(game.flips_now(round), flip, 0))
    # Spaces from a limit on mean "none"; conditions are joined by nesting, since the compiler is slow at `&` of flags.
    playing = torch.where(round <= game.rounds, game.spaces, 0)
    first = torch.where(round == 1, game.spaces, 0)
    wants = torch.where(reserve < playing, torch.where(reserves == 0, 1, buy), buy)
    buys, cost = torch.where(may_pay(game, round, bought, garnets), wants, 0), rules.price(bought)
    held = reserves + buys
    reserve_limit = torch.where(held > 0, playing, 0)
    limits = [playing, *(first for _ in range(1, game.first_tiles))]
    limits += [torch.zeros_like(round)] * (MOST_TILES - game.first_tiles)
    orders = sequence << SEQUENCE
    for slot, (space, limit) in enumerate(zip((*tiles, reserve), (*limits, reserve_limit), strict=True)):
        orders = orders | (torch.where(space < limit, _place(game, space), NOWHERE) << slot * PLACE)
    left = held - torch.where(reserve < reserve_limit, 1, 0)
    return sequence, left, bought + buys, garnets - buys * cost, orders


def _place(game: GridAdaptation, space: Tensor) -> Tensor:
    """Return the place of a space by its number, row * size + column."""
    row = rules.quotient(space, game.size)
    word = rules.quotient(row, game.grid.rows_a_word)
    return space + row + word * (WORD - game.grid.rows_a_word * game.grid.stride)  # a row has one bit more


# --- what is free -------------------------------------------------------------------------------------------------


def shown(game: GridAdaptation, tiles: Tensor, round: Tensor) -> tuple[Tensor]:
    """Return a mask of the spaces that can be named on a board [N, B]: bool [spaces, B]; all False in a vote."""
    word, bit = _spaces(game.grid, tiles.device)
    taken = (tiles.index_select(0, word) >> bit) & 1
    return (torch.where(round <= game.rounds, taken, 1) == 0,)


@table
def _spaces(grid: PackedGrid, device: torch.device) -> tuple[Tensor, Tensor]:
    """Return the word that holds each space, int64 [spaces], and its bit there, int64 [spaces, 1]."""
    space = torch.arange(grid.rows * grid.cols, device=device)
    row = space // grid.cols
    word = row // grid.rows_a_word
    return word, (space + row - word * grid.rows_a_word * grid.stride).unsqueeze(1)


# --- submissions of chance ----------------------------------------------------------------------------------------


def vacant(game: GridAdaptation, tiles: Tensor, round: Tensor) -> tuple[Tensor, Tensor]:
    """Return boards [N, B] of the spaces that can be named, none in the voting step; and how many each word has."""
    free = game.grid.trim(~tiles) & torch.where(round <= game.rounds, -1, 0)
    return free, popcount(free)


def offered(
    game: GridAdaptation,
    counts: Tensor,
    round: Tensor,
    reserves: Tensor,
    bought: Tensor,
    garnets: Tensor,
    bits: Tensor,
) -> tuple[Tensor, ...]:
    """Return spaces for the reserve tile, flips and purchases, [P, B], for bits [P, 7, B], all equally likely."""
    pays = may_pay(game, round, bought, garnets)
    total = functools.reduce(operator.add, counts.unbind(0))
    reserve = torch.where(reserves > 0, total, torch.where(pays, total, 0))
    flip = torch.where(game.flips_now(round), (bits[:, FLIP] * 4) >> 31, 0)
    return reserve, flip, torch.where(pays, (bits[:, BUY] * 2) >> 31, 0)


def drawn(
    game: GridAdaptation, free: Tensor, counts: Tensor, round: Tensor, reserve: Tensor, bits: Tensor
) -> tuple[Tensor, Tensor]:
    """Return spaces of the four tiles, each as likely, for bits [P, 7, B] and the spaces for the reserve tile, [P, B].

    Returns:
        [P, 4, B] both: the word with the space; and the word's number times `WORD` plus how many free spaces stand
        before it there, or `NOWHERE` for "none".
    """
    words, numbers = free.unbind(0), counts.unbind(0)
    slot = torch.arange(4, device=free.device)[:, None]
    total = functools.reduce(operator.add, numbers)
    tiles = torch.where(slot < torch.where(round == 1, game.first_tiles, 1), total, 0)
    choices = torch.where(slot == RESERVE, reserve[:, None], tiles)
    rank = (bits[:, SLOTS] * (choices + (slot == RESERVE))) >> 31  # with a reserve tile the last choice is "none"
    index, word, left, upto = torch.zeros_like(rank), words[0], rank, numbers[0]
    for place, (other, number) in enumerate(zip(words[1:], numbers[1:], strict=True), start=1):
        later = rank >= upto
        index = torch.where(later, place, index)
        word, left = torch.where(later, other, word), torch.where(later, rank - upto, left)
        upto = upto + number
    return word, torch.where(rank < choices, index * WORD + left, NOWHERE)


def located(game: GridAdaptation, word: Tensor, found: Tensor) -> tuple[Tensor]:
    """Return spaces by their numbers, `game.spaces` for "none"; arguments are those that `drawn` gives."""
    row = (found >> _IN_WORD) * game.grid.rows_a_word
    cell = bit_of_rank(word, found & (WORD - 1)) + row * game.grid.stride
    return (torch.where(found == NOWHERE, game.spaces, cell - rules.quotient(cell, game.grid.stride)),)


def may_pay(game: GridAdaptation, round: Tensor, bought: Tensor, garnets: Tensor) -> Tensor:
    """Return a mask of the players who can pay for the next extra tile: bool [P, B]."""
    return torch.where(round <= game.rounds, garnets, -1) >= rules.price(bought)


# --- the board ----------------------------------------------------------------------------------------------------


def named(game: GridAdaptation, orders: Tensor) -> tuple[Tensor]:
    """Return boards [P, N, B] of the spaces that players name with orders [P, B]."""
    word = _words(game.grid.words, orders.device)
    boards = []
    for slot in range(4):
        place = (orders >> slot * PLACE)[:, None] & NOWHERE
        boards.append(torch.where(place >> _IN_WORD == word, 1 << (place & (WORD - 1)), 0))
    return (functools.reduce(operator.or_, boards),)


@table
def _words(words: int, device: torch.device) -> Tensor:
    """Return the numbers of words, 0 to N - 1: int64 [N, 1]."""
    return torch.arange(words, device=device).unsqueeze(1)


def landing(game: GridAdaptation, tiles: Tensor, own: Tensor) -> tuple[Tensor]:
    """Return the board [N, B] of tiles that come to those of [N, B], of spaces named [P, N, B]."""
    return (rules.landing(game.grid.trim(~tiles), own.unbind(0)),)


def laid(game: GridAdaptation, planes: Tensor, own: Tensor, placed: Tensor, orders: Tensor) -> list[Tensor]:
    """Return tiles, and digits one by one, [N, B] each, with the new tiles on planes [4, N, B]."""
    new = own & placed  # nowhere two players', so that a sum joins them
    digits = [
        plane | (new & _mask(orders >> SEQUENCE, value)[:, None]).sum(0)
        for plane, value in zip(planes[1:].unbind(0), rules.DIGITS, strict=True)
    ]
    return [planes[0] | placed, *digits]


def _mask(sequence: Tensor, value: int) -> Tensor:
    """Return all bits of a word where a sequence has the digit of this value, else none."""
    return -((sequence >> value.bit_length() - 1) & 1)


def lived(game: GridAdaptation, round: Tensor, *planes: Tensor) -> list[Tensor]:
    """Return tiles and digits, [N, B] each, after a generation; in the voting step nothing moves."""
    tiles, digits = rules.generation(game.grid, planes[0], planes[1:])
    moves = torch.where(round <= game.rounds, -1, 0)
    return [(after & moves) | (before & ~moves) for before, after in zip(planes, (tiles, *digits), strict=True)]


def counted(game: GridAdaptation, planes: Tensor) -> tuple[Tensor]:
    """Return tiles, and those with each digit, int64 [4, B], of planes [4, N, B]."""
    return (game.grid.count(planes),)


# --- points -------------------------------------------------------------------------------------------------------


def scored(game: GridAdaptation, counts: Tensor, round: Tensor, public: Tensor, sequence: Tensor) -> tuple[Tensor, ...]:
    """Return public scores [8, B] and what everybody gains, int64 [P, B]: nothing in the voting step."""
    tiles, *ones = counts.unbind(0)
    playing = round <= game.rounds
    earned = torch.stack(rules.bits_matched(tiles, ones))
    gained = sum(
        (torch.where((sequence & value) != 0, one, tiles - one) for value, one in zip(rules.DIGITS, ones, strict=True)),
        torch.zeros_like(sequence),
    )
    return torch.where(playing, earned, public), torch.where(playing, gained, 0)


def rewarded(game: GridAdaptation, scores: Tensor, gained: Tensor) -> tuple[Tensor, ...]:
    """Return points so far and rewards by score, float32 [P, B]: points of the round less the others' mean."""
    points = gained.to(torch.float32)
    return scores + points, points - (points.sum(0) - points) / (game.players - 1)


def rewarded_publicly(
    game: GridAdaptation, scores: Tensor, gained: Tensor, round: Tensor, public: Tensor
) -> tuple[Tensor, ...]:
    """Return points so far, and points of the round less the mean of the eight public scores, float32 [P, B]."""
    points = gained.to(torch.float32)
    mean = torch.where(round <= game.rounds, public.sum(0), 0).to(torch.float32) / 8
    return scores + points, points - mean


# --- the end ------------------------------------------------------------------------------------------------------


def ended(
    game: GridAdaptation, scores: Tensor, round: Tensor, garnets: Tensor, tokens: Tensor, tied: Tensor
) -> tuple[Tensor, ...]:
    """Return the fields after the last round, after the vote, or before the next round.

    Args:
        game: the rules.
        scores: float32 [P, B], after the step.
        round: int64 [B], just played.
        garnets: int64 [P, B], after the step.
        tokens: int64 [P, B].
        tied: bool [P, B].

    Returns:
        Round, garnets, tokens, tied, candidate and terminated. The candidate is -1 also where players have voted, and
        where several have fewest points and nobody votes.
    """
    voting, last = round > game.rounds, round == game.rounds
    tokens = torch.where(last, ending.tokens(scores), tokens)
    garnets = garnets + torch.where(last, ending.earned_garnets(scores), 0)
    least = ending.fewest(scores)
    alone = last & (least.long().sum(0) == 1)
    tied = torch.where(last, least & ~alone, tied)
    to_vote = last & (ending.voters(tied, tokens).long().sum(0) > 0)
    done = voting | (last & ~to_vote)
    seats = torch.arange(game.players, device=round.device)[:, None]
    candidate = torch.where(alone, torch.where(least, seats, 0).sum(0), -1)
    return round + (~done).long(), garnets, tokens, tied & (voting | to_vote), candidate, done


def settled(game: GridAdaptation, done: Tensor, tokens: Tensor, garnets: Tensor, candidate: Tensor) -> tuple[Tensor]:
    """Return rewards by outcome, float32 [P, B], of matches that are over, bool [B]."""
    seats = torch.arange(game.players, device=done.device)[:, None]
    lost = (seats == candidate).long()
    worth = (tokens - lost) + game.garnet_value * (garnets - game.starting_garnets).to(torch.float32)
    return (torch.where(done, worth, 0.0),)


# --- new matches --------------------------------------------------------------------------------------------------


def renewed(game: GridAdaptation, done: Tensor, *fields: Tensor) -> list[Tensor]:
    """Return fields with their first values in matches that are over, int64 [B], 1 or 0."""
    first = first_values(game).values()
    return [torch.where(done == 1, value, field) for value, field in zip(first, fields, strict=True)]
