"""Distributions over legal actions, from a network's logits.

Letters: `L` rows (games that wait), `A` actions (mask width, the sum over the action's components), `K` components.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from cellgames.envs.core.choosing import sample_actions
from cellgames.utils.errors import InputError

Relation = Callable[[int, Tensor], Tensor | None]
"""Influence of earlier components on a later one: (k, int64 [L, k] chosen so far) -> logits to add, [L, nvec[k]].

There may be several choices for each row: int64 [L * C, k], those of the first row first.
"""


class Choices:
    """A distribution over the legal actions of `L` games; components are chosen one after the other.

    Args:
        logits: float [L, A], components one after the other.
        mask: bool [L, A]; illegal choices have probability zero. A component of which nothing is legal, as in
            finished games, counts as if all of it were.
        nvec: choices of each component.
        relation: see `Relation`; without one the components are independent.

    Attributes:
        share: choices less likely than this share of the likeliest one's probability have probability zero.
    """

    def __init__(self, logits: Tensor, mask: Tensor, nvec: Sequence[int], relation: Relation | None = None) -> None:
        self.share = 0.0
        self._all, self._mask, self._nvec = logits.float(), mask, list(nvec)
        self._parts: tuple[Tensor, ...] = self._all.split(self._nvec, 1)
        self._masks: tuple[Tensor, ...] = mask.split(self._nvec, 1)
        self._relation = relation

    def sample(self, generator: torch.Generator) -> Tensor:
        """Draw actions: int64 [L], or [L, K]; the generator is consumed."""
        return self._choose(lambda logits: logits + gumbel(logits, generator))

    def sample_with_log_prob(self, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Draw actions, int64 [L] or [L, K], and return their log-probabilities, too, float32 [L], without gradients.

        Of independent components it is many times as fast as `sample` and draws others (`envs.sample_actions`).
        """
        if self._relation is None:
            return sample_actions(self._all, self._mask, generator, nvec=self._nvec)
        actions = self.sample(generator)
        return actions, self.evaluate_actions(actions)[0]

    def mode(self) -> Tensor:
        """Return the likeliest choice of each component, given those before: int64 [L], or [L, K]."""
        return self._choose(lambda logits: logits)

    def evaluate_actions(self, actions: Tensor) -> tuple[Tensor, Tensor]:
        """Return the log-probability of actions and the entropy of the policy, float [L] both.

        With a relation the entropy is that of each component given the choices before it, as they are in `actions`.
        """
        chosen = actions.view(len(actions), -1)
        log_prob, entropy = [], []
        for k in range(len(self._parts)):
            logs = self._logits(k, chosen[:, :k]).log_softmax(1)
            log_prob.append(logs.gather(1, chosen[:, k : k + 1]).squeeze(1))
            entropy.append(-(logs.exp() * logs).sum(1))
        return torch.stack(log_prob).sum(0), torch.stack(entropy).sum(0)

    def log_probs(self, actions: Tensor) -> Tensor:
        """Return the log-probabilities of several actions in each row: int64 [L, C, K] to float [L, C]."""
        rows, count, components = actions.shape
        found = torch.zeros((rows, count), dtype=torch.float32, device=actions.device)
        for k in range(components):
            chosen = actions[:, :, k]
            more = self._relation(k, actions[:, :, :k].flatten(0, 1)) if self._relation is not None else None
            if more is None:
                logs = self._parts[k].masked_fill(~self._masks[k], -1e9).log_softmax(1)
                found = found + logs.gather(1, chosen)
            else:
                logits = self._parts[k][:, None] + more.unflatten(0, (rows, count))
                logs = logits.masked_fill(~self._masks[k][:, None], -1e9).log_softmax(2)
                found = found + logs.gather(2, chosen[:, :, None]).squeeze(2)
        return found

    def probabilities(self) -> Tensor:
        """Return the probabilities of actions, float [L, A]; a `ValueError` if they have several components."""
        if len(self._parts) > 1:
            raise InputError("action", "one component", len(self._parts), "evaluate_actions() takes several")
        return self._logits(0, self._masks[0].new_empty((len(self._masks[0]), 0), dtype=torch.int64)).softmax(1)

    def _choose(self, wish: Callable[[Tensor], Tensor]) -> Tensor:
        chosen = self._parts[0].new_empty((len(self._parts[0]), 0), dtype=torch.int64)
        for k in range(len(self._parts)):
            chosen = torch.cat((chosen, wish(self._logits(k, chosen)).argmax(1, keepdim=True)), 1)
        return chosen.squeeze(1) if len(self._parts) == 1 else chosen

    def _logits(self, k: int, before: Tensor) -> Tensor:
        """Return the logits of component k, far below all others where a choice is not legal."""
        logits = self._parts[k]
        if self._relation is not None and (more := self._relation(k, before)) is not None:
            logits = logits + more
        # Finite, so that a probability of zero has an entropy of zero and no gradient; exp() of it is exactly 0.
        logits = logits.masked_fill(~self._masks[k], -1e9)
        if self.share > 0:
            logits = logits.masked_fill(logits < logits.amax(1, keepdim=True) + math.log(self.share), -1e9)
        return logits


def gumbel(like: Tensor, generator: torch.Generator) -> Tensor:
    """Return noise whose maximum with logits is a draw from their softmax."""
    uniform = torch.rand(like.shape, generator=generator, device=generator.device, dtype=torch.float32).to(like.device)
    return -(-uniform.clamp(min=1e-20).log()).clamp(min=1e-20).log()
