"""Two processes that learn together, forked in a process of their own, and what each of them found."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from killing import KILL, KILLED
from torch import distributed
from torch.distributed.launcher.api import LaunchConfig, elastic_launch
from training_runs import block_extras, network_for, tiny

import cellgames
from cellgames.cli.main import main
from cellgames.training import PPOArguments, Progress, train
from cellgames.training.algorithms import ALGORITHMS
from cellgames.training.alphazero.alphazero import AlphaZeroLearner
from cellgames.training.alphazero.alphazero_arguments import AlphaZeroArguments
from cellgames.training.alphazero.replay_buffer import Positions
from cellgames.training.arguments import Arguments
from cellgames.training.distributed import Group, GroupError, joined_group
from cellgames.training.ppo.ppo import PPO, Hyperparameters
from cellgames.training.selfplay.opponent_mix import SELF, Opponents
from cellgames.training.selfplay.opponent_pool import Pool
from cellgames.training.selfplay.rollouts import SelfPlay
from cellgames.utils.progress import StatusLine

GAME = cellgames.make("torus-v0", size=2)
WORLD = 2
PATIENCE = 200
"""Seconds after which a process that waits for another one ends."""


# ---------------------------------------------------------------- runs


def small() -> PPOArguments:
    """A run of about seven iterations."""
    return tiny()


def searching() -> AlphaZeroArguments:
    """A run of about six iterations with AlphaZero, whose replays go round."""
    settings: dict[str, Any] = {
        **{"total_steps": 140, "num_envs": 8, "num_steps": 8, "minibatch_size": 32},
        **{"channels": 4, "layers": 1, "num_simulations": 4},
        **{"snapshot_every": 2, "eval_every": 2, "checkpoint_every": 2, "eval_games": 4, "eval_opponents": ("random",)},
        **{"opponents": "self=0.5,pool=0.3,random=0.2", "buffer_size": 80, "threads": 1, "device": "cpu"},
    }
    return AlphaZeroArguments.fitted(GAME, **settings)


def strong() -> PPOArguments:
    """Enough to beat random play on the smallest board worth the name."""
    settings: dict[str, Any] = {
        **{"num_envs": 64, "num_steps": 18, "num_epochs": 3},
        **{"minibatch_size": 256, "learning_rate": 3e-3, "channels": 16},
        **{"total_steps": 11_000, "layers": 1, "sample": True, "threads": 1, "device": "cpu", "eval_games": 200},
        **{"eval_opponents": ("random",), "eval_every": 100},
    }
    return PPOArguments.fitted(cellgames.make("torus-v0", size=3), **settings)


def ran(arguments: Arguments, folder: Path, rank: int, stop: Callable[[Progress], None] = lambda at: None) -> Any:
    """What a process finds that trains: weights at the end, steps, table and warnings. Only rank 0 gets the folder."""
    seen: list[Any] = []
    warnings: list[str] = []
    kind = ALGORITHMS[arguments.algorithm].learner
    close = kind.close

    def spied(learner: Any) -> None:
        seen.append({name: value.clone() for name, value in learner.network.state_dict().items()})
        close(learner)

    kind.close = spied  # type: ignore[method-assign, assignment]  # the process ends soon
    out = folder if rank == 0 else folder / "nobody needs this"
    finished = train(arguments, out, report=stop, warn=warnings.append)
    assert rank == 0 or not out.exists()
    history = [dict(line) for line in finished.history]
    return {"weights": seen, "steps": finished.steps, "before": finished.before, "history": history, "warned": warnings}


def stop_after(iterations: int, signal_number: int | None = None) -> Callable[[Progress], None]:
    """A `report` that ends the run after so many iterations, or the process by a signal."""
    left = iter(range(iterations + 1))

    def stop(progress: Progress) -> None:
        if next(left) < iterations:
            return
        if signal_number is None:
            raise KeyboardInterrupt
        os.kill(os.getpid(), signal_number)

    return stop


# ---------------------------------------------------------------- pieces


def learner(num_envs: int, folder: Path, rank: int, **changes: Any) -> PPO:
    """One that has started its games."""
    settings: dict[str, Any] = {
        **{"num_steps": 12, "num_epochs": 2, "minibatch_size": 40},
        **{"learning_rate": 0.01, "gamma": 1.0, "gae_lambda": 0.9},
        **{"clip_range": 0.2, "ent_coef": 0.3, "vf_coef": 0.7, "max_grad_norm": 0.5},
    }
    network, device = network_for(GAME), torch.device("cpu")
    play = SelfPlay(GAME, network, Opponents(GAME, {SELF: 1.0}, Pool(folder), device), num_envs, device)
    play.restart(3 + rank)
    ppo = PPO(network, play, Hyperparameters(**{**settings, **changes}))
    ppo.generator.manual_seed(rank)
    return ppo


def pieces(root: Path, group: Group) -> dict[str, Any]:
    """An iteration of two processes with games of their own, and steps in which one has nothing."""
    found: dict[str, Any] = {}
    ppo = learner((3, 5)[group.rank], root, group.rank)
    ppo.group = group
    batches: list[list[torch.Tensor]] = []
    learn = ppo._learn

    def noted(*rows: torch.Tensor) -> torch.Tensor:
        batches.append(list(rows))
        return learn(*rows)

    ppo._learn = noted  # type: ignore[method-assign, assignment]  # it looks on
    _, losses, steps = ppo.iterate(0.0)
    found["batches"], found["losses"], found["steps"] = batches, vars(losses), steps
    found["weights"] = {name: value.clone() for name, value in ppo.network.state_dict().items()}
    rows = batches[0] if group.first else [part[:0] for part in batches[0]]
    found["lonely rows"], found["lonely metrics"] = rows, learn(*rows)
    found["lonely weights"] = {name: value.clone() for name, value in ppo.network.state_dict().items()}
    found["empty metrics"] = learn(*(part[:0] for part in batches[0]))
    found |= searched(root / f"{group.rank}", group)
    group.check_equal(ppo.network, [1, 2])
    if group.rank == 1:
        next(ppo.network.parameters()).data.mul_(1 + 1e-6)
    try:
        group.check_equal(ppo.network, [1, 2])
    except GroupError as error:
        found["difference"] = str(error)
    group.broadcast(ppo.network)
    group.check_equal(ppo.network, [1, 2])
    try:
        with group.agreed():
            if group.rank == 1:
                raise ValueError("not today")
    except ValueError as error:
        found["agreed"] = f"{type(error).__name__}: {error}"
    try:
        with group.agreed():
            raise ValueError("never")
    except ValueError as error:
        found["agreed by all"] = f"{type(error).__name__}: {error}"
    return found


def positions(count: int, seed: int) -> Positions:
    """At random, with policies and values that cannot be."""
    chance, info = torch.Generator().manual_seed(seed), GAME.info
    seen = torch.randint(2, (count, *info.observation.shape), generator=chance, dtype=info.observation.dtype)
    policy = torch.rand((count, info.num_actions), generator=chance)
    value = torch.rand(count, generator=chance)
    return Positions(seen, torch.ones_like(policy, dtype=torch.bool), policy / policy.sum(1, keepdim=True), value)


def searcher(folder: Path) -> AlphaZeroLearner:
    """AlphaZero, always with the same weights."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return AlphaZeroLearner(GAME, searching(), folder, torch.device("cpu"))


