"""Agents by name: `load("rollout:64")`, and anyone's own by import path. Importing this imports no torch."""

from __future__ import annotations

import difflib
import importlib
import inspect
import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cellgames.envs.core import Game

    from .base import AnyAgent

__all__ = [
    "AGENTS",
    "GREEDY",
    "IMAGINED",
    "NETWORKS",
    "PLAYOUTS",
    "PRIORS",
    "RANDOM",
    "ROLLOUT",
    "WEIGHTS_FILE",
    "WEIGHTS_SUFFIX",
    "AgentSpec",
    "load",
    "weights_path",
]

GREEDY: dict[str, str] = {
    "torus-v0": "cellgames.agents.torus.greedy:TorusGreedy",
    "toroidal-cup-v0": "cellgames.agents.toroidal_cup.greedy:ToroidalCupGreedy",
    "cloth-of-gold-v0": "cellgames.agents.cloth_of_gold.greedy:ClothGreedy",
    "grid-adaptation-v0": "cellgames.agents.grid_adaptation.greedy:GridGreedy",
}
"""The agent that `greedy` is, by a game's id; a game gets one by a line here."""

RANDOM: dict[str, str] = {"cloth-of-gold-v0": "cellgames.agents.cloth_of_gold.turns:ClothRandom"}
"""The agent that `random` is in games whose turns are several actions, so that equal chances make no turns."""

ROLLOUT: dict[str, str] = {
    "cloth-of-gold-v0": "cellgames.agents.cloth_of_gold.rollout:ClothRollout",
    "grid-adaptation-v0": "cellgames.agents.grid_adaptation.rollout:GridRollout",
}
"""The agent that `rollout:N` is where it is the game's own; made with the number of playouts."""

PLAYOUTS: dict[str, str] = {"cloth-of-gold-v0": "cellgames.agents.cloth_of_gold.rollout:finish_turns"}
"""What finishes games where random actions make no turns, by a game's id; takes what `playouts.finish` takes."""

PRIORS: dict[str, str] = {"cloth-of-gold-v0": "cellgames.agents.cloth_of_gold.rollout:unit_prior"}
"""What says which of thousands of actions a tree search should try, by a game's id, where no network does.

A function of the game, `X` states and a generator to logits, float [X, A].
"""

IMAGINED: dict[str, str] = {"toroidal-cup-v0": "cellgames.agents.toroidal_cup.imagined:imagine"}
"""What makes a position out of an observation in a simultaneous game, by its id, so that playouts can start there.

A function of the game, observations [L, ...] and the seats that see them, int64 [L], to a state of `L` games that look
to those seats exactly like that; what they do not see is guessed.
"""

NETWORKS: dict[str, dict[str, str]] = {
    "policy": {
        "torus-v0": "cellgames.agents.torus.network:TorusNetwork",
        "grid-adaptation-v0": "cellgames.agents.grid_adaptation.network:GridNetwork",
        "toroidal-cup-v0": "cellgames.agents.toroidal_cup.network:CupNetwork",
        "cloth-of-gold-v0": "cellgames.agents.cloth_of_gold.network:ClothNetwork",
    },
    "turns": {"cloth-of-gold-v0": "cellgames.agents.cloth_of_gold.values:ClothValues"},
}
"""Networks by kind and by a game's id: classes of a game and a `networks.Size`.

A `policy` says what to do, and every game without one gets a flat one; `turns` evaluate positions after whole turns.
"""

WEIGHTS_SUFFIX = ".safetensors"
"""A spec that ends so is the path of a file by `saved.save_network`."""

WEIGHTS_FILE = f"agent{WEIGHTS_SUFFIX}"
"""The agent in the folder of a run of training."""

_IMPORT_PATH = re.compile(r"([A-Za-z_][\w.]*):([A-Za-z_]\w*)(?::(.*))?", re.DOTALL)


@dataclass(frozen=True)
class AgentSpec:
    """A known agent.

    Attributes:
        usage: the spec with its argument, for help texts.
        summary: one line.
        make: gets the text after the colon, or None without one.
    """

    usage: str
    summary: str
    make: Callable[[str | None], AnyAgent]


def _random(argument: str | None) -> AnyAgent:
    from .by_game import ByGame
    from .random_agent import RandomAgent

    _expect_no_argument("random", argument)
    return ByGame("random", RANDOM, default=RandomAgent)


