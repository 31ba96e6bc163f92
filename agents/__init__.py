"""Agents, and the loop in which they play.

    from cellgames.agents import load, play
    agents = [load("greedy", game), load("rollout:64", game)]
    played = play(game, agents, seats, seeds, generators)

Names are imported when they are first used, so that lists and help texts need no torch.
"""

from typing import TYPE_CHECKING

from cellgames.utils.lazy_names import lazy_names

if TYPE_CHECKING:
    from .agent_opponent import as_opponent as as_opponent
    from .agent_specs import AGENTS as AGENTS
    from .base import (
        Agent as Agent,
        AnyAgent as AnyAgent,
        BaseAgent as BaseAgent,
        Seats as Seats,
        StateAgent as StateAgent,
        acting as acting,
        draw_seeds as draw_seeds,
    )
    from .loading import load as load
    from .networks.networks import Network as Network, Size as Size, make_network as make_network
    from .networks.saved import load_network as load_network, read_about as read_about
    from .networks.saved import save_network as save_network, shipped as shipped
    from .networks.sb3_agent import SB3Agent as SB3Agent
    from .play_loop import (
        Played as Played,
        moves as moves,
        parse_move as parse_move,
        play as play,
        random_openings as random_openings,
    )
    from .base import PolicyAgent as PolicyAgent
    from .programs.program_agent import ProgramAgent as ProgramAgent
    from .selection import select as select
    from .views import View as View, ViewAgent as ViewAgent
else:
    __getattr__, __dir__, __all__ = lazy_names(__name__)
