"""Language models as agents, against a small server that plays well, badly, slowly and insolently."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import torch
from refusals import refused
from typing_extensions import override

import cellgames
from cellgames import InputError
from cellgames.agents import load
from cellgames.agents.base import PartialAnswerError
from cellgames.agents.language_models import calls as kept
from cellgames.agents.language_models import chat_server
from cellgames.agents.language_models.calls import SPENDING
from cellgames.agents.language_models.language_model_agent import (
    LanguageModelAgent,
    ModelOptions,
    MoveError,
    question,
    read_answer,
    rules_text,
)
from cellgames.agents.views import View, Views
from cellgames.cli.main import main
from cellgames.envs.core import Game

KEY = "sk-very-secret-4711"

Handler = BaseHTTPRequestHandler
Behaviour = Callable[["Chat", Handler, dict[str, Any]], None]


class Chat(ThreadingHTTPServer):
    """The server, with the bodies of all requests and their headers `Authorization`; `behaviour` answers."""

    daemon_threads = True

    def __init__(self, behaviour: Behaviour) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.behaviour = behaviour
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    @override
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: clients may hang up."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        chat = self.server
        assert isinstance(chat, Chat)
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert self.path == "/v1/chat/completions"
        chat.requests.append(body)
        chat.keys.append(self.headers["Authorization"])
        chat.behaviour(chat, self, body)

    @override
    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""


def send(handler: Handler, content: bytes, status: int = 200, kind: str = "application/json", **headers: str) -> None:
    """Send an answer."""
    handler.send_response(status)
    handler.send_header("Content-Type", kind)
    handler.send_header("Content-Length", str(len(content)))
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    with contextlib.suppress(OSError):
        handler.wfile.write(content)


def completion(handler: Handler, text: str | None, usage: object = (100, 7)) -> None:
    """Send a completion with this text."""
    counted = {"prompt_tokens": usage[0], "completion_tokens": usage[1]} if isinstance(usage, tuple) else usage
    answer = {"choices": [{"message": {"role": "assistant", "content": text}}], "usage": counted}
    send(handler, json.dumps(answer).encode())


def example_of(body: dict[str, Any]) -> str:
    """Return the legal move that a question gives as an example."""
    found = re.findall(r"^MOVE: (\S+)$", body["messages"][1]["content"], re.MULTILINE)
    return str(found[-1])


def first_legal(chat: Chat, handler: Handler, body: dict[str, Any]) -> None:
    """Play the move of the example."""
    completion(handler, f"I take the first one.\nMOVE: {example_of(body)}")


GAMES = ("torus-small-v0", "cloth-of-gold-small-v0", "grid-adaptation-small-v0", "toroidal-cup-small-v0")
TORUS = cellgames.make("torus-v0", size=2)

Serve = Callable[[Behaviour], Chat]


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Return a function that starts a server and points the environment to it."""
    chats: list[Chat] = []

    def start(behaviour: Behaviour) -> Chat:
        chats.append(chat := Chat(behaviour))
        threading.Thread(target=chat.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        monkeypatch.setenv("OPENAI_BASE_URL", chat.url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        return chat

    def forget() -> None:
        kept._opened.clear()
        SPENDING.clear()

    monkeypatch.setattr(chat_server, "RETRIES", 1)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    forget()
    yield start
    forget()
    for chat in chats:
        chat.shutdown()
        chat.server_close()


def views(game: Game, count: int = 1) -> Views:
    state = game.init(torch.arange(count))
    mask = game.legal_actions(state)
    seats = torch.zeros(count, dtype=torch.int64)
    return Views(game, state, seats, mask[:, 0] if game.info.simultaneous else mask)


def ask(agent: LanguageModelAgent, asked: Sequence[View]) -> torch.Tensor:
    return agent.act_on_views(asked, torch.arange(len(asked)), torch.Generator().manual_seed(1))


def round_robin(out: Path, *more: str, agent: str = "llm:m?retries=1", games: int = 4) -> int:
    words = f"round-robin torus-v0 --size 2 --games {games} --chunk 1 --no-store --quiet --no-gif".split()
    return main([*words, "--out", str(out), "--agents", agent, "random", *more])


def failure(agent: LanguageModelAgent) -> str:
    with pytest.raises(PartialAnswerError) as caught:
        ask(agent, views(TORUS))
    assert KEY not in str(caught.value)
    return caught.value.failures[0]


@pytest.mark.parametrize("id", GAMES)
def test_every_game_is_told_with_rules_position_and_legal_moves(id: str) -> None:
    game = cellgames.make(id)
    (view,) = views(game)
    rules, asked = rules_text(game), question(view)
    assert game.info.title in rules
    assert "Moves: " in rules
    assert "Positions: " in rules
    assert "Drag" not in rules
    assert view.position in asked
    assert all(len(line) < 20_000 for line in asked.splitlines())
    example = asked.rpartition("MOVE: ")[2].splitlines()[0]
    chosen = read_answer(f"So:\nMOVE: {example}\n", view)
    assert all(choice in legal for choice, legal in zip(chosen, view.legal, strict=True))


def test_answers_are_read_strictly() -> None:
    (view,) = views(TORUS)
    assert read_answer("MOVE: b2+", view) == [7]
    assert read_answer("I think of a1.\nMOVE: a1\n\n", view) == [0]
    wrong = ("", "a1", "MOVE: a1\nGood luck!", "MOVE: z9", "MOVE: a1 b1", "move: a1", "MOVE:", "MOVE: \ud800", "\0")
    for text in wrong:
        with pytest.raises(MoveError):
            read_answer(text, view)


def test_options_stand_after_the_name_of_the_model(serve: Serve) -> None:
    serve(first_legal)
    agent = load("llm:meta/llama:8b?temperature=0.5&retries=3&seed=7&answer_tokens=50")
    assert isinstance(agent, LanguageModelAgent)
    assert agent.options == ModelOptions(temperature=0.5, seed=7, retries=3, answer_tokens=50)
    bad = ("retries", "retries=-1", "retries=x", "retries=1&retries=2", "a=1", "timeout=nan", "seed=1.5", "parallel=0")
    for spec in ("", "?retries=1", "m?", *(f"m?{options}" for options in bad)):
        with pytest.raises(InputError):
            load(f"llm:{spec}")


def test_without_an_address_or_a_key_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with refused("OPENAI_API_KEY"):
        load("llm:some-model")
    monkeypatch.setenv("OPENAI_BASE_URL", "file:///etc")
    with refused("OPENAI_BASE_URL"):
        load("llm:some-model")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret\nX-Other: 1")
    with refused("OPENAI_API_KEY") as caught:
        load("llm:some-model")
    assert "sk-secret" not in str(caught.value)


def test_questions_of_several_games_are_asked_at_the_same_time(serve: Serve) -> None:
    together = threading.Barrier(3)

    def all_at_once(chat: Chat, handler: Handler, body: dict[str, Any]) -> None:
        together.wait(20)
        first_legal(chat, handler, body)

    chat = serve(all_at_once)
    # At a temperature above 0 equal positions are different questions.
    actions = ask(LanguageModelAgent("m?temperature=1&parallel=3"), views(TORUS, 3))
    assert actions.tolist() == [0, 0, 0]
    assert len({body["seed"] for body in chat.requests}) == 3
    assert chat.keys == [f"Bearer {KEY}"] * 3


def test_equal_questions_are_asked_once_at_temperature_0(serve: Serve) -> None:
    chat = serve(first_legal)
    assert ask(LanguageModelAgent("m"), views(TORUS, 5)).tolist() == [0] * 5
    assert len(chat.requests) == 1
    assert (chat.requests[0]["temperature"], chat.requests[0]["seed"], chat.requests[0]["model"]) == (0, 0, "m")
    assert (SPENDING.calls, SPENDING.tokens, SPENDING.reused) == (1, 107, 4)


def test_a_wrong_answer_is_answered_by_what_is_wrong(serve: Serve) -> None:
    def learns(chat: Chat, handler: Handler, body: dict[str, Any]) -> None:
        wrong = ["MOVE: z9", "hm"]
        tries = len(body["messages"]) // 2 - 1
        completion(handler, wrong[tries] if tries < 2 else f"MOVE: {example_of(body)}")

    chat = serve(learns)
    assert ask(LanguageModelAgent("m"), views(TORUS)).tolist() == [0]
    last = chat.requests[-1]["messages"]
    assert [message["role"] for message in last] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert "z9" in last[3]["content"]
    assert "got 'hm'" in last[5]["content"]
    assert "no legal move in 2 answers" in failure(LanguageModelAgent("m?retries=1"))


def test_legal_moves_are_hidden_and_a_strict_model_is_asked_once(
    serve: Serve, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = ["MOVE: z9", "MOVE: z9", "MOVE: a1"]

    def guesses(chat: Chat, handler: Handler, body: dict[str, Any]) -> None:
        completion(handler, wrong[len(body["messages"]) // 2 - 1])

    chat = serve(guesses)
    assert ask(LanguageModelAgent("m?legal_moves=hidden"), views(TORUS)).tolist() == [0]
    said = [message["content"] for message in chat.requests[-1]["messages"] if message["role"] == "user"]
    assert not any("Legal moves" in text or "MOVE: a1" in text for text in said)
    assert "MOVE: NAME" in said[0]
    with refused("legal_moves"):
        LanguageModelAgent("m?legal_moves=some")
    asked = len(chat.requests)
    priced = "me=llm:m?prompt_price=2&answer_price=10"
    assert round_robin(tmp_path, "--strict", "--legal-moves", "hidden", agent=priced, games=2) == 0
    assert len(chat.requests) == asked + 2, "one question a game"
    page = (tmp_path / "report.md").read_text()
    assert "me answered 2 questions in 2 games, 0 of them asked again" in page
    assert "107 tokens and 0.00027 dollars a game" in page


def test_the_clock_bounds_the_wait(serve: Serve) -> None:
    hung = threading.Event()

    def waits(chat: Chat, handler: Handler, body: dict[str, Any]) -> None:
        hung.wait(20)

    serve(waits)
    agent = LanguageModelAgent("m")
    agent.clock = {"left": 0.2, "increment": 0.0}
    try:
        assert "too slow" in failure(agent)
    finally:
        hung.set()


def hangs_up(chat: Chat, handler: Handler, body: dict[str, Any]) -> None:
    handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True


def status(number: int, text: bytes = b"{}", **headers: str) -> Behaviour:
    return lambda chat, handler, body: send(handler, text, number, **headers)


@pytest.mark.parametrize(
    ("behaviour", "expected", "requests"),
    [
        (status(200, b"<p>hello", kind="text/html"), "expected a chat completion, got '<p>hello'", 1),
        (hangs_up, "no answer from the server", 2),
        (status(500, f'{{"error": {{"message": "your key {KEY} is bad"}}}}'.encode()), "your key *** is bad", 2),
        (status(400, b'{"error": {"message": "no such option"}}'), "status 400: ", 1),
        (status(200, b'{"choices": [{"message": {"content": 5}}]}'), "expected a chat completion", 1),
        (status(200, b"x"), "expected a chat completion", 1),
        (status(200, f'"{"y" * 60}{KEY}"'.encode()), "yyy***", 1),  # hidden before the rest is cut
        (lambda chat, handler, body: completion(handler, None), "no legal move in 3 answers", 3),
    ],
)
def test_an_insolent_server_forfeits_with_the_reason(
    serve: Serve, behaviour: Behaviour, expected: str, requests: int
) -> None:
    chat = serve(behaviour)
    assert expected in failure(LanguageModelAgent("m"))
    assert len(chat.requests) == requests


def test_errors_that_pass_cost_no_game(serve: Serve) -> None:
    def at_last(chat: Chat, handler: Handler, body: dict[str, Any]) -> None:
        (first_legal if len(chat.requests) > 1 else hangs_up)(chat, handler, body)

    chat = serve(at_last)
    assert ask(LanguageModelAgent("m"), views(TORUS)).tolist() == [0]
    assert len(chat.requests) == 2
    assert SPENDING.calls == 1


def test_a_run_that_reaches_its_limit_goes_on_without_paying_twice(
    serve: Serve, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chat = serve(first_legal)
    assert round_robin(tmp_path / "whole") == 0
    calls, text = len(chat.requests), (tmp_path / "whole/games.jsonl").read_bytes()
    assert calls > 4
    assert f"language models: {calls} calls, {107 * calls} tokens" in capsys.readouterr().err

    out = tmp_path / "parts"
    assert round_robin(out, "--max-calls", "3") == 130
    said = capsys.readouterr().err
    assert "--max-calls is 3" in said
    assert "goes on" in said
    lines = [json.loads(line) for line in (out / "llm.jsonl").read_text().splitlines()]
    assert len(lines) == 3
    assert lines[0] | {"key": "", "seconds": 0} == {
        **{"key": "", "model": "m", "agent": "llm:m?retries=1", "turn": lines[0]["turn"], "player": lines[0]["player"]},
        **{"prompt_tokens": 100, "answer_tokens": 7, "seconds": 0, "answer": lines[0]["answer"], "estimated": False},
    }
    assert round_robin(out, "--max-calls", "3") == 130, "the limit is that of the run, not of the command"
    with (out / "llm.jsonl").open("ab") as file:
        file.write(b'{"key": "torn')
    kept._opened.clear()  # as in another process
    assert round_robin(out, "--max-tokens", str(107 * 4)) == 130
    assert "--max-tokens" in capsys.readouterr().err
    kept._opened.clear()
    assert round_robin(out) == 0
    assert len(chat.requests) == 2 * calls
    assert (out / "games.jsonl").read_bytes() == text
    assert round_robin(out, "--no-resume") == 0
    assert len(chat.requests) == 3 * calls, "a run that starts over asks anew"
    for path in [path for path in tmp_path.rglob("*") if path.is_file()]:
        assert KEY.encode() not in path.read_bytes()
