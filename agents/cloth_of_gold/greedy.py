"""`greedy` and `rollout:N` in Cloth of Gold: the best of random turns, by the next round or by playouts.

Letters: `L` games to move in, `C` candidate turns (arms), `X` playouts, `K` the most units of a turn.
"""

from __future__ import annotations

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents.base import draw_seeds
from cellgames.agents.playouts import affordable, at_once, best_arm, play_out, summed
from cellgames.envs.boards.bitboards import count
from cellgames.envs.cloth_of_gold import placement
from cellgames.envs.cloth_of_gold.game import ClothOfGold
from cellgames.envs.cloth_of_gold.rules import ACTS_A_UNIT
from cellgames.envs.cloth_of_gold.simulation import simulate
from cellgames.envs.cloth_of_gold.state import ClothState
from cellgames.envs.cloth_of_gold_wild.game import ClothOfGoldWild
from cellgames.envs.cloth_of_gold_wild.rounds import bolt as cast
from cellgames.envs.cloth_of_gold_wild.rounds import lived
from cellgames.envs.cloth_of_gold_wild.state import wild
from cellgames.utils.errors import check_at_least

from .turns import TurnAgent, random_turns

_WORLDS = 1 << 20  # cells simulated at a time: more would leave the cache
DRAWN = 12  # turns that `greedy` tries
_DECIDED = 1e6  # more than any lead
_BOLTS = 4  # cells of bolts that are tried
_LEAST_GAIN = 2.5  # units that a bolt must bring
_RIDDLE, _FEW = 128, 0.1  # random turns that are tried, and the largest share of them that may win


class ClothGreedy(TurnAgent):
    """An agent that plays the turn after which, if the round ran now, it would win, or else lead by most units.

    Candidates are random turns of shapes, half of them at the edge of one's own territory. For the player who places
    last the round is exactly what follows; the other one leaves out what the opponent will add.

    Chance comes from a seed of each game, so that a turn does not depend on the games beside it.
    """

    def __init__(self, name: str = "greedy", *, candidates: int = DRAWN) -> None:
        super().__init__(name)
        check_at_least(1, candidates=candidates)
        self.candidates = candidates

    @override
    def turns(self, state: ClothState, generator: torch.Generator) -> Tensor:
        seeds = draw_seeds(len(state), generator, state.device)
        return proposals(self.game, state, seeds, self.candidates, 1)[0].squeeze(1)

    @override
    def bolts(self, state: ClothState, generator: torch.Generator) -> Tensor:
        return best_bolts(self.game, state, draw_seeds(len(state), generator, state.device))


def best_bolts(game: ClothOfGold, state: ClothState, seeds: Tensor) -> Tensor:
    """Return the bolts after which the mover would lead by more if the round ran now: int64 [L], -1 for none.

    The cells are tried around which the most units would go, the opponent's less the mover's own. The chance of rounds
    is that of `seeds`, int64 [L].
    """
    assert isinstance(game, ClothOfGoldWild)
    wild_state, rows = wild(state).replace(seed=seeds), torch.arange(len(state), device=state.device)
    spells = wild_state.spells.gather(1, state.current_player[:, None]).squeeze(1)
    some = ((spells > 0) & (state.acts < ACTS_A_UNIT * game.allowance(state))).nonzero().squeeze(1)
    chosen = torch.full_like(state.current_player, -1)
    if len(some) == 0:
        return chosen
    games = wild_state[some]
    rows, player = rows[: len(some)], games.current_player
    units = game.grid.unpack(games.units.movedim(0, -1))
    open_cells = ~game.grid.unpack(games.wards.movedim(0, -1))[rows, 1 - player]
    gain = (units[rows, 1 - player].float() - units[rows, player].float()) * open_cells
    sums = torch.nn.functional.avg_pool2d(gain[:, None], 3, 1, 1, divisor_override=1).flatten(1)
    value, cells = sums.topk(_BOLTS, 1)
    tried = torch.cat((torch.full_like(cells[:, :1], -1), torch.where(value > 0, cells, -1)), 1)
    arms = rows.repeat_interleave(tried.shape[1])
    after = cast(game, games[arms], tried.flatten())
    nothing = torch.full((len(arms), 1, game.most_units), -1, dtype=torch.int64, device=state.device)
    lead = worth(game, after, forecast(game, after, nothing)).view_as(tried)
    lead[:, 0] += _LEAST_GAIN  # a bolt is kept for better
    chosen[some] = tried.gather(1, lead.argmax(1, keepdim=True)).squeeze(1)
    return chosen


