"""Advantages when players take turns: by hand, and against a slow reference that follows one seat at a time."""

from __future__ import annotations

import pytest
import torch

from cellgames.training.selfplay.updates import Estimates, estimate


def column(*values: float) -> torch.Tensor:
    return torch.tensor(values)[:, None]


def one_game(
    values: list[float],
    rewards: list[list[float]],
    players: list[int],
    done: list[bool],
    gamma: float = 1.0,
    gae_lambda: float = 1.0,
) -> Estimates:
    return estimate(
        column(*values),
        torch.tensor(rewards)[:, None],
        torch.tensor(players)[:, None],
        torch.tensor(done)[:, None],
        gamma=gamma,
        gae_lambda=gae_lambda,
    )


def test_the_result_reaches_both_players_through_the_others_move() -> None:
    """Black, White, Black wins: White's last move is paid for by a step that it did not make."""
    found = one_game([0.2, 0.1, 0.4], [[0, 0], [0, 0], [1, -1]], [0, 1, 0], [False, False, True])
    assert found.target[:, 0].tolist() == pytest.approx([1, -1, 1])
    assert found.advantage[:, 0].tolist() == pytest.approx([0.8, -1.1, 0.6])
    assert found.known.all()


def slowly(
    value: torch.Tensor, reward: torch.Tensor, player: torch.Tensor, done: torch.Tensor, gamma: float, gae_lambda: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """For each game and seat the list of its actions, and returns out of all n-step returns, weighted by lambda."""
    steps, rows, seats = reward.shape
    target, known = value.clone(), torch.zeros_like(done)
    for row in range(rows):
        for seat in range(seats):
            start = 0
            for end in [t for t in range(steps) if done[t, row]] + [steps]:
                span = range(start, min(end + 1, steps))
                acts = [t for t in span if player[t, row] == seat]
                finished = end < steps
                paid = [
                    float(reward[t : (acts[i + 1] if i + 1 < len(acts) else span.stop), row, seat].sum())
                    for i, t in enumerate(acts)
                ]
                last = len(acts) if finished else len(acts) - 1
                for i in range(last):
                    result, weight, total = 0.0, 1.0, 0.0
                    for n in range(i, last):
                        total += gamma ** (n - i) * paid[n]
                        ends = finished and n == len(acts) - 1
                        after = 0.0 if ends else float(value[acts[n + 1], row])
                        share = weight if n == last - 1 else weight * (1 - gae_lambda)
                        result += share * (total + gamma ** (n - i + 1) * after)
                        weight *= gae_lambda
                    target[acts[i], row] = result
                    known[acts[i], row] = True
                start = end + 1
    return target, known


@pytest.mark.parametrize(("gamma", "gae_lambda"), [(1.0, 0.95), (0.9, 0.5), (1.0, 1.0), (0.8, 0.0)])
@pytest.mark.parametrize("seats", [1, 2, 3])
def test_it_is_the_mean_of_all_n_step_returns(seats: int, gamma: float, gae_lambda: float) -> None:
    generator = torch.Generator().manual_seed(seats)
    shape = (17, 6)
    value = torch.rand(shape, generator=generator)
    reward = torch.randn(*shape, seats, generator=generator)
    player = torch.randint(seats, shape, generator=generator)
    done = torch.rand(shape, generator=generator) < 0.15
    found = estimate(value, reward, player, done, gamma=gamma, gae_lambda=gae_lambda)
    target, known = slowly(value, reward, player, done, gamma, gae_lambda)
    assert torch.equal(found.known, known)
    assert torch.allclose(found.target[known], target[known], atol=1e-4)
    assert found.advantage[~known].eq(0).all()
