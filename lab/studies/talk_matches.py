"""The matches of the study `talk_that_pays`, the network that plays them, and how it learns.

Matches have one round of Grid Adaptation with talk. Each player says words, and may name an ally in a second talk step.
Then it flips a digit of its sequence, or none. Its tiles lie in a corner, its own or one that it chooses, where they
become a block of four unless another player has chosen the same; so points depend on sequences and corners alone. One
small network plays all seats and learns by PPO. It sees its own sequence, the words that it has heard and said, and, if
promises make allies, which of the others is its ally.

Letters: `G` matches, `P` players, `R` others of a player in the order in which it sees them, the ally of the match
first; `S` steps; `L` rows, all seats of all matches.
"""

from __future__ import annotations

import dataclasses
import itertools
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot
from typing_extensions import override

from cellgames.agents.networks.blocks import initialized
from cellgames.agents.networks.networks import Choices, Network, PolicyAndValue, Relation, Size
from cellgames.envs.core import seeds
from cellgames.envs.grid_adaptation.rules import flipped
from cellgames.envs.grid_adaptation.state import FLIP
from cellgames.envs.grid_adaptation_talk import GridAdaptationTalk
from cellgames.envs.grid_adaptation_talk.game import Promises, Talk
from cellgames.envs.grid_adaptation_talk.state import BASE
from cellgames.training.ppo.ppo import PPO, Hyperparameters
from cellgames.training.selfplay.rollouts import Ended, Rollout

FLIPS, MATCHES = 4, 512
CORNERS = ((0, 1, 5), (24, 23, 19), (4, 3, 9), (20, 21, 15))
"""Three tiles of each corner, which a fourth one joins."""


@dataclass(frozen=True)
class Condition:
    """A point of the study.

    Attributes:
        name: in tables.
        sharing: the ally's share of a reward.
        players: 2 or 4.
        scrambled: True if words are scrambled in training.
        talk: as in the game; so are promises.
        corners: True if players choose corners.
        lots: True if lots in place of names make allies in training, of neighbours in every second case.
    """

    name: str
    sharing: float
    players: int = 4
    scrambled: bool = False
    talk: Talk = "private"
    promises: Promises = "none"
    corners: bool = False
    lots: bool = False

    @property
    def game(self) -> GridAdaptationTalk:
        """The rules: one round on 5 x 5 spaces, after a step of words and, if promises make allies, one of names."""
        alone = {"rounds": 1, "flip_rounds": (1,), "reserves": 0, "starting_garnets": 0, "size": 5}
        talk = {"talk": self.talk, "talk_steps": 1 + (self.promises == "ally"), "promises": self.promises}
        return GridAdaptationTalk(players=self.players, reward_sharing=self.sharing, **alone, **talk)  # type: ignore[arg-type]


class Speaker(Network[GridAdaptationTalk]):
    """A network that chooses words, then an ally's name, then a flip and a corner, as far as its condition has them.

    A new one says words that depend on its sequence a little, by chance (about 0.1 bit), to all alike or not.
    """

    plays = GridAdaptationTalk
    unit = 5.0

    def __init__(self, condition: Condition, size: Size) -> None:
        super().__init__(game := condition.game, size)
        places, words, others = game.places, game.words + 1, game.players - 1
        named = [others + 1] if game.promises == "ally" else []
        self.condition, self.nvec = condition, (*(words,) * places, *named, FLIPS, *[len(CORNERS)] * condition.corners)
        self.spoken, self.flips = (
            places * words,
            slice(places * words + sum(named), places * words + sum(named) + FLIPS),
        )
        self.steps = (*(0,) * places, *(1 for _ in named), *(game.talk_steps,) * (1 + condition.corners))
        seen = game.talk_steps + 8 + (others + places) * words + others * len(named)
        widths = [seen, *[size.channels] * size.layers]
        layers = ((initialized(nn.Linear(a, b)), nn.ReLU()) for a, b in itertools.pairwise(widths))
        self.trunk = nn.Sequential(*itertools.chain.from_iterable(layers))
        self.policy = initialized(nn.Linear(widths[-1], sum(self.nvec)), 0.01)
        with torch.no_grad():
            self.policy.weight[: self.spoken] *= 400
        self.value = initialized(nn.Linear(widths[-1], 1), 1.0)

    @override
    def policy_and_value(self, observation: Tensor, action_mask: Tensor) -> PolicyAndValue:
        logits, value, relation = self.forward(observation)
        return PolicyAndValue(_Choices(logits, action_mask, self.nvec, relation), value)

    @override
    def forward(self, observation: Tensor) -> tuple[Tensor, Tensor, Relation | None]:
        seen = self.trunk(observation)
        return self.policy(seen), self.value(seen).squeeze(1), None


