"""Explanations of recorded games by intervening: remove or move something, play the game again, compare the ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from cellgames.arena.records.record_lines import Record
from cellgames.arena.records.replays import game_of
from cellgames.plugins import Target, resolve
from cellgames.utils.errors import InputError, shown

from .effects import Effect, Explanation, Intervention, Options, PairEffect, Replays, World

if TYPE_CHECKING:
    from cellgames.arena.season.cup import CupRecord

_STONES = "cellgames.lab.interventions.stones_world"
WORLDS: dict[str, Target] = {
    "torus-v0": f"{_STONES}:stones_world",
    "hex-v0": f"{_STONES}:stones_world",
    "y-v0": f"{_STONES}:stones_world",
    "toroidal-cup-v0": "cellgames.lab.interventions.cup_world:cup_world",
    "cloth-of-gold-v0": "cellgames.lab.interventions.cloth_world:cloth_world",
    "grid-adaptation-v0": "cellgames.lab.interventions.grid_world:grid_world",
}
"""Functions of a game, a record and options to the recorded game as one that can be changed, by the game's id."""


def world_of(record: Record | CupRecord, options: Options | None = None) -> World:
    """Return the recorded game as one that can be changed and played again; the record is checked first.

    Raises:
        ReplayError: The record does not reproduce.
        ValueError: A game that was forfeited, a game without interventions, or options that do not fit it.
    """
    from cellgames.arena.season.cup import CupRecord

    chosen = options or Options()
    if isinstance(record, CupRecord):
        from .cup_world import season_world

        return season_world(record, chosen)
    game = game_of(record)
    if record.result.forfeit is not None:
        raise InputError("record", "a game that was played to its end", "a forfeit")
    if game.id not in WORLDS:
        raise InputError("game", f"a game with interventions, one of {', '.join(WORLDS)}", game.id)
    world: World = resolve(WORLDS[game.id])(game, record, chosen)
    return world


def explain(
    record: Record | CupRecord,
    kinds: Sequence[str] = (),
    *,
    pairs: str = "",
    options: Options | None = None,
    step: Callable[[str, int], None] = lambda kind, replays: None,
) -> Explanation:
    """Explain a recorded game: play it again without each of its parts, and return what each part was worth.

    Args:
        record: A game of a match, or of a season of the Cup without agents.
        kinds: Kinds of interventions, as the game's `World.kinds` has them; none for the usual ones.
        pairs: A kind of which pairs are removed, too; "" for none.
        options: See `Options`.
        step: Called before each kind with its name and the number of its replays.

    Raises:
        ReplayError: The record does not reproduce.
        ValueError: An unknown kind, a game without interventions, a forfeited game.
    """
    chosen = options or Options()
    return explain_world(
        world_of(record, chosen), record.agents, kinds, pairs=pairs, most_pairs=chosen.most_pairs, step=step
    )


def explain_world(
    world: World,
    agents: Sequence[str],
    kinds: Sequence[str] = (),
    *,
    pairs: str = "",
    most_pairs: int = Options.most_pairs,
    step: Callable[[str, int], None] = lambda kind, replays: None,
) -> Explanation:
    """Explain a game that can be played again; the arguments are those of `explain`, and the agents by seat."""
    wanted = list(dict.fromkeys([*(kinds or world.usual), *([pairs] if pairs else [])]))
    if unknown := [kind for kind in wanted if kind not in world.kinds]:
        raise InputError("kinds", f"kinds out of {', '.join(world.kinds)}", shown(unknown[0]))
    effects: list[Effect] = []
    found_pairs: list[PairEffect] = []
    base, replays = world.replay(world.kinds[0], [()]), 1
    for kind in wanted:
        items = world.interventions(kind)
        step(kind, len(items) + 1)
        if not items:
            continue
        ends = world.replay(kind, [(item,) for item in items])
        replays += len(items) + 1
        made = [_effect(item, ends, place) for place, item in enumerate(items)]
        order = sorted(range(len(items)), key=lambda place: (-abs(made[place].worth), place))
        effects += sorted(made, key=lambda effect: -effect.worth)
        if kind == pairs:
            some = sorted(order[:most_pairs])
            count = len(some) * (len(some) - 1) // 2
            step(f"pairs of {kind}s", count)
            found_pairs = _pairs(world, kind, items, some, ends)
            replays += count
    return Explanation(
        game=world.game,
        agents=tuple(agents),
        measure=world.measure,
        kept=world.kept,
        scores=tuple(base.scores[0].tolist()),
        outcome=tuple(base.outcome[0].tolist()),
        effects=tuple(effects),
        pairs=tuple(found_pairs),
        replays=replays,
        scenes={kind: world.scene(kind) for kind in wanted},
    )


def _effect(item: Intervention, ends: Replays, place: int) -> Effect:
    seat, sign = max(item.player, 0), -1 if item.adds else 1
    return Effect(
        item.kind,
        item.name,
        item.player,
        item.turn,
        item.cells,
        sign * float(ends.against[place, seat] - ends.standing[place, seat]),
        sign * int(ends.outcome_against[place, seat] - ends.outcome[place, seat]),
        tuple(ends.scores[place].tolist()),
        int(ends.left_out[place]),
        (item.turn + 1, item.turn + 1) if item.seen == (-1, -1) else item.seen,
    )


def _pairs(
    world: World, kind: str, every: Sequence[Intervention], chosen: Sequence[int], ends: Replays
) -> list[PairEffect]:
    """Return the effects of pairs out of the chosen interventions, whose own ends are known."""
    items = [every[place] for place in chosen]
    both = list(combinations(range(len(items)), 2))
    if not both:
        return []
    together = world.replay(kind, [(items[a], items[b]) for a, b in both])
    found = []
    for place, (a, b) in enumerate(both):
        seat = max(items[a].player, 0)
        worth = float(together.against[place, seat] - together.standing[place, seat])
        parts = tuple(float(ends.against[of, seat] - ends.standing[of, seat]) for of in (chosen[a], chosen[b]))
        result = int(together.outcome_against[place, seat] - together.outcome[place, seat])
        found.append(
            PairEffect(
                kind,
                items[a].name,
                items[b].name,
                items[a].player,
                worth,
                (parts[0], parts[1]),
                worth - sum(parts),
                result,
            )
        )
    return sorted(found, key=lambda pair: (-abs(pair.interaction), pair.first, pair.second))
