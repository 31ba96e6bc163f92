"""AlphaZero: whose moves are learned from, what they aim at, and that it learns and continues exactly."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import torch
from arena_runs import InLine
from every_game import GAMES, generator, play
from learner_play import same
from native_code import native_library
from refusals import refused
from torch import Tensor
from torch.nn import functional
from training_runs import content, network_for
from twins import twin

import cellgames
from cellgames.agents import load
from cellgames.agents.search.improvement import Effort, Improved, Rows, TreeImprover
from cellgames.agents.simultaneous.joint_agent import improver_of
from cellgames.agents.solving import proof_search
from cellgames.envs.core import Game, seeds
from cellgames.envs.torus.geometry import neighbours
from cellgames.training import AlphaZeroArguments, Finished, train
from cellgames.training.alphazero import alphazero
from cellgames.training.alphazero.alphazero import AlphaZeroLearner, _by_surprise
from cellgames.training.alphazero.search_play import Positions
from cellgames.training.runs.checkpoints import CHECKPOINT
from cellgames.training.selfplay.learner import Purpose, derive
from cellgames.utils.errors import InputError

GAME = cellgames.make("torus-v0", size=2)
CELLS = GAME.info.num_actions


def tiny(game: Game = GAME, **changes: Any) -> AlphaZeroArguments:
    settings: dict[str, Any] = {
        **{"total_steps": 140, "num_envs": 8, "num_steps": 8, "minibatch_size": 32},
        **{"channels": 4, "layers": 1, "num_simulations": 4},
        **{"snapshot_every": 2, "eval_every": 2, "checkpoint_every": 2, "eval_games": 4, "eval_opponents": ("random",)},
        **{"opponents": "self=0.5,pool=0.3,random=0.2", "buffer_size": 80, "threads": 1, "device": "cpu"},
    }
    return AlphaZeroArguments.fitted(game, **{**settings, **changes})


def learner_of(folder: Path, game: Game = GAME, **changes: Any) -> AlphaZeroLearner:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        learner = AlphaZeroLearner(game, tiny(game, **changes), folder, torch.device("cpu"))
    learner.snapshot(0)
    learner.restart(1)
    return learner


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    return train(tiny(), tmp_path_factory.mktemp("whole"))


def test_the_file_of_a_run_is_the_policy_as_an_agent(whole: Finished) -> None:
    agent = load(whole.agent, GAME).playing(GAME)  # type: ignore[union-attr]  # of a file
    state = torch.load(whole.out / CHECKPOINT, weights_only=True)["learner"]["network"]
    assert same(dict(agent.network.state_dict()), state)
    assert agent.share == 1.0  # as the run's evaluations play
    assert set(AlphaZeroLearner.METRICS) <= whole.history[-1].keys()


def test_it_learns_to_open_on_octagons_and_to_beat_random_play(tmp_path: Path) -> None:
    """At size 2 the first move wins on an octagon and loses on a square."""
    settings: dict[str, Any] = {
        **{"total_steps": 3000, "num_envs": 64, "num_simulations": 8, "minibatch_size": 64},
        **{"num_epochs": 4, "buffer_size": 2000, "channels": 8},
        **{"opponents": "self", "learning_rate": 1e-2, "eval_every": 20, "random_plies": 1, "eval_games": 200},
    }
    finished = train(tiny(**settings), tmp_path)
    network = load(finished.agent, GAME).playing(GAME).network  # type: ignore[union-attr]  # of a file
    empty = GAME.init(torch.tensor([0]))
    with torch.no_grad():
        prediction = network.policy_and_value(GAME.observe(empty, 0), GAME.legal_actions(empty))
    assert float(prediction.choices.probabilities()[0, : CELLS // 2].sum()) > 0.75
    assert float(prediction.value) > 0.5
    assert finished.history[-1]["random"] > 0.8
    assert finished.history[-1]["explained_variance"] > 0.5


def test_a_solver_makes_targets_exact(tmp_path: Path) -> None:
    native_library()
    game = cellgames.make("torus-v0", size=3)
    network = network_for(game, noise=0.0)
    state = game.init(seeds(0, 300))
    for _ in range(6):
        state = game.step(state, game.random_actions(state, generator(1)))
    state = state[~state.done]
    mask, seats = game.legal_actions(state), state.current_player
    rows = Rows(state, game.observe(state, seats), mask, seats, torch.arange(len(state)))
    searched, solved = (
        TreeImprover(game, network, Effort(6, 4, solver_nodes=nodes)).improve(rows, generator(2))
        for nodes in (0, 20_000)
    )
    winning = proof_search(game).move_values(state) == 1
    won = winning.any(1)
    assert torch.equal(solved.value, torch.where(won, 1.0, -1.0))
    assert torch.allclose(solved.policy.sum(1), torch.ones(len(state)))
    assert (solved.policy[won] * ~winning[won]).sum() == 0
    assert winning.gather(1, solved.action[:, None]).squeeze(1)[won].all()
    assert torch.equal(solved.policy[~won], searched.policy[~won]), "where all moves lose, the search decides"
    # A network that has learned nothing prefers losing moves in many of these positions.
    assert (searched.policy[won] * ~winning[won]).sum(1).mean() > 0.2
    kept = winning.gather(1, searched.action[:, None]).squeeze(1) & won
    assert kept.any()
    assert torch.equal(solved.action[kept], searched.action[kept]), "a winning move of the search is played"


def test_what_searches_change_most_is_learned_from_most_often(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of equal positions those whose policy is the network's own get the even share, and the others all else."""
    learner = learner_of(tmp_path, surprise_weight=0.8, opponents="self", num_envs=64)
    (lesson,) = learner.lessons
    added: list[Positions] = []
    monkeypatch.setattr(lesson.replay, "add", added.append)
    _, _, rows = lesson.collect(learner.arguments, learner.generator)
    known = added[0]
    assert len(known.value) == pytest.approx(len(rows), rel=0.2)
    observation, mask = known.observation[:1].expand(4000, -1, -1, -1), known.mask[:1].expand(4000, -1)
    logs, _ = lesson.improver.log_probs_and_value(observation, mask, None)
    own = logs.exp().detach()
    policy = torch.where((torch.arange(4000) % 4 == 0)[:, None], functional.one_hot(own.argmin(1), CELLS), own)
    positions = Positions(observation, mask, policy, torch.arange(4000).float())
    value = _by_surprise(lesson.improver, positions, 0.8, learner.generator).value
    surprising = value % 4 == 0
    assert len(value) == pytest.approx(4000, rel=0.05)
    assert surprising.double().mean().item() == pytest.approx(0.25 * (0.2 + 0.8 * 4), abs=0.03)