def _greedy(argument: str | None) -> AnyAgent:
    from .by_game import ByGame

    _expect_no_argument("greedy", argument)
    return ByGame("greedy", GREEDY)


def _rollout(argument: str | None) -> AnyAgent:
    from cellgames.agents.playouts.rollout_agent import RolloutAgent

    from .by_game import ByGame

    playouts = _playouts("rollout", argument)
    return ByGame("rollout", ROLLOUT, lambda kind: kind(playouts), lambda: RolloutAgent(playouts))


def _amaf(argument: str | None) -> AnyAgent:
    from cellgames.agents.playouts.amaf import AmafAgent

    return AmafAgent(_playouts("amaf", argument))


def _trained(argument: str | None) -> AnyAgent:
    from cellgames.agents.networks.trained import trained

    _expect_no_argument("trained", argument)
    return trained()


def _mcts(argument: str | None) -> AnyAgent:
    from cellgames.agents.search.search_agent import SearchAgent
    from cellgames.agents.search.uct import UCTSearch

    simulations = _playouts("mcts", argument)
    return SearchAgent(f"mcts:{simulations}", lambda game: UCTSearch(game, simulations))


def _gumbel(argument: str | None) -> AnyAgent:
    from cellgames.agents.networks.trained import search_network
    from cellgames.agents.search.evaluators import NetworkEvaluator
    from cellgames.agents.search.gumbel import GumbelSearch
    from cellgames.agents.search.search_agent import SearchAgent

    number, colon, text = (argument or "").partition(":")
    simulations, path = _playouts("gumbel", number or None), Path(text) if colon else None
    return SearchAgent(
        f"gumbel:{simulations}",
        lambda game: GumbelSearch(game, NetworkEvaluator(search_network(game, path)), simulations),
    )


def _perfect(argument: str | None) -> AnyAgent:
    from cellgames.agents.torus.perfect import TorusPerfect

    _expect_no_argument("perfect", argument)
    return TorusPerfect()


def _playouts(name: str, argument: str | None) -> int:
    if argument is None or re.fullmatch(r"[1-9][0-9]{0,8}", argument) is None:
        got = "nothing" if argument is None else repr(argument)
        raise ValueError(f"{name}:N needs a number of playouts a move for N, such as {name}:64; got {got}")
    return int(argument)


def _expect_no_argument(name: str, argument: str | None) -> None:
    if argument is not None:
        raise ValueError(f"agent {name!r} takes nothing after its name, got {argument!r}")


AGENTS: dict[str, AgentSpec] = {
    "random": AgentSpec("random", "any legal action with equal chance, or whole turns of chance", _random),
    "greedy": AgentSpec("greedy", "one move ahead, by a measure of the game's own", _greedy),
    "rollout": AgentSpec("rollout:N", "N random playouts a move, most for the best candidates", _rollout),
    "amaf": AgentSpec("amaf:N", "N random playouts a move, each of which judges all its actions", _amaf),
    "mcts": AgentSpec("mcts:N", "tree search, N simulations a move that end in random playouts (UCT)", _mcts),
    "gumbel": AgentSpec(
        "gumbel:N[:FILE]", "tree search, N simulations a move, by a shipped network or FILE (Gumbel AlphaZero)", _gumbel
    ),
    "trained": AgentSpec("trained", "a network that learned by self-play; its weights come with the package", _trained),
    "perfect": AgentSpec("perfect", "plays without a mistake, where a game is solved: Torus of size 2 and 3", _perfect),
}
"""The agents that `load` knows by name."""


