"""The end of a Cup game: against the rule's words in plain Python, and in whole numbers."""

from __future__ import annotations

from fractions import Fraction

import pytest
import torch
from life_reference import ends, share
from torch import Tensor

from cellgames.envs.toroidal_cup.simulator import FIRST_END, HISTORY, ended, shares


def watched(counts: Tensor, tolerance: float = 1e-12) -> Tensor:
    """Where trajectories [G, W, k], of generations 1 to G, fulfil the rule from generation 243 on: bool [G, W]."""
    found = torch.zeros(counts.shape[:2], dtype=torch.bool)
    percentages = shares(counts)
    for now in range(FIRST_END, len(counts) + 1):
        found[now - 1] = ended(counts[now - 1], percentages[now - HISTORY : now], tolerance)
    return found


def by_the_words(counts: Tensor, tolerance: float = 1e-12) -> Tensor:
    """The same, slowly."""
    found = torch.zeros(counts.shape[:2], dtype=torch.bool)
    for slot, trajectory in enumerate(counts.unbind(1)):
        teams = [[0] * counts.shape[2], *trajectory.tolist()]
        percentages = [share(n) for n in teams]
        for generation in range(1, len(teams)):
            found[generation - 1, slot] = ends(percentages, generation, teams[generation], tolerance)
    return found


def trajectories(generations: int, num_slots: int, teams: int, most: int, seed: int) -> Tensor:
    """Live cells int64 [G, W, k] as games have them: wild at first, then periodic, with a glitch now and then.

    Neighbouring cells of a period are often as close as counts can be, or different counts of the same share.
    """
    generator = torch.Generator().manual_seed(seed)

    def draw(high: int, *shape: int) -> Tensor:
        return torch.randint(high, shape, generator=generator)

    size = draw(most - 8, num_slots, 1, 1) // teams // 4 + 2
    table = (size * torch.rand(num_slots, 1, teams, generator=generator)).long() + draw(3, num_slots, 240, teams)
    table *= torch.tensor([1, 1, 2, 3])[draw(4, num_slots, 240, 1)]  # the same share
    table[:: teams + 2, :, 1:] = 0  # one team alone
    period = torch.tensor([1, 1, 2, 3, 4, 5, 7, 8, 11, 15, 30, 60, 240])[draw(13, num_slots)]
    at = torch.arange(generations)[:, None] % period
    calm = table[torch.arange(num_slots), at]
    wild = draw(most // teams, generations, num_slots, teams)
    counts = torch.where((torch.arange(generations)[:, None] < draw(350, num_slots) - 50)[..., None], wild, calm)
    glitch = torch.rand(generations, num_slots, 1, generator=generator) < 0.002
    counts = (counts + glitch * (draw(3, generations, num_slots, teams) - 1)).clamp(min=0)
    counts[..., 0].clamp_(min=1)  # an empty board would stay empty
    return counts


@pytest.mark.parametrize("tolerance", [1e-12, 1.7e-5])
@pytest.mark.parametrize("teams", [2, 3])
def test_the_end_is_by_the_rules_words(teams: int, tolerance: float) -> None:
    counts = trajectories(480, 12, teams, 60 if tolerance < 1e-6 else 2000, teams)
    expected = by_the_words(counts, tolerance)
    assert torch.equal(watched(counts, tolerance), expected)
    assert 0.02 < expected[FIRST_END - 1 :].double().mean() < 0.98


def constant(*counts: int) -> Tensor:
    return torch.tensor(counts).expand(312, 1, len(counts))


def generations(done: Tensor) -> list[int]:
    """Of one slot, counted from 1."""
    return [generation for generation, now in enumerate(done[:, 0].tolist(), 1) if now]


def test_a_constant_share_is_enough_from_generation_243_on() -> None:
    assert generations(watched(constant(4, 8))) == list(range(243, 313))
    assert generations(watched(constant(5, 0, 0))) == list(range(243, 313))


@pytest.mark.parametrize("counts", [(4, 4), (0, 0), (7, 7, 3), (8, 4, 4), (0, 0, 0)])
def test_level_and_empty_boards_and_a_share_of_half_go_on(counts: tuple[int, ...]) -> None:
    assert generations(watched(constant(*counts))) == []


@pytest.mark.parametrize("first", [1, 100, 242, 243, 244, 264, 265, 300])
def test_the_last_team_with_cells_wins_at_generation_243_at_the_earliest(first: int) -> None:
    """Its share has moved until then."""
    counts = torch.stack((torch.arange(10, 322), torch.full((312,), 9)), 1).unsqueeze(1)
    counts[first - 1 :, 0, 1] = 0
    assert generations(watched(counts)) == list(range(max(first, 243), 313))


def test_shares_are_exact_whatever_torchs_default_type() -> None:
    cells = [(3, 1), (0, 0), (1, 2), (7, 0), (671_089, 5), (9_999_999, 3), (1, 2**40 + 1)]
    exact = [float(Fraction(100 * max(c), sum(c))) if sum(c) else 0.0 for c in cells]
    assert shares(torch.tensor(cells)).tolist() == exact
    before = torch.get_default_dtype()
    try:
        torch.set_default_dtype(torch.float16)
        assert shares(torch.tensor(cells)).tolist() == exact
    finally:
        torch.set_default_dtype(before)
    assert shares(torch.tensor(cells)).dtype == torch.float64
