"""Words in the text of actions and positions.

An action may end in the words that are said: `none/say:5` in public, `none/say:5,0,2` in private, a word for each other
player in the order of seats.

The line of a position ends in `said:1,0,5/2,2,8`: talk steps with `/` between them, the words of all seats with commas
between them. In private each seat has a word for each other seat, in their order, with dots between them:
`said:1.0,0.0,5.2`. `-` stands for no talk step yet. With `scramble` or `mute` a list `heard` of the same form follows:
the words as they arrived, by the sender from whom they seemed to come.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

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


def to_text(game: GridAdaptationTalk, state: TalkState, player: int | None = None) -> str:
    """Return the words of the first match, such as ` said:1,0,5/2,2,8`; `?` for those unknown to `player`."""
    played, altered = int(state.talks[0]), state.heard.shape[1] > 0
    lists = {"said": state.said[0, :played]} | ({"heard": state.heard[0, :played]} if altered else {})
    parts = []
    for name, field in lists.items():
        text = np.where(known(game, name, player, altered), field.numpy(force=True).astype(str).astype(object), HIDDEN)
        steps = "/".join(",".join(".".join(seat) for seat in step) for step in text.tolist())
        parts.append(f" {name}:{steps or '-'}")
    return "".join(parts)


def known(game: GridAdaptationTalk, name: str, player: int | None, altered: bool) -> npt.NDArray[np.bool_]:
    """Return a mask of the words of a talk step, "said" or "heard", that a player or a spectator knows, bool [P, R]."""
    found = np.full((game.players, game.places), player is None)
    if name == "said" and player is not None:
        found[player] = True
    if (name == "heard" or not altered) and player is not None:
        others = [seat for seat in range(game.players) if seat != player]
        found[others, [player - (player > seat) for seat in others] if game.talk == "private" else 0] = True
    return found


def split(game: GridAdaptationTalk, text: str) -> tuple[str, list[Tensor]] | None:
    """Return the base game's part of a line, and the words in it, int8 [T, P, R]: said, and heard if altered.

    None if the words are missing, or not those of such a game.
    """
    names = _FIELDS if game.scramble or game.mute else _FIELDS[:1]
    line = re.fullmatch("(.*)" + "".join(rf" {name}:(\S+)" for name in names), " ".join(text.split()))
    base, *lists = line.groups() if line else [""]
    found = [field for field in (_parsed(game, part) for part in lists) if field is not None]
    return (base, found) if len(found) == len(names) and len({*map(len, found)}) == 1 else None


def _parsed(game: GridAdaptationTalk, text: str) -> Tensor | None:
    """Return the words of a list, int8 [T, P, R]."""
    shape, known_words = (game.players, game.places), {str(word) for word in range(game.words + 1)}
    steps = [[seat.split(".") for seat in step.split(",")] for step in text.split("/")] if text != "-" else []
    if len(steps) > game.talks or any([*map(len, step)] != [shape[1]] * shape[0] for step in steps):
        return None
    flat = [word for step in steps for seat in step for word in seat]
    if not known_words.issuperset(flat):
        return None
    return torch.tensor(list(map(int, flat)), dtype=torch.int8, device="cpu").view(-1, *shape)


def with_words(game: GridAdaptationTalk, state: TalkState, played: list[Tensor]) -> TalkState:
    """Return one match with the words that `split` has found."""
    fields = {name: getattr(state, name).clone() for name in _FIELDS}
    for name, steps in zip(_FIELDS, played, strict=False):
        fields[name][0, : len(steps)] = steps
    return state.replace(talks=torch.full_like(state.talks, len(played[0])), **fields)
