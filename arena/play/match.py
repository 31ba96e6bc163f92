"""A match: two agents, random openings, each opening played in both seats; and the player of all games of agents.

Chance is derived, not consumed: every generator is seeded by a hash of (seed, match, chunk, role). A chunk of
openings is one batched call of `agents.play`, so its games are the same whatever was played before or beside
it. All matches with the same seed and schedule use the same openings and the same seeds of games.

Letters: `B` games (in a match two an opening), `P` players.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from typing_extensions import override

from cellgames.agents import play_loop as loop
from cellgames.agents.agent_specs import Agents, by_name
from cellgames.agents.base import AnyAgent, PolicyLog, acting, takes_states
from cellgames.agents.loading import identities, load
from cellgames.agents.play_loop import random_openings
from cellgames.arena.records.record_lines import Forfeit, Pairing, Record, plain
from cellgames.arena.records.replays import results, verify
from cellgames.arena.report.rating_tables import forfeit_notes
from cellgames.arena.stats.tables import Tally, forfeits, tally
from cellgames.envs.core import Game, State
from cellgames.envs.registry import as_game
from cellgames.runs.run_folder import check_agents, derive, differences
from cellgames.utils.errors import InputError
from cellgames.utils.files import PathLike
from cellgames.utils.version import __version__

from .match_options import MatchOptions
from .tournament import Batch, Player

_DIGITS = 5  # of probabilities that are kept


def match_id(first: str, second: str) -> str:
    """Return the name of the match of two agents, in either order."""
    return " vs ".join(sorted((first, second)))


def load_two_player_agents(game: Game, agents: Agents) -> dict[str, AnyAgent]:
    """Return agents by name, for a game of two players; otherwise like `load_agents`.

    Raises:
        ValueError: a game not for two players, or what `load_agents` refuses.
    """
    if game.info.num_players != 2:
        raise InputError("game", "two players", game.info.num_players, "free-for-all games take more", game.id)
    return load_agents(game, agents)


def load_agents(game: Game, agents: Agents) -> dict[str, AnyAgent]:
    """Return agents by name; load those that are specs.

    Raises:
        ValueError: fewer than two, names that `agent_specs.by_name` refuses, a spec that cannot be loaded, an agent
            that cannot play this kind of game.
    """
    named = by_name(agents)
    if len(named) < 2:
        raise InputError("agents", "at least two agents", ", ".join(named) or "none")
    loaded = {name: load(agent, game, name=name) if isinstance(agent, str) else agent for name, agent in named.items()}
    for agent in loaded.values():
        takes_states(agent, game)
    return loaded


def both_seats(first: str, second: str, openings: range, seats: int = 2, seed: int = 0) -> list[Pairing]:
    """Return the games of a match from some openings, two from each.

    Agent 0 of the match id begins the first game. With more than two seats each agent has half of them, as `seatings`
    draws them by the seed, and in the second game the others.
    """
    id = match_id(first, second)
    in_turn = [(0, 1), (1, 0)]
    return [Pairing(id, o, held) for o in openings for held in (in_turn if seats == 2 else _block(2, seats, o, seed))]


def seatings(agents: int, seats: int, games: int, seed: int) -> list[tuple[int, ...]]:
    """Draw the agent of each seat in each game.

    In a block of `K` games all agents move on by one seating from game to game, in a drawn order and from drawn
    starts. So each agent has each seat once, and the agents' numbers of seats in a game differ by at most one. With
    fewer agents than seats they have several seats at a table, with more they take turns.

    Args:
        agents: `K`, at least 1.
        seats: `P`, the game's number of seats.
        games: number of games.
        seed: seed of the run; blocks depend on it and on their number alone.

    Returns:
        For each game `P` indices of agents.
    """
    numbers = range(-(-games // agents))
    return [table for number in numbers for table in _block(agents, seats, number, seed)][:games]


def _block(agents: int, seats: int, number: int, seed: int) -> list[tuple[int, ...]]:
    """Return the games of a block of `seatings`."""
    chance = generator(seed, "tables", number)
    order, extra = (torch.randperm(agents, generator=chance, device="cpu").tolist() for _ in range(2))
    starts = [*range(agents)] * (seats // agents) + extra[: seats % agents]
    starts = [starts[place] for place in torch.randperm(seats, generator=chance, device="cpu").tolist()]
    return [tuple(order[(start + turn) % agents] for start in starts) for turn in range(agents)]


@contextmanager
def _logged(game: Game, agents: Iterable[AnyAgent], wanted: bool) -> Iterator[PolicyLog]:
    """Collect the policies of agents that search, if they are wanted."""
    log: PolicyLog = {}
    searching = [agent for each in agents if hasattr(agent := acting(each, game), "policy_log")] if wanted else []
    for agent in searching:
        agent.policy_log = log
    try:
        yield log
    finally:
        for agent in searching:
            agent.policy_log = None


def records_of(
    game: Game,
    played: loop.Played,
    *,
    seeds: Sequence[int],
    agents: Sequence[tuple[str, ...]],
    openings: Sequence[int],
    pairings: Sequence[Pairing | None] | None = None,
    policies: PolicyLog | None = None,
) -> list[Record]:
    """Return the records of games that were played or forfeited; the keywords are the records', one per env."""
    env_ids = range(len(played.turns))
    failures = [played.failures.get(env_id) for env_id in env_ids]
    forfeits = [None if f is None else Forfeit(f.seats[0], f.reason, f.seats[1:], f.trace) for f in failures]
    ends = results(game, played.state, forfeits)
    parameters = json.dumps(game.parameters)
    has_summary = type(game).summary is not Game.summary
    found = []
    for env_id in env_ids:
        moves = tuple(loop.moves(game, played, env_id))
        found.append(
            Record(
                game=game.id,
                version=__version__,
                parameters=json.loads(parameters),
                seed=seeds[env_id],
                agents=agents[env_id],
                opening=min(openings[env_id], len(moves)),  # an agent that fails at the start stops the game before it
                moves=moves,
                result=ends[env_id],
                pairing=None if pairings is None else pairings[env_id],
                seconds=() if played.clocks is None else played.clocks.times(env_id, game.info.num_players),
                policies=_policies(game, policies, env_id, len(moves)) if policies else (),
                summary=game.summary(played.state[env_id]) if has_summary and forfeits[env_id] is None else {},
            )
        )
    return found


