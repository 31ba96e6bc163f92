"""`cellgames serve`: the page, on this computer unless --host says otherwise."""

from __future__ import annotations

import argparse
import ipaddress
import os
import socket
import threading
import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import Any

from cellgames.agents.agent_specs import by_name
from cellgames.arena.records.store import Store, default_store
from cellgames.cli.console import warn
from cellgames.cli.shared_options import WHERE_STORE, add_agents, add_command, loaded_agents
from cellgames.utils.errors import InputError, check_place

_HOST, _PORT = "127.0.0.1", 8000
_TEXT = (
    "Watch, play and read ratings in the browser. The page shows the records in the results folder and in the\n"
    "store, and every game can be played against any agent. Nobody else reaches it unless --host says so."
)
_EXAMPLES = ("--open", "--port 8080 --results results/mine", "--agents me=my_bots:MyBot model.zip")


def add(commands: Any) -> None:
    """Add the command."""
    command = add_command(commands, "serve", "", run, _TEXT, _EXAMPLES)
    command.add_argument("--host", metavar="ADDRESS", default=_HOST, help=f"address to listen on (default {_HOST})")
    text = f"port, 0 for any free one (default {_PORT})"
    command.add_argument("--port", metavar="N", type=int, default=_PORT, help=text)
    text = "the folder with records and weights (default results)"
    command.add_argument("--results", metavar="DIR", type=Path, default=Path("results"), help=text)
    command.add_argument("--store", metavar="FILE", type=Path, help=f"the store of games ({WHERE_STORE})")
    text = 'the folder of the games that are played on the page (default "games" beside the store)'
    command.add_argument("--saved-games", metavar="DIR", type=Path, help=text)
    add_agents(command, "more agents to play against, such as your own; NAME=SPEC gives a name", required=False)
    text = "let others in your network play by link: --host 0.0.0.0, with its address"
    command.add_argument("--invite", action="store_true", help=text)
    command.add_argument("--open", action="store_true", help="open the page in the browser")


def run(arguments: argparse.Namespace) -> int:
    """Answer until Ctrl-C; return the exit code."""
    try:
        import uvicorn
    except ImportError as error:
        raise InputError(cause=f'the page needs uvicorn: pip install "cellgames[web]" ({error})') from error
    from cellgames.web.routes.middleware import LOCAL, uvicorn_config
    from cellgames.web.routes.server import create_app

    if not 0 <= arguments.port <= 65535:
        raise InputError("--port", "0 to 65535", arguments.port)
    if not arguments.results.is_dir():
        if arguments.results != Path("results"):
            raise InputError("--results", "a folder", arguments.results)
        warn(f"there is no folder {arguments.results} yet, so there are no records to watch; runs make it")
    loaded_agents(arguments.agents or ())
    agents = {name: str(spec) for name, spec in by_name(arguments.agents or ()).items()}
    check_place("--store", arguments.store)
    store = arguments.store or default_store()
    if store.exists():
        Store(store, create=False).close()  # complain about a file that is none, before anything is shown
    if arguments.invite and arguments.host == _HOST:
        arguments.host = "0.0.0.0"  # as asked for
    listening = _listen(arguments.host, arguments.port)
    local = _is_local(arguments.host)
    if not local:
        warn(
            f"everyone who reaches {arguments.host} can play, read the records in {arguments.results} and add games "
            "to the store: there are no passwords"
        )
    host, port = arguments.host, listening.getsockname()[1]
    origin = f"http://{_address()}:{port}" if arguments.invite and host == "0.0.0.0" else ""
    address = origin or (f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}")
    games = arguments.saved_games or store.parent / "games"
    hosts = (*LOCAL, arguments.host) if local else None
    app = create_app(arguments.results, store, games=games, agents=agents, hosts=hosts, origin=origin)
    server = uvicorn.Server(uvicorn_config(app, log_level="warning", timeout_graceful_shutdown=2))
    print(f"Cellgames is at {address} (Ctrl-C stops it)", flush=True)
    stopped = threading.Event()
    warming = threading.Thread(target=app.state.shared.warm_up, args=(stopped,), daemon=True, name="warm up")
    warming.start()
    if arguments.open:
        threading.Timer(1.0, webbrowser.open, [address]).start()
    try:
        server.run(sockets=[listening])
    except KeyboardInterrupt:
        pass
    finally:
        listening.close()
    print("\nStopped.", flush=True)
    stopped.set()
    warming.join(5.0)
    searched = app.state.analysis.close(0.5)
    if not (app.state.sessions.close(0.5) and searched) or warming.is_alive():
        os._exit(0)  # a thread that torch is at work in cannot be ended otherwise without an abort
    return 0


def _listen(host: str, port: int) -> socket.socket:
    """Return a socket at that address; an `InputError` says that it is taken, or not this computer's."""
    try:
        family, *_, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise InputError("--host", got=host, cause=error.strerror or str(error)) from error
    try:
        return socket.create_server((str(place[0]), port), family=family, backlog=128)
    except OSError as error:
        another = f"is another server running there? --port {port + 1 if port else 8000} takes another one"
        got = f"{host} port {port}: {error.strerror or error}"
        raise InputError("--port", "one at which the page can answer", got, another) from error


def _address() -> str:
    """Return the address of this computer in its network; nothing is sent to find it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:  # no network
            return _HOST
        return str(probe.getsockname()[0])


def _is_local(host: str) -> bool:
    """Return True if only this computer reaches the address."""
    with suppress(ValueError):
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    return False