def test_minibatches_are_moved_by_symmetries_with_what_belongs_to_them(tmp_path: Path) -> None:
    """The policy here is how many of the mover's stones touch a cell, which only holds if all moved alike."""
    game = cellgames.make("torus-v0", size=3)
    learner = learner_of(tmp_path, game, minibatch_size=300)
    touching = torch.zeros(18, 18)
    for cell, edges in enumerate(neighbours(3)):
        for edge in edges:
            touching[cell, edge.cell] = 1

    def touched(observation: Tensor) -> Tensor:
        return observation[:, :2].flatten(1).float() @ touching / 18

    board = torch.zeros(18, dtype=torch.int8)
    board[[0, 4, 10]], board[[1, 16]] = 1, 2
    planes = [(board == colour).view(2, 3, 3) for colour in (1, 2)]
    seen = torch.cat((*planes, torch.ones(1, 3, 3, dtype=torch.bool))).to(torch.int8)[None]
    policy = touched(seen)
    (lesson,) = learner.lessons
    lesson.replay.add(Positions(seen, board[None] == 0, policy, torch.tensor([0.25])))
    drawn = learner._minibatch(lesson)
    assert drawn is not None
    assert torch.allclose(drawn.policy, touched(drawn.observation), atol=1e-3)
    assert torch.equal(drawn.mask, drawn.observation[:, :4].view(-1, 2, 18).sum(1) == 0)
    assert drawn.value.eq(0.25).all()
    assert len(drawn.observation.flatten(1).unique(dim=0)) == game.symmetries  # 36, all of them met
    assert drawn.observation[:, 4, 0, 0].float().mean().item() == pytest.approx(0.5, abs=0.15)


