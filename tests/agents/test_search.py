"""Tree search: what trees hold, what they find, what is kept of them, and who plays by them."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torus_reference as ref
from every_game import after_openings, generator, play
from native_code import native_library
from slow import slow_except
from torch import Tensor

import cellgames
from cellgames.agents import Size, load, make_network
from cellgames.agents.base import ByGame
from cellgames.agents.search import GumbelSearch, NetworkEvaluator, Search, SearchResult, UCTSearch
from cellgames.agents.search.gumbel import considered_visits
from cellgames.agents.search.search_agent import SearchAgent
from cellgames.agents.search.tree import CLOSED, ILLEGAL, OPEN, Tree
from cellgames.agents.solving import proof_search
from cellgames.agents.torus.proof_search import LEAST_STONES
from cellgames.envs.core import Game, State, seeds
from cellgames.envs.core.chance import random_bits
from cellgames.envs.native import without_native
from cellgames.envs.registry import plugin_of
from cellgames.envs.torus.game import Torus
from cellgames.plugins import resolve

SMALL: Any = cellgames.make("torus-v0", size=3)
KINDS = ("uct", "gumbel")


class Counted:
    """Judges by a function of the position alone, so that searches are the same in any company."""

    def evaluate(self, game: Game, state: State, generator: torch.Generator) -> Any:  # a pair is enough
        board = game.board(state).flatten(1).double()
        places = torch.arange(1, board.shape[1] + 1, device=board.device)
        value = (board * places.sqrt()).sum(1).sin().float() * 0.5
        logits = (
            ((board.sum(1, keepdim=True) + 1) * torch.arange(1, game.info.num_actions + 1, device=board.device))
            .cos()
            .float()
        )
        return logits, torch.stack((value, -value), 1)


def searcher(kind: str, game: Game, simulations: int) -> Search:
    evaluator = Counted()
    if kind == "uct":
        return UCTSearch(game, simulations, evaluator=evaluator)
    return GumbelSearch(game, evaluator, simulations, considered=32)


def midway(game: Game, num_envs: int, turns: int, seed: int = 9) -> Any:
    state, source = game.init(seeds(seed, num_envs)), generator(seed)
    for _ in range(turns):
        state = game.step(state, game.random_actions(state, random_bits(num_envs, source)))
    return state[~state.done]


def grown(search: Search, state: State, seed: int = 0) -> Tree:
    tree = search.empty(state)
    search.plant(tree, torch.arange(len(state)), state, generator(seed))
    search.grow(tree, generator(seed))
    return tree


def drawn(text: str, player: int) -> tuple[Any, Any]:
    """A drawn Torus board (see `torus_reference`) with the player to move."""
    game = cellgames.make("torus-v0", size=ref.board_from_text(text)[1])
    return game, game.string_to_state(ref.position_from_text(text, "bw"[player]))


@pytest.mark.parametrize("kind", KINDS)
def test_visits_add_up_in_every_node(kind: str) -> None:
    state = midway(SMALL, 40, 4)
    tree = grown(searcher(kind, SMALL, 60), state)
    used = torch.arange(tree.capacity) < tree.count[:, None]
    inner = used.flatten() & ~tree.resolved
    assert inner.sum() > 20 * len(state)
    assert torch.equal(tree.visits[inner], 1 + tree.edge_visits[inner].sum(1))
    child = tree.child_of(torch.arange(len(tree.visits))[:, None], torch.arange(tree.edges))
    led = (tree.child > 0) & used.flatten()[:, None]
    assert torch.equal(tree.visits[child[led]], tree.edge_visits[led])
    assert (tree.edge_visits[~led & inner[:, None]] == 0).all()
    going = ~tree.of_root(tree.resolved)
    assert (tree.visits[tree.roots][going] == 61).all()
    assert (tree.count[going] <= 61).all()


@pytest.mark.parametrize("kind", KINDS)
def test_no_illegal_action_is_ever_taken_and_positions_follow_by_the_rules(kind: str) -> None:
    state = midway(SMALL, 30, 6)
    tree = grown(searcher(kind, SMALL, 80), state)
    nodes = (torch.arange(tree.capacity) < tree.count[:, None]).flatten().nonzero().squeeze(1)
    legal = SMALL.legal_actions(tree.state[nodes])
    assert (tree.edge_visits[nodes][~legal] == 0).all()
    assert (tree.status[nodes][~legal] == ILLEGAL).all()
    open = ~tree.resolved[nodes]
    assert torch.equal(tree.status[nodes][open] != ILLEGAL, SMALL.defending_actions(tree.state[nodes[open]]))
    below = nodes[nodes % tree.capacity > 0]
    parents = below - below % tree.capacity + tree.parent[below]
    after = SMALL.step(tree.state[parents], tree.parent_edge[below].long())
    assert after.equal(tree.state[below])


@pytest.mark.parametrize("kind", KINDS)
def test_a_search_of_many_positions_equals_searches_of_each_alone(kind: str) -> None:
    state = midway(SMALL, 5, 7)
    search = searcher(kind, SMALL, 30)
    together = search.run(state, generator())
    for env_id in range(len(state)):
        alone = search.run(state[env_id], generator())
        assert torch.equal(alone.visits[0], together.visits[env_id])
        assert torch.equal(alone.chosen[0], together.chosen[env_id])
        torch.testing.assert_close(alone.value[0], together.value[env_id])
        assert alone.lines[0] == together.lines[env_id]


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize("kind", KINDS)
def test_searches_on_a_gpu_find_what_others_do(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cellgames.agents.search.uct.library", lambda device: None)  # it draws other random numbers
    state = midway(SMALL, 30, 5)
    search = searcher(kind, SMALL, 40)
    there, here = (search.run(state.to(device), generator()) for device in ("cuda", "cpu"))
    assert (there.visits.cpu() == here.visits).all(1).float().mean() > 0.9  # sums differ in their last bits


@pytest.mark.parametrize(("size", "turns"), [(2, 4), (3, 11), (5, 30), (8, 80)])
def test_torus_tells_winning_moves_without_playing_them(size: int, turns: int) -> None:
    game: Any = cellgames.make("torus-v0", size=size)
    state = play(game, game.init(seeds(3, 200)), turns, 3)
    env_ids, cells = game.legal_actions(state).nonzero().unbind(1)
    after = game.step(state[env_ids], cells)
    wins, defends = torch.zeros((2, 200, game.info.num_actions), dtype=torch.bool)
    wins[env_ids, cells] = after.done
    assert wins.any()
    assert torch.equal(game.winning_actions(state), wins)
    defends[env_ids, cells] = ~game.winning_actions(after).any(1)
    some = ~wins.any(1)  # who wins at once need not defend
    assert (defends != game.legal_actions(state))[some].any(), "expected threats, for the test's sake"
    assert torch.equal(game.defending_actions(state)[some], defends[some])


BLACK_WINS_BY_TWO_RINGS = """
    B B . .
     . . . .
    B B . .
     . . W .
    B B . .
     . . . .
    . . . W
     . . . .