def _policies(game: Game, log: PolicyLog, env_id: int, turns: int) -> tuple[Mapping[str, float] | None, ...]:
    """Return the policies of a game as its record holds them."""
    found: list[Mapping[str, float] | None] = []
    for turn in range(turns):
        rounded = {action: round(chance, _DIGITS) for action, chance in log.get((env_id, turn), {}).items()}
        found.append({game.action_to_string(action): chance for action, chance in rounded.items() if chance} or None)
    return tuple(found) if any(found) else ()


def counter(finished: Callable[[int], None]) -> Callable[[int, State], None]:
    """Return a function for `play`'s `on_turn` that reports the number of games that have just ended."""
    before = 0

    def count(turn: int, state: State) -> None:
        nonlocal before
        done = int(state.done.sum())
        finished(done - before)
        before = done

    return count


def generator(*parts: str | int) -> torch.Generator:
    """Return a new generator with a seed from `derive`."""
    return torch.Generator().manual_seed(derive(*parts))


def openings(game: Game, seeds: Tensor, plies: int, generator: torch.Generator) -> Tensor:
    """Draw uniformly random legal actions for the first turns of games, in these very games.

    An opening stops before an action that ends its game.

    Args:
        game: the rules.
        seeds: int64 [B], of the games.
        plies: turns of an opening, at most.
        generator: consumed.

    Returns:
        int64 [B, plies], or [B, plies, P] or [B, plies, P, K] in simultaneous games; -1 from where an opening stops.
        What `cellgames.agents.play` takes as `opening`.
    """
    shape = (len(seeds), plies, *game.info.action_shape)
    drawn = torch.full(shape, -1, dtype=torch.int64, device="cpu")
    state: State = game.init(seeds)
    for ply in range(plies):
        chosen = game.random_actions(state, generator)
        # A last turn may be all of Life, only to be thrown away.
        env_ids = (~(state.done | game.is_last_turn(state))).nonzero().squeeze(1)
        if not len(env_ids):
            break
        after = game.step(state[env_ids], chosen[env_ids], checked=False)
        state = state.put(env_ids, after)
        going = env_ids[~after.done]
        drawn[going, ply] = chosen[going]
    return drawn