def searched(folder: Path, group: Group) -> dict[str, Any]:
    """A step of AlphaZero from 6 and 10 positions, and from a replay that is empty in one process."""
    learner = searcher(folder)
    learner.join(group)
    learner.network.train()
    (lesson,) = learner.lessons
    found: dict[str, Any] = {"searched metrics": learner._learn(lesson, positions((6, 10)[group.rank], group.rank))}
    found["searched weights"] = {name: value.clone() for name, value in learner.network.state_dict().items()}
    if group.first:
        lesson.replay.add(positions(20, 5))
    minibatch = learner._minibatch(lesson)
    found["part"] = 0 if minibatch is None else len(minibatch.value)
    found["half metrics"] = learner._learn(lesson, minibatch)
    group.check_equal(learner.network, None)
    return found


# ---------------------------------------------------------------- what is done


def in_group(root: Path, rank: int) -> Any:
    """`pieces`, then a whole run, in a process group that was started before."""
    distributed.init_process_group("gloo")
    try:
        with joined_group("cpu") as (group, _):
            found = pieces(root, group)
        return found | {"run": ran(small(), root / "whole", rank)}
    finally:
        distributed.destroy_process_group()


def killed(root: Path, rank: int) -> Any:
    """Process 1 dies; what the other one says."""
    try:
        return ran(small(), root / "killed", rank, stop_after(5, KILL) if rank else stop_after(100))
    except GroupError as error:
        return str(error)


