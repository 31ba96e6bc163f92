"""`GamePlugin`: one object that names everything the package knows of a game. It holds data and import paths only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, TypeAlias

from .texts import Page, Prompt, Setting, TextColours, read_texts

Target: TypeAlias = str | Any
"""An import path, `package.module:name` or `package.module`, which is imported when it is needed; or the object."""


def resolve(target: Target) -> Any:
    """Return the object that a target names."""
    return resolve_name(target) if isinstance(target, str) else target


@dataclass(frozen=True)
class Variant:
    """A game with some of its parameters changed, under an id of its own.

    Attributes:
        summary: one line for lists.
        parameters: those that differ from the game's defaults.
    """

    summary: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class TrainingPreset:
    """Training options that suit a game; a user's own options override them.

    Attributes:
        algorithm: a key of `training.arguments.ALGORITHMS`.
        values: fields of the algorithm's `Arguments`.
        parameters: game parameters that must have these values for the preset to apply.
    """

    algorithm: str
    values: Mapping[str, Any]
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class GamePlugin:
    """A game and everything that belongs to it. `cellgames.register` makes it known to the whole package.

    Only `game` is required. `register` fills in the next four fields if `game` is a class; if it is an import path,
    they must be given, so that lists need not import the game.

    Attributes:
        game: target of the class, a frozen dataclass on `envs.core.Game`.
        id: `name-vN`; N changes only when the game behaves differently.
        summary: one line for lists.
        parameters: every parameter with its default.
        simultaneous: True if all players act at once.
        variants: the game with other parameters, by id.
        extension: the game with more parameters, as a plugin of its own with the same id; its class derives from this
            one's, and its `parameters` are this one's. `make` returns it where one of the additional parameters is not
            at its default.
        agents: agent classes by the name that `agents.load` takes: `greedy`, `random` (needed only where a turn is
            several actions, so that uniform actions make no sensible turns), `rollout` (made with the number of
            playouts), `perfect`, `mixed` (made with a share and an agent, where `random` is), and `trained` where that
            is no network.
        networks: network classes by kind, made of a game and a `networks.Size`. `policy` replaces the flat network;
            `turns` evaluates positions after whole turns, `placements` all placements of a shape.
        transfer_parameters: parameters over which the networks transfer: weights that learned one value of them play
            all others.
        search: further targets, which agents and learners ask:
            `playout`, a function of a game, `X` states and a generator that plays them to their ends and returns the
            outcomes, int8 [X, P], in place of `playouts.finish`;
            `native_uct` and `native_gumbel`, functions that add simulations to the trees of a search by native code, as
            `agents.connection.native_trees.simulate` and `simulate_gumbel` beside it do;
            `solve`, a function of a game, `L` unfinished games and a number of nodes to the winners and winning moves,
            int64 [L] both: 1 the player to move, -1 the opponent, 0 if the nodes leave it open; the move is -1 unless
            the player to move wins (for zero-sum games for two in turns, at the root of a search);
            `prover`, a subclass of `agents.solving.ProofSearch`, with which `agents.solving.prover:solve` serves;
            `determinize`, a function of a game, observations [L, ...] and seats, int64 [L], to `L` states that look
            like this to those seats, with guesses of hidden information (for `rollout`, `mcts` and AlphaZero);
            `improver`, a subclass of `agents.search.improvement.Improver`, the search from which AlphaZero learns the
            game, where the general ones do not serve it;
            `simpler`, a class of agents of an extension, made with a name and an agent of the game that it extends,
            which then plays this one (`trained` plays so where no weights serve the game itself).
        algorithm: the algorithm by which `cellgames train` learns the game by default, a key of
            `training.arguments.ALGORITHMS`.
        presets: training options by algorithm; later ones override earlier ones.
        reader: target of an `arena.analyse` reader class, which finds openings and placed cells in records.
        view: target of a subclass of `web.views.View`, the board of the web page; without it, the page only replays
            records.
        texts: TOML files with texts for people and language models, as those in `cellgames/plugins/`; a later one adds
            to those before it.
    """

    game: Target
    id: str = ""
    summary: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    simultaneous: bool = False
    variants: Mapping[str, Variant] = field(default_factory=dict)
    extension: GamePlugin | None = None
    agents: Mapping[str, Target] = field(default_factory=dict)
    networks: Mapping[str, Target] = field(default_factory=dict)
    transfer_parameters: tuple[str, ...] = ()
    search: Mapping[str, Target] = field(default_factory=dict)
    algorithm: str = "ppo"
    presets: tuple[TrainingPreset, ...] = ()
    reader: Target | None = None
    view: Target | None = None
    texts: tuple[Path, ...] = ()

    def hook(self, name: str) -> Any:
        """Return a target of `search`, resolved; None without one of this name."""
        return resolve(self.search[name]) if name in self.search else None

    @cached_property
    def _told(self) -> dict[str, Any]:
        return read_texts(self.texts)

    @cached_property
    def page(self) -> Page | None:
        """The texts of the web page; None without a view."""
        if self.view is None:
            return None
        told = {name: self._told[name] for name in ("rules", "people", "goals", "lesson") if name in self._told}
        settings = tuple(Setting(name, **limits) for name, limits in self._told.get("settings", {}).items())
        return Page(settings=settings, **told)

    @cached_property
    def colours(self) -> TextColours | None:
        """The colours of the text that `Game.text` returns, for `cellgames play`."""
        return None if self._told["colours"] is None else TextColours(**self._told["colours"])

    @cached_property
    def prompt(self) -> Prompt | None:
        """The texts for language models; without them, these get the rules of the page and the legal moves."""
        return Prompt(**self._told["prompt"]) if "prompt" in self._told else None
