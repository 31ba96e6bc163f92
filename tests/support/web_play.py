"""Games of a person in a real browser, begun without the form and played by the first legal actions."""

from __future__ import annotations

from typing import Any

import pytest
from browser import PHONE, READY, choose

import cellgames

on_a_phone = pytest.mark.parametrize("p", [{"size": PHONE, "touch": True}], indirect=True, ids=["phone"])
"""A test whose page `p` is on a phone."""

with_refusals = pytest.mark.parametrize("p", [{"refusals": True}], indirect=True, ids=["refusals"])
"""A test in which the server refuses something, which the console of `p` reports."""


def open_game(p: Any, site: str, id: str, **wish: Any) -> str:
    """Begin a game against `random` in the first seat, unless the wish says otherwise, and wait for the person's turn.

    Returns:
        The address of the game on the server.
    """
    first = cellgames.make(id).info.players[0]
    made = p.request.post(f"{site}/api/play", data={"game": id, "seat": first, "agents": ["random"], "seed": 5, **wish})
    assert made.status == 201, made.text()
    number = made.json()["view"]["id"]
    p.goto(f"{site}/#/game/{number}")
    p.wait_for_function("(id) => Cellgames.app.game?.view.id === id", arg=number)
    p.wait_for_selector(f"{READY}, .bots:visible")
    return f"{site}/api/play/{number}"


def act(p: Any) -> bool:
    """Play the first legal action and wait until the server has it, unless the game is over: then return False."""
    p.wait_for_selector(READY)
    if p.locator(".game[data-state=done]").count():
        return False
    turn = p.evaluate("() => Cellgames.app.game.view.turn")
    choose(p)
    p.wait_for_function(
        "(turn) => { const { busy, view } = Cellgames.app.game; return !busy && (!view.yours || view.turn > turn); }",
        arg=turn,
    )
    return True
