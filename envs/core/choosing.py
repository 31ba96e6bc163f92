"""Actions chosen by logits, such as a network's: at random, or the likeliest.

Letters: `B` games, `A` choices of all components of an action, `N` of one component, `K` components.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from cellgames.envs.native import Library, Operator
from cellgames.envs.native.native_library import threads
from cellgames.envs.native.operators import table
from cellgames.utils.errors import InputError, shown

from .chance import random_bits

_LEAST = 126  # powers of two below the likeliest choice from which on a choice is never drawn
_BITS = 24  # of the weight of the likeliest choice
_ROOM = 32  # bits of the sum of weights, which is multiplied by 31 random ones
_GAMES_A_THREAD = 256
_EXP2 = [math.log(2) ** k / math.factorial(k) for k in range(7)]  # series of 2^x, exact to float32 for |x| <= 1/2


def sample_actions(
    logits: Tensor, mask: Tensor, generator: torch.Generator | None, *, nvec: Sequence[int] | None = None
) -> tuple[Tensor, Tensor]:
    """Draw legal actions from the softmax of logits, or take the likeliest.

    The components of an action are drawn independently. A component without a legal choice, as in games that are over,
    counts as if all of it were legal. Choices less likely than 2^-24 times the likeliest are never drawn (with more
    than 256 choices, 2^-32 times their number). No gradient flows through the result.

    Args:
        logits: float [B, A], the choices of one component after those of the other.
        mask: bool [B, A], legal choices, such as `Vector.legal_actions`.
        generator: source of the draws, on any device; None for the likeliest choice, the first of several.
        nvec: choices of each component (`GameInfo.action_nvec`); None for a single component.

    Returns:
        Actions, int64 [B], or [B, K] for several components, and their log-probabilities, float32 [B].

    Raises:
        ValueError: shapes or dtypes that do not fit, or logits among which no legal choice has a finite maximum.
    """
    widths = [logits.shape[-1]] if nvec is None else list(nvec)
    fit = logits.is_floating_point() and logits.ndim == 2 and mask.dtype == torch.bool
    if not fit or logits.shape != mask.shape or sum(widths) != logits.shape[1]:
        got = f"{logits.dtype} {list(logits.shape)} and {mask.dtype} {list(mask.shape)}, nvec {shown(nvec)}"
        raise InputError("logits", f"logits, float [B, {sum(widths)}], and a mask, bool, of their shape", got)
    rows, components = len(logits), len(widths)
    lots: Sequence[Tensor | None] = [None] * components
    if generator is not None:
        lots = random_bits(rows * components, generator, mask.device).view(components, rows).unbind()
    given, actions, logs, start = logits.detach().float(), list[Tensor](), list[Tensor](), 0
    for width, lot in zip(widths, lots, strict=True):
        part, legal = given[:, start : start + width], mask[:, start : start + width]
        chosen, behind, total = choose(part, legal, lot, scale_bits(width))
        logs.append(behind - (total.float() * 2.0 ** -scale_bits(width)).log())
        actions.append(chosen)
        start += width
    log_prob = logs[0] if components == 1 else torch.stack(logs).sum(0)
    if not math.isfinite(float(log_prob.sum())):
        row = int((~log_prob.isfinite()).nonzero()[0])
        values = shown(logits[row].tolist(), 60)
        raise InputError("logits", "logits with a finite maximum among legal choices", f"{values} in row {row}")
    return actions[0] if components == 1 else torch.stack(actions, 1), log_prob


def scale_bits(choices: int) -> int:
    """Return the bits of the largest weight among `choices` choices, few enough that no sum of weights overflows."""
    return min(_BITS, _ROOM - choices.bit_length())


@Operator
def choose(logits: Tensor, mask: Tensor, lots: Tensor | None, bits: int) -> tuple[Tensor, Tensor, Tensor]:
    """Choose one of the legal choices of each row of logits, float32 [B, N]; the mask is bool [B, N].

    Weights are whole numbers, `2^bits` for the likeliest choice (see `scale_bits`), so that their sums are exact in any
    order. Lots are int64 [B], 0 to 2^31 - 1; None takes the likeliest choice.

    Returns:
        The choice, int64 [B]; its logit less the largest, float32 [B]; and the sum of all weights, int64 [B]. A row of
        logits that has no finite maximum gives 0, NaN and 0.
    """
    legal = mask | ~mask.any(1, keepdim=True)
    given = logits.masked_fill(~legal, -torch.inf)
    top = given.amax(1, keepdim=True)
    x = (given - top) * (1 / math.log(2))
    x = torch.where(x > -_LEAST, x, -_LEAST)
    power = (x - 0.5).to(torch.int32)  # the nearest whole number: x is not above 0
    rest = x - power
    series = torch.full_like(x, _EXP2[-1])
    for coefficient in reversed(_EXP2[:-1]):
        series = series * rest + coefficient
    scales = _scales(bits, x.device)
    weights = (series * scales[(power + _LEAST).long()]).long()
    weights = weights.masked_fill(given.isnan().any(1, keepdim=True), 0)
    total = weights.sum(1)
    if lots is None:
        chosen = (given == top).long().argmax(1)
    else:
        chosen = (weights.cumsum(1) <= (lots * total >> 31)[:, None]).sum(1)
    chosen = chosen.masked_fill(total == 0, 0)
    behind = (given.gather(1, chosen[:, None]) - top).squeeze(1)
    return chosen, behind.masked_fill(total == 0, torch.nan), total


@table
def _scales(bits: int, device: torch.device) -> Tensor:
    """Return `2^(bits + power)` by `power + _LEAST`, float32."""
    return torch.tensor([2.0 ** (bits + power) for power in range(-_LEAST, 1)], dtype=torch.float32, device=device)


@choose.native
def _native_choose(
    native: Library, logits: Tensor, mask: Tensor, lots: Tensor | None, bits: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Return `choose`, by `sources/sampling.cpp`."""
    rows, width = logits.shape
    logits, mask = (x if x.stride(1) == 1 or width == 1 else x.contiguous() for x in (logits, mask))
    chosen = torch.empty(rows, dtype=torch.int64, device="cpu")
    behind, total = torch.empty(rows, dtype=torch.float32, device="cpu"), torch.empty_like(chosen)
    numbers = rows, threads(rows, _GAMES_A_THREAD), width, bits
    given = logits.stride(0), mask.stride(0), logits.data_ptr(), mask.data_ptr(), lots
    native.cellgames_choose(*numbers, *given, chosen, behind, total)
    return chosen, behind, total
