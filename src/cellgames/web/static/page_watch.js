// Records: of the results folder, of the store, of a file that a visitor has, of a game just played.
"use strict";
(() => {
  const app = Cellgames.app;
  const { el, clear, api } = app;
  const PAGE = 50;
  const named = (file) => file.replace("/games.jsonl", "");
  const MOST_FILE = 200e6, MOST_LINE = 2e6, MOST_SEARCHED = 20000;
  let own = null; // {name, lines} of the visitor's file; it never leaves the browser but for the game that is watched

  const words = { win: "won", draw: "drew", loss: "lost" };

  const results = (game) => game.agents.map((agent, seat) => el("span", { class: `player ${game.outcome[seat]}`, title: agent },
    `${app.shortened(agent, 30)} `, el("small", {}, words[game.outcome[seat]] || "")));

  // The cells of a game in a list.
  const row = (games, game, href, board) => {
    const cell = (name, ...content) => el("td", { class: name }, content);
    if (game.error) return [cell("", game.number), el("td", { colspan: 5, class: "wrap" }, `Not a record: ${game.error}`)];
    const ended = game.late ? " (lost on time)" : game.resigned ? " (resigned)" : game.forfeit ? " (forfeit)" : "";
    return [cell("", board(game)), cell("", el("a", { href }, `Game ${game.number}`)), cell("wrap", app.titleOf(games, game.game)),
      cell("wrap", results(game)), cell("number", game.scores.join(" : ")), cell("number", game.turns, ended),
      ...(game.added ? [cell("", app.when(Date.parse(game.added) / 1000))] : [])];
  };

  const gameTable = (games, found, href, board) => app.cards("list",
    ["", "", "game", "", "score", "turns", ...(found.some(({ added }) => added) ? ["added"] : [])],
    found.map((game) => row(games, game, href(game.number), board)));

  const pager = (total, first, href) => total > PAGE && el("p", { class: "buttons" },
    first > 1 && el("a", { class: "button", href: href(Math.max(1, first - PAGE)) }, "← Previous"),
    el("span", { class: "hint" }, `${first} to ${Math.min(total, first + PAGE - 1)} of ${total}`),
    first + PAGE <= total && el("a", { class: "button", href: href(first + PAGE) }, "Next →"));

  const address = (query) => `#/watch?${new URLSearchParams(query)}`;

  // What a line of the visitor's own file tells for a list; the server checks it when it is watched.
  const glance = (line, number) => {
    try {
      const data = JSON.parse(line);
      const list = (value) => (Array.isArray(value) ? value.slice(0, 8) : []);
      if (data.season && data.pattern) { // a game of the Cup's own season: teams, and no moves
        const outcome = list(data.scores).map((_, seat) => (!data.winner ? "draw" : data.winner === seat + 1 ? "win" : "loss"));
        return { number, game: "toroidal-cup-v0", agents: list(data.season.teams).map((name) => String(name).slice(0, 200)), outcome,
          scores: list(data.scores).map(Number), turns: Number(data.generations), forfeit: false, late: false, resigned: false };
      }
      const { outcome, scores, turns, forfeit } = data.result, reason = String((forfeit || {}).reason);
      return {
        number, game: String(data.game).slice(0, 100), agents: list(data.agents).map((name) => String(name).slice(0, 200)),
          outcome: list(outcome).map(String), scores: list(scores).map(Number),
        turns: Number(turns), forfeit: !!forfeit, late: reason.startsWith(Cellgames.LATE), resigned: reason === Cellgames.RESIGNED,
      };
    } catch {
      return { number, error: "not a record of a game" };
    }
  };

  async function read(file) {
    if (!file) return;
    if (file.size > MOST_FILE) { app.notice(`The file has ${Math.round(file.size / 1e6)} MB; the page reads files of up to ` +
      `${MOST_FILE / 1e6} MB.`); return; }
    const lines = (await file.text()).split("\n").filter((line) => line.trim());
    if (!lines.length) { app.notice(`${file.name} is empty.`); return; }
    own = { name: file.name, lines };
    const hash = address(lines.length === 1 ? { own: 1 } : { list: "own", ...kept(new URLSearchParams(location.hash.split("?")[1])) });
    if (location.hash === hash) app.open(); else location.hash = hash;
  }

  const chooser = () => {
    const input = el("input", { type: "file", accept: ".jsonl,.json,.txt", id: "record-file", onchange: () => read(input.files[0]) });
    const drop = el("div", { class: "panel drop",
      ondragover: (event) => { event.preventDefault(); drop.classList.add("over"); },
      ondragleave: () => drop.classList.remove("over"),
      ondrop: (event) => { event.preventDefault(); drop.classList.remove("over"); read(event.dataTransfer.files[0]); } },
    el("label", { for: "record-file" }, "Choose a file of records on this computer, or drop it here. "), input);
    return drop;
  };

  async function overview(main, current) {
    const [found, games] = await Promise.all([api("/api/records"), app.games()]);
    if (!current()) return;
    clear(main, el("h1", {}, "Watch"), chooser(),
      found.store > 0 && el("section", { class: "panel" }, el("h2", {}, "The store"),
        el("p", {}, el("a", { href: address({ list: "store" }) }, app.plural(found.store, "game")), ", the newest first.")),
      el("section", { class: "panel" }, el("h2", {}, "Runs"), found.files.length
        ? app.listed(found.files.map(({ file, game, agents, outcome, time }) => ({ title: app.titleOf(games, game), name: file,
          address: address({ file }), players: agents, time, board: game && { file, number: 1 },
          result: app.among(agents.filter((_, seat) => outcome[seat] === "win")) + (outcome.includes("win") ? " won" : "drawn") })),
        "First game")
        : el("p", {}, "No records yet. ", el("code", {}, "cellgames round-robin torus-small-v0 --agents random greedy"),
          " plays some.")));
  }

  // What is chosen of a list, as the address has it.
  const FILTERS = ["game", "agent", "result", "least", "most"];
  const filtered = (query) => Object.fromEntries(FILTERS.filter((name) => query.get(`only-${name}`))
    .map((name) => [name, query.get(`only-${name}`)]));
  const kept = (query) => Object.fromEntries(Object.entries(filtered(query)).map(([name, value]) => [`only-${name}`, value]));

  // Whether a game of the visitor's own file is chosen; the server does the same with its lists (GameFilter).
  const keeps = (query) => {
    const { game = "", agent = "", result = "", least = 0, most = 0 } = filtered(query);
    const part = (text, sought) => text.toLowerCase().includes(sought.toLowerCase());
    return (one) => {
      if (one.error) return false;
      const ends = { decided: one.outcome.includes("win"), draw: one.outcome.includes("draw"), forfeit: one.forfeit };
      return part(one.game, game) && one.agents.some((name) => part(name, agent)) && (ends[result] ?? true) && one.turns >= Number(least)
        && (!Number(most) || one.turns <= Number(most));
    };
  };

  // The visitor's own file: all its lines, or the games that the address chooses.
  function ownList(main, first, query, current) {
    const all = Object.keys(filtered(query)).length === 0;
    const found = all ? own.lines : own.lines.slice(0, MOST_SEARCHED).map((line, place) => glance(line, place + 1)).filter(keeps(query));
    const shown = found.slice(first - 1, first - 1 + PAGE);
    const games = all ? shown.map((line, place) => glance(line, first + place)) : shown;
    return list(main, own.name, { games, total: found.length }, first, (one) => address({ own: one, ...kept(query) }),
      (start) => address({ list: "own", first: start, ...kept(query) }), current, query,
      ({ number }) => app.little(() => api("/api/board", { record: own.lines[number - 1] })));
  }

  const chooserOf = (query) => {
    const input = (name, label, options) =>
      el("label", {}, `${label} `, el("input", { name, value: query.get(`only-${name}`) || "", size: 10, ...options }));
    const result = el("select", { name: "result" }, [["", "any"], ["decided", "decided"], ["draw", "drawn"],
      ["forfeit", "forfeited"]].map(([value, words]) => el("option", { value, selected: value === (query.get("only-result") || "") },
      words)));
    return el("form", { class: "filters buttons", role: "search", "aria-label": "Filter the games", onsubmit: (event) => {
      event.preventDefault();
      const wanted = Object.fromEntries([...query].filter(([name]) => name !== "first" && !name.startsWith("only-")));
      for (const [name, value] of new FormData(event.target)) if (value.trim()) wanted[`only-${name}`] = value.trim();
      location.hash = address(wanted);
    } }, input("game", "Game", {}), input("agent", "Agent", {}), el("label", {}, "Result ", result),
    input("least", "Turns from", { type: "number", min: 0 }), input("most", "to", { type: "number", min: 1 }),
      el("button", { type: "submit" }, "Filter"));
  };

  async function list(main, title, { games: found, total }, first, href, page, current, query, board) {
    const games = await app.games();
    if (!current()) return;
    clear(main, el("p", {}, el("a", { href: "#/watch" }, "← All records")), el("h1", { class: "path" }, title),
      el("section", { class: "panel" }, query && chooserOf(query), found.length ? gameTable(games, found, href, board)
        : el("p", {}, "No game fits."),
        pager(total, first, page)));
  }

  async function viewer(main, title, fetched, html, back, current, explain) {
    app.waitFor(main, "The game is played again");
    const data = await fetched;
    if (!current()) return null;
    const place = el("div", {}), given = new URLSearchParams(location.hash.split("?")[1]);
    for (const name of Object.keys(kept(given))) given.delete(name);
    const analyse = given.has("own")
      ? el("button", { type: "button", onclick: () => app.analyse(own.lines[Number(given.get("own")) - 1]) }, "Analyse")
      : ["game", "file", "store"].some((name) => given.has(name)) && el("a", { class: "button", href: `#/analysis?${given}` }, "Analyse");
    clear(main, el("div", { class: "buttons bar" }, el("a", { href: back }, "← Back"), el("h1", { class: "path" }, title), analyse, html),
      place);
    const shown = new Cellgames.Viewer(place, { ...data, explain });
    return () => shown.destroy();
  }

  app.route(/^watch$/, async (main, _, query, current) => {
    document.title = "Watch · Cellgames";
    const first = Math.max(1, Number(query.get("first")) || 1), number = Number(query.get("number")) || 0;
    const save = (path) => el("a", { class: "button", href: path, download: "" }, "Save as HTML");
    if (query.has("game")) {
      const path = `/api/play/${encodeURIComponent(query.get("game"))}`;
      const explain = async () => api("/api/worth", await api(`/api/analysis/record?${new URLSearchParams({ game: query.get("game") })}`));
      return viewer(main, "The game just played", api(`${path}/replay`), save(`${path}/html`), `#/game/${query.get("game")}`,
        current, explain);
    }
    if (query.has("own") || query.get("list") === "own") {
      if (!own) {
        clear(main, el("p", {}, el("a", { href: "#/watch" }, "← All records")), el("h1", {}, "A file of yours"),
          el("p", {}, "The page does not keep your files. Choose this one again."), chooser());
        return null;
      }
      if (!query.has("own")) return ownList(main, first, query, current);
      const line = own.lines[Number(query.get("own")) - 1] || "";
      if (line.length > MOST_LINE) throw new Error("The record is too long for the page.");
      const button = el("button", { type: "button", onclick: async () => {
        try {
          const answer = await fetch("/api/html", { method: "POST", headers: { "content-type": "application/json" },
            body: JSON.stringify({ record: line }) });
          if (!answer.ok) throw new Error((await answer.json()).error);
          app.save("game.html", await answer.text(), "text/html");
        } catch (error) { app.notice(error.message); }
      } }, "Save as HTML");
      return viewer(main, own.name, api("/api/replay", { record: line }), button,
        own.lines.length > 1 ? address({ list: "own", ...kept(query) }) : "#/watch", current, () => api("/api/worth", { record: line }));
    }
    if (query.has("file")) {
      const file = query.get("file"), place = new URLSearchParams({ file, number });
      if (number) return viewer(main, `${named(file)}, game ${number}`, api(`/api/records/replay?${place}`),
        save(`/api/records/html?${place}`), address({ file, ...kept(query) }), current, () => api(`/api/records/worth?${place}`));
      const page = await api(`/api/records/games?${new URLSearchParams({ file, first, count: PAGE, ...filtered(query) })}`);
      return list(main, named(file), page, first, (one) => address({ file, number: one, ...kept(query) }),
        (start) => address({ file, first: start, ...kept(query) }), current, query, ({ number }) => app.recorded({ file, number }));
    }
    if (query.has("store")) {
      const stored = new URLSearchParams({ number: query.get("store") });
      return viewer(main, `The store, game ${query.get("store")}`, api(`/api/store/replay?${stored}`), save(`/api/store/html?${stored}`),
        address({ list: "store", ...kept(query) }), current, () => api(`/api/store/worth?${stored}`));
    }
    if (query.get("list") === "store") {
      const page = await api(`/api/store/games?${new URLSearchParams({ first, count: PAGE, ...filtered(query) })}`);
      return list(main, "The store", page, first, (one) => address({ store: one, ...kept(query) }),
        (start) => address({ list: "store", first: start, ...kept(query) }), current, query, ({ number }) => app.recorded({ number }));
    }
    await overview(main, current);
    return null;
  });
})();