def load(spec: str, game: Game | None = None) -> AnyAgent:
    """The agent that `spec` describes; its `name` is the spec.

    Args:
        spec: a name of `AGENTS`, with its argument after a colon (`random`, `greedy`, `rollout:64`); the path of
            trained weights, `my_run/agent.safetensors`, or of the run's folder; or the import path of your own,
            `my_package.bots:MyBot`: a class, made without arguments or with the text after a second colon
            (`my_package.bots:MyBot:text`), an agent, or a plain function from one PettingZoo observation to an
            action. Modules of the current directory are found.
        game: what it is to play; an agent that cannot is refused here instead of at its first move.

    Raises:
        ValueError: unknown or malformed spec, what cannot be imported, an object that is no agent, or not for
            this game; the message says what is missing.
    """
    from .base import takes_states

    name, colon, text = spec.partition(":")
    agent: AnyAgent
    if (path := weights_path(spec)) is not None:
        from cellgames.agents.networks.trained import from_file

        agent = from_file(path)
    elif name in AGENTS:
        agent = AGENTS[name].make(text if colon else None)
    elif match := _IMPORT_PATH.fullmatch(spec):
        agent = _own(spec, *match.groups())
    else:
        close = difflib.get_close_matches(name, AGENTS, n=1, cutoff=0.5)
        hint = f"; did you mean {AGENTS[close[0]].usage!r}?" if close else ""
        known = ", ".join(entry.usage for entry in AGENTS.values())
        raise ValueError(
            f"unknown agent {spec!r}; known: {known}, a file of weights ({WEIGHTS_SUFFIX}) or a run's folder with "
            f"one, or your own by import path, such as my_bots:MyBot{hint}"
        )
    try:
        agent.name = spec
    except AttributeError as error:  # slots, a frozen dataclass, a property
        raise ValueError(f"agent {spec!r} must let its attribute 'name' be set: {error}") from error
    if game is not None:
        takes_states(agent, game)
        fits = getattr(agent, "check_game", None)
        if fits is not None:
            fits(game)
    return agent


def weights_path(spec: str) -> Path | None:
    """The file that a spec means, itself or in the folder of a run; None if it means something else, as names do."""
    if spec.partition(":")[0] in AGENTS:
        return None
    if spec.endswith(WEIGHTS_SUFFIX):
        return Path(spec)
    return Path(spec) / WEIGHTS_FILE if os.path.isdir(spec) else None


def _own(spec: str, module: str, attribute: str, text: str | None) -> AnyAgent:
    """The agent at an import path."""
    found = _import(spec, module, attribute)
    if inspect.isclass(found):
        arguments = () if text is None else (text,)
        try:
            inspect.signature(found).bind(*arguments)
        except TypeError as error:
            takes = f"the text {text!r}" if arguments else "no arguments"
            raise ValueError(f"agent {spec!r}: cannot make {attribute} with {takes}: {error}") from error
        found = found(*arguments)
    elif text is not None:
        raise ValueError(f"agent {spec!r}: only a class takes text after a second colon, {attribute} is none")
    return _as_agent(spec, found)


def _import(spec: str, module: str, attribute: str) -> Any:
    here = os.getcwd()
    if here not in sys.path and "" not in sys.path:
        sys.path.append(here)
    try:
        importlib.invalidate_caches()
        loaded = importlib.import_module(module)
    except Exception as error:
        missing = isinstance(error, ModuleNotFoundError) and f"{module}.".startswith(f"{error.name}.")
        if missing:
            reason = f"there is no module {error.name!r} in the current directory or among the installed ones"  # type: ignore[attr-defined]  # a ModuleNotFoundError
        else:
            reason = f"importing {module} failed with {type(error).__name__}: {error}"
        raise ValueError(f"agent {spec!r}: {reason}") from error
    if not hasattr(loaded, attribute):
        public = [name for name in vars(loaded) if not name.startswith("_")]
        close = difflib.get_close_matches(attribute, public, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"agent {spec!r}: module {module} has no {attribute!r}{hint}")
    return getattr(loaded, attribute)


def _as_agent(spec: str, found: Any) -> AnyAgent:
    """`found` itself if it is an agent, wrapped if it is a policy."""
    from .policy import PolicyAgent

    acts = any(callable(getattr(found, name, None)) for name in ("act", "act_on_state"))
    starts = callable(getattr(found, "start", None))
    if acts and starts:
        return found  # type: ignore[no-any-return]  # as far as can be seen without a game
    if callable(found) and not acts:
        return PolicyAgent(found, spec)
    missing = " and ".join(text for have, text in ((starts, "start"), (acts, "act (or act_on_state)")) if not have)
    raise ValueError(
        f"agent {spec!r}: {type(found).__name__} lacks the method {missing}; an agent has "
        "start(game, players, env_ids) and act(observation, action_mask, env_ids, generator), see "
        "cellgames.agents.Agent"
    )
