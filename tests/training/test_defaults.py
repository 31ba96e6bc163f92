"""Training by defaults: games that nobody tuned, named on the command line by their modules."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from example_games import ConnectFour, Treblecross, registered

import cellgames
from cellgames import agents
from cellgames.agents.loading import default_opponents
from cellgames.agents.networks.networks import BoardNetwork
from cellgames.agents.networks.saved import load_network
from cellgames.cli import main as cli
from cellgames.envs import registry
from cellgames.training import PPOArguments, compare, train
from cellgames.training.arguments import ALGORITHMS, all_options


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """With the example games known, and the environment as it was afterwards."""
    monkeypatch.setenv(registry.VARIABLE, "")
    with registered():
        yield


def test_a_game_without_a_greedy_agent_is_measured_against_one_that_is_no_pushover() -> None:
    assert default_opponents(Treblecross(7)) == ["random", "rollout:16"]
    for id in cellgames.games():
        assert default_opponents(cellgames.make(id)) == ["random", "greedy"]


def test_help_states_the_default_of_each_algorithm(capsys: pytest.CaptureFixture[str]) -> None:
    for name, users in all_options().items():
        assert {*users} == {key for key in ALGORITHMS if name in {o.name for o in ALGORITHMS[key].arguments.options()}}
    with pytest.raises(SystemExit):
        cli.parser().parse_args(["train", "--help"])
    told = " ".join(capsys.readouterr().out.split())
    assert "(default 32, alphazero 16, another for some games)" in told  # num_steps
    assert "discount factor of rewards (default" in told


@pytest.mark.usefixtures("known")
def test_the_command_line_takes_a_module_in_front_of_the_game(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """From training to the commands that it names next."""
    typed, out = "examples.games.connect_four:connect-four-small-v0", tmp_path / "run"
    words = ["train", typed, "--param", "line=3", "--total-steps", "200", "--num-envs", "16", "--num-steps", "16"]
    words += ["--channels", "4", "--layers", "1", "--eval-games", "2", "--eval-opponents", "random", "--out", str(out)]
    assert cli.main([*words, "--quiet"]) == 0
    told = capsys.readouterr().out
    assert f"evaluate {typed} --agents {out}" in told
    assert f"play {typed} --param line=3 --agents {out}" in told
    assert isinstance(load_network(out / "agent.safetensors").network, BoardNetwork)
    again = ["evaluate", typed, "--param", "line=3", "--agents", str(out), "random", "--games", "4"]
    assert cli.main([*again, "--quiet", "--no-store"]) == 0
    assert "random" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        cli.main(["train", "examples.games.connect_four:connect-five-v0"])
    assert "that examples.games.connect_four registers (connect-four-v0, connect" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.usefixtures("known")
@pytest.mark.parametrize(("game", "share"), [(ConnectFour(rows=4, columns=4, line=3), 0.7), (Treblecross(9), 0.85)])
def test_defaults_teach_a_small_game_in_half_a_minute(
    game: ConnectFour | Treblecross, share: float, tmp_path: Path
) -> None:
    arguments = PPOArguments.fitted(game, total_steps=25_000, eval_opponents=("random",), eval_every=100)
    finished = train(arguments, tmp_path / "run")
    learned, random = agents.load(str(finished.agent), game), agents.load("random", game)
    assert compare(game, learned, random, games=400, seed=1).ahead > share
