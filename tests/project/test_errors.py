"""Errors with fields: their message, copies, and the checks that raise them."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import pytest
from refusals import refused

from cellgames import InputError
from cellgames.utils.errors import check_at_least, check_level, check_one_of, check_share, located


class RecordError(InputError):
    """An error of one kind of file."""


def test_the_message_has_the_fields_that_are_not_empty() -> None:
    whole = InputError("size", "2 to 16", 99, "too large?", "torus-v0")
    assert isinstance(whole, ValueError)
    assert str(whole) == "torus-v0: size: expected 2 to 16, got 99; too large?"
    assert str(InputError("", "a record", "none")) == "expected a record, got none"
    assert str(InputError(Path("a.json"), cause="is it damaged?")) == "a.json: is it damaged?"
    assert InputError("name", "letters", ["\n"]).got == "['\\n']"


@pytest.mark.parametrize("kind", [InputError, RecordError])
def test_an_error_can_be_copied_and_sent(kind: type[InputError]) -> None:
    error = kind("size", "2 to 16", "'x'", "why", "torus-v0")
    for again in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert type(again) is kind
        assert vars(again) == vars(error)


def test_a_place_goes_before_an_error() -> None:
    error = located(RecordError("size", "2 to 16", 1, where="line 3"), "a.json")
    assert type(error) is RecordError
    assert str(error) == "a.json: line 3: size: expected 2 to 16, got 1"
    assert str(located(ValueError("damaged"), "a.json")) == "a.json: damaged"


@pytest.mark.parametrize("given", [{"a": 1, "b": 0}, {"b": float("nan")}])
def test_numbers_below_the_least_are_named(given: dict[str, Any]) -> None:
    with refused("b"):
        check_at_least(1, **given)


def test_shares_levels_and_names_are_checked() -> None:
    check_share(a=0, b=1)
    check_level(0.95)
    check_one_of("kind", "pool", ("self", "pool"))
    with refused("b", "1.5"):
        check_share(a=0.5, b=1.5)
    with refused("level", "1"):
        check_level(1)
    with refused("kind", "['x']"):
        check_one_of("kind", ["x"], ("self", "pool"))
