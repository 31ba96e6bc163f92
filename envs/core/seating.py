"""The seats of a batch of games, and one way to start and ask all players.

Matches (`agents.play`), one learner among opponents (`adapters.seats`) and self-play (`training.selfplay`) use it. What
a player is, how it is asked, and what happens to an illegal action are up to the caller.

Letters: `B` games, `P` seats, `N` games that begin, `L` rows: a game and a seat that is to move.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from cellgames.utils.errors import InputError

from .game import Game
from .state import State


class Seating:
    """The players on the seats of `B` games. A player is a number from 0; -1 is a seat that the caller plays itself.

    Args:
        game: the rules.
        seats: int64 [B, P], the player on each seat; copied.
    """

    def __init__(self, game: Game, seats: Tensor) -> None:
        self.game = game
        self.seats = seats.clone()

    @property
    def seats(self) -> Tensor:
        """Return the player on each seat, int64 [B, P]; not to be changed in place."""
        return self._seats

    @seats.setter
    def seats(self, seats: Tensor) -> None:
        self._seats = seats
        counts = torch.bincount(seats.flatten() + 1).tolist()
        self.players = [player for player, count in enumerate(counts[1:]) if count]
        """Those who have a seat in some game, ascending."""

    def deal(self, env_ids: Tensor, seats: Tensor, start: Callable[[int, Tensor, Tensor], None]) -> None:
        """Seat the players of games that begin, int64 [N, P], ascending by env, and start each of them once.

        The function is called with a player, its seats and their games, int64 [L] both, games ascending.
        """
        self._seats[env_ids] = seats
        self.seats = self._seats
        for player in self.players:
            rows, places = (seats == player).nonzero().unbind(1)
            if len(rows):
                start(player, places, env_ids[rows])

    def restore(self, seats: Tensor, players: int, start: Callable[[int, Tensor, Tensor], None]) -> None:
        """Seat the players of games in progress, as `seats`, int64 [B, P], were, and start each of them once.

        Raises:
            ValueError: they are of other games, or of more players than there are.
        """
        if seats.shape != self._seats.shape or seats.dtype != torch.int64 or int(seats.min()) < -1:
            raise InputError("seats", f"the players on seats {list(self._seats.shape)}", list(seats.shape))
        if int(seats.max()) >= players:
            raise InputError("seats", f"players below {players}", int(seats.max()))
        self.deal(torch.arange(len(seats), device=self._seats.device), seats.to(self._seats.device), start)

    def to_move(self, state: State, waiting: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Return the rows in which a player is to move: games, ascending, and seats, int64 [L] both.

        Only the games of `waiting`, bool [B], count; None counts all.
        """
        if self.game.info.simultaneous:
            held = self._seats >= 0
            env_ids, seats = (held if waiting is None else held & waiting[:, None]).nonzero().unbind(1)
            return env_ids, seats
        held = self._seats.gather(1, state.current_player[:, None]).squeeze(1) >= 0
        env_ids = (held if waiting is None else held & waiting).nonzero().squeeze(1)
        return env_ids, state.current_player[env_ids]

    def by_player(self, env_ids: Tensor, seats: Tensor) -> Iterator[tuple[int, Tensor]]:
        """Yield each player of these rows, ascending, with the places of its rows, int64."""
        held = self._seats[env_ids, seats]
        for player in self.players:
            rows = (held == player).nonzero().squeeze(1)
            if len(rows):
                yield player, rows

    def ask(self, env_ids: Tensor, seats: Tensor, pick: Callable[[int, Tensor, Tensor], Tensor]) -> Tensor:
        """Return the actions of rows by `to_move`; every player is asked once, about all of its rows.

        It is asked with its number, its games and its seats, and answers int64 [L], or [L, K] if an action has K > 1
        components.
        """
        if len(self.players) == 1 and len(env_ids):
            return pick(self.players[0], env_ids, seats)
        shape = self.game.info.action_shape[self.game.info.simultaneous :]
        actions = torch.zeros((len(env_ids), *shape), dtype=torch.int64, device=env_ids.device)
        for player, rows in self.by_player(env_ids, seats):
            actions[rows] = pick(player, env_ids[rows], seats[rows])
        return actions
