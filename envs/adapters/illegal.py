"""Illegal actions in interfaces for a single learner.

Letters: `B` games (envs), `A` actions (mask width), `K` components of an action.
"""

from __future__ import annotations

from typing import Literal

from torch import Tensor

from cellgames.envs.core import Game, State

__all__ = ["Illegal", "check_actions"]

Illegal = Literal["raise", "forfeit"]


def check_actions(
    game: Game, state: State, players: Tensor, mask: Tensor, actions: Tensor, policy: Illegal
) -> tuple[Tensor, dict[int, str]]:
    """Return the actions to play for those of one player in each env, and a text for each env with an illegal one.

    Args:
        game: the rules.
        state: `B` unfinished games.
        players: int64 [B], who acts.
        mask: bool [B, A], of these players.
        actions: integers [B], or [B, K] if an action has K > 1 components.
        policy: "raise", or "forfeit": in games in turns an illegal action loses, where all act at once another
            choice is played.

    Returns:
        The actions and the texts by env. In games in turns an env with a text is not to be played.

    Raises:
        IllegalActionError: an illegal action, by "raise"; a number outside the action space.
        ValueError: the actions have another shape or dtype.
    """
    info, components = game.info, len(game.info.action_nvec)
    shape = (len(state),) if components == 1 else (len(state), components)
    letters, about = ["B", "K"][: len(shape)], ", one of the learner's per env"
    actions = game.check_integers(actions, shape, letters, device=state.device, about=about)
    choices = actions.reshape(len(state), components)
    legal = info.admits(mask, choices)
    if legal.all():
        return actions, {}
    choices = choices.clone()
    faults: dict[int, str] = {}
    for env_id, component in (~legal).nonzero().tolist():
        choice = int(choices[env_id, component])
        error = game.illegal_action(state, env_id, int(players[env_id]), component, choice)
        if policy == "raise" or not 0 <= choice < info.action_nvec[component]:
            raise error
        if info.simultaneous:
            played = game.fallback(component, mask[env_id].split(list(info.action_nvec))[component])
            choices[env_id, component] = played
            text = f"{error}; played {played} instead"
        else:
            text = f"{error}; the game is lost"
        faults[env_id] = f"{faults[env_id]}\n{text}" if env_id in faults else text
    return choices.view(actions.shape), faults
