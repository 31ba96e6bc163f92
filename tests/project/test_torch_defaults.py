"""torch's default dtype and device change no game, no agent and no run of training."""

from __future__ import annotations

import pytest
import torch_defaults


@pytest.mark.slow
@pytest.mark.parametrize("part", torch_defaults.PARTS)
def test_defaults_of_torch_change_nothing(part: str) -> None:
    if part == "adapters":
        for library in ("gymnasium", "pettingzoo", "stable_baselines3", "torchrl"):
            pytest.importorskip(library)
    torch_defaults.check(torch_defaults.__file__, part)
