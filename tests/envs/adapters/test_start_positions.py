"""Games that start from positions: every game, through every adapter, and through the core's vector."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from every_game import generator, play
from learner_play import REGISTERED, of_each, random_learner
from refusals import refused
from toy_games import Race

import cellgames
from cellgames.envs.adapters import SeatVector
from cellgames.envs.adapters import seats as seats_module
from cellgames.envs.core import Game, State, chance, seeds

every_registered = of_each(REGISTERED)
TORUS = cellgames.make("torus-v0", size=2)


def lines_of(game: Game) -> list[str]:
    """Positions in the middle of games, of which at least one goes on."""
    state = play(game, game.init(seeds(1, 6)), max(1, game.info.max_turns // 3))
    return [game.state_to_string(state[env_id]) for env_id in (~state.done).nonzero().flatten().tolist()]


def shown(game: Game, state: State) -> list[str]:
    return [game.state_to_string(state[env_id]) for env_id in range(len(state))]


def check_starts(game: Game, vector: Any, lines: list[str], steps: int) -> None:
    """Step a core vector, whose games start from these lines alone, each with the seed that follows."""
    started = set(shown(game, vector.state))
    random = generator(2)
    for _ in range(steps):
        before = vector.state
        done = vector.step_random(random).done
        assert torch.equal(vector.legal_actions, game.legal_actions(vector.state))
        assert torch.equal(vector.state.seed, torch.where(done, chance.next_seed(before.seed), before.seed))
        assert not vector.state.rewards[done].any()
        started |= set(shown(game, vector.state[done]))
    assert started == set(lines)


@every_registered
def test_all_games_of_a_vector_start_from_positions(game: Game) -> None:
    lines = lines_of(game)[:2]
    steps = 2 * game.info.max_turns if len(lines) > 1 else 12
    for positions in (lines, type(game.init(seeds(0, 1))).cat([game.string_to_state(line) for line in lines])):
        check_starts(game, game.vector(8, seed=1, compile="never", positions=positions), lines, min(steps, 40))


class Curriculum:
    """A sampler that draws of more and more positions."""

    def __init__(self, lines: list[str]) -> None:
        self.lines, self.known, self.counts = lines, 1, [0]

    def __call__(self, count: int, generator: torch.Generator) -> list[str]:
        self.counts.append(count)
        return [self.lines[i] for i in torch.randint(self.known, (count,), generator=generator).tolist()]


@every_registered
def test_a_sampler_gives_every_new_game_its_position(game: Game) -> None:
    lines = lines_of(game)
    sampler = Curriculum(lines)
    vector = SeatVector(game, 4, seed=1)
    vector.set_positions(sampler)
    vector.reset(3)
    assert sampler.counts[1] == 4
    random, ended = generator(1), 0
    for step in range(12):
        moved = vector.step(random_learner(vector, random))
        ended += 0 if moved.ended is None else len(moved.ended.env_ids)
        sampler.known = 1 + step % len(lines)
    assert sum(sampler.counts) >= 4 + ended
    one, two = (game.vector(4, seed=1, compile="never", positions=Curriculum(lines)) for _ in range(2))
    randoms = generator(5), generator(5)
    for _ in range(8):
        one.step_random(randoms[0])
        two.step_random(randoms[1])
    assert one.state.equal(two.state), "the same seeds give other games"
    sampler.known = len(lines)
    starts = {tuple(shown(game, game.vector(16, seed=seed, positions=sampler).state)) for seed in range(3)}
    assert len(starts) > 1 or len(lines) == 1, "the seed does not reach the sampler"
    vector.set_positions(None)
    vector.reset(3)
    assert vector.state.equal(SeatVector(game, 4, seed=3).state)


def test_bad_positions_are_refused() -> None:
    small = cellgames.make("torus-v0", size=3)
    for positions, parameter, got in (
        ([], "position", "[]"),
        (["x"], "position", "'x'"),
        ([3], "position", "[3]"),
        (small.init(seeds(0, 1)), "positions", None),
        (Race().init(seeds(0, 1)), "positions", None),
        (lambda count, generator: [lines_of(TORUS)[0]] * (count + 1), "positions", "3"),
        (TORUS.init(seeds(0, 2)).replace(truncated=torch.tensor([False, True])), "position", None),
    ):
        with refused(parameter, got):
            TORUS.vector(2, positions=positions)  # type: ignore[arg-type]  # on purpose


def test_a_position_that_never_comes_to_the_learner_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seats_module, "PATIENCE", 10)
    game = Race(goal=1)  # the first step ends it
    vector = SeatVector(game, 2, seat="hare", seed=1)
    line = game.state_to_string(game.init(torch.tensor([1])).replace(current_player=torch.ones(1, dtype=torch.int64)))
    with pytest.raises(RuntimeError):
        vector.reset(1, position=line)
