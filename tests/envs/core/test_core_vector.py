"""Vectors: envs that start over, alone or in company, eager or compiled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import learner_play
import pytest
import torch
from every_game import generator
from learner_play import GAMES, every_game, same
from processes import python
from refusals import fails, refused
from torch import Tensor

from cellgames import InputError
from cellgames.envs.core import Game, Vector, chance, seeds
from cellgames.envs.core.inputs import IllegalActionError
from cellgames.envs.native import without_native
from cellgames.envs.native.operators import Compile, compiler_found
from cellgames.envs.torus import Torus


def needs_compiler(test: Any) -> Any:
    """Mark a test of compiled steps."""
    return pytest.mark.slow(pytest.mark.skipif(not compiler_found("cpu"), reason="needs a C++ compiler")(test))


def nth_legal(game: Game, legal: Tensor, turn: int) -> Tensor:
    """A legal action of every env as a function of its number and the turn."""
    masks = legal.reshape(-1, legal.shape[-1])
    rows = [learner_play.nth_legal(game, mask, 31 * turn + 17 * number) for number, mask in enumerate(masks)]
    return torch.stack(rows).view(len(legal), *game.info.action_shape)


@every_game
def test_a_vector_plays_every_envs_games_as_if_alone_and_starts_over(game: Game) -> None:
    num_envs = 3
    vector = game.vector(num_envs, seed=6, compile="never")
    wider = game.vector(num_envs + 2, seed=6, compile="never")
    alone = [game.init(seeds(6, num_envs)[[env_id]]) for env_id in range(num_envs)]
    ended, random = 0, generator(4)
    for turn in range(2 * game.info.max_turns + 5):
        assert not vector.state.done.any()
        assert torch.equal(vector.legal_actions, game.legal_actions(vector.state))
        if turn % 2:
            actions = nth_legal(game, wider.legal_actions, turn)
            given = actions.clone()
            wide = wider.step(given)
            assert torch.equal(given, actions), "the vector has overwritten the actions it was given"
            assert torch.equal(wide.actions, actions)
        else:
            wide = wider.step_random(random)
        narrow = vector.step(wide.actions[:num_envs])
        for env_id in range(num_envs):
            alone[env_id] = game.step(alone[env_id], wide.actions[[env_id]])
            for name in ("rewards", "terminated", "truncated"):
                assert torch.equal(getattr(narrow, name)[env_id], getattr(alone[env_id], name)[0])
                assert torch.equal(getattr(wide, name)[env_id], getattr(alone[env_id], name)[0])
            if alone[env_id].done:
                ended += 1
                alone[env_id] = game.init(chance.next_seed(alone[env_id].seed))
            assert vector.state[env_id].equal(alone[env_id])
            assert wider.state[env_id].equal(alone[env_id])
    assert ended >= num_envs


@every_game
def test_a_vector_refuses_illegal_actions_and_plays_on(game: Game) -> None:
    vector = game.vector(3, compile="never")
    before, actions = vector.state.clone(), nth_legal(game, vector.legal_actions, 0)
    wrong = actions.clone()
    wrong.view(-1)[-1] = 10**6
    with fails(IllegalActionError, where=game.id, action=10**6, env_id=2):
        vector.step(wrong)
    with refused("actions"):
        vector.step(actions[:2])
    assert vector.state.equal(before)
    vector.step(actions)


def test_a_vector_refuses_bad_arguments() -> None:
    game = GAMES["torus-small-v0"]
    for num_envs in (0, -1, 1 << 62, 1 << 70, 1.5, "3", True):
        with pytest.raises(InputError):
            game.vector(num_envs)  # type: ignore[arg-type]  # on purpose
    with refused("compile", "'yes'"):
        game.vector(2, compile="yes")  # type: ignore[arg-type]  # on purpose


def keep(vector: Vector[Any], steps: int) -> tuple[list[Tensor], list[Tensor]]:
    """Return all that a loop is given and its caller may keep, and copies that were made at once."""
    kept: list[Tensor] = []
    copies: list[Tensor] = []
    random = generator(7)
    for _ in range(steps):
        state, mask = vector.state, vector.legal_actions
        seen = vector.game.observe(state, 0)
        step = vector.step_random(random)
        given = [*state.tensors(), mask, seen, step.actions, step.rewards, step.terminated, step.truncated, step.done]
        kept += given
        copies += [tensor.clone() for tensor in given]
    return kept, copies


@every_game
def test_what_a_step_returns_is_not_overwritten_by_later_steps(game: Game) -> None:
    assert same(*keep(game.vector(5, seed=1, compile="never"), 2 * game.info.max_turns))


@needs_compiler
@pytest.mark.parametrize("num_envs", [256, 1024])
@pytest.mark.parametrize("id", ["torus-small-v0", "toy-race-v0", "toy-sealed-v0"])
def test_a_size_does_not_change_what_a_loop_means(id: str, num_envs: int) -> None:
    """From 1,024 envs on steps are compiled, and a compiled step overwrites its memory."""
    game, steps = GAMES[id], 12
    with without_native():
        vector, again = game.vector(num_envs, seed=1), game.vector(num_envs, seed=1, compile="never")
    kept, copies = keep(vector, steps)
    assert same(kept, copies)
    assert same(kept, keep(again, steps)[1])
    assert vector.backend == ("compiled" if num_envs >= 1024 else "eager")


@needs_compiler
@pytest.mark.parametrize("compile", ["always", "never"])
def test_reused_buffers_hold_the_same_games(compile: Compile) -> None:
    game = GAMES["torus-small-v0"]
    with without_native():
        vector = game.vector(1024, seed=1, compile=compile, reuse_buffers=True)
        again = game.vector(1024, seed=1, compile=compile)
    one, two = generator(3), generator(3)
    state = vector.state
    for _ in range(12):
        assert same(vector.step_random(one), again.step_random(two))
        assert vector.state.equal(again.state)
        assert torch.equal(vector.legal_actions, again.legal_actions)
    assert vector.backend == ("compiled" if compile == "always" else "eager")
    assert (vector.state is state) == (compile == "always"), "the memory is not reused"


@pytest.mark.parametrize("reuse_buffers", [False, True])
@every_game
def test_observations_are_those_of_the_seats_to_move(game: Game, reuse_buffers: bool) -> None:
    """As the game's `observe` has them, in its dtype and in that of networks; nobody's memory is overwritten."""
    lots = [generator(5), generator(5)]
    vectors = [
        game.vector(8, seed=2, observe=dtype, reuse_buffers=reuse_buffers)
        for dtype in (game.info.observation.dtype, torch.float32)
    ]
    kept = []
    for _ in range(10):
        for vector, random in zip(vectors, lots, strict=True):
            state, seen = vector.state, vector.observation
            seats = range(game.info.num_players)
            every = torch.stack([game.observe(state, seat) for seat in seats], 1)
            own = every if game.info.simultaneous else every[torch.arange(len(state)), state.current_player]
            assert seen.dtype == vector.observe
            assert torch.equal(seen, own.to(vector.observe))
            kept.append((seen, seen.clone()))
            vector.step_random(random)
    assert reuse_buffers or all(torch.equal(*pair) for pair in kept)


def test_a_subclass_of_a_game_is_played_by_what_it_overrides() -> None:
    steps = {"_step": lambda game, state, action: Torus._step(game, state, action).replace(rewards=torch.ones(2, 2))}
    sight = {"observe": lambda game, state, player: 1 - Torus.observe(game, state, player)}
    vector = type("Shaped", (Torus,), {**steps, **sight})(size=3).vector(2, observe=True)
    assert torch.equal(vector.observation, 1 - Torus.observe(vector.game, vector.state, 0))
    assert vector.step_random(generator(0)).rewards.eq(1).all()


def test_a_vector_without_observations_says_so() -> None:
    game = GAMES["torus-small-v0"]
    with refused("observe", "one without observations"):
        _ = game.vector(2).observation
    with refused("observe", "torch.int16"):
        game.vector(2, observe=torch.int16)
    assert game.vector(2, observe=True).observation.dtype == game.info.observation.dtype


@needs_compiler
def test_games_step_eagerly_where_the_compiler_has_no_room(tmp_path: Path) -> None:
    """A cache below a file cannot be made, as in a folder that is read-only; root may write into those."""
    (tmp_path / "file").touch()
    program = (
        "import torch, cellgames; from cellgames.envs.core.vector import Vector\n"
        "games = [Vector(cellgames.make('torus-v0', size=3), 1024, compile=how) for how in ('auto', 'never')]\n"
        "for game in games: game.step_random(torch.Generator().manual_seed(1))\n"
        "assert games[0].state.equal(games[1].state) and games[0].backend == 'eager'\n"
    )
    cache = {"TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "file" / "cache")}
    ended = python("-c", program, variables={**cache, "CELLGAMES_NATIVE": "0"})  # else nothing is compiled
    assert ended.returncode == 0, ended.stderr
    assert "compiling failed, stepping eagerly" in ended.stderr
