"""Prompts: a game and a position in words, for language models, and their answers read strictly."""

from __future__ import annotations

import json
import re

import torch

from cellgames.agents.views import View
from cellgames.envs.core import Game, State
from cellgames.envs.registry import plugin_of
from cellgames.utils.foreign_text import shown

ANSWER = (
    "Think as long as you need, but keep it short. The last line of your answer must be MOVE: and the name of your "
    "move, such as\nMOVE: {example}\nNothing may follow it. A move that is not legal is not played."
)

_MOST_MOVES = 400
_LINE = re.compile(r"MOVE: *([!-~]{1,200})")


class MoveError(ValueError):
    """An answer that is no legal move; the message says what was expected."""


def rules_text(game: Game) -> str:
    """Return the rules, the parameters, how to read a position and how to name a move, in paragraphs."""
    plugin = plugin_of(game)
    prompt, page = plugin.prompt, plugin.page
    paragraphs = [f"The game is {game.info.title} ({game.id}). Its players are {', '.join(game.info.players)}."]
    paragraphs += prompt.rules if prompt is not None else page.rules if page is not None else ()
    paragraphs.append(f"Parameters of this game: {json.dumps(dict(game.parameters))}.")
    if prompt is not None:
        paragraphs += [f"Positions: {prompt.position}", f"Moves: {prompt.moves}"]
    return "\n\n".join(paragraphs)


def position_text(game: Game, state: State, player: int) -> str:
    """Return the text of a position as a player observes it, in several lines; the state is a batch of one."""
    return f"{game.text_for(state, player)}\nIn one line: {game.view_to_string(state, player)}"


def legal_moves(view: View) -> str:
    """Return the legal moves by name; of more than `_MOST_MOVES` only some, spread evenly.

    Where an action has several components, the legal choices of each are listed.
    """
    game, legal = view.game, view.legal
    if len(legal) == 1:
        return f"Legal moves ({len(legal[0])}): {_names(view, 0, _MOST_MOVES)}"
    lines = ["A move has several parts. The legal choices of each part, by itself:"]
    lines += [f"  part {part + 1}: {_names(view, part, _MOST_MOVES // 2)}" for part in range(len(legal))]
    example = torch.stack([part.int().argmax() for part in view.mask.split(list(game.info.action_nvec))]).tolist()
    return "\n".join([*lines, f"The first choice of every part gives the move {_name(game, example)}"])


def question(view: View, *, hidden: bool = False) -> str:
    """Return the question for a move; `hidden` leaves out the legal moves."""
    name = view.game.info.players[view.player]
    return "\n\n".join(
        [
            f"You are {name}. {view.turn} {'step has' if view.turn == 1 else 'steps have'} been played.",
            position_text(view.game, view.state, view.player),
            *([] if hidden else [legal_moves(view)]),
            ANSWER.format(example=_example(view, hidden)),
        ]
    )


def read_answer(text: str, view: View, *, hidden: bool = False) -> list[int]:
    """Return the action in the last line of an answer, a choice for each component, or raise a `MoveError`."""
    last = text.strip().rpartition("\n")[2].strip()
    if (match := _LINE.fullmatch(last)) is None:
        raise MoveError(f"expected a last line such as MOVE: {_example(view, hidden)}, got {shown(last)}")
    return read_move(match[1], view)


def read_move(name: str, view: View) -> list[int]:
    """Return the legal action with this name, a choice for each component, or raise a `MoveError`."""
    game = view.game
    try:
        choices = game.info.unravel_action(game.string_to_action(name))
    except ValueError as error:
        raise MoveError(str(error)) from None
    for part, (choice, legal) in enumerate(zip(choices, view.legal, strict=True)):
        if choice not in legal:
            raise MoveError(game.why_illegal(view.state, view.player, part, choice))
    return choices


def _name(game: Game, choices: list[int]) -> str:
    return game.action_to_string(game.info.ravel_action(choices))


def _example(view: View, hidden: bool) -> str:
    return "NAME" if hidden else _name(view.game, [choices[0] for choices in view.legal])


def _names(view: View, part: int, most: int) -> str:
    legal = view.legal[part]
    some = legal if len(legal) <= most else [legal[index * len(legal) // most] for index in range(most)]
    names = " ".join(view.game.choice_to_string(part, choice) for choice in some)
    return names if len(some) == len(legal) else f"{names}\n({len(legal)} in all; these are {most} of them)"
