"""Games of Cloth of Gold with wild options against the slow reference: pairs of options, and all at once."""

from __future__ import annotations

import dataclasses
import random
import re
from itertools import combinations
from typing import Any

import numpy as np
import pytest
import torch
from cloth_of_gold_reference import distances, random_world
from cloth_of_gold_wild_reference import PATTERNS, WildReference, forms_of
from colour_vision import VISION, lab
from games_beside import Beside, agree, played_beside
from native_code import native_library
from numpy.typing import NDArray
from refusals import fails, refused

import cellgames
from cellgames.envs.cloth_of_gold import ClothOfGold, ClothState
from cellgames.envs.cloth_of_gold.rendering import View
from cellgames.envs.cloth_of_gold_wild import rounds
from cellgames.envs.cloth_of_gold_wild.rendering import LAND, WildView
from cellgames.envs.cloth_of_gold_wild.state import wild
from cellgames.envs.core import IllegalActionError, seeds
from cellgames.envs.core.drawing import Inset, Text
from cellgames.envs.core.raster import to_rgb

SMALL: dict[str, Any] = {"generations": 6, "radius": 4, "max_units": 8, "max_rounds": 2, "first_verdict": 9}
OPTIONS: dict[str, dict[str, Any]] = {
    "terrain": {"terrain": True},
    "weather": {"terrain": True, "weather": True},
    "perks": {"perks": True},
    "borders": {"territory": "hull", "buffer": 3},
    "wildlife": {"wildlife": (3, 1, 2)},
    "combinations": {"perks": True, "combinations": True},
    "neutrals": {"neutral_density": 0.15, "neutral_stance": "aggressive"},
}
FAMILIES = (
    *("terrain borders", "weather perks", "weather wildlife", "perks wildlife", "borders neutrals"),
    *("combinations", "wildlife neutrals"),
)
ALL: dict[str, Any] = {name: value for option in OPTIONS.values() for name, value in option.items()}
NEUTRALS = {name: ALL.pop(name) for name in OPTIONS["neutrals"]}
SIZES = ((8, 13), (17, 9), (12, 12), (9, 66))


def make(**parameters: Any) -> Any:
    return cellgames.make("cloth-of-gold-v0", **parameters)


def reference(game: ClothOfGold, state: ClothState, env_id: int) -> WildReference:
    """The slow game of an env that has just begun."""
    parameters = {f.name: getattr(game, f.name) for f in dataclasses.fields(game)}
    parameters["territory_kind"] = parameters.pop("territory", "field")
    return WildReference(**parameters, seed=int(state.seed[env_id]), board=game.board(state)[env_id].tolist())


def chosen(one: WildReference, rng: random.Random) -> int:
    """A random legal action that likes squares and rings, so that still lifes come up, and bolts at the opponent."""
    legal = one.legal()
    if one.end_turn in legal and (len(legal) == 1 or rng.random() < 0.12):
        return one.end_turn
    cells = sorted(legal - {one.end_turn})
    world = one.height * one.width
    bolts = [cell for cell in cells if cell >= world]
    if bolts and rng.random() < 0.3:
        rows = [divmod(cell - world, one.width) for cell in bolts]
        full = [cell for cell, (r, c) in zip(bolts, rows, strict=True) if one.board[r][c]]
        return rng.choice(full or bolts)
    spots = [cell for cell in cells if cell < world] or cells
    near = distances(one.board, one.player)
    close = [cell for cell in spots if cell < world and (near[(slice(None), *divmod(cell, one.width))] < 2).any()]
    return rng.choice(close if close and rng.random() < 0.8 else spots)


def beside(game: ClothOfGold, num_envs: int, seed: int) -> Beside[WildReference]:
    """Random games of every env until all are over: states, the reference's games, and the actions that come next."""
    state = game.init(seeds(seed, num_envs))
    references = [reference(game, state, env_id) for env_id in range(num_envs)]
    return played_beside(game, state, references, chosen, seed)


@pytest.mark.parametrize("family", FAMILIES)
def test_random_games_with_one_or_two_options_are_those_of_the_reference(family: str) -> None:
    parameters: dict[str, Any] = dict(SMALL)
    for name in family.split():
        parameters |= OPTIONS[name]
    height, width = SIZES[FAMILIES.index(family) % len(SIZES)]
    game = make(height=height, width=width, **parameters)
    for number, (state, references, _) in enumerate(beside(game, 1, seed=5)):
        agree(game, state, references, number % 7 == 0)
    assert all(one.round == 2 for one in references)