def proposals(game: ClothOfGold, state: ClothState, seeds: Tensor, drawn: int, kept: int) -> tuple[Tensor, Tensor]:
    """Return the `kept` of `drawn` random turns that would be worth most if the round ran now, the best one first.

    The turns, int64 [L, C, K], are a function of `seeds`, int64 [L]; the second result is their worth, float64 [L, C].
    """
    if game.random_rounds:
        state = state.replace(seed=seeds)  # dice of one's own
    together, found = max(1, _WORLDS // (game.cells * drawn)), []
    for rows in torch.arange(len(state), device=state.device).split(together):
        some = state[rows]
        plans = random_turns(game, some, seeds[rows], drawn, border=True)
        value, order = worth(game, some, forecast(game, some, plans)).sort(dim=1, descending=True, stable=True)
        found.append((plans.take_along_dim(order[:, :kept, None], 1), value[:, :kept]))
    plans, value = map(torch.cat, zip(*found, strict=True))
    return plans, value


def forecast(game: ClothOfGold, state: ClothState, plans: Tensor) -> Tensor:
    """Return both players' units if a round ran after the mover's turn, int64 [L, C, 2], for plans int64 [L, C, K].

    With wild options its chance is that of the states' seeds, which should not be those of the games to come.
    """
    rows = torch.arange(len(state), device=state.device).repeat_interleave(plans.shape[1])
    new = placement.bits_of(game.grid, plans.flatten(0, 1))
    player = state.current_player[rows]
    if isinstance(game, ClothOfGoldWild):
        games = wild(state)[rows]
        mine = player[:, None] == torch.arange(2, device=player.device)
        units = games.units | (new[:, None] & -mine.long()[:, :, None, None])
        return lived(game, games.replace(units=units)).live.long().view(*plans.shape[:2], 2)
    sides = [state.units[rows, side] | new * (player == side)[:, None, None] for side in (0, 1)]
    planes = torch.stack((*sides, state.neutral[rows], state.killed[rows])).movedim(1, -1).contiguous()
    after = simulate(game.grid, planes, game.generations, game.neutral_rules)
    return count(after[:2]).t().view(*plans.shape[:2], 2)


def judged(game: ClothOfGold, state: ClothState, units: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the mover's lead after the round, 1 or -1 if it then wins or loses, and 1 if both lose: int64 [L, C]."""
    a, b = units.unbind(2)
    before = state.scores[:, :1].to(units.dtype)
    won_a, won_b, lost = (flag.long() for flag in game.decided(state.round[:, None], before, a, b))
    sign = 1 - 2 * state.current_player[:, None]
    return (a - b) * sign, (won_a - won_b) * sign, lost


def worth(game: ClothOfGold, state: ClothState, units: Tensor) -> Tensor:
    """Return the worth of units after the round to the mover, float64 [L, C]: the lead, or a decision."""
    lead, result, lost = judged(game, state, units)
    return (lead + _DECIDED * (result - lost).float()).double()


class ClothRollout(ClothGreedy):
    """An agent that plays the turn that does best in games finished by random turns.

    `playouts` in all are spent on each turn, by sequential halving among random turns of shapes. Their number is the
    largest that can be tried in every round of it, `candidates` at most. A win counts 1, anything else 0.
    """

    def __init__(self, playouts: int, *, candidates: int = 64) -> None:
        check_at_least(1, playouts=playouts, candidates=candidates)
        super().__init__(f"rollout:{playouts}", candidates=affordable(playouts, candidates))
        self.playouts = playouts

    @override
    def turns(self, state: ClothState, generator: torch.Generator) -> Tensor:
        game, rows = self.game, torch.arange(len(state), device=state.device)
        plans = random_turns(game, state, draw_seeds(len(state), generator, state.device), self.candidates, border=True)

        def trial(rows: Tensor, arms: Tensor) -> Tensor:
            games = state[rows]
            if game.random_rounds:  # other dice in every playout
                games = games.replace(seed=draw_seeds(len(games), generator, games.device))
            after = game.play_turn(games, plans[rows, arms])
            outcome = finish_turns(game, after, generator).gather(1, state.current_player[rows, None]).squeeze(1)
            return (outcome > 0).float()

        count, attempt = torch.full_like(rows, self.candidates), summed(at_once(game), trial)
        return plans[rows, best_arm(count, self.candidates, self.playouts, attempt, generator)]


def finish_turns(game: ClothOfGold, state: ClothState, generator: torch.Generator) -> Tensor:
    """Play `X` games to their end by random turns and return `Game.outcome`, int8 [X, 2]; the generator is consumed."""

    def turn(state: ClothState, places: Tensor) -> ClothState:
        seeds = draw_seeds(len(state), generator, state.device)
        return game.play_turn(state, random_turns(game, state, seeds, 1).squeeze(1))

    return play_out(game, state, turn)


def winning_turn(game: ClothOfGold, state: ClothState) -> list[int]:
    """Return a turn that wins the game with the round that it ends, where few turns do, as a puzzle for people.

    Args:
        game: The game; in one whose rounds have dice no turn wins for certain.
        state: A position, a batch of one.

    Returns:
        Its actions, the last one "end turn"; of turns of random shapes that win, the one with the fewest units. Empty
        where no turn begins that ends a round, where none of the turns that are tried wins, and where more than a tenth
        of them do, or one without a unit.
    """
    begins = (state.acts == 0) & (state.left == game.allowance(state)) & ~state.done
    if game.random_rounds or not bool(begins & (state.current_player != state.first)):
        return []
    drawn = random_turns(game, state, torch.zeros_like(state.current_player), _RIDDLE, border=True)[0]
    turns = torch.nn.functional.pad(drawn, (0, 0, 1, 0), value=-1)  # the first one without a unit
    after = game.play_turn(state[torch.zeros(len(turns), dtype=torch.int64, device=state.device)], turns)
    wins = turns[game.outcome(after)[:, int(state.current_player)] > 0]
    if not 0 < len(wins) <= _FEW * _RIDDLE or bool((wins < 0).all(1).any()):
        return []
    shortest = wins[(wins >= 0).sum(1).argmin()]
    return [*shortest[shortest >= 0].tolist(), game.end_turn]
