// Where an analysed game comes from: a record, a link, a game just played, or one of the last analyses.
"use strict";
(() => {
  const app = Cellgames.app;
  const { el, clear, api, kept, capital } = app;
  const OPENED = "cellgames.opened", MOST_TEXT = 1e6;

  /** Open a record or a saved analysis that the page has as text. */
  app.analyse = (text) => {
    try { localStorage.setItem(OPENED, text.slice(0, MOST_TEXT)); } catch { /* it is lost with the page, then */ }
    app.opened = text;
    if (location.hash === "#/analysis?opened=1") app.open(); else location.hash = "#/analysis?opened=1";
  };

  // Seeds have 64 bits, numbers of scripts 53: the seed stays a text.
  const seedOf = (text) => (/"seed":\s*(-?\d{1,19})\b/.exec(text) || [])[1] || "0";

  /** What is analysed, out of the text of a record or of a saved analysis. */
  function sourceOf(text, key, title) {
    let data;
    try { data = JSON.parse(text); } catch { data = null; }
    if (!data || typeof data !== "object" || typeof data.game !== "string" || typeof data.parameters !== "object") {
      throw new Error("This is no record of a game, and no saved analysis.");
    }
    const names = Array.isArray(data.agents) ? data.agents.map(String) : null;
    return {
      key, title: names ? app.among(names) : title, names, game: data.game, parameters: data.parameters || {},
        position: String(data.position || ""),
      moves: Array.isArray(data.moves) ? data.moves.map(String) : [], variations: data.variations, seed: seedOf(text),
      opening: Number(data.opening) || 0, line: names ? text : null, season: Boolean(data.season),
    };
  }

  async function recordSource(query) {
    if (query.has("opened")) {
      const text = app.opened || localStorage.getItem(OPENED) || "";
      return sourceOf(text, `opened ${text.length} ${text.slice(-300)}`, "An opened file");
    }
    const number = query.get("number") || 1, key = query.toString();
    const wanted = query.has("game") ? { game: query.get("game") } : query.has("store") ? { store: query.get("store") }
      : { file: query.get("file"), number };
    const title = query.has("game") ? "The game just played" : query.has("store") ? `The store, game ${query.get("store")}`
      : `${query.get("file")}, game ${number}`;
    let line;
    try {
      line = (await api(`/api/analysis/record?${new URLSearchParams(wanted)}`)).record;
    } catch (error) { // the server forgets games that were just played, the browser does not
      line = (kept(app.KEPT + key) || {}).line;
      if (!line) throw error;
    }
    return sourceOf(line, key, title);
  }

  function chooser() {
    const input = el("input", { type: "file", accept: ".jsonl,.json", id: "analysis-file", onchange: async () => {
      const file = input.files[0];
      if (!file) return;
      if (file.size > 200e6) { app.notice("The file is larger than 200 MB."); return; }
      const lines = (await file.text()).split("\n").filter((line) => line.trim());
      if (lines.length !== 1) { app.notice(`The file has ${app.plural(lines.length, "game")}: open it under Watch and choose one there.`);
        return; }
      app.analyse(lines[0]);
    } });
    return el("div", { class: "panel drop" }, el("label", { for: "analysis-file" }, "Open a record or a saved analysis: "), input);
  }

  const position = (shown) => app.little(async () => {
    const { layout, places: [{ frame }] } = await api("/api/analysis/positions", shown);
    return { layout, frame };
  });

  async function overview(main, current) {
    const games = await app.games();
    if (!current()) return null;
    const recent = Object.keys(localStorage).filter((name) => name.startsWith(app.KEPT)).map((name) => kept(name))
      .filter((one) => one && one.hash && one.list && one.list.length).sort((a, b) => b.time - a.time).slice(0, 10);
    clear(main, el("h1", {}, "Analysis"), el("p", { class: "lead" }, "Try moves and variations while a search says what they are worth."),
      el("div", { class: "cards" }, games.filter((game) => !game.preset && !game.simultaneous).map((game) => {
        const boards = games.filter((other) => other.game === game.game);
        return el("section", { class: "card panel" }, app.demonstration(game), el("h2", {}, game.title.split(",")[0]),
          el("p", { class: "credit" }, game.credit),
          el("p", { class: "buttons" }, boards.map((board) =>
            el("a", { class: board.preset ? "button" : "button main", href: `#/analysis/${board.id}` },
            capital(`${board.id.replace("-v0", "").replace(game.id.replace("-v0", ""), "").replaceAll("-", " ")} board`.trim())))));
      })),
      chooser(),
      el("p", { class: "hint" }, "Every record under ", el("a", { href: "#/watch" }, "Watch"),
        " has a button Analyse, and so has every game when it is over. Wins that were missed become ",
        el("a", { href: "#/puzzles" }, "puzzles"), "."),
      recent.length > 0 && el("section", { class: "panel" }, el("h2", {}, "Your last analyses"),
        app.cards("list", ["", "", "Moves", "Date"], recent.map((one) => [el("td", {}, one.shown && position(one.shown)),
          el("td", { class: "wrap" }, el("a", { href: one.hash }, one.title)), el("td", {}, one.list.length),
          el("td", {}, app.when(one.time / 1000))]))));
    return null;
  }

  app.route(/^analysis$/, async (main, _, query, current) => {
    document.title = "Analysis · Cellgames";
    if (!["game", "file", "store", "opened"].some((name) => query.has(name))) return overview(main, current);
    const source = await recordSource(query);
    const games = await app.games(), known = games.find((one) => one.game === source.game);
    if (!current()) return null;
    if (source.season || (known && known.simultaneous)) {
      throw new Error("There is no search for games in which all act at once. Watch shows what each part of such a game was worth.");
    }
    return app.analysed(main, source, current);
  });

  app.route(/^analysis\/([^/]+)$/, async (main, [id], query, current) => {
    const games = await app.games(), game = games.find((one) => one.id === id);
    const parameters = {};
    for (const [name, value] of query) {
      if (["position", "moves", "seed"].includes(name)) continue;
      parameters[name] = /^-?\d{1,15}$/.test(value) ? Number(value) : value === "true" ? true : value === "false" ? false : value;
    }
    const position = query.get("position") || "", moves = (query.get("moves") || "").split(",").filter(Boolean);
    const source = {
      key: new URLSearchParams({ id, ...parameters, position, ...(moves.length && { moves }) }).toString(),
        title: game ? `${game.title}${position ? ", a position" : ""}` : id,
      game: id, parameters, position, moves, seed: query.get("seed") || "0", names: null, line: null,
    };
    return app.analysed(main, source, current);
  });

  /** Open the analysis board; `ready` gets it. */
  app.analysed = async (main, source, current, ready) => {
    const { game, parameters, position, seed } = source;
    const first = await api("/api/analysis/positions", { game, parameters, position, seed });
    if (!current()) return null;
    const page = new app.Analysis(main, source, first);
    await page.start();
    if (ready && current()) ready(page);
    if (!current()) { page.close(); return null; }
    return () => page.close();
  };
})();