def alone_before(root: Path, rank: int) -> Any:
    """Go on with a run of one process."""
    try:
        return ran(small(), root / "alone", rank)
    except ValueError as error:
        return f"{type(error).__name__}: {error}"


def stopped(root: Path, rank: int) -> Any:
    """AlphaZero, stopped by Ctrl-C in both."""
    try:
        return ran(searching(), root / "searching in parts", rank, stop_after(3))
    except KeyboardInterrupt:
        return "stopped"


WORDS = "train torus-v0 --size 2 --num-envs 16 --num-steps 8 --minibatch-size 64 --channels 4 --layers 1"
WORDS += " --eval-games 4 --total-steps 300"
WORDS += " --eval-opponents random --device cpu --checkpoint-every 1"


def typed(root: str) -> list[int]:
    """The command, with Ctrl-C after its third line, and once more; before, process 1 is killed, and torchrun goes on.

    What it says goes to files `NUMBER RANK.err` and `.out`; that of the killed one to `killed RANK.err`.

    Returns:
        Exit codes.
    """
    _alarm(PATIENCE)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # as in processes that are not forked
    os.chdir(root)
    patience, codes, show = iter(range(3)), [], StatusLine.show
    killed = os.environ["TORCHELASTIC_RESTART_COUNT"] == "0"

    def impatient(line: StatusLine, text: str, news: bool = False) -> None:
        show(line, text, news)
        if killed and os.environ["RANK"] == "1":
            os.kill(os.getpid(), KILL)
        if next(patience, None) == 2:
            raise KeyboardInterrupt

    StatusLine.show = impatient  # type: ignore[method-assign, assignment]  # the process ends soon
    for number in ("killed",) if killed else (0, 1):
        for handle, name in ((1, "out"), (2, "err")):
            sys.stdout.flush()
            file = os.open(f"{number} {os.environ['RANK']}.{name}", os.O_CREAT | os.O_WRONLY)
            os.dup2(file, handle)
        codes.append(main(WORDS.split()))
        if killed:
            os._exit(codes[0])
    return codes


def by_torchrun(root: Path) -> None:
    """`typed` in processes that torchrun's own code starts."""
    config = LaunchConfig(
        min_nodes=1,
        max_nodes=1,
        nproc_per_node=WORLD,
        run_id="test",
        rdzv_backend="c10d",
        rdzv_endpoint="localhost:0",
        start_method="fork",
        max_restarts=1,
    )
    root.mkdir()
    torch.save(elastic_launch(config, typed)(str(root)), root / "codes.pt")


SCENES: dict[str, Callable[[Path, int], Any]] = {
    "in group": in_group,
    "killed": killed,
    "continued": lambda root, rank: ran(small(), root / "killed", rank),
    "alone before": alone_before,
    "searching": lambda root, rank: ran(searching(), root / "searching", rank),
    "stopped": stopped,
    "searching on": lambda root, rank: ran(searching(), root / "searching in parts", rank),
    "strong": lambda root, rank: ran(strong(), root / "strong", rank),
}


def play_all(root: str) -> None:
    """All `SCENES`, one after the other; the findings go to files `RANK NAME.pt`."""
    _alarm(2 * PATIENCE)
    block_extras(sys.modules.__setitem__)
    train(tiny(total_steps=1), Path(root) / "alone")
    for name, scene in SCENES.items():
        _fork(name, scene, Path(root))
    by_torchrun(Path(root) / "typed")


def _alarm(seconds: int) -> None:
    """End this process after so many seconds."""
    if sys.platform != "win32":
        signal.alarm(seconds)


def _fork(name: str, scene: Callable[[Path, int], Any], root: Path) -> None:
    if sys.platform == "win32":
        raise OSError("expected a POSIX system")
    # As torchrun does: a store that listens already, because a port that is only free now may be taken in a moment.
    store = distributed.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)  # type: ignore[attr-defined]
    shared = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": store.port, "TORCHELASTIC_USE_AGENT_STORE": True}
    children = []
    for rank in range(WORLD):
        child = os.fork()
        if child == 0:
            _alarm(PATIENCE)
            told = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": WORLD, "TORCHELASTIC_RESTART_COUNT": 0}
            os.environ |= {key: str(value) for key, value in {**told, **shared}.items()}
            try:
                torch.save(scene(root, rank), root / f"{rank} {name}.pt")
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        children.append(child)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert codes == ([0, KILLED] if name == "killed" else [0, 0]), (name, codes)
