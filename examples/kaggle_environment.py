"""Games of the suite as an environment of kaggle-environments: games of two in turns whose actions are numbers.

from kaggle_environments import evaluate, make, register
import kaggle_environment
register("cellgames", kaggle_environment.environment)
env = make("cellgames", configuration={"game": "hex-small-v0"})
env.run(["random", my_agent])   # my_agent(observation, configuration) returns one of observation.legal
"""

from __future__ import annotations

import random
from functools import cache
from typing import Any

import torch

import cellgames
from cellgames.envs import Game

_LOST, _DRAWN, _WON = -1, 0, 1

specification = {
    "name": "cellgames",
    "title": "Cellgames",
    "description": "Torus, Hex, Y and other games of cells for two in turns.",
    "version": "1.0.0",
    "agents": [2],
    "configuration": {
        "game": {"description": "Id of the game.", "type": "string", "default": "torus-small-v0"},
        "seed": {"description": "Seed of the game.", "type": "integer", "default": 0},
        "episodeSteps": {"description": "Most steps.", "type": "integer", "default": 10000, "minimum": 1},
    },
    "reward": {"description": "-1 lost, 0 drawn or not over, 1 won.", "enum": [_LOST, _DRAWN, _WON], "default": _DRAWN},
    "observation": {
        "player": {"description": "Seat of the agent.", "type": "integer", "defaults": [0, 1]},
        "moves": {"description": "Actions so far.", "type": "array", "items": {"type": "integer"}, "default": []},
        "legal": {"description": "Legal actions, if it is the agent's turn.", "type": "array", "default": []},
        "position": {"description": "The position as the agent sees it.", "type": "string", "default": ""},
        "text": {"description": "The same in several lines.", "type": "string", "default": ""},
    },
    "action": {"description": "One of the legal actions.", "type": "integer", "minimum": 0, "default": 0},
    "status": {"defaults": ["ACTIVE", "INACTIVE"]},
}


@cache
def _made(id: str) -> Game:
    game = cellgames.make(id)
    info = game.info
    if info.num_players != 2 or info.simultaneous or len(info.action_nvec) > 1:
        raise ValueError(f"expected a game of two in turns whose actions are numbers, got {id}")
    return game


def _position(game: Game, seed: int, moves: list[int]) -> Any:
    """Return the game after some actions, a batch of one."""
    state = game.init(torch.tensor([seed]))
    for action in moves:
        state = game.step(state, torch.tensor([action]))
    return state


def interpreter(state: Any, env: Any) -> Any:
    """Apply the action of the agent whose turn it is, and tell both what they see."""
    game, moves = _made(env.configuration.game), list(state[0].observation.moves)
    position = _position(game, env.configuration.seed, moves)
    if not env.done:
        mover = int(position.current_player)
        action = state[mover].action
        if state[mover].status == "ACTIVE" and not (
            action in range(game.info.num_actions) and game.legal_actions(position)[0, action]
        ):
            state[mover].status = "INVALID"
        if state[mover].status != "ACTIVE":  # an error, a time-out or an illegal action
            state[1 - mover].status, state[1 - mover].reward = "DONE", _WON
            return state
        moves.append(action)
        position = game.step(position, torch.tensor([action]))
    over, outcome = bool(position.done), game.outcome(position)[0].tolist()
    for seat, agent in enumerate(state):
        turn = not over and int(position.current_player) == seat
        agent.status = "DONE" if over else "ACTIVE" if turn else "INACTIVE"
        agent.reward = outcome[seat] if over else _DRAWN
        seen = agent.observation
        seen.moves, seen.legal = moves, game.legal_actions(position)[0].nonzero().flatten().tolist() if turn else []
        seen.position, seen.text = game.view_to_string(position, seat), game.text_for(position, seat)
    return state


def renderer(state: Any, env: Any) -> str:
    """Return the position as text."""
    return str(state[0].observation.text)


def html_renderer() -> str:
    """Return a player in JavaScript that shows the text of each step."""
    return (
        "function renderer({parent, environment, step}) {\n"
        "  parent.innerHTML = '<pre style=\"font: 14px monospace\"></pre>';\n"
        "  parent.firstChild.textContent = environment.steps[step][0].observation.text;\n"
        "}\n"
    )


def random_agent(observation: Any, configuration: Any) -> int:
    """Choose any legal action."""
    return random.choice(observation.legal)


environment = {
    "specification": specification,
    "interpreter": interpreter,
    "renderer": renderer,
    "html_renderer": html_renderer,
    "agents": {"random": random_agent},
}
"""As `kaggle_environments.register` takes it."""
