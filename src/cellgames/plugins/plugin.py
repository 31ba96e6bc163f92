"""`GamePlugin`: one object that names everything the package knows of a game. It holds data and import paths only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, TypeAlias

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
            int64 [L] both: 1 the player to move, -1 the opponent, 0 if open; the move is -1 unless the player to move
            wins (zero-sum games for two in turns); `large=True` asks for a look at boards too large for the nodes;
            `prover`, a subclass of `agents.solving.ProofSearch`, with which `agents.solving.prover:solve` serves;
            `look`, a function of a game and `X` unfinished games to the facts that a quick look proves, an
            `agents.search.Proved`, or None for nothing;
            `determinize`, a function of a game, observations [L, ...] and seats, int64 [L], to `L` states that look
            like this to those seats, with guesses of hidden information (for `rollout`, `mcts` and AlphaZero);
            `improver`, a subclass of `agents.search.improvement.Improver`, the search from which AlphaZero learns the
            game, where the general ones do not serve it;
            `simpler`, a class of agents of an extension, made with an agent of the game that it extends, which then
            plays this one (`trained` plays so where no weights serve the game itself);
            `trained`, a class of agents, made with the agent of the shipped network, which play as `trained`.
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


# ---------------------------------------------------------------- texts for people and language models
#
# TOML files, read when they are first asked. Empty lines part the paragraphs of rules; other line breaks mean nothing.


@dataclass(frozen=True)
class Setting:
    """A game parameter that a visitor of the web page may set.

    A yes/no parameter needs only a name and a label.

    Attributes:
        name: the parameter.
        label: its name on the page.
        low: the least whole number.
        high: the largest one.
        step: the distance between two allowed numbers.
        choices: the allowed texts or numbers, where these are few.
    """

    name: str
    label: str
    low: int = 0
    high: int = 0
    step: int = 1
    choices: tuple[str | float, ...] = ()


@dataclass(frozen=True)
class Page:
    """The data with which the web page lets visitors play a game.

    Attributes:
        rules: the rules in brief, a paragraph each.
        settings: the parameters that a visitor may set; the page adds the yes/no parameters that have no setting.
        people: the names of players for people, by seat; a single one with `{}` is for all, numbered from 1. Without
            any, the page shows the players of `GameInfo`.
        goals: the goal of the game in a sentence, by seat; a single one is for all.
        lesson: the parts and the guided game of `web.lessons.Lesson`, which teaches the game; empty without one.
    """

    rules: tuple[str, ...] = ()
    settings: tuple[Setting, ...] = ()
    people: tuple[str, ...] = ()
    goals: tuple[str, ...] = ()
    lesson: Mapping[str, Any] = field(default_factory=dict)

    def by_seat(self, name: str, seats: int) -> list[str]:
        """Return the `people` or the `goals`, a text for each of a number of seats; empty without any texts."""
        texts = getattr(self, name)
        return [text.format(seat) for seat, text in enumerate(texts * seats if len(texts) == 1 else texts, 1)]


@dataclass(frozen=True)
class TextColours:
    """Colours of a game's text on a terminal; the signs alone say everything.

    Attributes:
        row: a regular expression that matches the whole of a line of the board, whose first group is the cells.
        signs: styles, such as "bold red", by regular expressions of parts of the cells; the first that matches holds.
    """

    row: str
    signs: Mapping[str, str]


@dataclass(frozen=True)
class Prompt:
    """The text by which a language model learns a game; the parameters of the game are told beside it.

    Attributes:
        rules: the rules, a paragraph each.
        position: an explanation of what the game's `text_for` shows.
        moves: an explanation of the names of actions, with examples.
    """

    rules: tuple[str, ...]
    position: str
    moves: str


def read_texts(files: tuple[Path, ...]) -> dict[str, Any]:
    """Return the texts of files; the text of a later file follows that of an earlier one under the same name."""
    import tomllib  # here, as lists of games need no texts

    found: dict[str, Any] = {}
    for file in files:
        found = _joined(found, tomllib.loads(file.read_text(encoding="utf-8")))
    colours = found.pop("colours", None)  # whose spaces have a meaning
    return {**_clean(found), "colours": colours}


def _joined(first: Any, second: Any) -> Any:
    if isinstance(first, dict):
        return first | {key: _joined(first[key], value) if key in first else value for key, value in second.items()}
    if isinstance(first, str):
        return f"{first}\n\n{second}"
    return first + second if isinstance(first, list) else second


def _clean(value: Any, name: str = "") -> Any:
    """Return a value of a file with lists as tuples, and texts without line breaks; `rules` become paragraphs."""
    if isinstance(value, dict):
        return {key: _clean(inner, key) for key, inner in value.items()}
    if isinstance(value, list):
        return tuple(_clean(inner) for inner in value)
    if not isinstance(value, str):
        return value
    paragraphs = tuple(" ".join(part.split()) for part in value.strip().split("\n\n"))
    return paragraphs if name == "rules" else " ".join(paragraphs)


# ---------------------------------------------------------------- packages on top of the core


@dataclass(frozen=True, kw_only=True)
class Additions:
    """The additions of a package on top of the core. Targets are imported when they are needed.

    Attributes:
        commands: modules with a function `add`, each with its line in the help, by name of the command, by title of
            their group in the help.
        agents: arguments of `agents.agent_specs.AgentSpec`.
        parts: functions of a game and its records to sections of `cellgames analyse`, by name of the part.
        sections: functions of the same kind for its part "flows", by target of the game's class.
        asked_sections: functions of a game, agents by name and records, with the keywords `seed`, `shown` and perhaps
            `positions` and `draws`, to sections of `cellgames analyse --agents`, by target of the game's class; None
            stands for all games.
        formats: functions that write records to a path for `cellgames export`, by name, each with a description. They
            call `played` with the number of games just written and return the numbers of games, decisions and forfeits.
        answers: functions of a record to data that the page shows, by name of the route, each with a description.
    """

    commands: Mapping[str, Mapping[str, tuple[str, str]]] = field(default_factory=dict)
    agents: tuple[tuple[str, str, str], ...] = ()
    parts: Mapping[str, Target] = field(default_factory=dict)
    sections: Mapping[Target, tuple[Target, ...]] = field(default_factory=dict)
    asked_sections: Mapping[Target | None, tuple[Target, ...]] = field(default_factory=dict)
    formats: Mapping[str, tuple[Target, str]] = field(default_factory=dict)
    answers: Mapping[str, tuple[Target, str]] = field(default_factory=dict)


@cache
def additions() -> Additions:
    """Return the additions of `cellgames.lab`; no addition without that package."""
    if find_spec("cellgames.lab") is None:
        return Additions()
    found: Additions = import_module("cellgames.lab.plugin").ADDITIONS
    return found


MASKABLE_PPO: dict[str, Any] = {"ent_coef": 0.01, "checkpoint_every": 20}

SLOW_GAME: dict[str, Any] = {"num_envs": 64, "eval_games": 20, "eval_every": 10, "snapshot_every": 10}
"""Small batches and few evaluation games."""

SAMPLED: dict[str, Any] = {"sample": True}
"""The trained agent samples its actions: where all act at once or cards are hidden, a foreseen player loses."""


def small(title: str, parameters: Mapping[str, Any]) -> Variant:
    """Return a variant with a board on which agents learn soon."""
    return Variant(f"{title}, small enough to train on a laptop", parameters)


def files(*names: str) -> tuple[Path, ...]:
    """Return files of texts of this folder."""
    return tuple(Path(__file__).with_name(f"{name}.toml") for name in names)
