"""Interventions in matches of Grid Adaptation: rounds in which a player does nothing, less, or something else.

Letters: `N` replays, `P` players, `K` components of an action.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from cellgames.agents.play_loop import parse_moves
from cellgames.arena.records.record_lines import Record
from cellgames.arena.records.replays import replay
from cellgames.envs.grid_adaptation.game import GridAdaptation
from cellgames.envs.grid_adaptation.state import COMPONENTS, SLOTS, VOTE, GridState
from cellgames.runs.run_folder import derive
from cellgames.utils.errors import InputError

from .effects import Intervention, Options, Replays

_CHUNK = 4096  # matches that are played at the same time


class GridWorld:
    """A match that can be played again with other moves; see `effects.World`.

    Args:
        game: The rules.
        states: The positions of the record, before each step and at the end.
        actions: int64 [T, P, K], its moves.
        options: See `Options`; `at` plays no part.
    """

    measure = "points more than the other players' mean"
    kinds = ("action", "part", "move")
    usual = ("action", "part")
    kept = (
        "Every other recorded choice of every player is made again where it is legal. A tile whose space is taken, or "
        "another choice that has become illegal, is left out; a player may then place no tile, also where the rules "
        "would ask for one. Whoever must vote and has no legal recorded vote votes for the first seat that is allowed."
    )

    def __init__(self, game: GridAdaptation, states: Sequence[GridState], actions: Tensor, options: Options) -> None:
        self.game, self.states, self.actions, self.options = game, states, actions, options
        if options.at is not None:
            raise InputError("at", "None", options.at, "interventions are in the players' moves", self.game.id)

    # --- interventions

    def interventions(self, kind: str) -> list[Intervention]:
        """See `World.interventions`."""
        made = {"action": self._actions, "part": self._parts, "move": self._moves}
        return list(made[kind]())

    def _none(self, component: int) -> int:
        return self.game.fallback(component, None)

    def _does(self) -> Iterator[tuple[int, int, list[int], list[int]]]:
        """Yield step, seat, choices and the components with which the seat does something, a vote apart."""
        for step, row in enumerate(self.actions.tolist()):
            for seat, choices in enumerate(row):
                doing = [c for c, choice in enumerate(choices) if c != VOTE and choice != self._none(c)]
                if doing:
                    yield step, seat, choices, doing

    def _name(self, step: int, seat: int) -> str:
        return f"{self.game.info.players[seat]} round {int(self.states[step].round)}"

    def _spaces(self, choices: Sequence[int], components: Sequence[int]) -> tuple[int, ...]:
        return tuple(choices[c] for c in components if c < SLOTS.stop)

    def _actions(self) -> Iterator[Intervention]:
        for step, seat, choices, doing in self._does():
            edit = {(step, seat, component): self._none(component) for component in doing}
            number = self.game.info.ravel_action(choices)
            name = f"{self._name(step, seat)} {self.game.action_to_string(number)}"
            yield Intervention("action", name, seat, step, self._spaces(choices, doing), edit)

    def _parts(self) -> Iterator[Intervention]:
        for step, seat, choices, doing in self._does():
            for component in doing:
                name = COMPONENTS[component] if component < len(COMPONENTS) else "word"
                words = f"{name} {self.game.choice_to_string(component, choices[component])}"
                edit = {(step, seat, component): self._none(component)}
                name = f"{self._name(step, seat)} {words}"
                yield Intervention("part", name, seat, step, self._spaces(choices, [component]), edit)

    def _moves(self) -> Iterator[Intervention]:
        """Yield tiles on other spaces that were free before the step."""
        for step, seat, choices, doing in self._does():
            free = self.game.free_spaces(self.states[step])[0].nonzero().squeeze(1).numpy()
            for component in (c for c in doing if c < SLOTS.stop):
                chance = np.random.default_rng(derive(self.options.seed, "moves", step, seat, component))
                others = [space for space in chance.permutation(free).tolist() if space not in choices[SLOTS]]
                for space in sorted(others[: self.options.moves]):
                    was = self.game.choice_to_string(component, choices[component])
                    name = f"{self._name(step, seat)} {was} -> {self.game.choice_to_string(component, space)}"
                    edit = {(step, seat, component): space}
                    yield Intervention("move", name, seat, step, (choices[component],), edit)

    # --- replays

    def replay(self, kind: str, sets: Sequence[Sequence[Intervention]]) -> Replays:
        """See `World.replay`."""
        edits = [{key: choice for item in chosen for key, choice in item.edit.items()} for chosen in sets]
        base = self._played([{}], None)
        return Replays.cat(
            [self._played(edits[first : first + _CHUNK], base) for first in range(0, len(edits), _CHUNK)]
        )

    def _played(self, edits: Sequence[Mapping[tuple[int, int, int], int]], base: Replays | None) -> Replays:
        count, steps = len(edits), len(self.actions)
        wanted = self.actions[None].repeat(count, 1, 1, 1)
        for game, edit in enumerate(edits):
            for place, choice in edit.items():
                wanted[(game, *place)] = choice
        left_out = torch.zeros(count, dtype=torch.int64, device="cpu")
        state = self.states[0][torch.zeros(count, dtype=torch.int64, device="cpu")]
        nothing = torch.tensor([self._none(c) for c in range(wanted.shape[3])], device="cpu")
        for step in range(self.game.info.max_turns):
            if state.done.all():
                break
            chosen = wanted[:, step] if step < steps else nothing.expand(count, self.game.players, -1)
            chosen, dropped = self._kept(state, chosen, nothing)
            left_out += torch.where(state.done, 0, dropped)
            state = self.game.step(state, chosen, checked=False)
        points = state.scores.numpy().astype(np.float64)
        others = (points.sum(1, keepdims=True) - points) / (self.game.players - 1)
        outcome = self.game.outcome(state).numpy().astype(np.int64)
        return Replays.of(base, points - others, outcome, points, left_out.numpy())

    def _kept(self, state: GridState, chosen: Tensor, nothing: Tensor) -> tuple[Tensor, Tensor]:
        """Return the choices with those left out that are illegal, and how many these are, int64 [N]."""
        masks = self.game.legal_actions(state).split(list(self.game.info.action_nvec), 2)
        legal = torch.stack([mask.gather(2, chosen[:, :, c, None])[..., 0] for c, mask in enumerate(masks)], 2)
        none = chosen == nothing
        kept = torch.where(legal, chosen, nothing)
        first = masks[VOTE].int().argmax(2)  # nobody, where nobody is to vote
        kept[:, :, VOTE] = torch.where(legal[:, :, VOTE], chosen[:, :, VOTE], first)
        voting = (state.round > self.game.rounds)[:, None, None]
        dropped = ~legal & ~none & ~(voting & (torch.arange(chosen.shape[2], device="cpu") != VOTE))
        return kept, dropped.sum((1, 2))

    def scene(self, kind: str) -> GridState:
        """See `World.scene`: the board at the end."""
        return self.states[-1]


def grid_world(game: GridAdaptation, record: Record, options: Options) -> GridWorld:
    """Return the world of a record; the record is checked."""
    states: list[Any] = replay(record)
    return GridWorld(game, states, parse_moves(game, record.moves, {}), options)