def lengths(drawn: Tensor) -> list[int]:
    """Return the number of turns of each of the openings [B, plies, ...]."""
    return (drawn[..., None].flatten(2) >= 0).all(2).sum(1).tolist()


def check_record(record: Record, game: Game, **fields: Any) -> None:
    """Raise a `ValueError` unless a record is of the game, and has these fields."""
    wanted = {"game": game.id, "parameters": plain(game.parameters), **fields}
    if wrong := differences(wanted, vars(record)):
        raise InputError(cause=wrong)


@dataclass(frozen=True)
class GamePlayer(Player[Pairing, Record]):
    """A player of games of agents; pairings name them.

    Attributes:
        game: the rules.
        players: the agents by name.
        options: options of the run.
        agents: the same agents as workers get them, specs or objects by name; None for `players`.
        identities: identities of the agents, which those of workers must have.
    """

    game: Game
    players: Mapping[str, AnyAgent]
    options: MatchOptions
    agents: Mapping[str, str | AnyAgent] | None = None
    identities: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, game: Game, agents: Mapping[str, str | AnyAgent], options: MatchOptions) -> GamePlayer:
        """Return a player for agents by name, of which it loads those that are specs."""
        known = identities(agents, game)
        players = {name: load(one, game, name=name) if isinstance(one, str) else one for name, one in agents.items()}
        return cls(game, players, options, agents, known)

    @override
    def parse(self, line: bytes) -> tuple[Pairing, Record]:
        record = Record.from_json(line)
        return self.key(record), record

    @override
    def key(self, game: Record) -> Pairing:
        if game.pairing is None:
            raise InputError("pairing", "the match of the game")
        return game.pairing

    @override
    def read(self, batch: Batch[Pairing], key: Pairing, parsed: Record) -> Record:
        agents = tuple(batch.agents[seat] for seat in key.seats)
        seed = derive(self.options.seed, "game", key.opening)
        check_record(parsed, self.game, version=__version__, seed=seed, agents=agents)
        if parsed.opening > self.options.opening_plies:  # one that would end its game is shorter
            raise InputError("opening", f"{self.options.opening_plies} at most", parsed.opening)
        return parsed

    @override
    def play(self, batch: Batch[Pairing], finished: Callable[[int], None] | None = None) -> list[Record]:
        """Play games of one match, for any number of seats, ascending by opening, from one of `options.chunks()`.

        An agent that fails in a game forfeits it (`agents.selection`), and all other games go on.
        """
        game, options, names, pairings = self.game, self.options, batch.agents, batch.games
        id, start = pairings[0].match, pairings[0].opening
        number = start // options.chunk
        # Always drawn for a whole chunk: a match that is continued keeps its openings.
        whole = range(start, start + options.chunk)
        seeds = torch.tensor([derive(options.seed, "game", opening) for opening in whole], device="cpu")
        chance, plies = generator(options.seed, "openings", number), options.opening_plies
        # Without chance an opening fits every seed, so all are full and those that end the game are drawn again.
        # With chance what is legal, and when a game ends, may depend on the seed.
        fits = not game.info.stochastic
        drawn = random_openings(game, len(seeds), plies, chance) if fits else openings(game, seeds, plies, chance)
        forced, places = lengths(drawn), [pairing.opening - start for pairing in pairings]
        agents = [self.players[name] for name in names]
        with _logged(game, agents, options.policies) as log:
            played = loop.play(
                game,
                agents,
                torch.tensor([pairing.seats for pairing in pairings], device="cpu"),  # [B, P]
                seeds[places],
                [generator(options.seed, "agent", id, number, name) for name in names],
                opening=drawn[places] if plies else None,
                on_turn=None if finished is None else counter(finished),
                forfeits=options.time_control or True,
            )
        return records_of(
            game,
            played,
            seeds=seeds[places].tolist(),
            agents=[tuple(names[seat] for seat in pairing.seats) for pairing in pairings],
            openings=[forced[place] for place in places],
            pairings=pairings,
            policies=log,
        )

    @override
    def unsound(
        self, games: Sequence[Record], finished: Callable[[int], None] = lambda count: None
    ) -> Iterable[tuple[int, str]]:
        return ((number, str(error)) for number, error in verify(games, known=self.game, finished=finished))

    @override
    def __reduce__(self) -> tuple[Any, ...]:
        agents = self.players if self.agents is None else self.agents
        return _arrived, (self.game, agents, self.options, self.identities)


