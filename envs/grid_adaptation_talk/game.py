"""Grid Adaptation with talk on the contract of the suite.

All steps but those of talk are the base game's, and its code runs them. Letters: `B` matches, `P` players, `T` talk
steps of a match, `R` places of a sender's words (see `words`), `K` components of an action, of which the first `BASE`
are the base game's.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.envs.boards.bitboards import popcount
from cellgames.envs.core.game import Game
from cellgames.envs.core.info import GameInfo, Space
from cellgames.envs.core.inputs import check_choices, check_int
from cellgames.envs.core.solo import Solo
from cellgames.envs.core.state import along_envs, choose_envs
from cellgames.envs.grid_adaptation.game import GridAdaptation
from cellgames.envs.grid_adaptation.notation import Position
from cellgames.envs.grid_adaptation.rendering import View
from cellgames.envs.grid_adaptation.rules import flipped
from cellgames.envs.grid_adaptation.state import COMPONENTS, FLIP
from cellgames.envs.native import library
from cellgames.utils.errors import InputError, shown

from . import native, notation, words
from .native import TalkSolo
from .rendering import last_talk
from .state import BASE, TalkState

if TYPE_CHECKING:
    from cellgames.envs.core.vector import NativeStep

Talk = Literal["none", "public", "private"]
Promises = Literal["none", "ally", "sequence"]


@dataclass(frozen=True, repr=False)
class GridAdaptationTalk(GridAdaptation[TalkState]):
    """Grid Adaptation with steps before each round in which all players say words at once, and do nothing else.

    Attributes:
        talk: "public", in which everybody hears a word, or "private", in which a player sends one to each of the
            others; "none" is the base game's.
        words: the number of words beside silence, 1 to 100.
        talk_steps: in which words are sent before each round, 1 to 10.
        scramble: True to deal out the words of a talk step anew among their senders, so that they carry nothing.
        mute: True to replace all words by silence on their way.
        reward_sharing: the ally's share of a reward, 0 to 1; None without allies. Seats 0 and 1 are allies, and so on,
            unless promises make them.
        promises: meaning of a public word in the last talk step before a round. With "ally" word k names seat k - 1;
            two who name each other are allies until the next such step, the others have none. With "sequence" word k
            names sequence k - 1: if a digit may be flipped in the round, the player must come as near to it as it can.
            Other words promise nothing, and a promise counts as it was said.
    """

    talk: Talk = "none"
    words: int = 8
    talk_steps: int = 1
    scramble: bool = False
    mute: bool = False
    reward_sharing: float | None = None
    promises: Promises = "none"

    added_parameters: ClassVar[frozenset[str]] = frozenset(
        {"talk", "words", "talk_steps", "scramble", "mute", "reward_sharing", "promises"}
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.talk not in ("public", "private"):
            cause = "a game without talk takes no other parameters of it"
            raise InputError("talk", "public or private", shown(self.talk), cause, where=self.id)
        check_int(self, "words", 1, 100)
        check_int(self, "talk_steps", 1, 10)
        for name in ("scramble", "mute"):
            if not isinstance(flag := getattr(self, name), bool):
                raise InputError(name, "True or False", shown(flag), where=self.id)
        if self.scramble and self.mute:
            raise InputError("mute", "one of scramble=True and mute=True", "both", where=self.id)
        check_choices(self, promises=get_args(Promises))
        share, named = self.reward_sharing, {"none": 0, "ally": self.players, "sequence": 8}[self.promises]
        odd = self.players % 2 and self.promises != "ally"
        if share is not None and (isinstance(share, bool | str) or not 0 <= share <= 1 or odd):
            raise InputError("reward_sharing", "0 to 1 and an even number of players", shown(share), where=self.id)
        if named and (self.talk != "public" or self.words < named or (self.promises == "ally" and share is None)):
            expected = f"public talk with {named} words or more, and reward_sharing for allies"
            raise InputError("promises", expected, shown(self.promises), where=self.id)

    @cached_property
    @override
    def base(self) -> GridAdaptation:
        return GridAdaptation(**{item.name: getattr(self, item.name) for item in dataclasses.fields(GridAdaptation)})

    @property
    @override
    def steps_a_round(self) -> int:
        return 1 + self.talk_steps

    @property
    def talks(self) -> int:
        """The number of talk steps of a match, `T`."""
        return self.rounds * self.talk_steps

    @property
    def places(self) -> int:
        """The number of words that each player says in a talk step, `R`."""
        return self.players - 1 if self.talk == "private" else 1

    @property
    def board_planes(self) -> int:
        """The number of planes of words that spectators see."""
        return -(-2 * self.talks * self.players * self.places // self.spaces)

    @cached_property
    @override
    def info(self) -> GameInfo:
        base = replace(self.base.info, title="Grid Adaptation with talk")
        planes = base.observation.shape[0] + words.num_planes(self) + (self.reward_sharing is not None) * self.players
        return replace(
            base,
            max_turns=self.rounds * self.steps_a_round + 1,
            action_nvec=(*base.action_nvec, *(self.words + 1,) * self.places),
            observation=replace(base.observation, shape=(planes, self.size, self.size)),
            board=Space((1 + self.board_planes, self.size, self.size), torch.int8, -1, max(7, self.words)),
        )

    @cached_property
    def silent(self) -> list[int]:
        """The places in the mask of the base game's only choices in a talk step."""
        nvec = self.base.info.action_nvec
        return [sum(nvec[:part]) + self.fallback(part, None) for part in range(BASE)]

    def talking(self, state: TalkState) -> Tensor:
        """Return a mask of the matches whose next step is a talk step, bool [B]; False after the end."""
        return state.talks < state.round.clamp(max=self.rounds) * self.talk_steps

    def allies(self, state: TalkState) -> Tensor:
        """Return the seat of each player's ally, int64 [B, P]; its own without one."""
        seats = torch.arange(self.players, device=state.device).expand(len(state), -1)
        if self.promises != "ally":
            return seats ^ 1
        named = words.promised(self, state) - 1
        named = named.where((named >= 0) & (named < self.players), seats)
        return named.where(named.gather(1, named) == seats, seats)

    def shared(self, rewards: Tensor, allies: Tensor) -> Tensor:
        """Return rewards, float32 [B, P], after sharing with `allies`, int64 [B, P]."""
        if not (share := self.reward_sharing):
            return rewards
        alone = allies == torch.arange(self.players, device=rewards.device)
        return torch.where(alone, rewards, (1 - share) * rewards + share * rewards.gather(1, allies))

    def kept(self, state: TalkState) -> Tensor:
        """Return a mask of the flips that keep a promise to come near a sequence, bool [B, P, 4]; all without one."""
        word = words.promised(self, state)[..., None]
        after = flipped(state.sequence[..., None], torch.arange(4, device=state.device))
        distance = popcount(after ^ (word - 1))
        return (distance == distance.amin(2, keepdim=True)) | (word <= 0) | (word > 8)

    @override
    def places_tiles(self, state: TalkState) -> Tensor:
        return super().places_tiles(state) & ~self.talking(state)

    @override
    def _init(self, seeds: Tensor) -> TalkState:
        shape = (len(seeds), self.talks, self.players, self.places)
        said = torch.full(shape, words.TO_COME, dtype=torch.int8, device=seeds.device)
        altered = said.clone() if self.scramble or self.mute else said.new_empty(len(seeds), 0, *shape[2:])
        fields: list[Tensor] = [*self.base._init(seeds).tensors(), torch.zeros_like(seeds), said, altered]
        return TalkState(*fields)

    @override
    def _step(self, state: TalkState, actions: Tensor) -> TalkState:
        now = self.talking(state)
        after = state.replace(
            turn=state.turn + 1, rewards=torch.zeros_like(state.rewards), placed=torch.zeros_like(state.placed)
        )
        if not now.all():
            played = self.base._step(state, actions[..., :BASE])
            played = played.replace(rewards=self.shared(played.rewards, self.allies(state)))
            after = played if not now.any() else after.merge(played, lambda one, other: choose_envs(now, one, other))
        env_ids = now.nonzero().squeeze(1)
        if not len(env_ids):
            return after
        after = after.replace(said=state.said.clone(), heard=state.heard.clone(), talks=state.talks + now)
        said, number = actions[env_ids][..., BASE:].to(torch.int8), state.talks[env_ids]
        after.said[env_ids, number] = said
        if after.heard.shape[1]:
            after.heard[env_ids, number] = words.delivered(self, state.seed[env_ids], number, said)
        return after

    @override
    def _native_step(self, device: torch.device) -> NativeStep[TalkState] | None:
        fails = library(device) is None or self.promises == "sequence"  # native code draws any flip
        return None if fails else native.Step(self)

    @override
    def free_spaces(self, state: TalkState) -> Tensor:
        closed = torch.where(self.talking(state), self.rounds + 1, state.round)  # as in the voting step
        return self.base.free_spaces(state.replace(round=closed))

    @override
    def _legal(self, state: TalkState) -> Tensor:
        shape = (len(state), self.players, self.info.num_actions)
        return self._legal_again(state, torch.empty(shape, dtype=torch.bool, device=state.device))

    @override
    def _legal_again(self, state: TalkState, mask: Tensor) -> Tensor:
        now, base_width = self.talking(state), self.base.info.num_actions
        mask[..., :base_width] = self.base._legal(state)
        if self.promises == "sequence":
            flips = mask[..., self.silent[FLIP] : self.silent[FLIP] + 4]
            flips &= self.kept(state) | ~along_envs(self.flips_now(state.round), 3)
        nothing = torch.zeros(base_width, dtype=torch.bool, device=state.device)
        nothing[self.silent] = True
        mask[now, :, :base_width] = nothing
        said = mask[..., base_width:].unflatten(2, (-1, self.words + 1))
        said[:] = along_envs(now, said.ndim)
        said[..., 0] = True
        return mask

    @override
    def _random_actions(self, state: TalkState, bits: Tensor) -> Tensor:
        if self.promises == "sequence":
            return Game._random_actions(self, state, bits)
        played = self.base._random_actions(state, bits[..., :BASE])
        said = (bits[..., BASE:] * (self.words + 1)) >> 31
        now = along_envs(self.talking(state), bits.ndim)
        nothing = torch.tensor([self.fallback(part, None) for part in range(BASE)], device=bits.device)
        return torch.cat((torch.where(now, nothing, played), said * now), -1)

    @override
    def _why_illegal(self, state: TalkState, seat: int, component: int, action: int) -> str:
        if component >= BASE:
            return "words are said in talk steps only"
        if bool(self.talking(state)):
            return f"in a talk step there is no {COMPONENTS[component]}"
        if component == FLIP and self.promises == "sequence" and bool(self.flips_now(state.round)):
            return f"the player has promised {int(words.promised(self, state)[0, seat]) - 1:03b}"
        return super()._why_illegal(state, seat, component, action)

    @override
    def board(self, state: TalkState) -> Tensor:
        """Return int8 [B, C, H, W]: the `tiles`, and all words on further planes.

        They are the words of each talk step by sender as they were said, then as they arrived, filled in row by row:
        -1 in talk steps to come.
        """
        all_words = torch.cat((state.said.flatten(1), state.arrived.flatten(1)), 1)
        return torch.cat((self.tiles(state)[:, None], words.on_planes(self, all_words, words.TO_COME)), 1)

    @override
    def _more_planes(self, state: TalkState, seats: Tensor) -> Tensor:
        """Return a plane that is 1 in talk steps, those of words, and those of the ally's seat."""
        known = words.one_hot(self, words.history(self, state.said, state.arrived, seats))
        parts = [along_envs(self.talking(state), 5).expand(*seats.shape, 1, self.size, self.size), known]
        if self.reward_sharing is not None:
            own, every = seats[..., None], torch.arange(self.players, device=state.device)
            ally = (self.allies(state).gather(1, seats)[..., None] == every) & (own != every)
            parts.append(ally[..., None, None].expand(-1, -1, -1, self.size, self.size))
        return torch.cat(parts, 2)

    @override
    def infos(self, state: TalkState, player: int) -> dict[str, Tensor]:
        """Return those of the base game, and the words `heard` in the last talk step by sender, [B, P].

        They are -1 at the player's own seat, and everywhere before the first talk step. The seat of the `ally`, [B], is
        there if rewards are shared, -1 without one.
        """
        arrived = words.heard_by(self, state.arrived, torch.full_like(state.talks, player)[:, None]).squeeze(1).long()
        last = arrived[torch.arange(len(state), device=state.device), (state.talks - 1).clamp(min=0)]
        heard = torch.cat((last[:, :player], torch.full_like(last[:, :1], words.TO_COME), last[:, player:]), 1)
        found = {**super().infos(state, player), "heard": heard}
        if self.reward_sharing is not None:
            ally = self.allies(state)[:, player]
            found["ally"] = ally.where(ally != player, -1)
        return found

    @override
    def solo(self, state: TalkState) -> Solo:
        if library(state.device) is None or self.reward_sharing is not None or self.promises != "none":
            return Solo(self, state)
        return TalkSolo(self, state)

    @override
    def action_to_string(self, action: int) -> str:
        """Return `none/say:5` in public and `none/say:5,0,2` in private, or the action of a round (see `notation`)."""
        return notation.action_to_string(action, self.info.action_nvec)

    @override
    def string_to_action(self, text: str) -> int:
        base, say, said = text.partition(notation.SAY)
        spoken = notation.string_to_words(said, self.info.action_nvec[BASE:]) if say else 0
        if spoken is None:
            example = ",".join("1" * self.places)
            raise InputError("action", f"an action such as none{notation.SAY}{example}", shown(text), where=self.id)
        played: int = self.base.string_to_action(base)
        return played * int((self.words + 1) ** self.places) + spoken

    @override
    def choice_to_string(self, component: int, choice: int) -> str:
        """Return one component's choice by itself; a word is `say:5`, or `say:5@2` to the second other player."""
        if component < BASE:
            return super().choice_to_string(component, choice)
        receiver = f"@{component - BASE + 1}" if self.places > 1 else ""
        return f"say:{choice}{receiver}" if choice else "none"

    @override
    def state_to_string(self, state: TalkState) -> str:
        return super().state_to_string(state) + notation.to_text(self, state)

    @override
    def view_to_string(self, state: TalkState, player: int) -> str:
        return self.base.view_to_string(state, player) + notation.to_text(self, state, player)

    @override
    def string_to_state(self, text: str, seed: int = 0) -> TalkState:
        state = self.init(torch.tensor([seed], device="cpu"))
        example, found = self.state_to_string(state), notation.split(self, text)
        if found is None:
            raise InputError("position", f"a position such as {shown(example, 200)}", shown(text), where=self.id)
        line, played = found
        position = self._position(line, example)
        self._check_talks(position, len(played[0]), text)
        return notation.with_words(self, self._placed(state, position), played)

    def _check_talks(self, position: Position, played: int, text: str) -> None:
        """Raise an error unless `played` talk steps may have been played before a position."""
        number = position.round if position.stage == "play" else self.rounds + 1
        low, high = (step * self.talk_steps for step in (number - 1, min(number, self.rounds)))
        if not low <= played <= high:
            expected = f"{low} to {high} talk steps" if low < high else f"{low} talk steps"
            raise InputError("position", f"{expected} in this round", f"{played}: {shown(text)}", where=self.id)

    @override
    def view(self, state: TalkState, player: int | None = None) -> View:
        state = state[:1]
        view = super().view(state, player)
        title = f"Talk before {view.title.lower()}" if bool(self.talking(state)) else view.title
        talk = last_talk(self, state, player)
        return replace(view, title=title, more=talk.lines(), more_text=tuple(talk.text()))
