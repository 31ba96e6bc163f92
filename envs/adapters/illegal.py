"""What interfaces for a single learner do about illegal actions.

Letters: `B` games (envs), `A` actions (mask width), `K` components of an action.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from cellgames.envs.core import Game, State

__all__ = ["Illegal", "check_actions"]

Illegal = Literal["raise", "forfeit"]


def check_actions(
    game: Game, state: State, players: Tensor, mask: Tensor, actions: Tensor, policy: Illegal
) -> tuple[Tensor, dict[int, str]]:
    """What is to be played for the actions of one player in each env.

    Args:
        game: the rules.
        state: `B` unfinished games.
        players: int64 [B], who acts.
        mask: bool [B, A], of these players.
        actions: integers [B], or [B, K] if an action has K > 1 components.
        policy: "raise", or "forfeit": in games in turns an illegal action loses, where all act at once another
            choice is played.

    Returns:
        The actions, and for each env whose action is illegal a text. In games in turns such an env is not to be
        played.

    Raises:
        ValueError: an illegal action, by "raise"; what is no number of the action space.
    """
    info, choices = game.info, _as_choices(game, actions, len(state)).to(state.device)
    legal = info.admits(mask, choices)
    if legal.all():
        return actions, {}
    choices = choices.clone()
    faults: dict[int, str] = {}
    for env_id, component in (~legal).nonzero().tolist():
        choice = int(choices[env_id, component])
        text = _why(game, state, env_id, int(players[env_id]), component, choice)
        if policy == "raise" or not 0 <= choice < info.action_nvec[component]:
            raise ValueError(text)
        if info.simultaneous:
            choices[env_id, component] = played = _fallback(game, mask[env_id], component)
            text = f"{text}; played {played} instead"
        else:
            text = f"{text}; the game is lost"
        faults[env_id] = f"{faults[env_id]}\n{text}" if env_id in faults else text
    return choices.view(actions.shape), faults


def _as_choices(game: Game, actions: Tensor, num_envs: int) -> Tensor:
    """Integers [B] or [B, K] as int64 [B, K], whatever the numbers.

    Raises:
        ValueError: not whole numbers, or another shape.
    """
    components = len(game.info.action_nvec)
    shape = (num_envs,) if components == 1 else (num_envs, components)
    if not isinstance(actions, Tensor):
        raise ValueError(f"{game.id}: actions must be a tensor, got {type(actions).__name__}")
    if actions.dtype.is_floating_point or actions.dtype.is_complex or actions.dtype == torch.bool:
        raise ValueError(f"{game.id}: actions must be integers, got {actions.dtype}")
    if tuple(actions.shape) != shape:
        letters = "[B]" if components == 1 else "[B, K]"
        raise ValueError(
            f"{game.id}: actions must have shape {letters} = {list(shape)}, one of the learner's per env, "
            f"got {list(actions.shape)}"
        )
    return actions.reshape(num_envs, components).long()


def _why(game: Game, state: State, env_id: int, player: int, component: int, choice: int) -> str:
    """Why a choice is illegal, in the core's words."""
    part = f", component {component}" if len(game.info.action_nvec) > 1 else ""
    reason = game.why_illegal(state[env_id], player, component, choice)
    return f"{game.id}: illegal action {choice} of player {game.info.players[player]} in env {env_id}{part}: {reason}"


def _fallback(game: Game, mask: Tensor, component: int) -> int:
    """What is played instead of an illegal choice: what the game says (`Game.forfeit`), or the last legal one.

    Args:
        game: the rules.
        mask: bool [A], of the player.
        component: whose choice it is.
    """
    given = game.forfeit(component)
    if given is not None:
        return given
    return int(mask.split(list(game.info.action_nvec))[component].nonzero()[-1])