class _Choices(Choices):
    """Choices whose entropy is not that of words: a bonus for that of words keeps them from meaning."""

    @override
    def evaluate_actions(self, actions: Tensor) -> tuple[Tensor, Tensor]:
        places = sum(count == self._nvec[0] for count in self._nvec)
        width = places * self._nvec[0]
        logits = self._all.masked_fill(~self._mask, -1e9)
        words = logits[:, :width].unflatten(1, (places, -1)).log_softmax(2)
        acts = Choices(logits[:, width:], self._mask[:, width:], self._nvec[places:])
        log_prob, entropy = acts.evaluate_actions(actions[:, places:])
        return words.gather(2, actions[:, :places, None]).sum((1, 2)) + log_prob, entropy


@dataclass(frozen=True)
class Played:
    """Finished matches.

    Attributes:
        seen: [S, L, ...] float, observations of players in each step; `mask`, [S, L, A] bool, their choices.
        action: [S, L, K] int64; `log_prob` and `value`, [S, L] float, are of these choices.
        sequence: [G, P] int64, dealt; `flip` is what each flipped, `corner` where its tiles lay.
        order: [G, P, R] int64, the seats of the others.
        said: [G, P, places] int64, words, in private by receiver; `heard`, [G, P, R], those that arrived, by sender.
        names: [G, P] int64, 0 or the place of the one who is named, from 1; `ally` [G, P, R] bool, by promises.
        kept: [G, P, 4] bool, flips that keep a promise of a sequence.
        points: [G, P] float, and `rewards`, which are shared.
    """

    seen: Tensor
    mask: Tensor
    action: Tensor
    log_prob: Tensor
    value: Tensor
    sequence: Tensor
    flip: Tensor
    corner: Tensor
    order: Tensor
    said: Tensor
    heard: Tensor
    names: Tensor
    ally: Tensor
    kept: Tensor
    points: Tensor
    rewards: Tensor

    @property
    def after(self) -> Tensor:
        """The sequences after flips, int64 [G, P]."""
        return flipped(self.sequence, self.flip)

    @property
    def lead(self) -> Tensor:
        """The points above the mean of the others', float [G, P]."""
        return self.points - (self.points.sum(1, keepdim=True) - self.points) / self.heard.shape[2]


