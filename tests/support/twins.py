"""Positions that differ only in what a seat may not know, and the list of ways in which a seat is told things."""

from __future__ import annotations

import contextlib
import inspect
import json
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from cellgames.agents.language_models.language_model_agent import question
from cellgames.agents.programs import protocol
from cellgames.agents.views import View, Views
from cellgames.envs.core import Game, State
from cellgames.envs.core.drawing import to_svg
from cellgames.envs.grid_adaptation.game import GridAdaptation
from cellgames.envs.toroidal_cup.game import ToroidalCup
from cellgames.web.frames import frame, trial_data
from cellgames.web.views import view_of

Tell = Callable[[Any, Any, int], object]


def _view(game: Game, state: State, player: int) -> View:
    mask = game.legal_actions(state)
    (view,) = Views(game, state, torch.tensor([player]), mask[:, player] if game.info.simultaneous else mask)
    return view


def _protocol(game: Game, state: State, player: int) -> object:
    ready = protocol.Ready(observation="list", names=True)
    return protocol.act(_view(game, state, player), id=1, game=1, seed=0, ready=ready)


def _viewed(game: Game, state: State, player: int) -> object:
    view = game.view(state, player)
    return view and (view.text(), to_svg(view.draw()))


def _trial(game: Game, state: State, player: int) -> object:
    with contextlib.suppress(ValueError):  # nothing to try
        return trial_data(game, state, player)
    return None


WAYS: dict[str, Tell] = {
    "observe": lambda game, state, player: game.observe(state, player).tolist(),
    "infos": lambda game, state, player: {name: x.tolist() for name, x in game.infos(state, player).items()},
    "view_to_string": lambda game, state, player: game.view_to_string(state, player),
    "text_for": lambda game, state, player: game.text_for(state, player),
    "draw_for": lambda game, state, player: to_svg(game.draw_for(state, player)),
    "view": _viewed,
    "action_in_words": lambda game, state, player: game.action_in_words(state, player, 0),
    "question": lambda game, state, player: question(_view(game, state, player)),
    "protocol": _protocol,
    "frame": lambda game, state, player: frame(game, state, viewer=player),
    "trial": _trial,
    "controls": lambda game, state, player: view_of(game).controls(state, player),
}
"""How a seat is told of an unfinished game."""

NOT_TELLING = {"packed_observation", "winning_actions", "why_illegal", "illegal_action", "answers", "draw_annotated"}
"""Methods of games with a seat that answer about legality or serve searches of games without secrets."""


def told(name: str, game: Game, state: State, player: int) -> str:
    """Return what one way tells a seat, as text; chance in trials has dice of its own, made of the seed."""
    if name == "trial":
        state = state.replace(seed=torch.zeros_like(state.seed))
    return json.dumps(WAYS[name](game, state, player), sort_keys=True)


def telling_methods(game: Game) -> set[str]:
    """Return the public methods of a game that take the state and a seat."""
    found = set()
    for name, method in inspect.getmembers(type(game), inspect.isfunction):
        parameters = set(inspect.signature(method).parameters)
        if name[0] != "_" and "state" in parameters and parameters & {"player", "seat", "viewer"}:
            found.add(name)
    return found


def twin(game: Game, state: State, player: int) -> State:
    """Return a position in which all is different that the seat may not know."""
    others = torch.arange(game.info.num_players) != player
    change: dict[str, Tensor] = {"seed": state.seed + 12345}
    if isinstance(game, GridAdaptation):
        counts = ("reserves", "garnets", "bought", "scores", "rewards")
        more = {name: getattr(state, name) + 3 for name in counts}
        more["sequence"] = state.sequence ^ 5  # type: ignore[attr-defined]
        change |= {name: torch.where(others, new, getattr(state, name)) for name, new in more.items()}
    if isinstance(game, ToroidalCup):
        queue = torch.where(state.queue >= 0, (state.queue + 1) % len(game.stamps), state.queue)  # type: ignore[attr-defined]
        queue[:, player, 0] = state.queue[:, player, 0]  # type: ignore[attr-defined]
        change |= {"queue": queue, "pattern": (state.pattern + 1) % len(game.patterns)}  # type: ignore[attr-defined]
    return state.replace(**change)