def test_random_games_with_all_options_are_those_of_the_reference() -> None:
    more = {"max_rounds": 3, "neutral_density": 0.04, "neutral_stance": "defensive"}
    game = make(height=11, width=23, **SMALL | ALL | more)
    for number, (state, references, _) in enumerate(beside(game, 2, seed=12)):
        agree(game, state, references, number % 9 == 0)


def wild_position(one: WildReference, rng: random.Random, sky: str) -> None:
    """Put a random world on the slow game's board: still lifes among units, and fire, wards, bolts and weather."""
    board = random_world(one.height, one.width, rng, (200, 4, 4, 1, 1))
    for _ in range(one.height * one.width // 50):
        form = rng.choice([form for kind in PATTERNS for form in sorted(map(sorted, forms_of(PATTERNS[kind])))])
        r, c, side = rng.randrange(one.height - 5), rng.randrange(one.width - 5), rng.choice((1, 2))
        for row in range(r, r + 6):
            for col in range(c, c + 6):
                board[row][col] = 0
        for down, right in form:
            board[r + 1 + down][c + 1 + right] = side
    one.sky, one.level = sky, rng.choice((48, 56, 64, 72, 96))
    for r, c in one.water():
        board[r][c] = 0
    one.board, one.round = board, 3
    wood = sorted(one.wood())
    one.burning = {cell: rng.randint(1, 4) for cell in rng.sample(wood, len(wood) // 12)}
    one.burnt = set(rng.sample(wood, len(wood) // 5)) - set(one.burning)
    for player in (0, 1):
        one.wards[player] = set(rng.sample(one.cells, len(one.cells) // 4))
        one.spells[player], one.supply[player], one.reach[player] = (rng.randint(0, most) for most in (3, 20, 4))
    land = [cell for cell in one.cells if cell not in one.water()]
    one.animals = [cell if rng.random() < 0.9 else None for cell in rng.sample(land, len(one.animals))]
    one.player = 1
    one.history = [[0] * 6] * 3


def line_of(game: ClothOfGold, one: WildReference) -> str:
    """The slow game's position as a line of text, written from the description of the notation."""
    levels = dict.fromkeys(one.cells, 0)
    for r, c in one.cells:
        height, moist = one.heights[r][c], one.moisture[r][c] >= 140
        levels[r, c] = 15 if height >= 208 else 0 if height < 48 else 1 + 2 * min((height - 48) // 8, 6) + moist
    fire = dict.fromkeys(one.burnt, 5) | one.burning
    wards = {cell: (cell in one.wards[0]) + 2 * (cell in one.wards[1]) for cell in one.cells}

    def drawn(states: dict[tuple[int, int], int]) -> str:
        rows = ["".join(".ABCDEFGHIJKLMNO"[states.get((r, c), 0)] for c in range(one.width)) for r in range(one.height)]
        return "$".join(rows) + "!"

    board = {(r, c): one.board[r][c] for r, c in one.cells}
    names = ",".join("-" if cell is None else f"r{cell[0]}c{cell[1]}" for cell in one.animals)
    pairs = {"supply": one.supply, "reach": one.reach, "spells": one.spells}
    return (
        f"move:b turn:70 round:3 acts:0 score:+0 placed:- board:{drawn(board)} ground:{drawn(levels)} "
        f"weather:{one.sky} level:{one.level} fire:{drawn(fire)} left:{one.left} wards:{drawn(wards)} "
        f"lives:{','.join(['0'] * 14)} {' '.join(f'{name}:{a},{b}' for name, (a, b) in pairs.items())} animals:{names}"
    )


def test_a_turn_and_a_round_from_wild_positions_are_those_of_the_reference() -> None:
    skies = {"calm": (24, 24, 5), "dry": (17, 37, 8), "rain": (20, 66, 16), "storm": (24, 24, 8)}
    lives = [turn_and_round(sky, number, *size).lives for number, (sky, size) in enumerate(skies.items())]
    assert np.array(lives).sum() > 3


def turn_and_round(sky: str, number: int, height: int, width: int, generations: int) -> WildReference:
    rng, size = random.Random(f"{sky} {number}"), {"height": height, "width": width, "generations": generations}
    game = make(**SMALL | ALL | NEUTRALS | size | {"max_rounds": 9, "first_verdict": 1000, "neutral_births": True})
    start = game.init(seeds(number, 1))
    one = reference(game, start, 0)
    wild_position(one, rng, sky)
    state = game.string_to_state(line_of(game, one), seed=one.seed)
    assert game.string_to_state(game.state_to_string(state), seed=one.seed).equal(state)
    one.turn, living = 70, one.live()
    agree(game, state, [one])
    bolts = one.spells[1]
    for spell in range(bolts):  # all bolts first, then two units, then the end
        action = rng.randrange(game.cells, game.end_turn)
        state = game.step(state, torch.tensor([action]))
        one.step(action)
        assert one.spells[1] == bolts - spell - 1
    for _ in range(2):
        action = min(one.legal(), key=lambda action: (action == one.end_turn, rng.random()))
        if action == one.end_turn:
            break
        state = game.step(state, torch.tensor([action]))
        one.step(action)
    agree(game, state, [one])
    state = game.step(state, torch.tensor([one.end_turn]))
    one.step(one.end_turn)
    agree(game, state, [one])
    assert one.live() != living
    assert bool(wild(state).fire.any()) == bool(one.burning or one.burnt)
    line = game.state_to_string(state)
    again = game.string_to_state(line, seed=one.seed)
    rounds = {"rounds": state.rounds, "rewards": state.rewards}
    assert again.replace(**rounds).equal(state), line
    return one


def test_units_that_all_die_in_the_first_generation_are_gone() -> None:
    native_library()
    game = make(height=16, width=16, generations=4, terrain=True)
    state = wild(game.init(seeds(1, 1)))
    land = (~game.grid.unpack(state.water.movedim(0, -1))).flatten(1)[0].nonzero().squeeze(1)
    state = wild(game.play_turn(state, land[None, :1]))  # a single unit, which dies
    assert state.live.tolist() == [[1, 0]]
    after = game._lived(state, torch.arange(1))
    assert after.live.tolist() == [[0, 0]]


@pytest.mark.parametrize(("height", "width"), [(8, 8), (9, 15), (100, 100), (70, 131)])
def test_the_land_is_its_own_image_under_a_half_turn_and_has_all_kinds(height: int, width: int) -> None:
    game = make(height=height, width=width, terrain=True)
    state = game.init(seeds(3, 6))
    planes = game.observe(state, 0)[:, 11:14].bool()  # water, forest, rock
    assert torch.equal(planes, planes.flip(2, 3))
    assert planes.flatten(2).any(2).any(0).all()
    assert not (planes[:, 0] & planes[:, 1]).any()
    assert not torch.equal(planes[0], planes[1])


def land_and_water(game: ClothOfGold, seed: int) -> tuple[ClothState, int]:
    """The first game of a seed and an action under water."""
    state = game.init(seeds(seed, 1))
    cells = game.observe(state, 0)[0, 11].flatten().nonzero()
    return state, int(cells[0])


def test_an_illegal_action_says_which_option_forbids_it() -> None:
    game = make(height=16, width=16, **ALL)
    state, under = land_and_water(game, 2)
    with fails(IllegalActionError, cause=f"{game.action_to_string(under)} is under water"):
        game.step(state, torch.tensor([under]))
    with fails(IllegalActionError, cause="no bolt is left"):
        game.step(state, torch.tensor([game.cells + 3]))
    assert game.string_to_action("bolt-r0c3") == game.cells + 3
    assert game.action_to_string(game.cells + 3) == "bolt-r0c3"
    assert game.string_to_action("end") == game.end_turn == 512
    with refused("action", "'r16c0'"):
        game.string_to_action("bolt-r16c0")
    with refused("action", "'bolt-r0c0'"):
        make(height=16, width=16).string_to_action("bolt-r0c0")


def test_lines_with_wrong_fields_are_refused() -> None:
    game = make(height=16, width=16, **ALL)
    state, under = land_and_water(game, 2)
    line, wet = game.state_to_string(state), f"{under // 16}$" * (under >= 16) + f"{under % 16}." * (under % 16 > 0)
    for field, wrong, expected in (
        ("weather:calm", "weather:foggy", "weather that is one of calm"),
        ("level:64", "level:65", "a level"),
        ("fire:!", "fire:8.F!", "fire on 16 x 16 cells"),
        ("fire:!", f"fire:{wet}B!", "fire on forest alone"),
        ("left:10", "left:21", "from 0 to 20 units left"),
        ("wards:!", "wards:D!", "wards on 16 x 16 cells"),
        ("supply:0,0", "supply:0", "2 numbers from 0 to 512 as supply"),
        ("spells:0,0", "spells:0,4", "2 numbers from 0 to 3 as spells"),
        ("reach:0,0", "", "the fields"),
        ("animals:", "animals:r0c0,", "6 different cells of animals"),
        ("board:!", f"board:{wet}A!", "no unit, neutral or killed cell under water"),
    ):
        assert line.count(field) == 1
        with refused("position") as caught:
            game.string_to_state(line.replace(field, wrong))
        assert expected in caught.value.expected


@pytest.mark.parametrize(
    ("combinations", "supply", "reach", "spells", "far"), [(False, 2, 0, 1, 2), (True, 3, 1, 1, 3)]
)
def test_a_set_of_still_lifes_earns_more(combinations: bool, supply: int, reach: int, spells: int, far: int) -> None:
    """One still life of each kind, in a row from left to right, is one set, as there is one loaf."""
    game = make(height=16, width=60, **SMALL | {"perks": True, "combinations": combinations, "generations": 1})
    rows = [pattern.split() for pattern in PATTERNS.values()]
    lines = ["".join((one[row] if row < len(one) else "").ljust(8, ".") for one in rows) for row in range(4)]
    board, line = "$".join(lines).replace("x", "A") + "!", game.state_to_string(game.init(seeds(0, 1)))
    for name, value in {"move": "b", "round": "1", "turn": "9", "board": board}.items():
        line = re.sub(rf"\b{name}:\S+", f"{name}:{value}", line, count=1)
    state = wild(game.string_to_state(line))
    after = rounds.lived(game, state)
    assert after.lives[0, 0].tolist() == [1, 1, 1, 1, 1, 1, 1]
    found = (after.supply, after.reach, after.spells)
    assert [int(x[0, 0]) for x in found] == [supply, reach, spells]
    assert not after.lives[0, 1].any()
    wards = game.grid.unpack(after.wards.movedim(0, -1))[0, 0]
    assert int(wards.any(1).nonzero().max()) == 3 + far, "below the pond, whose last row is 3"


def wild_scene() -> View:
    """Four cells of each kind of ground side by side, wards below them, and three animals."""
    ground = {name: np.zeros((12, 24), np.bool_) for name in LAND}
    for number, name in enumerate(LAND):
        ground[name][:4, 4 * number : 4 * number + 4] = True
    wards = np.zeros((2, 12, 24), np.bool_)
    wards[0, 5:7, 2:6] = wards[1, 5:7, 12:16] = True
    animals = [(0, 9, 3), (1, 9, 11), (2, 9, 19)]
    added = WildView(ground, wards, animals, "Weather: storm", ("a has 1 bolt", "b has 2 bolts"))
    return View(np.zeros((12, 24), np.int8), np.zeros((2, 12, 24), np.bool_), "", layer=added)


@pytest.mark.parametrize("vision", VISION)
def test_land_wards_and_animals_are_told_apart_in_every_kind_of_colour_vision(vision: str) -> None:
    """By colour or by shape: the pixels of two kinds of cells differ somewhere by far more than can just be seen."""
    drawn = wild_scene().draw()
    inset = [shape for shape in drawn.shapes if isinstance(shape, Inset)][-1]
    seen = lab(to_rgb(drawn), VISION[vision])
    size = int(inset.scale)

    def block(row: int, col: int) -> NDArray[np.float64]:
        """Four by four cells, so that signs that stand apart are in it."""
        top, left = int(inset.y + row * size), int(inset.x + col * size)
        return np.asarray(seen[top + 2 : top + 4 * size - 2, left + 2 : left + 4 * size - 2])

    places = {name: (0, 4 * number) for number, name in enumerate(LAND)} | {"plain": (0, 20)}
    places |= {"ward of a": (4, 2), "ward of b": (4, 12), "grazer": (8, 2), "hunter": (8, 10), "guard": (8, 18)}
    for one, other in combinations(places, 2):
        far = np.linalg.norm(block(*places[one]) - block(*places[other]), axis=-1)
        assert (far > 12).mean() > 0.015, (one, other)


def test_pictures_and_text_say_what_the_options_add() -> None:
    words = [shape.text for shape in wild_scene().draw().shapes if isinstance(shape, Text)]
    assert words[4:8] == ["Weather: storm", "a has 1 bolt", "b has 2 bolts", "1 grazer, 1 hunter, 1 guard"]
    lines = wild_scene().text().split("\n")
    assert lines[-12].split()[1] == "~~~~ffff^^^^,,,,****...."
    assert lines[-7].split()[1] == "..aaaa......bbbb........"
    assert lines[-3].split()[1] == "...G.......H.......U...."
    game = make(height=16, width=16, **ALL | {"weather": False})
    assert "next round" not in game.text(game.init(seeds(0, 1)))


def test_a_film_shows_fire_and_water_within_the_round() -> None:
    game = make(height=16, width=16, **SMALL | ALL)
    state = game.play_turn(game.init(seeds(2, 1)), torch.tensor([[-1]]))
    state = game.play_turn(game.play_turn(state, torch.tensor([[-1]])), torch.tensor([[-1]]))
    pictures = list(game.frames(state, game.step(state, torch.tensor([game.end_turn]), checked=False)))
    assert len(pictures) == game.generations + 1
    assert len({(picture.width, picture.height) for picture in pictures}) == 1
