"""Actions chosen by logits: against torch's own distributions, and native code against torch code."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from cellgames.envs import sample_actions
from cellgames.envs.core.choosing import choose, scale_bits
from cellgames.envs.native import without_native


def drawn(seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return logits, a mask and lots, with rows without a legal choice and numbers that are not finite among them."""
    generator = torch.Generator().manual_seed(seed)
    rows, width = (int(torch.randint(1, most, (), generator=generator)) for most in (40, 300))
    logits = torch.randn((rows, width), generator=generator) * 30 * torch.rand((), generator=generator)
    for number, every in ((-torch.inf, 3), (torch.inf, 5), (torch.nan, 7)):
        if seed % every == 0:
            logits[torch.rand((rows, width), generator=generator) < 0.01] = number
    mask = torch.rand((rows, width), generator=generator) < torch.rand((), generator=generator)
    lots = torch.randint(1 << 31, (rows,), generator=generator)
    return logits, mask, lots.where(torch.arange(rows) % 4 > 0, 0)  # the least lot draws the first legal choice, too


@pytest.mark.parametrize("seed", range(80))
def test_native_choices_equal_those_of_torch(seed: int) -> None:
    logits, mask, lots = drawn(seed)
    for given in (lots, None):
        native = choose(logits, mask, given, scale_bits(logits.shape[1]))
        with without_native():
            plain = choose(logits, mask, given, scale_bits(logits.shape[1]))
        assert all(torch.equal(a.nan_to_num(-1), b.nan_to_num(-1)) for a, b in zip(native, plain, strict=True))


def test_choices_are_as_frequent_as_they_are_likely() -> None:
    logits = torch.tensor([0.0, 1.0, -2.0, 5.0, 0.5, -9.0])
    mask = torch.tensor([True, True, True, False, True, True])
    share = logits.masked_fill(~mask, -torch.inf).softmax(0)
    actions, _ = sample_actions(logits.expand(200_000, -1), mask.expand(200_000, -1), torch.Generator().manual_seed(1))
    found = torch.bincount(actions, minlength=6) / len(actions)
    assert ((found - share).abs() <= 4.5 * (share * (1 - share) / len(actions)).sqrt() + 1e-9).all()


@pytest.mark.parametrize(
    ("logits", "mask", "nvec"),
    [
        (torch.zeros(3, 4), torch.ones(3, 5, dtype=torch.bool), None),
        (torch.zeros(3, 4), torch.ones(3, 4), None),
        (torch.zeros(3, 4), torch.ones(3, 4, dtype=torch.bool), (2, 3)),
        (torch.full((3, 4), torch.nan), torch.ones(3, 4, dtype=torch.bool), None),
        (torch.full((3, 4), -torch.inf), torch.ones(3, 4, dtype=torch.bool), None),
    ],
    ids=["another shape", "no flags", "other components", "not a number", "all impossible"],
)
def test_what_cannot_be_chosen_from_is_refused(logits: Tensor, mask: Tensor, nvec: tuple[int, ...] | None) -> None:
    with pytest.raises(ValueError, match="expected logits"):
        sample_actions(logits, mask, torch.Generator(), nvec=nvec)