"""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("simulations", [24, 48])
def test_a_win_in_one_is_found(kind: str, simulations: int) -> None:
    state = midway(SMALL, 200, 9)
    wins = SMALL.winning_actions(state)
    has = wins.any(1)
    chosen = searcher(kind, SMALL, simulations).run(state[has], generator()).chosen
    assert wins[has].gather(1, chosen[:, None]).all()


@pytest.mark.parametrize("kind", KINDS)
def test_losses_in_one_are_defended_against_where_that_is_possible(kind: str) -> None:
    """White to move, and Black would win at once if White did nothing there."""
    state = midway(SMALL, 400, 9)
    safe = SMALL.defending_actions(state)
    hard = safe.any(1) & (safe != SMALL.legal_actions(state)).any(1) & ~SMALL.winning_actions(state).any(1)
    assert hard.sum() > 20
    chosen = searcher(kind, SMALL, 120).run(state[hard], generator()).chosen
    assert safe[hard].gather(1, chosen[:, None]).all()


def test_what_is_lost_is_still_hindered() -> None:
    """Cells win for Black, and White, to move, takes one of them."""
    game, state = drawn(BLACK_WINS_BY_TWO_RINGS, 1)
    wins = game.winning_actions(state, 1 - state.current_player)
    assert wins.sum() >= 2
    for search in (UCTSearch(game, 20), GumbelSearch(game, Counted(), 20)):
        result = search.run(state, generator())
        assert bool(wins[0, int(result.chosen)])
        assert result.value.tolist() == [[1.0, -1.0]]


def test_what_is_certain_is_the_truth() -> None:
    state = midway(SMALL, 100, 10)
    tree = grown(UCTSearch(SMALL, 300), state)
    sure = tree.of_root(tree.resolved)
    assert sure.float().mean() > 0.5
    won = proof_search(SMALL).solve(state) == 1
    claimed = tree.worth[tree.roots].gather(1, state.current_player[:, None]).squeeze(1) > 0
    assert torch.equal(claimed[sure], won[sure])
    closed = (tree.status == CLOSED) & (tree.edge_visits > 0)
    means = tree.means(torch.arange(len(tree.visits)))
    assert means[closed].abs().eq(1).all()
    assert (tree.status[tree.roots][~sure] == OPEN).any(1).all()


@pytest.mark.parametrize(
    ("candidates", "simulations", "plan"),
    [
        (1, 3, [0, 1, 2]),
        (2, 4, [0, 0, 1, 1]),
        (4, 8, [0, 0, 0, 0, 1, 1, 2, 2]),
        (4, 12, [0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4]),
        (8, 24, [0] * 8 + [1] * 4 + [2] * 4 + [3, 3, 4, 4, 5, 5, 6, 6]),
    ],
)
def test_sequential_halving_shares_simulations_out(candidates: int, simulations: int, plan: list[int]) -> None:
    assert considered_visits(candidates, simulations) == plan
    assert GumbelSearch(SMALL, Counted(), simulations).considered == int(simulations**0.5)


def test_the_improved_policy_is_the_prior_moved_by_results() -> None:
    """By the formulas of the paper, written out for one root."""
    state = midway(SMALL, 5, 3)
    search = GumbelSearch(SMALL, Counted(), 20, considered=8)
    tree = grown(search, state)
    result = search._policy(tree)
    for env_id, root in enumerate(tree.roots.tolist()):
        mover = int(state.current_player[env_id])
        legal = SMALL.legal_actions(state)[env_id].nonzero().squeeze(1).tolist()
        logits, visits = tree.logits[root].tolist(), tree.edge_visits[root].tolist()
        prior = torch.tensor([logits[a] for a in legal]).softmax(0).tolist()
        means = {a: float(tree.edge_total[root, a]) / visits[a] for a in legal if visits[a]}
        seen = [(p, means[a]) for a, p in zip(legal, prior, strict=True) if a in means]
        weighed = sum(p * q for p, q in seen) / sum(p for p, _ in seen)
        mixed = (float(tree.raw[root, mover]) + sum(visits) * weighed) / (1 + sum(visits))
        factor = 50 + max(visits)
        wish = torch.tensor([logits[a] + factor * (means.get(a, mixed) + 1) / 2 for a in legal])
        torch.testing.assert_close(result[env_id, legal], wish.softmax(0), atol=1e-4, rtol=1e-3)


def test_the_tree_is_kept_where_the_game_goes_on_and_is_the_same_below() -> None:
    agent = SearchAgent("kept", lambda game: UCTSearch(game, 100, evaluator=Counted()), solve=False)
    state = midway(SMALL, 16, 2)
    env_ids = torch.arange(len(state)) * 3
    agent.start(SMALL, state.current_player, env_ids)
    first = agent.search(state, env_ids, generator())
    state = SMALL.step(state, first.chosen)
    reply = torch.tensor([line[1] for line in first.lines])
    state = SMALL.step(state, reply)
    going = ~state.done
    second = agent.search(state[going], env_ids[going], generator())
    more = second.visits.sum(1) >= 100
    assert more[second.value.abs().amax(1) < 1].all()
    assert (second.visits.sum(1) > 100).float().mean() > 0.2
    fresh = UCTSearch(SMALL, 100, evaluator=Counted()).run(state[going], generator())
    assert (fresh.visits.sum(1) <= 100).all()
    agent.start(SMALL, state.current_player, env_ids)  # other games begin there: nothing is left
    assert (agent.search(state[going], env_ids[going], generator()).visits.sum(1) <= 100).all()


def test_memory_is_bounded_by_searching_some_envs_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    state = midway(SMALL, 20, 4)
    env_ids = torch.arange(len(state))
    make = lambda game: GumbelSearch(game, Counted(), 20)  # noqa: E731  # short
    whole, parts = (SearchAgent("some", make) for _ in range(2))
    whole.start(SMALL, state.current_player, env_ids)
    wanted = whole.search(state, env_ids, generator())
    monkeypatch.setattr("cellgames.agents.search.tree_search._BYTES", 200_000)
    parts.start(SMALL, state.current_player, env_ids)
    found = parts.search(state, env_ids, generator())
    assert torch.equal(found.visits, wanted.visits)
    assert found.lines == wanted.lines


def test_games_with_thousands_of_actions_keep_some_edges_a_node() -> None:
    cloth = cellgames.make("cloth-of-gold-small-v0", generations=4, max_rounds=2)
    torch.manual_seed(0)
    evaluator = NetworkEvaluator(make_network(cloth, Size(4, 1)))
    state = cloth.init(seeds(0, 3))
    search = GumbelSearch(cloth, evaluator, 20)
    tree = grown(search, state)
    assert tree.edges < cloth.info.num_actions
    result = search._result(tree)
    prior = evaluator.evaluate(cloth, state, generator()).logits.masked_fill(~cloth.legal_actions(state), -torch.inf)
    assert torch.equal(result.actions.sort(1).values, prior.topk(tree.edges, dim=1).indices.sort(1).values)
    assert cloth.legal_actions(state).gather(1, result.chosen[:, None]).all()
    dense = result.dense(result.policy, cloth.info.num_actions)
    torch.testing.assert_close(dense.sum(1), torch.ones(3))
    assert torch.equal(dense.gather(1, result.actions), result.policy)
    assert not tree.whole[tree.roots].any()


@pytest.fixture(autouse=True)
def _native() -> None:
    native_library()


def positions(game: Game, count: int, stones: int) -> Any:
    """Return positions of random games that go on."""
    state, _ = after_openings(game, 4 * count, stones)
    if isinstance(game, Torus):  # in which nobody can win at once
        state = state[~game.winning_actions(state).any(1) & game.defending_actions(state).any(1)]
    return state[~state.done][:count]


def solve(game: Game, state: Any, nodes: int) -> tuple[Tensor, Tensor]:
    found: tuple[Tensor, Tensor] = resolve(plugin_of(game).search["solve"])(game, state, nodes)
    return found


def searched(spec: str, game: Game, state: Any) -> SearchResult:
    loaded, env_ids = load(spec, game), torch.arange(len(state))
    agent = loaded.playing(game) if isinstance(loaded, ByGame) else loaded
    assert isinstance(agent, SearchAgent)
    agent.start(game, state.current_player, env_ids)
    return agent.search(state, env_ids, generator())


def own(value: Tensor, state: Any) -> Tensor:
    return value.gather(1, state.current_player[:, None]).squeeze(1)


_SMALL = [("hex-v0", 6, 6, "mcts:4"), ("y-v0", 6, 2, "mcts:4")]


@pytest.mark.parametrize(
    ("name", "size", "stones", "spec"),
    slow_except(_SMALL, [*_SMALL, ("torus-v0", 5, 16, "gumbel:16"), ("torus-v0", 5, 16, "mcts:40")]),
)
def test_won_positions_are_played_by_the_solver_and_lost_ones_are_known(
    name: str, size: int, stones: int, spec: str
) -> None:
    game: Any = cellgames.make(name, size=size)
    state = positions(game, 60, stones)
    truth = proof_search(game)
    values = truth.solve(state)
    found, _ = solve(game, state, 8 * int(spec.split(":")[1]))
    result = searched(spec, game, state)
    assert found.unique().tolist() == [-1, 0, 1]
    assert torch.equal(found[found != 0], values.long()[found != 0])
    assert (own(result.value, state)[found != 0] == found[found != 0]).all()
    after = game.step(state, result.chosen)[found == 1]
    assert (truth.solve(after[~after.done]) == -1).all()
    # What is open or lost is searched, what is won is not.
    assert (result.visits.sum(1)[found == 1] == 1).all()
    assert (result.visits.sum(1)[found == -1] > 1).all()
    assert [line[0] for line in result.lines] == result.chosen.tolist()


def test_what_is_too_early_or_too_large_is_left_open() -> None:
    for name, size, stones in (("torus-v0", 5, LEAST_STONES[5] - 1), ("torus-v0", 6, 30), ("hex-v0", 9, 60)):
        game = cellgames.make(name, size=size)
        value, move = solve(game, positions(game, 4, stones), 10_000)
        assert value.tolist() == [0] * len(value)
        assert move.tolist() == [-1] * len(move)
    for name, size, stones in (("torus-v0", 4, 12), ("hex-v0", 5, 4)):
        game = cellgames.make(name, size=size)
        state = positions(game, 8, stones)
        assert solve(game, state, 10_000)[0].all()
        with without_native():
            assert not solve(game, state, 10_000)[0].any()
