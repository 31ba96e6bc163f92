"""Networks fit their boards: what a game's symmetries turn into each other, they judge alike."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import pytest
import torch
from every_game import every_game, generator, midway
from example_games import ConnectFour, Othello, Treblecross
from torch import Tensor
from training_runs import network_for

import cellgames
from cellgames.agents.networks.networks import BoardNetwork, Choices, FlatNetwork, Size, make_network
from cellgames.envs import WIN, Game, seeds
from cellgames.envs.connection import Hex
from cellgames.envs.grid_adaptation.game import GridAdaptation
from cellgames.envs.toroidal_cup.game import ToroidalCup

SMALL = Size(channels=8, layers=2)
network = partial(network_for, size=SMALL)


def views(game: Game, state: Any, player: int) -> tuple[Tensor, Tensor]:
    mask = game.legal_actions(state)
    return game.observe(state, player), mask[:, player] if game.info.simultaneous else mask


@every_game
def test_every_game_has_a_network_whose_actions_are_legal_and_whose_rows_are_apart(game: Game) -> None:
    state = midway(game)
    made = network(game)
    for player in range(game.info.num_players):
        observation, mask = views(game, state, player)
        choices, value = made.policy_and_value(observation, mask)
        for actions in (choices.sample(generator()), choices.mode()):
            parts = actions.view(len(state), -1)
            masked = mask.any(1)  # some games may be over
            assert game.info.admits(mask, parts)[masked].all()
            log_prob, entropy = choices.evaluate_actions(actions)
            assert (log_prob <= 1e-6).all()
            assert torch.isfinite(log_prob).all()
            assert (entropy >= -1e-5).all()
        assert value.shape == (len(state),)
    observation, mask = views(game, state, 0)
    together, alone = made.policy_and_value(observation, mask), made.policy_and_value(observation[2:3], mask[2:3])
    assert torch.allclose(together.value[2:3], alone.value, atol=1e-4)
    actions = together.choices.mode()
    assert torch.allclose(
        together.choices.evaluate_actions(actions)[0][2:3], alone.choices.evaluate_actions(actions[2:3])[0], atol=1e-3
    )


@every_game
def test_all_weights_learn(game: Game) -> None:
    """Whatever a network has takes part in what it says; a layer that was forgotten would have no gradient."""
    made, state = network(game), game.init(seeds(3, 6))
    played = midway(game, 6)
    total = torch.zeros(())
    for position in (state, played):
        observation, mask = views(game, position, 0)
        choices, value = made.policy_and_value(observation, mask)
        log_prob, entropy = choices.evaluate_actions(choices.sample(generator(1)))
        total = total + (log_prob + entropy + value).sum()
    total.backward()
    missing = [name for name, parameter in made.named_parameters() if parameter.grad is None]
    assert missing == []


def test_planes_of_a_board_get_convolutions_without_being_asked_for() -> None:
    """By the shape of the observation: [C, H, W] or something else."""
    for game in (ConnectFour(rows=4, columns=5), Othello(4)):
        assert isinstance(make_network(game, SMALL), BoardNetwork)
    assert isinstance(make_network(Treblecross(7), SMALL), FlatNetwork)


def test_hex_is_judged_alike_by_both_colours() -> None:
    """A position with colours exchanged and mirrored has the same value and mirrored logits."""
    game = Hex(size=5)
    made = network(game)
    logits, value, _ = made(game.observe(game.string_to_state("..x../.o.../..o../...x./..... b"), 0))
    mirrored, same, _ = made(game.observe(game.string_to_state("...../.x.../o.x../...o./..... w"), 1))
    assert torch.allclose(mirrored[:, [*game.layout.mirrored, game.layout.cells]], logits, atol=1e-5)
    assert torch.allclose(same, value, atol=1e-5)


def test_torus_translations_move_the_policy_and_keep_the_value() -> None:
    game = cellgames.make("torus-v0", size=5)
    made, state = network(game), midway(game)
    observation = game.observe(state, state.current_player)
    moved = observation.roll((2, 1), (2, 3))
    logits, value, _ = made(observation)
    shifted, same, _ = made(moved)
    assert torch.allclose(value, same, atol=1e-5)
    assert torch.allclose(logits.view(-1, 2, 5, 5).roll((2, 1), (2, 3)).flatten(1), shifted, atol=1e-5)


def quarter(cell: int, n: int) -> int:
    """Where a cell comes by a quarter turn against the clock, by its place: squares lie between octagons."""
    square, row, col = cell >= n * n, cell % (n * n) // n, cell % n
    y, x = (row + 0.5, col + 0.5) if square else (float(row), float(col))
    y, x = n - 1 - x, y
    return square * n * n + int(y // 1 % n) * n + int(x // 1 % n)


def test_torus_a_quarter_turn_with_colours_exchanged_is_the_same_position() -> None:
    """And so it is by the rules: who has won wins again, in the other colour."""
    n = 4
    game = cellgames.make("torus-v0", size=n)
    made = network(game)
    turned = [quarter(cell, n) for cell in range(2 * n * n)]
    random = generator(4)
    for _ in range(6):
        order = torch.randperm(2 * n * n, generator=random).tolist()
        one, other = game.init(seeds(0, 1)), game.init(seeds(0, 1)).replace(current_player=torch.tensor([1]))
        for cell in order:
            if int(one.current_player) == 0:  # then the other one is White's, whose view is turned back
                mine, value, _ = made(game.observe(one, 0))
                theirs, same, _ = made(game.observe(other, 1))
                assert torch.allclose(mine[0], theirs[0, turned], atol=1e-4)
                assert torch.allclose(value, same, atol=1e-4)
            one = game.step(one, torch.tensor([cell]))
            other = game.step(other, torch.tensor([turned[cell]]))
            if one.done.all():
                break
        assert one.done.all()
        assert other.done.all()
        assert torch.equal(game.outcome(one) == WIN, (game.outcome(other) == WIN).flip(1))


def renamed(observation: Tensor, other: int, players: int) -> Tensor:
    """The same match with digits turned into their opposites: every sequence is XORed with `other`."""
    turned = observation.clone()
    for place, value in enumerate((4, 2, 1)):
        if other & value:
            turned[:, 1 + place] = observation[:, 0] - observation[:, 1 + place]
            turned[:, 4 + place] = 1 - observation[:, 4 + place]
    public = 14
    turned[:, public : public + 8] = observation[:, [public + (sequence ^ other) for sequence in range(8)]]
    return turned


def test_grid_adaptation_names_of_sequences_do_not_matter() -> None:
    game = GridAdaptation(size=9, players=4, rounds=6, flip_rounds=(3, 5))
    made, state = network(game), midway(game)
    observation = game.observe(state, 1)
    logits, value, _ = made(observation)
    for other in range(1, 8):
        same, also, _ = made(renamed(observation, other, game.players))
        assert torch.allclose(logits, same, atol=1e-4)
        assert torch.allclose(value, also, atol=1e-4)


def test_grid_adaptation_the_next_space_depends_on_the_tiles_chosen_before() -> None:
    game = GridAdaptation(size=9, players=4, rounds=6, flip_rounds=(3, 5))
    made, state = network(game), game.init(seeds(1, 1))
    observation, mask = views(game, state, 0)
    choices = made.policy_and_value(observation, mask).choices
    actions = choices.mode()
    moved = actions.clone()
    moved[:, 0] = (actions[:, 0] + 40) % game.spaces
    assert not torch.allclose(choices.evaluate_actions(moved)[1], choices.evaluate_actions(actions)[1])
    twice = actions.clone()
    twice[:, 1] = twice[:, 0]
    fresh = make_network(game, SMALL).policy_and_value(observation, mask).choices
    assert fresh.evaluate_actions(twice)[0] < fresh.evaluate_actions(actions)[0] - 5  # nobody names a space twice


def test_toroidal_cup_rows_are_a_circle() -> None:
    game = ToroidalCup(rows=24, cols=48, pattern="randys", shapes=3, max_generations=100)
    made, state = network(game), midway(game)
    observation = game.observe(state, 1)
    boards = game.teams  # planes of cells come first
    moved = torch.cat((observation[:, :boards].roll(game.stride, 2), observation[:, boards:]), 1)
    logits, value, _ = made(observation)
    shifted, same, _ = made(moved)
    rows = game.rows // game.stride
    assert torch.allclose(value, same, atol=1e-4)
    assert torch.allclose(logits.view(len(logits), rows, -1).roll(1, 1).flatten(1), shifted, atol=1e-4)


NVEC = (3, 2)
LOGITS = torch.tensor([[0.0, 1.0, 2.0, 0.5, -0.5]])
MASK = torch.tensor([[True, False, True, True, True]])


def follow(k: int, before: Tensor) -> Tensor | None:
    """The second component copies the first: 2 goes with 1, 0 with 0."""
    return None if k == 0 else torch.where(before[:, :1] == 2, torch.tensor([[0.0, 5.0]]), torch.tensor([[5.0, 0.0]]))


def test_draws_are_as_frequent_as_likely() -> None:
    logits = torch.tensor([0.0, 1.0, 2.0]).expand(20_000, -1)
    choices = Choices(logits, torch.ones_like(logits, dtype=torch.bool), (3,))
    drawn = choices.sample(torch.Generator().manual_seed(1)).bincount(minlength=3) / 20_000
    assert torch.allclose(drawn, choices.probabilities()[0], atol=0.015)


def test_log_probability_and_entropy_of_one_component_are_those_of_torch() -> None:
    logits = torch.randn(50, 7, generator=torch.Generator().manual_seed(2))
    mask = torch.rand(50, 7, generator=torch.Generator().manual_seed(3)) < 0.7
    mask[:, 0] = True
    known = torch.distributions.Categorical(logits=logits.masked_fill(~mask, -math.inf))
    actions = known.sample()
    log_prob, entropy = Choices(logits, mask, (7,)).evaluate_actions(actions)
    assert torch.allclose(log_prob, known.log_prob(actions), atol=1e-5)
    terms = torch.where(known.probs > 0, -known.probs * known.probs.clamp(min=1e-30).log(), 0.0)
    assert torch.allclose(entropy, terms.sum(1), atol=1e-5)


def test_later_components_depend_on_those_before() -> None:
    choices = Choices(LOGITS, MASK, NVEC, follow)
    first = LOGITS[0, [0, 2]].softmax(0)
    second = (LOGITS[0, 3:] + torch.tensor([0.0, 5.0])).softmax(0)
    log_prob, _ = choices.evaluate_actions(torch.tensor([[2, 1]]))
    assert float(log_prob) == pytest.approx(math.log(first[1] * second[1]), abs=1e-5)
    assert choices.mode().tolist() == [[2, 1]]


def test_an_illegal_action_gets_no_gradient() -> None:
    logits = torch.zeros(1, 3, requires_grad=True)
    log_prob, entropy = Choices(logits, torch.tensor([[True, True, False]]), (3,)).evaluate_actions(torch.tensor([0]))
    (log_prob + entropy).sum().backward()
    assert logits.grad is not None
    assert logits.grad[0, 2] == 0
    assert logits.grad[0, 0] != 0


def test_several_actions_of_a_row_have_the_probabilities_that_each_has_alone() -> None:
    logits = torch.randn(3, 5, generator=torch.Generator().manual_seed(4))
    choices = Choices(logits, MASK.expand(3, -1), NVEC, follow)
    actions = torch.tensor([[0, 0], [2, 1], [2, 0]]).expand(3, -1, -1)
    alone = torch.stack([choices.evaluate_actions(actions[:, number])[0] for number in range(3)], 1)
    assert torch.allclose(choices.log_probs(actions), alone, atol=1e-6)
