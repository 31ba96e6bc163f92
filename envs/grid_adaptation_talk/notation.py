"""Words in the text of actions and positions.

An action may end in the words that are said: `none/say:5` in public, `none/say:5,0,2` in private, a word for each other
player in the order of seats.

The line of a position ends in `said:1,0,5/2,2,8`: talk steps with `/` between them, the words of all seats with commas
between them. In private each seat has a word for each other seat, in their order, with dots between them:
`said:1.0,0.0,5.2`. `-` stands for no talk step yet. With `scramble` or `mute` a list `heard` of the same form follows:
the words as they arrived, by the sender from whom they seemed to come.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from cellgames.envs.core.info import ravel, unravel
from cellgames.envs.grid_adaptation import notation
from cellgames.envs.grid_adaptation.notation import HIDDEN

from .state import BASE, TalkState

if TYPE_CHECKING:
    from .game import GridAdaptationTalk

SAY = "/say:"
"""The text between the base game's part of an action and the words."""

_FIELDS = ("said", "heard")


def action_to_string(action: int, nvec: Sequence[int]) -> str:
    """Return an action's name; the arguments are those of the base game's function."""
    base, *said = unravel(action, (0, *nvec[BASE:]))
    text = notation.action_to_string(base, nvec[:BASE])
    return f"{text}{SAY}{','.join(map(str, said))}" if any(said) else text


def string_to_words(text: str, counts: Sequence[int]) -> int | None:
    """Return words such as `5,0,2`, of `counts` choices each, as a number, the last varying fastest; else None."""
    said = text.split(",")
    if len(said) != len(counts) or any(x not in map(str, range(n)) for x, n in zip(said, counts, strict=True)):
        return None
    return ravel(list(map(int, said)), counts) or None  # silence is written by no words


def word_to_string(word: int, place: int, places: int) -> str:
    """Return a word by itself: `say:5`; in private `say:5@2`, to the second other player; `none` for silence."""
    receiver = f"@{place + 1}" if places > 1 else ""
    return f"say:{word}{receiver}" if word else "none"


def to_text(game: GridAdaptationTalk, state: TalkState, player: int | None = None) -> str:
    """Return the words of the first match, such as ` said:1,0,5/2,2,8`; `?` for those unknown to `player`."""
    played, altered = int(state.talks[0]), state.heard.shape[1] > 0
    lists = {"said": state.said[0, :played]} | ({"heard": state.heard[0, :played]} if altered else {})
    parts = []
    for name, field in lists.items():
        known = _known(game, name, player, altered)
        text = field.numpy(force=True).astype(str).astype(object)
        parts.append(f" {name}:{_listed(np.where(known, text, HIDDEN)) or '-'}")
    return "".join(parts)


def _known(game: GridAdaptationTalk, name: str, player: int | None, altered: bool) -> npt.NDArray[np.bool_]:
    """Return a mask of the words of a talk step that a player knows, bool [P, R]."""
    shape = game.players, game.places
    if player is None:
        return np.ones(shape, dtype=np.bool_)
    known, others = np.zeros(shape, dtype=np.bool_), [seat for seat in range(game.players) if seat != player]
    if name == "said":
        known[player] = True
    if name == "heard" or not altered:
        known[others, [player - (player > seat) for seat in others] if game.talk == "private" else 0] = True
    return known


def _listed(steps: npt.NDArray[Any]) -> str:
    return "/".join(",".join(".".join(seat) for seat in step) for step in steps.tolist())


def split(game: GridAdaptationTalk, text: str) -> tuple[str, list[Tensor]] | None:
    """Return the base game's part of a line, and the words in it, int8 [T, P, R]: said, and heard if altered.

    None if the words are missing, or not those of such a game.
    """
    names = _FIELDS if game.scramble or game.mute else _FIELDS[:1]
    parts = text.split()
    base, given = parts[: -len(names)], parts[-len(names) :]
    found = []
    for name, part in zip(names, given, strict=False):
        field = _parsed(game, part.removeprefix(f"{name}:")) if part.startswith(f"{name}:") else None
        if field is None:
            return None
        found.append(field)
    if len(found) < len(names) or len({len(field) for field in found}) > 1:
        return None
    return " ".join(base), found


def _parsed(game: GridAdaptationTalk, text: str) -> Tensor | None:
    """Return the words of a list, int8 [T, P, R]."""
    shape = game.players, game.places
    cut: Callable[[str, str], list[str]] = str.split
    steps = [[cut(seat, ".") for seat in cut(step, ",")] for step in cut(text, "/")] if text != "-" else []
    if any(len(step) != shape[0] or any(len(seat) != shape[1] for seat in step) for step in steps):
        return None
    flat = [word for step in steps for seat in step for word in seat]
    if len(steps) > game.talks or any(word not in map(str, range(game.words + 1)) for word in set(flat)):
        return None
    return torch.tensor(list(map(int, flat)), dtype=torch.int8, device="cpu").view(-1, *shape)


def with_words(game: GridAdaptationTalk, state: TalkState, played: list[Tensor]) -> TalkState:
    """Return one match with the words that `split` has found."""
    fields = {name: getattr(state, name).clone() for name in _FIELDS}
    for name, steps in zip(_FIELDS, played, strict=False):
        fields[name][0, : len(steps)] = steps
    return state.replace(talks=torch.full_like(state.talks, len(played[0])), **fields)