def test_rows_of_workers_stand_beside_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each worker plays what a learner with its seed and its share of the games plays."""
    monkeypatch.setattr(alphazero, "processes", lambda count: nullcontext(InLine()))
    settings: dict[str, Any] = {"opponents": "self=0.5,random=0.5", "variants": ("size=3",)}
    learner = learner_of(tmp_path / "shared", workers=2, **settings)
    shares = [learner_of(tmp_path / "alone", num_envs=4, **settings) for _ in range(2)]
    shares[1].restart(derive(derive(1, Purpose.GAMES, 1), Purpose.GAMES))
    for number in (0, 0):
        joined = learner.lessons[number].play.collect(6)
        parts = [share.lessons[number].play.collect(6) for share in shares]
        for name, value in vars(joined).items():
            if name != "ended":
                assert same(value, torch.cat([getattr(part, name) for part in parts], 1))
        assert joined.ended.games == sum(part.ended.games for part in parts)
        scores = [part.ended.results.get(0, (0.0, 0)) for part in parts]
        assert joined.ended.results.get(0, (0.0, 0)) == tuple(map(sum, zip(*scores, strict=True)))
    for wrong, changes in (
        ("workers", {"num_envs": 7}),
        ("opponents", {"opponents": "self=0.5,pool=0.5", "variants": ()}),
    ):
        with pytest.raises(InputError) as refused:
            learner_of(tmp_path, workers=2, **{**settings, **changes})
        assert refused.value.parameter == wrong


@pytest.mark.slow
def test_a_run_with_workers_can_be_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = tiny(workers=2, opponents="self")
    train(arguments, tmp_path / "processes")
    monkeypatch.setattr(alphazero, "processes", lambda count: nullcontext(InLine()))
    train(arguments, tmp_path / "here")
    assert same(content(tmp_path / "processes"), content(tmp_path / "here"))


def test_variants_are_learned_by_the_same_weights(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"variants": ("size=3", "size=4"), "opponents": "self", "total_steps": 700}
    finished = train(tiny(**settings, buffer_size=1000), tmp_path)
    replays = [content(tmp_path)["learner"]["replay"], *content(tmp_path)["learner"]["variants"]]
    assert [replay["mask"].shape[1] for replay in replays] == [8, 18, 32]
    assert sum(len(replay["value"]) for replay in replays) == finished.steps
    learner = learner_of(tmp_path / "other", **settings, variant_envs=3)
    assert [lesson.play.num_envs for lesson in learner.lessons] == [8, 3, 3]
    before = {name: value.clone() for name, value in learner.network.state_dict().items()}
    learner.iterate(0.0)
    for lesson in learner.lessons:
        assert lesson.improver.network.game is lesson.game
        assert same(dict(lesson.improver.network.state_dict()), dict(learner.network.state_dict()))
    assert not same(before, dict(learner.network.state_dict()))


@pytest.mark.parametrize(
    ("id", "cause"),
    [
        ("toy-sealed-v0", "all players act at once and information is hidden"),
        ("toy-two-part-race-v0", "an action has several components"),
        ("cloth-of-gold-small-v0", "rewards go from -2 to 2"),
    ],
)
def test_games_that_it_cannot_search_are_refused(id: str, cause: str, tmp_path: Path) -> None:
    arguments = AlphaZeroArguments(game=id, eval_opponents=("random",))
    with refused("game", where=GAMES[id].id) as caught:
        AlphaZeroLearner(GAMES[id], arguments, tmp_path, torch.device("cpu"))
    assert cause in caught.value.cause


# Where actions have several parts, a turn is many actions, or something is hidden.
GRID = cellgames.make("grid-adaptation-small-v0", size=6, rounds=3, flip_rounds=(2,))
CLOTH = cellgames.make("cloth-of-gold-small-v0", height=12, width=12, generations=4, max_units=4, max_rounds=3)
CUP = cellgames.make("toroidal-cup-small-v0", rows=12, cols=24, shapes=2, max_generations=20)
BRIEF: dict[str, Any] = {
    **{"num_envs": 4, "num_steps": 14, "minibatch_size": 16, "buffer_size": 300, "max_num_considered_actions": 4},
    **{"random_plies": 0, "eval_every": 100, "opponents": "self=0.6,greedy=0.4"},
}


@pytest.mark.parametrize("game", [GRID, CLOTH, CUP], ids=["grid", "cloth", "cup"])
def test_policies_are_probabilities_of_legal_candidates(game: Game, tmp_path: Path) -> None:
    learner = learner_of(tmp_path, game, **BRIEF)
    rollout = learner.lessons[0].play.collect(14)
    own = rollout.learner_mask
    assert 8 < int(own.sum()) < own.numel(), "some rows are the opponent's, or go on with a turn"
    assert torch.allclose(rollout.policy[own].sum(1), torch.ones(int(own.sum())), atol=1e-5)
    assert ((rollout.policy[own] > 0).sum(1) > 1).any(), "it compares"
    chosen = rollout.action.flatten(0, 1)
    legal = game.info.admits(rollout.mask.flatten(0, 1), chosen.view(len(chosen), -1)).all(1)
    assert legal[own.flatten()].all()
    if learner.lessons[0].improver.components:
        actions, policy = rollout.actions[own], rollout.policy[own]
        allowed = game.info.admits(rollout.mask[own][:, None].expand(-1, actions.shape[1], -1), actions).all(2)
        assert allowed[policy > 0].all()
        named = (actions == rollout.action[own][:, None]).all(2)
        assert (policy * named).amax(1).gt(0).all(), "what is played is one of them"
    if game is CUP:
        assert (rollout.policy[own][~rollout.mask[own]] == 0).all()
        assert ((rollout.policy[own] > 0).sum(1) > 1).float().mean() > 0.9, "it mixes"


def test_a_run_in_the_cup_can_be_repeated(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"total_steps": 60, "num_steps": 3, "random_plies": 1, "eval_every": 9}
    one, two = (train(tiny(CUP, **settings), tmp_path / name) for name in ("one", "two"))
    assert one.agent.read_bytes() == two.agent.read_bytes()


def test_searches_see_observations_alone_where_something_is_hidden(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = learner_of(tmp_path, GRID, **BRIEF)
    found = learner.lessons[0].play.improver
    improve, states = found.improve, []

    def spied(rows: Rows, random: torch.Generator) -> Improved:
        states.append(rows.state)
        improved: Improved = improve(rows, random)
        return improved

    monkeypatch.setattr(found, "improve", spied)
    learner.iterate(0.0)
    assert len(states) == 14
    assert set(states) == {None}


def test_what_a_seat_does_not_see_changes_neither_its_policy_nor_its_action() -> None:
    """All but seat 1 have other sequences, tiles and points; seat 1 finds the same."""
    players = GRID.info.num_players
    seats, env_ids = torch.arange(players).repeat(6), torch.arange(6).repeat_interleave(players)
    kind = improver_of(GRID)
    found = kind(GRID, network_for(GRID, kind=kind.kind, noise=0.0), Effort(8, 4))

    def searched(state: Any) -> Improved:
        views = torch.stack([GRID.observe(state, seat) for seat in range(players)], 1)
        found.start(seats, env_ids)
        rows = Rows(None, views[env_ids, seats], GRID.legal_actions(state).flatten(0, 1), seats, env_ids)
        return found.improve(rows, generator(3))

    state = play(GRID, GRID.init(seeds(5, 6)), 2, 1)
    one, other = searched(state), searched(twin(GRID, state, 1))
    assert one.actions is not None
    assert other.actions is not None
    own = seats == 1
    for name in ("action", "policy", "value", "actions"):
        assert torch.equal(getattr(one, name)[own], getattr(other, name)[own])
    assert not torch.equal(one.actions, other.actions), "the others do see it"


def test_units_of_a_turn_are_no_steps_between_its_decisions(tmp_path: Path) -> None:
    """With `gae_lambda` 0 a value aims at the next decision of its seat, however many units lie between."""
    learner = learner_of(tmp_path, CLOTH, **{**BRIEF, "opponents": "self", "gae_lambda": 0.0, "num_steps": 20})
    lesson = learner.lessons[0]
    rollout, estimates, _ = lesson.collect(learner.arguments, learner.generator)
    own, seats = rollout.learner_mask, rollout.player
    compared = 0
    for t, env in own.nonzero().tolist():
        later = [s for s in range(t + 1, 20) if own[s, env] and seats[s, env] == seats[t, env]]
        if later and not rollout.done[t : later[0], env].any():
            assert float(estimates.target[t, env]) == pytest.approx(float(rollout.value[later[0], env]), abs=1e-5)
            compared += 1
    assert compared > 5


@pytest.mark.slow
def test_it_learns_turns_that_beat_random_play(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"num_envs": 64, "num_steps": 24, "total_steps": 900, "eval_games": 40}
    settings |= {"learning_rate": 3e-3, "opponents": "self", "channels": 8}
    finished = train(tiny(CLOTH, **{**BRIEF, **settings}), tmp_path)
    assert finished.history[-1]["random"] > 0.85
    assert finished.history[-1]["explained_variance"] > 0.1