def _arrived(
    game: Game, agents: Mapping[str, str | AnyAgent], options: MatchOptions, known: Mapping[str, str]
) -> GamePlayer:
    """Return the player in a worker, which loads the agents that are specs."""
    check_agents("this run", known, identities(agents, game))  # a file may have changed since it was looked at
    return GamePlayer.of(game, agents, options)


MATCH = "free-for-all"
"""The match that all games of a run of free-for-all games belong to, in their records."""


def batch_of(agents: Sequence[str], pairings: Sequence[Pairing]) -> Batch[Pairing]:
    """Return the batch of some openings of a match; the seats of the pairings are numbers of the agents, sorted."""
    first, last = pairings[0], pairings[-1]
    label = f"{first.match}, openings {first.opening} to {last.opening}"
    return Batch(label, tuple(pairings), tuple(agents))


def table_batches(
    agents: Sequence[str], tables: Sequence[tuple[int, ...]], options: MatchOptions, match: str = MATCH
) -> list[Batch[Pairing]]:
    """Return all batches of games whose numbers of agents by seat are given, in the order of the file."""
    return [
        batch_of(agents, [Pairing(match, number, tables[number]) for number in numbers]) for numbers in options.chunks()
    ]


@dataclass(frozen=True)
class MatchResult:
    """A match as its first agent sees it.

    Attributes:
        agents: first and second.
        records: records of all games.
        tally: wins, draws and losses of the first agent, and how many games differ.
    """

    agents: tuple[str, str]
    records: tuple[Record, ...]
    tally: Tally

    @property
    def score(self) -> float:
        """Return the first agent's share of the points: a win is 1, a draw 1/2."""
        return self.tally.score

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the Wilson interval of the score, as if the games were independent."""
        return self.tally.interval(level)

    def __str__(self) -> str:
        low, high, t = *self.interval(), self.tally
        score = (
            f"{self.agents[0]} scores {self.score:.1%} against {self.agents[1]} (95 % interval {low:.1%} to "
            f"{high:.1%}): {t.wins} wins, {t.draws} draws, {t.losses} losses; {t.distinct} of {t.games} games differ"
        )
        return "\n".join([score, *forfeit_notes(forfeits(self.records))])


def match(
    game: Game | str, first: PathLike | AnyAgent, second: PathLike | AnyAgent, options: MatchOptions | None = None
) -> MatchResult:
    """Play a match.

    The games are those that a round robin with these agents and options plays, whichever agent comes first.

    Args:
        game: for two players; or its id.
        first: an agent, or a spec for `agents.load`, also `NAME=SPEC`.
        second: another one, with another name.
        options: such as `MatchOptions(games=200, seed=1)`; None for the defaults.
    """
    game, options = as_game(game), options or MatchOptions()
    agents = load_two_player_agents(game, [first, second])
    one, two = agents
    player, names = GamePlayer(game, agents, options), sorted(agents)
    batches = [batch_of(names, both_seats(one, two, openings)) for openings in options.chunks()]
    records = tuple(record for batch in batches for record in player.play(batch))
    return MatchResult((one, two), records, tally(records, one))
