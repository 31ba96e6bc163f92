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
    counts = instructions.counted()
    assert counts.keys() == stored["instructions"].keys()
    more = {game: (count, before) for game, before in stored["instructions"].items() if (count := counts[game]) > 0}
    assert more.keys() == counts.keys(), "Callgrind counted nothing"
    assert not {game: pair for game, pair in more.items() if pair[0] > ALLOWED * pair[1]}
