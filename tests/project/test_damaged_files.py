"""Checkpoints with a turned bit, a lost end or a block of zeros: refused in a line, and never believed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from arena_runs import EXTRAS, block
from damage import damaged
from torch_defaults import digest
from training_runs import tiny

from cellgames.training import RunError, train
from cellgames.training.runs import checkpoints

CPU = torch.device("cpu")


def test_checkpoints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    block(monkeypatch, *EXTRAS)
    arguments = tiny(total_steps=128, eval_every=100)
    train(arguments, tmp_path)

    steps = checkpoints.steps_kept(tmp_path)

    def read() -> str:
        assert checkpoints.steps_kept(tmp_path) in (0, steps), "torch alone would read other numbers without a word"
        saved = checkpoints.read(tmp_path, arguments, CPU)
        assert saved is not None
        return digest([vars(saved[0]), saved[2]])

    check_damages(tmp_path / checkpoints.CHECKPOINT, read, RunError)


def check_damages(path: Path, read: Callable[[], Any], refusal: type[Exception]) -> None:
    content, whole, refusals = path.read_bytes(), read(), []
    for seed in range(100):
        path.write_bytes(damaged(content, seed))
        try:
            assert read() == whole
        except refusal as error:
            refusals.append(str(error))
    assert refusals
    assert all(text.isprintable() for text in refusals), "expected one line"