class Matches:
    """The matches that a network plays against itself, new ones for each rollout; the seed decides all of them.

    If promises make allies, each player sees the others in an order of its own, so that names follow from words alone.

    Args:
        network: plays all seats.
        count: `G`.
        seed: seed of the matches and choices.
        mixed: bool [P, R]; words that a player hears from these others come from other matches.
        named: int64 [P], seats that players name in spite of their choice, the own one for nobody; -1 to choose.
    """

    device = torch.device("cpu")

    def __init__(
        self, network: Speaker, count: int, seed: int, mixed: Tensor | None = None, named: Tensor | None = None
    ) -> None:
        self.network, self.game, self.count, self._named = network, network.game, count, named
        self.lots = False
        self._next, (self._generator, self._mixer) = seed << 32, (torch.Generator().manual_seed(seed) for _ in range(2))
        players = range(self.game.players)
        order = [sorted({*players} - {seat}, key=lambda other: (other != seat ^ 1, other)) for seat in players]
        self.order = torch.tensor(order)
        self.mixed = torch.zeros_like(self.order, dtype=torch.bool) if mixed is None else mixed
        self._back = torch.tensor([[order[other].index(seat) for other in order[seat]] for seat in players])
        self._places = self.order - (self.order > torch.arange(len(players))[:, None]).long()
        if self.game.talk == "public":
            self._back, self._places = torch.zeros_like(self._back), torch.zeros(len(players), 1, dtype=torch.int64)
        parts = zip(network.nvec, network.steps, strict=True)
        own = [(torch.arange(count) == 0, torch.ones(count, dtype=torch.bool), step) for count, step in parts]
        steps = range(self.game.talk_steps + 1)
        self._masks = torch.stack([torch.cat([every if at == step else no for no, every, at in own]) for step in steps])

    @torch.no_grad()
    def play(self) -> Played:
        """Play new matches."""
        game, network, corners = self.game, self.network, torch.tensor(CORNERS)
        state = game.init(seeds(self._next, self.count))
        self._next += self.count
        sequence, order, each = state.sequence, self.order.expand(self.count, -1, -1), torch.arange(self.count)
        if by_name := game.promises == "ally":
            order = order.gather(2, torch.rand(order.shape, generator=self._mixer).argsort(2))
        silence = torch.zeros((*sequence.shape, game.places), dtype=torch.int64)
        moves = torch.zeros((*sequence.shape, BASE + game.places), dtype=torch.int64)
        moves[..., :BASE] = torch.tensor([game.fallback(part, None) for part in range(BASE)])
        heard, ally = torch.zeros_like(order), torch.zeros(order.shape, dtype=torch.bool)
        names, said, seen, masks, chosen = torch.zeros_like(sequence), silence, [], [], []
        for step, mask in enumerate(self._masks):
            mask, kept = mask.repeat(sequence.numel(), 1), game.kept(state)
            if game.promises == "sequence":
                mask[:, network.flips] &= kept.flatten(0, 1)
            seen.append(self.look(sequence, heard, said, ally, step))
            masks.append(mask)
            choices, value = network.policy_and_value(seen[-1], mask)
            chosen.append((*choices.sample_with_log_prob(self._generator), value))
            action, now = chosen[-1][0].view(*sequence.shape, -1), moves.clone()
            if step == 0:
                said = action[..., : game.places]
                heard = said[each[:, None, None], order, self._back]
                for seat, place in self.mixed.nonzero().tolist():
                    heard[:, seat, place] = heard[torch.randperm(self.count, generator=self._mixer), seat, place]
                now[..., BASE:].scatter_(2, self._places.expand_as(said), said)
            elif step < game.talk_steps:
                names = action[..., game.places]
                name, own = order.gather(2, (names - 1).clamp(min=0)[..., None]).squeeze(2), torch.arange(game.players)
                name, forced = name.where(names > 0, own), self._named
                if self.lots:
                    drawn = torch.rand(self.count, game.players // 2, generator=self._mixer).repeat_interleave(2, 1)
                    forced = torch.where(drawn < 0.5, own ^ 1, own)
                now[..., BASE] = 1 + (name if forced is None else forced.where(forced >= 0, name))
            else:
                flip = action[..., game.places + by_name]
                corner = action[..., -1] if network.condition.corners else torch.arange(game.players).expand_as(flip)
                now[..., :3], now[..., FLIP] = corners[corner], flip
            state = game.step(state, now, checked=False)
            if by_name and step == 1:
                ally = order == game.allies(state)[..., None]
        action, log_prob, value = (torch.stack(some) for some in zip(*chosen, strict=True))
        facts = (sequence, flip, corner, order, said, heard, names, ally, kept)
        return Played(
            torch.stack(seen), torch.stack(masks), action, log_prob, value, *facts, state.scores, state.rewards
        )

    def look(self, sequence: Tensor, heard: Tensor, said: Tensor, ally: Tensor, step: int) -> Tensor:
        """Return observations, float [L, ...]: the talk step, the own sequence, the words heard and said, the ally."""
        words = one_hot(torch.cat((heard, said), 2), self.game.words + 1).flatten(2) * (step > 0)
        now = (torch.arange(self.game.talk_steps) == step).long().expand(*sequence.shape, -1)
        named = [ally.long()] if self.game.promises == "ally" else []
        return torch.cat((now, one_hot(sequence, 8), words, *named), 2).flatten(0, 1).float()

    def policy(self, played: Played, heard: Tensor) -> tuple[Tensor, ...]:
        """Return probabilities of the last step's choices, [G, P, n] each, had these words been heard, [G, P, R]."""
        with torch.no_grad():
            logits = self.network(self.look(played.sequence, heard, played.said, played.ally, self.game.talk_steps))[0]
        parts = logits.masked_fill(~played.mask[-1], -1e9)[:, self.network.flips.start :]
        return tuple(part.softmax(1).unflatten(0, played.sequence.shape) for part in parts.split(FLIPS, 1))

    def collect(self, steps: int) -> Rollout:
        """Play new matches for a learner, in all their steps."""
        played = self.play()
        steps = len(played.seen)
        reward = torch.zeros(*played.value.shape, 1)
        reward[-1] = played.rewards.reshape(-1, 1) / self.network.unit
        done = (torch.arange(steps) == steps - 1)[:, None].expand(played.value.shape)
        own, seat = torch.ones_like(done), torch.zeros(done.shape, dtype=torch.int64)
        parts = (played.seen, played.mask, played.action, played.log_prob, played.value, reward, seat, done, own)
        return Rollout(*parts, Ended(0, 0, {}, {}))


def learn(condition: Condition, seed: int, iterations: int) -> Speaker:
    """Return a network that has learned in self-play; the entropy bonus of all but words falls to zero."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        network = Speaker(condition, Size(64, 1))
    play = Matches(network, MATCHES, seed)
    play.mixed |= condition.scrambled
    play.lots = condition.lots
    settings = Hyperparameters(1 + network.game.talk_steps, 1, 512, 0.01, 1.0, 0.95, 0.2, 0.1, 0.5, 0.5)
    ppo = PPO(network, play, settings)  # type: ignore[arg-type]  # it takes rollouts, the device and no more
    ppo.generator.manual_seed(seed)
    for number in range(iterations):
        progress = number / iterations
        ppo.h = dataclasses.replace(settings, ent_coef=settings.ent_coef * (1 - progress))
        ppo.iterate(progress)
    return network
