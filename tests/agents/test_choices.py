"""Distributions over legal actions: what is illegal has no chance, components follow each other."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from cellgames.agents.networks.networks import Choices

NVEC = (3, 2)
LOGITS = torch.tensor([[0.0, 1.0, 2.0, 0.5, -0.5]])
MASK = torch.tensor([[True, False, True, True, True]])


def follow(k: int, before: Tensor) -> Tensor | None:
    """The second component copies the first: 2 goes with 1, 0 with 0."""
    return None if k == 0 else torch.where(before[:, :1] == 2, torch.tensor([[0.0, 5.0]]), torch.tensor([[5.0, 0.0]]))


def test_draws_are_as_frequent_as_likely() -> None:
    logits = torch.tensor([0.0, 1.0, 2.0]).expand(20_000, -1)
    choices = Choices(logits, torch.ones_like(logits, dtype=torch.bool), (3,))
    drawn = choices.sample(torch.Generator().manual_seed(1)).bincount(minlength=3) / 20_000
    assert torch.allclose(drawn, choices.probabilities()[0], atol=0.015)


def test_log_probability_and_entropy_of_one_component_are_those_of_torch() -> None:
    logits = torch.randn(50, 7, generator=torch.Generator().manual_seed(2))
    mask = torch.rand(50, 7, generator=torch.Generator().manual_seed(3)) < 0.7
    mask[:, 0] = True
    known = torch.distributions.Categorical(logits=logits.masked_fill(~mask, -math.inf))
    actions = known.sample()
    log_prob, entropy = Choices(logits, mask, (7,)).evaluate_actions(actions)
    assert torch.allclose(log_prob, known.log_prob(actions), atol=1e-5)
    terms = torch.where(known.probs > 0, -known.probs * known.probs.clamp(min=1e-30).log(), 0.0)
    assert torch.allclose(entropy, terms.sum(1), atol=1e-5)


def test_later_components_depend_on_those_before() -> None:
    choices = Choices(LOGITS, MASK, NVEC, follow)
    first = LOGITS[0, [0, 2]].softmax(0)
    second = (LOGITS[0, 3:] + torch.tensor([0.0, 5.0])).softmax(0)
    log_prob, _ = choices.evaluate_actions(torch.tensor([[2, 1]]))
    assert float(log_prob) == pytest.approx(math.log(first[1] * second[1]), abs=1e-5)
    assert choices.mode().tolist() == [[2, 1]]


def test_an_illegal_action_gets_no_gradient() -> None:
    logits = torch.zeros(1, 3, requires_grad=True)
    log_prob, entropy = Choices(logits, torch.tensor([[True, True, False]]), (3,)).evaluate_actions(torch.tensor([0]))
    (log_prob + entropy).sum().backward()
    assert logits.grad is not None
    assert logits.grad[0, 2] == 0
    assert logits.grad[0, 0] != 0


def test_several_actions_of_a_row_have_the_probabilities_that_each_has_alone() -> None:
    logits = torch.randn(3, 5, generator=torch.Generator().manual_seed(4))
    choices = Choices(logits, MASK.expand(3, -1), NVEC, follow)
    actions = torch.tensor([[0, 0], [2, 1], [2, 0]]).expand(3, -1, -1)
    alone = torch.stack([choices.evaluate_actions(actions[:, number])[0] for number in range(3)], 1)
    assert torch.allclose(choices.log_probs(actions), alone, atol=1e-6)
