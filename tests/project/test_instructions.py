"""Native code needs no more instructions for a game's step than it did."""

from __future__ import annotations

import json

import instructions
import pytest

ALLOWED = 1.05


@pytest.mark.slow
@pytest.mark.skipif(not instructions.found(), reason="needs valgrind with Callgrind")
def test_native_code_needs_no_more_instructions_than_before() -> None:
    stored = json.loads(instructions.STORED.read_text(encoding="utf-8"))
    if stored["compiler"] != instructions.compiler():
        pytest.skip(f"stored counts are those of {stored['compiler']}")
    try:
        counts, before = instructions.counted(), stored["instructions"]
    except RuntimeError as error:  # its control did not reach it
        pytest.skip(str(error))
    assert counts.keys() == before.keys()
    assert not {game: (count, before[game]) for game, count in counts.items() if count > ALLOWED * before[game]}
