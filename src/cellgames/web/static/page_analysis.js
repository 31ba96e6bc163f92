/* The analysis board: a tree of moves, a search of the position on the server while one looks at it, mistakes, set-up
   positions, links. The server knows the rules and searches; this page keeps the tree and shows what it is told. */
"use strict";
(() => {
  const app = Cellgames.app;
  const { el, clear, api } = app;
  const KEPT = "cellgames.analysis ", OPENED = "cellgames.opened", MOST_KEPT = 30, MOST_TEXT = 1e6;
  const GIVEN = { gumbel: "the network's values, not searched yet", mcts: "ranked by a round of Life, not searched yet" }; // what comes before a search
  const SHOWN = 8; // moves on the board
  const SHARE = 0.02; // of the visits, below which a move is not shown on the board

  const percent = (chance) => `${Math.round(100 * chance)} %`;
  const capital = (name) => name.charAt(0).toUpperCase() + name.slice(1).replace("_", " ");

  // What the browser keeps; a full or forbidden store loses nothing that is on the screen.
  const kept = (name) => { try { return JSON.parse(localStorage.getItem(name)); } catch { return null; } };
  const keep = (name, value) => {
    try {
      localStorage.setItem(name, JSON.stringify(value));
      const names = Object.keys(localStorage).filter((one) => one.startsWith(KEPT));
      const aged = names.map((one) => [(kept(one) || {}).time || 0, one]).sort((a, b) => b[0] - a[0]);
      for (const [, one] of aged.slice(MOST_KEPT)) localStorage.removeItem(one);
    } catch { /* private windows have none */ }
  };

  // --- where a game comes from ----------------------------------------------------------------------------------

  /** Open a record or a saved analysis that the page has as text. */
  app.analyse = (text) => {
    try { localStorage.setItem(OPENED, text.slice(0, MOST_TEXT)); } catch { /* it is lost with the page, then */ }
    app.opened = text;
    if (location.hash === "#/analysis?opened=1") app.open(); else location.hash = "#/analysis?opened=1";
  };

  /** A link to the analysis board for a game with these settings, from a position and with moves. */
  const linkTo = (game, parameters, position, moves) => {
    const query = new URLSearchParams(parameters);
    if (position) query.set("position", position);
    if (moves && moves.length) query.set("moves", moves.join(","));
    const text = query.toString();
    return `#/analysis/${game}${text ? `?${text}` : ""}`;
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
      key, title, names, game: data.game, parameters: data.parameters || {}, position: String(data.position || ""),
      moves: Array.isArray(data.moves) ? data.moves.map(String) : [], variations: data.variations, seed: seedOf(text),
      line: names ? text : null, season: Boolean(data.season),
    };
  }

  async function recordSource(query) {
    if (query.has("opened")) {
      const text = app.opened || localStorage.getItem(OPENED) || "";
      return sourceOf(text, `opened ${text.length} ${text.slice(-300)}`, "An opened file");
    }
    const number = query.get("number") || 1, key = query.toString();
    const wanted = query.has("game") ? { game: query.get("game") } : query.has("store") ? { store: query.get("store") } : { file: query.get("file"), number };
    const title = query.has("game") ? "The game just played" : query.has("store") ? `The store, game ${query.get("store")}` : `${query.get("file")}, game ${number}`;
    let line;
    try {
      line = (await api(`/api/analysis/record?${new URLSearchParams(wanted)}`)).record;
    } catch (error) { // the server forgets games that were just played, the browser does not
      line = (kept(KEPT + key) || {}).line;
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
      if (lines.length !== 1) { app.notice(`The file has ${app.plural(lines.length, "game")}: open it under Watch and choose one there.`); return; }
      app.analyse(lines[0]);
    } });
    return el("div", { class: "panel drop" }, el("label", { for: "analysis-file" }, "Open a record or a saved analysis: "), input);
  }

  async function overview(main, current) {
    const games = await app.games();
    if (!current()) return null;
    const recent = Object.keys(localStorage).filter((name) => name.startsWith(KEPT)).map((name) => kept(name))
      .filter((one) => one && one.hash && one.list && one.list.length).sort((a, b) => b.time - a.time).slice(0, 10);
    clear(main, el("h1", {}, "Analysis"), el("p", { class: "lead" }, "Try moves and variations while a search says what they are worth."),
      el("div", { class: "cards" }, games.filter((game) => !game.preset && !game.simultaneous).map((game) => {
        const boards = games.filter((other) => other.game === game.game);
        return el("section", { class: "card panel" }, el("h2", {}, game.title.split(",")[0]), el("p", { class: "credit" }, game.credit),
          el("p", { class: "buttons" }, boards.map((board) => el("a", { class: board.preset ? "button" : "button main", href: `#/analysis/${board.id}` },
            capital(`${board.id.replace("-v0", "").replace(game.id.replace("-v0", ""), "").replaceAll("-", " ")} board`.trim())))));
      })),
      chooser(),
      el("p", { class: "hint" }, "Every record under ", el("a", { href: "#/watch" }, "Watch"), " has a button Analyse, and so has every game when it is over."),
      recent.length > 0 && el("section", { class: "panel" }, el("h2", {}, "Your last analyses"),
        el("ul", { class: "files" }, recent.map((one) => el("li", {}, el("a", { href: one.hash }, one.title),
          el("small", {}, ` ${app.plural(one.list.length, "move")}, ${new Date(one.time).toLocaleString()}`))))));
    return null;
  }

  // A record of a game in which all act at once: what each part was worth, in the viewer.
  async function worthOnly(main, source, current) {
    const data = await api("/api/replay", { record: source.line });
    if (!current()) return null;
    const place = el("div", {});
    clear(main, el("h1", { class: "path" }, source.title), el("p", { class: "hint" }, "There is no search for games in which all play at the same time. What each part of the game was worth at its end can be shown."), place);
    const shown = new Cellgames.Viewer(place, { ...data, explain: () => api("/api/worth", { record: source.line }) });
    shown.ready.then(() => { const ask = place.querySelector(".cg-ask"); if (ask && current()) ask.click(); });
    return () => shown.destroy();
  }

  app.route(/^analysis$/, async (main, _, query, current) => {
    document.title = "Analysis · Cellgames";
    if (!["game", "file", "store", "opened"].some((name) => query.has(name))) return overview(main, current);
    const source = await recordSource(query);
    const games = await app.games(), known = games.find((one) => one.game === source.game);
    if (!current()) return null;
    if (source.season || (known && known.simultaneous)) return worthOnly(main, source, current);
    return begin(main, source, current);
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
      key: new URLSearchParams({ id, ...parameters, position, ...(moves.length && { moves }) }).toString(), title: game ? `${game.title}${position ? ", a position" : ""}` : id,
      game: id, parameters, position, moves, seed: query.get("seed") || "0", names: null, line: null,
    };
    return begin(main, source, current);
  });

  async function begin(main, source, current) {
    const { game, parameters, position, seed } = source;
    const first = await api("/api/analysis/positions", { game, parameters, position, seed });
    if (!current()) return null;
    const page = new Analysis(main, source, first);
    await page.start();
    if (!current()) { page.close(); return null; }
    return () => page.close();
  }

  // --- the board ------------------------------------------------------------------------------------------------

  class NotedBoard extends Cellgames.Board {
    listen() {
      super.listen();
      this.canvas.addEventListener("pointerdown", () => { this.clicked = true; });
      this.canvas.addEventListener("blur", () => { this.clicked = false; });
    }

    /** Arrows go through the moves, but for a person who came to the board by the keyboard. */
    pressedKey(event) {
      if (event.key.startsWith("Arrow") && this.clicked) return;
      super.pressedKey(event);
    }

    /** What the search says of moves: [cell, text, strength from 0 to 1, best or not]; and the line that is pointed at. */
    paintChosen(context, view) {
      for (const [cell, text, strength, best] of this.shown.notes || []) {
        const small = this.small(cell), radius = view.scale * (small ? 0.24 : 0.38);
        for (const at of this.copies(cell, view)) {
          if (radius < 7) {
            context.fillStyle = best ? "#1565c0" : `rgba(21, 101, 192, ${0.25 + 0.5 * strength})`;
            this.painter.outline(context, cell, at, view, "fill");
            continue;
          }
          context.beginPath();
          context.arc(...at, radius, 0, 2 * Math.PI);
          context.fillStyle = best ? "#1565c0" : `rgba(232, 242, 255, ${0.75 + 0.2 * strength})`;
          context.fill();
          context.lineWidth = 1 + 2.5 * strength;
          context.strokeStyle = "#1565c0";
          context.stroke();
          context.fillStyle = best ? "#ffffff" : "#0b2f5c";
          context.font = `600 ${Math.max(7, Math.round(radius * 0.95))}px system-ui, sans-serif`;
          context.textAlign = "center";
          context.textBaseline = "middle";
          context.fillText(text, at[0], at[1] + 0.5);
        }
      }
      super.paintChosen(context, view);
    }

    small(cell) {
      const { layout } = this;
      return layout.kind === "torus" ? cell >= layout.size * layout.size : layout.kind === "stones" && layout.kinds[cell] > 0;
    }
  }

  class Analysis {
    constructor(main, source, first) {
      Object.assign(this, { source, info: first, layout: first.layout, closed: false, mode: "play", put: 1, job: null });
      this.tree = new Cellgames.MoveTree();
      this.tree.root.place = first.places[0];
      this.chunk = Math.max(20, Math.min(500, Math.floor(600000 / Cellgames.bytes(first.places[0].frame.cells).length)));
      const settings = kept("cellgames.engine") || {};
      this.on = settings.on !== false && first.engines.length > 0;
      this.numbers = settings.numbers || "chance";
      this.engine = first.engines.find((one) => one.name === settings.engine) || first.engines[0];
      this.person = 0; // for controls that draw in the colour of the person
      this.about = { nvec: first.nvec, patterns: first.patterns };
      this.build(main);
      const kind = Cellgames.controls[first.game] || Cellgames.controls.default;
      this.controls = new kind(this, this.place);
      const maxHeight = () => Math.max(280, window.innerHeight - 330);
      this.board = new NotedBoard(this.canvas, this.layout, { maxHeight });
      this.board.onCell = (cell) => (this.mode === "setup" ? this.change(cell) : this.free() && this.controls.cell(cell, "mouse"));
      this.board.onHover = (cell) => { if (this.free()) this.controls.hover(cell); };
      app.analysis = this; // for the browser's console, and for tests
      this.onKey = (event) => this.key(event);
      document.addEventListener("keydown", this.onKey);
      this.resizer = new ResizeObserver(() => this.drawCurve());
      this.resizer.observe(this.curve.parentElement);
    }

    close() {
      this.closed = true;
      this.stop();
      document.removeEventListener("keydown", this.onKey);
      this.resizer.disconnect();
      this.board.destroy();
    }

    /** Load the game's moves, then what was added to them before. */
    async start() {
      const { source, tree } = this;
      let node = tree.root;
      for (const move of source.moves) node = tree.add(node, move, null);
      if (!source.line && source.moves.length) tree.at = node;
      await this.load(tree.line(tree.root)[0] || tree.root);
      tree.addList(source.variations);
      const before = kept(KEPT + source.key);
      if (before) {
        tree.addList(before.list);
        if (!source.moves.length || source.line) tree.goto(before.at);
      }
      this.moves.draw();
      await this.select(tree.at);
    }

    get now() { return this.tree.at.place; }
    get frame() { return this.now.frame; }
    name(seat) { return this.layout.players[seat]; }
    colour(seat) { return Cellgames.seatColour(this.layout, seat); }
    free() { return this.mode === "play" && this.ready && !this.busy && Boolean(this.now) && this.now.player !== null; }

    // --- elements ---------------------------------------------------------------------------------------------

    build(main) {
      document.title = `Analysis, ${this.layout.title} · Cellgames`;
      const button = (text, label, act) => el("button", { type: "button", title: label, "aria-label": label, onclick: act }, text);
      const tool = (kind, name, box, toggled) => el("details", { class: `panel ${kind}`, ontoggle: (event) => toggled(event.target.open) }, el("summary", {}, name), box);
      this.status = el("p", { class: "status", role: "status", "aria-live": "polite" });
      this.canvas = el("canvas", { class: "board-canvas" });
      this.bar = el("span", {});
      this.meter = el("div", { class: "evalbar", role: "meter", "aria-valuemin": 0, "aria-valuemax": 100, "aria-valuenow": 50, "aria-valuetext": "not known yet", "aria-label": `Win chance of ${this.name(0)}` }, this.bar);
      this.meter.style.background = this.colour(1);
      this.bar.style.background = this.colour(0);
      this.verdict = el("p", { class: "verdict" });
      this.said = el("p", { class: "said", "aria-live": "polite" });
      this.curve = app.svg("svg", { class: "evalcurve", role: "img" });
      this.curve.addEventListener("pointerdown", (event) => this.seek(event));
      this.curve.addEventListener("pointermove", (event) => { if (event.buttons & 1) this.seek(event); });
      this.place = el("div", { class: "controls" });
      this.extra = el("div", {}); // what controls have besides
      this.lines = el("ol", { class: "lines" });
      this.toggle = el("input", { type: "checkbox", checked: this.on, onchange: () => { this.on = this.toggle.checked; this.settings(); } });
      this.engines = el("select", { "aria-label": "Search", onchange: () => { this.engine = this.info.engines[Number(this.engines.value)]; this.settings(); } },
        this.info.engines.map((one, place) => el("option", { value: place, selected: one === this.engine }, { gumbel: "network search", mcts: "playout search" }[one.name] || one.name)));
      this.kind = el("select", { "aria-label": "Numbers on the board", onchange: () => { this.numbers = this.kind.value; this.settings(); } },
        [["chance", "win chance"], ["share", "share of visits"], ["", "nothing"]].map(([value, words]) => el("option", { value, selected: value === this.numbers }, `board: ${words}`)));
      this.treeBox = el("div", { class: "tree", role: "group", "aria-label": "Moves" });
      this.moves = new Cellgames.MoveList(this.treeBox, this.tree, {
        mover: (node) => (node.parent.place && node.parent.place.player !== null ? this.colour(node.parent.place.player) : null),
        select: (node) => this.select(node),
      });
      this.comment = el("textarea", { class: "comments", maxLength: 2000, placeholder: "Comment on this move", "aria-label": "Comment on this move",
        onchange: () => { this.tree.at.comment = this.comment.value.trim(); this.moves.draw(); this.remember(); } });
      this.promoteButton = el("button", { type: "button", onclick: () => { this.tree.promote(this.tree.at); this.changed(); } }, "Promote");
      this.removeButton = el("button", { type: "button", onclick: () => this.remove() }, "Delete");
      this.faults = el("div", { class: "faults" });
      this.progress = el("p", { class: "hint", role: "status" });
      this.shared = el("div", {});
      this.setupBox = el("div", {});
      this.playBox = el("div", {});
      const names = this.source.names;
      this.root = el("div", { class: "game analysis" },
        el("div", { class: "stage" },
          el("p", { class: "hint path" }, this.source.title, names && `: ${names.map((name, seat) => `${this.name(seat)} ${app.shortened(name, 24)}`).join(", ")}`),
          this.status, el("div", { class: "evaluated" }, this.meter, el("div", { class: "board" }, this.canvas)),
          el("div", { class: "steps", role: "group", "aria-label": "Go to" }, button("|◀", "To the start (Home)", () => this.go(this.tree.root)), button("◀", "Back (left)", () => this.back()),
            button("▶", "Forward (right)", () => this.forward()), button("▶|", "To the end of the line (End)", () => this.end())),
          el("div", { class: "tools" },
            tool("setup-position", "Set up a position", this.setupBox, (open) => this.setup(open)),
            tool("", "Play from here", this.playBox, (open) => open && this.offerPlay()),
            tool("", "Link and files", this.shared, (open) => open && this.share())),
          el("div", { class: "curveline" }, el("span", {}, `Win chance of ${this.name(0)} over the main line`), el("span", {}, "0 to 100 %")), this.curve),
        el("div", { class: "side" },
          el("section", { class: "panel", "aria-label": "Analysis" },
            el("div", { class: "enginerow" }, el("label", {}, this.toggle, " Analyse"), this.info.engines.length > 1 && this.engines, this.kind),
            this.verdict, this.said, this.lines),
          el("section", { class: "panel" }, el("h2", {}, "Moves"), this.place, this.extra, this.treeBox, this.comment,
            el("p", { class: "buttons small" }, this.promoteButton, this.removeButton)),
          el("section", { class: "panel" }, el("h2", {}, "Mistakes"), this.progress, this.faults),
          this.worthPanel()));
      clear(main, el("h1", { class: "cg-sr" }, `Analysis: ${this.layout.title}`), this.root);
    }

    settings() {
      keep("cellgames.engine", { on: this.on, engine: this.engine && this.engine.name, numbers: this.numbers });
      this.stop();
      this.show();
      this.work();
    }

    // --- moving through the tree ------------------------------------------------------------------------------

    /** Ask for the positions up to a node, and some more of its line. */
    async load(node) {
      while (!node.place && !this.closed) {
        const path = this.tree.path(node), first = path.findIndex((one) => !one.place);
        const ahead = [...path, ...this.tree.line(node)].slice(first, first + this.chunk);
        const base = first ? path[first - 1] : this.tree.root;
        const { game, parameters, seed } = this.source;
        let answer;
        try {
          answer = await api("/api/analysis/positions", { game, parameters, seed, position: base.place.position, moves: ahead.map((one) => one.move) });
        } catch (error) {
          if (error.status !== 400) throw error;
          const number = Number((/^move (\d+)/.exec(error.message) || [])[1]) || 1; // of the first one that cannot be played
          this.tree.remove(ahead[number - 1]);
          app.notice(`${error.message}. The moves from there on are left out.`);
          this.moves.draw();
          if (path.includes(ahead[number - 1])) return ahead[number - 1].parent.place ? ahead[number - 1].parent : this.load(ahead[number - 1].parent);
          continue;
        }
        ahead.forEach((one, place) => { one.place = answer.places[place + 1]; });
      }
      return node;
    }

    async select(node) {
      if (this.mode === "setup") return;
      const number = (this.selected = (this.selected || 0) + 1);
      this.stop();
      try {
        node = await this.load(node);
      } catch (error) {
        app.notice(error.message);
        return;
      }
      if (this.closed || number !== this.selected) return;
      this.tree.at = node;
      const { place } = node;
      if (place.player === null) this.controls.rest();
      else {
        this.person = place.player;
        const bytes = Cellgames.bytes(place.legal), count = this.info.nvec.reduce((sum, one) => sum + one, 0);
        this.controls.start(place.controls, Uint8Array.from({ length: count }, (_, at) => (bytes[at >> 3] >> (7 - (at & 7))) & 1));
      }
      this.pointed = null;
      this.ready = true;
      this.moves.mark();
      this.comment.value = node.comment;
      this.show();
      this.remember();
      this.work();
    }

    go(node) { if (node && node !== this.tree.at) this.select(node); }
    back() { this.go(this.tree.at.parent); }
    forward() { this.go(this.tree.at.children[0]); }
    end() { this.go(this.tree.line(this.tree.at).pop()); }
    beside(step) {
      const { parent } = this.tree.at;
      if (parent) this.go(parent.children[parent.children.indexOf(this.tree.at) + step]);
    }

    key(event) {
      if (event.target.closest("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
      const act = { ArrowLeft: () => this.back(), ArrowRight: () => this.forward(), ArrowUp: () => this.beside(-1), ArrowDown: () => this.beside(1), Home: () => this.go(this.tree.root), End: () => this.end() }[event.key];
      if (act) act();
      else if (event.key === "Enter" || !this.free() || !this.controls.key(event.key.toLowerCase())) return;
      event.preventDefault();
    }

    /** Play a move that was chosen on the board; one that is in the tree is only gone to. */
    async act([action]) {
      if (!this.free()) return;
      const from = this.tree.at, { game, parameters, seed } = this.source;
      this.busy = true;
      this.stop();
      try {
        const answer = await api("/api/analysis/positions", { game, parameters, seed, position: from.place.position, action });
        const place = answer.places[1], node = this.tree.add(from, place.move, place);
        this.busy = false;
        this.moves.draw();
        await this.select(node);
      } catch (error) {
        this.busy = false;
        app.notice(error.message);
        this.work();
      }
    }

    /** Add a line of the search to the tree, up to one of its moves. */
    playLine(names) {
      let node = this.tree.at;
      for (const name of names) node = this.tree.add(node, name, null);
      this.moves.draw();
      this.select(node);
    }

    async remove() {
      const { at } = this.tree, after = this.tree.line(at).length;
      if (!at.parent || (after && !await app.ask(`Delete ${at.move} and ${app.plural(after, "move")} after it? That cannot be undone.`, "Delete", "Keep"))) return;
      if (this.closed) return;
      this.tree.remove(at);
      this.changed();
    }

    changed() {
      this.moves.draw();
      this.select(this.tree.at);
    }

    remember() {
      const { source, tree } = this;
      const hash = source.line || source.position || location.hash.includes("?") ? location.hash : `#/analysis/${source.game}`;
      keep(KEPT + source.key, { list: tree.toList(), at: tree.where(), time: Date.now(), title: source.title, hash, ...(/(^|&)game=/.test(source.key) && { line: source.line }) });
    }

    // --- the search -------------------------------------------------------------------------------------------

    stop() {
      if (this.job) this.job.abort();
      this.job = null;
    }

    /** How far a node has been searched: a place in the engine's efforts, -1 for not at all. */
    reached(node) { return node.found[this.engine.name] ? node.found[this.engine.name].place : -1; }

    /** The place in the engine's efforts of the first search; before it there may be what the engine knows without one. */
    get searched() { return this.engine.efforts.findIndex((simulations) => simulations > 0); }

    /** What to search next: this position quickly, then the main line, then this position for longer. */
    next() {
      const { at } = this.tree, last = this.engine.efforts.length - 1;
      const over = at.place.player === null;
      const quick = Math.min(this.searched + 1, last); // from there on moves are reviewed
      if (this.reached(at) < quick) return [at, over ? quick : this.reached(at) + 1];
      const whole = this.layout.kind === "cells" ? this.searched : quick; // a search that plays Life is slow
      const open = [this.tree.root, ...this.tree.main].find((node) => this.reached(node) < whole && (node.place || node.parent.place));
      if (open) return [open, whole];
      return !over && this.reached(at) < last ? [at, this.reached(at) + 1] : null;
    }

    async work() {
      if (this.job || !this.on || !this.ready || this.closed || this.mode === "setup" || !this.engine) return;
      const job = (this.job = new AbortController());
      while (this.job === job) {
        const [node, place] = this.next() || [];
        if (!node) break;
        try {
          await this.load(node);
          if (this.job !== job) return;
          await this.search(node, place, job);
        } catch (error) {
          if (this.job !== job) return; // it was stopped
          this.said.textContent = error.message;
          if (error.status !== 503) break;
          await new Promise((done) => setTimeout(done, 1000));
        }
      }
      if (this.job === job) this.job = null;
    }

    async search(node, place, job) {
      const { game, parameters, seed } = this.source, { name, efforts } = this.engine;
      const from = node.parent && place > this.searched ? node.parent : node;
      const body = { game, parameters, seed, position: from.place.position, moves: from === node ? [] : [node.move], engine: name, simulations: efforts[place] };
      const answer = await fetch("/api/analysis", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body), signal: job.signal });
      const data = await answer.json();
      if (!answer.ok) throw Object.assign(new Error(data.error || answer.statusText), { status: answer.status });
      if (this.job !== job) return;
      node.found[name] = { ...data, place };
      const before = node.review && node.review.mark && node.review.mark.sign;
      if (data.review) node.review = data.review;
      if ((data.review && data.review.mark && data.review.mark.sign) !== before && data.review) this.moves.draw();
      if (node === this.tree.at) this.show(); else this.drawCurve();
      this.drawFaults();
    }

    get found() { return this.engine ? this.tree.at.found[this.engine.name] : null; }

    // --- pictures ---------------------------------------------------------------------------------------------

    draw() { this.show(); }

    show() {
      if (!this.ready) return;
      const { tree, frame, now: place } = this, free = this.free(), { board } = this;
      this.root.dataset.state = place.player === null ? "done" : "open";
      const words = this.mode === "setup" ? "Put stones on the board, or take them away." : frame.status;
      if (this.status.textContent !== words) this.status.textContent = words;
      const marks = free ? this.controls.marks() : {};
      board.draw(frame, { ...marks, legal: this.mode === "setup" ? null : marks.legal, notes: this.notes(), worth: this.worthCells(), chosen: this.pointed || marks.chosen });
      this.controls.enable(free);
      this.place.hidden = this.extra.hidden = !free;
      this.promoteButton.disabled = tree.isMain(tree.at);
      this.removeButton.disabled = this.comment.disabled = !tree.at.parent;
      if (this.shared.parentElement.open && this.sharedOf !== tree.at) this.share();
      this.drawVerdict();
      this.drawCurve();
      this.drawFaults();
    }

    notes() {
      const { found } = this, cells = Cellgames.planes(this.frame).cells.length;
      if (!found || !this.on || !this.numbers || this.mode === "setup" || this.pointed) return [];
      const share = (move) => (found.visits ? move.share : move.policy); // before the search: what it would try
      const most = Math.max(...found.moves.map(share), 0.001);
      return found.moves.filter((move) => move.action < cells && (share(move) >= SHARE || move.move === found.chosen)).slice(0, SHOWN).map((move) => {
        const value = this.numbers !== "share" ? move.win_chance : found.visits ? move.share : null;
        return [move.action, value === null ? "" : String(Math.round(100 * value)), share(move) / most, move.move === found.chosen];
      }).reverse(); // the best one is drawn over others
    }

    drawVerdict() {
      const { found } = this, { review } = this.tree.at, chances = this.now.chances || (found && found.chances);
      const chance = chances ? chances[0] : 0.5;
      this.bar.style.height = `${100 * chance}%`;
      this.meter.setAttribute("aria-valuenow", Math.round(100 * chance));
      this.meter.setAttribute("aria-valuetext", chances ? percent(chance) : "not known yet");
      this.meter.title = chances ? `${this.name(0)} wins with ${percent(chance)}` : "";
      const searching = this.on && !found && this.now.player !== null;
      clear(this.verdict, chances ? el("strong", {}, `${this.name(0)} ${percent(chance)} : ${percent(1 - chance)} ${this.name(1)}`) : el("strong", {}, searching ? "Searching …" : "–"),
        found && this.now.player !== null && el("span", { class: "hint" }, this.told(found)));
      clear(this.lines, this.on && found ? found.lines.map((line) => this.line(line)) : []);
      clear(this.said);
      if (!review) return;
      const { mark, best, played, player, chance_best: better, chance_played: worse } = review;
      if (mark) {
        const other = el("button", { type: "button", onclick: () => { this.tree.at = this.tree.at.parent; this.playLine([best]); } }, best);
        app.add(this.said, [el("b", { class: `sign ${mark.name}` }, mark.sign), ` ${played} is ${mark.name === "inaccuracy" ? "an" : "a"} ${mark.name}: the win chance of ${this.name(player)} falls from ${percent(better)} to ${percent(worse)}. Better: `, other]);
      } else this.said.textContent = best === played ? `${played} is the best move.` : `${played} is a good move.`;
    }

    /** Where the numbers of an answer come from. */
    told({ visits, chances, place }) {
      if (!visits) return GIVEN[this.engine.name];
      return chances.some((one) => one === 1) ? "proven" : app.plural(this.engine.efforts[place], "simulation");
    }

    line(line) {
      const mover = line.moves[0].player, chance = line.chance;
      const cells = Cellgames.planes(this.frame).cells.length;
      const point = (count) => () => {
        const seen = new Set();
        this.pointed = count ? line.moves.slice(0, Math.max(count, 1)).map((move, place) => [move.action, place + 1]).filter(([action]) => action < cells && !seen.has(action) && seen.add(action)) : null;
        this.board.draw(this.frame, { ...(this.free() ? this.controls.marks() : {}), notes: this.notes(), ...(this.pointed && { chosen: this.pointed }) });
      };
      return el("li", { onmouseleave: point(0) }, el("b", { title: `Win chance of ${this.name(mover)}` }, chance === null ? "–" : percent(chance)),
        el("span", { class: "lineplies" }, line.moves.slice(0, 12).map((move, place) => el("button", {
          type: "button", onmouseenter: point(place + 1), onfocus: point(place + 1), onblur: point(0),
          onclick: () => this.playLine(line.moves.slice(0, place + 1).map((one) => one.name)),
        }, move.name))));
    }

    chanceOf(node) {
      const found = this.engine && node.found[this.engine.name];
      return node.place && node.place.chances ? node.place.chances[0] : found && found.chances ? found.chances[0] : null;
    }

    drawCurve() {
      const nodes = [this.tree.root, ...this.tree.main], width = this.curve.clientWidth || 600, high = 96;
      const x = (place) => (nodes.length > 1 ? 6 + (place / (nodes.length - 1)) * (width - 12) : width / 2), y = (chance) => 5 + (1 - chance) * (high - 10);
      const known = nodes.map((node, place) => [place, this.chanceOf(node)]).filter(([, chance]) => chance !== null);
      this.curve.setAttribute("viewBox", `0 0 ${width} ${high}`);
      const parts = [app.svg("rect", { x: 0, y: 0, width, height: high, fill: this.colour(1) })];
      if (known.length > 1) {
        const points = known.map(([place, chance]) => `${x(place).toFixed(1)},${y(chance).toFixed(1)}`);
        parts.push(app.svg("polygon", { points: `${x(known[0][0])},${high} ${points.join(" ")} ${x(known[known.length - 1][0])},${high}`, fill: this.colour(0) }));
        parts.push(app.svg("polyline", { points: points.join(" "), fill: "none", stroke: "#888888", "stroke-width": 1.5 }));
      }
      parts.push(app.svg("line", { x1: 0, x2: width, y1: y(0.5), y2: y(0.5), stroke: "#c2185b", "stroke-dasharray": "3 4" }));
      nodes.forEach((node, place) => {
        const mark = node.review && node.review.mark, chance = this.chanceOf(node);
        if (mark && chance !== null) parts.push(app.svg("circle", { cx: x(place), cy: y(chance), r: 4.5, fill: { blunder: "#c01c1c", mistake: "#d2600a", inaccuracy: "#d9a316" }[mark.name], stroke: "#ffffff", "stroke-width": 1.2 }));
      });
      const trunk = this.tree.path(this.tree.at).filter((node) => this.tree.isMain(node)).length;
      parts.push(app.svg("line", { x1: x(trunk), x2: x(trunk), y1: 0, y2: high, stroke: "#1565c0", "stroke-width": 2 }));
      this.curve.replaceChildren(...parts);
      this.curve.setAttribute("aria-label", `Win chance of ${this.name(0)} after each move: ${known.map(([place, chance]) => `${place}: ${percent(chance)}`).slice(-40).join(", ") || "not known yet"}`);
      this.curve.parentElement.dataset.known = known.length;
      const todo = nodes.length - known.length;
      const slow = this.layout.kind === "cells" ? "A search that plays Life is slow: a move is reviewed while you look at it. " : "";
      this.progress.textContent = this.on && nodes.length > 1 ? slow + (todo > 0 ? `${known.length} of ${nodes.length} positions of the main line are analysed.` : "") : "";
    }

    seek(event) {
      const box = this.curve.getBoundingClientRect(), nodes = [this.tree.root, ...this.tree.main];
      const share = (event.clientX - box.left - 6) / Math.max(1, box.width - 12);
      this.go(nodes[Math.max(0, Math.min(nodes.length - 1, Math.round(share * (nodes.length - 1))))]);
    }

    drawFaults() {
      const nodes = this.tree.main.filter((node) => node.review && node.review.mark);
      const key = [this.tree.main.some((node) => node.review), ...nodes.map((node) => `${node.ply}${node.move}${node.review.mark.sign}`)].join();
      if (key === this.faultKey && this.faults.children.length) return;
      this.faultKey = key;
      clear(this.faults, this.layout.players.map((_, seat) => {
        const own = nodes.filter((node) => node.review.player === seat);
        return el("div", {}, el("h3", {}, `Mistakes of ${this.name(seat)}`), own.length
          ? el("ul", {}, own.map((node) => el("li", {}, el("button", { type: "button", title: `Better: ${node.review.best}`, onclick: () => this.go(node) },
            `${node.ply}. ${node.move} `, el("b", { class: `sign ${node.review.mark.name}` }, node.review.mark.sign), el("small", {}, ` −${percent(node.review.loss)}`)))))
          : el("p", { class: "hint" }, this.tree.main.some((node) => node.review) ? "none" : "–"));
      }));
    }

    // --- what decided the game --------------------------------------------------------------------------------

    worthPanel() {
      if (!this.source.line || !["torus-v0", "cloth-of-gold-v0"].includes(this.info.game)) return null;
      this.worthBox = el("section", { class: "panel" });
      const ask = el("button", { type: "button", onclick: async () => {
        ask.disabled = true;
        Cellgames.passing(ask, "Playing the game again without each of its parts …");
        try {
          this.worth = await api("/api/worth", { record: this.source.line });
          if (!this.closed) this.showWorth();
        } catch (error) {
          clear(this.worthBox, el("p", { class: "hint", role: "alert" }, error.message));
        }
      } }, "What decided the game?");
      return app.add(this.worthBox, [ask]);
    }

    showWorth() {
      const list = el("ol", { class: "worths" });
      const choice = el("select", { "aria-label": "What to value", onchange: () => {
        this.layer = this.worth.layers[Number(choice.value)] || null;
        clear(list, (this.layer ? this.layer.effects : []).map((effect) => el("li", {}, `${effect.worth > 0 ? "+" : ""}${Number(effect.worth.toPrecision(4))} ${effect.name}`, effect.result ? el("small", {}, " the outcome hung on it") : null)));
        this.show();
      } }, this.worth.layers.map((layer, place) => el("option", { value: place }, `worth of each ${layer.name}`)), el("option", { value: -1 }, "worth: not shown"));
      clear(this.worthBox, el("h2", {}, "What decided the game?"), choice, list, el("p", { class: "hint" }, `Worth: ${this.worth.measure}. `, Cellgames.swatch(this.worth.colours[1]), " helped, ", Cellgames.swatch(this.worth.colours[0]), " harmed; framed: the outcome hung on it."));
      choice.dispatchEvent(new Event("change"));
    }

    worthCells() {
      if (!this.layer || this.layer.generation || !this.tree.isMain(this.tree.at)) return [];
      const [harm, help] = this.worth.colours, { ply } = this.tree.at;
      return this.layer.cells.filter(([, , , first, last]) => first <= ply && ply <= last).map(([cell, worth, framed]) => [cell, worth ? (worth > 0 ? help : harm) : "", framed]);
    }

    // --- links, files, positions, games -----------------------------------------------------------------------

    address() {
      const { play, game } = this.info, { parameters, position } = this.source;
      const from = this.tree.root.place.position, moves = this.tree.path(this.tree.at).map((node) => node.move);
      const known = position || moves.length < 300 ? [position, moves] : [this.now.position, []];
      return `${location.origin}/${linkTo(play ? play.game : game, play ? play.parameters : parameters, known[0] && from ? known[0] : "", known[1])}`;
    }

    share() {
      this.sharedOf = this.tree.at;
      const link = el("input", { class: "sharelink", readOnly: true, value: this.address(), "aria-label": "Link to this position", onfocus: (event) => event.target.select() });
      const text = el("input", { class: "sharelink", readOnly: true, value: this.now.position, "aria-label": "This position as text", onfocus: (event) => event.target.select() });
      const copy = (input) => el("button", { type: "button", onclick: async () => {
        input.select();
        try { await navigator.clipboard.writeText(input.value); app.notice("Copied."); } catch { app.notice("Press Ctrl+C to copy."); }
      } }, "Copy");
      clear(this.shared, el("p", { class: "hint" }, "The link holds the position and the moves that led to it."), link, el("p", { class: "buttons small" }, copy(link)),
        el("p", { class: "hint" }, "This position as text, for the command line:"), text,
        el("p", { class: "buttons small" }, copy(text), el("button", { type: "button", onclick: () => this.save() }, this.source.line ? "Save the record with the variations" : "Save the analysis")));
    }

    save() {
      const variations = this.tree.toList(), { source } = this;
      if (source.line) { // as the record is written, with one field more, which readers of records ignore
        const end = source.line.trim().replace(/,"variations":\[.*\]\}$/, "}").replace(/\}$/, "");
        app.save(`${source.game}-analysis.jsonl`, `${end},"variations":${JSON.stringify(variations)}}\n`, "application/x-ndjson");
        return;
      }
      const data = { game: this.info.game, parameters: this.info.parameters, position: source.position, variations };
      app.save(`${source.game}-analysis.json`, `${JSON.stringify(data)}\n`, "application/json");
    }

    /** Clicks put stones on the board, or play moves again. */
    setup(open) {
      if (open === (this.mode === "setup")) return;
      if (!open) {
        this.mode = "play";
        clear(this.setupBox);
        this.select(this.tree.at);
        return;
      }
      if (!this.info.codes.length) { clear(this.setupBox, el("p", { class: "hint" }, "Positions of this game cannot be set up.")); return; }
      this.stop();
      this.mode = "setup";
      const tools = this.info.codes.map(([code, name]) => {
        const chip = el("span", { class: "chip" });
        chip.style.background = code >= 1 && code <= this.layout.colours.length ? this.colour(code - 1) : "transparent";
        return el("button", { type: "button", "aria-pressed": String(code === this.put), onclick: (event) => {
          this.put = code;
          for (const one of tools) one.setAttribute("aria-pressed", String(one === event.currentTarget));
        } }, chip, capital(name));
      });
      this.mover = el("select", { "aria-label": "To move", onchange: () => this.change(null) }, this.layout.players.map((_, seat) => el("option", { value: seat, selected: seat === (this.now.player ?? 0) }, `${this.name(seat)} to move`)));
      clear(this.setupBox, el("p", { class: "hint" }, "Choose what to put, then click cells. The moves before this position are given up."), el("div", { class: "palette" }, tools), this.mover,
        el("p", { class: "buttons small" }, el("button", { type: "button", onclick: () => this.clearBoard() }, "Clear the board"),
          el("button", { type: "button", class: "main", onclick: () => { this.root.querySelector(".setup-position").open = false; } }, "Done")));
      this.show();
      this.status.scrollIntoView({ block: "nearest" });
    }

    clearBoard() {
      const { cells } = Cellgames.planes(this.frame);
      this.change(null, [...cells.keys()].filter((cell) => cells[cell]).map((cell) => [cell, 0]));
    }

    async change(cell, put) {
      if (this.busy) return;
      const { game, parameters, seed } = this.source, { cells } = Cellgames.planes(this.frame);
      const wanted = put || (cell === null ? [] : [[cell, cells[cell] === this.put ? 0 : this.put]]);
      this.busy = true;
      try {
        const answer = await api("/api/analysis/positions", { game, parameters, seed, position: this.now.position, put: wanted, mover: Number(this.mover.value) });
        this.begin(answer.places[0]);
      } catch (error) {
        app.notice(error.message);
      }
      this.busy = false;
      this.show();
    }

    /** A new tree from a position that was set up; the address has it. */
    begin(place) {
      const { source, info, tree } = this, id = info.play ? info.play.game : info.game;
      const parameters = info.play ? info.play.parameters : source.parameters;
      Object.assign(source, { position: place.position, moves: [], line: null, names: null, title: `${this.layout.title}, a position`, variations: null });
      source.key = new URLSearchParams({ id, ...parameters, position: place.position }).toString();
      history.replaceState(null, "", linkTo(id, parameters, place.position));
      tree.root = tree.at = tree.node(null, null);
      tree.root.place = place;
      if (this.worthBox) this.worthBox.remove();
      this.layer = null;
      this.moves.draw();
    }

    async offerPlay() {
      const { play } = this.info, { now: place } = this;
      if (!play || place.player === null) {
        clear(this.playBox, el("p", { class: "hint" }, place.player === null ? "The game is over in this position." : "The page does not offer these settings for play."));
        return;
      }
      clear(this.playBox, el("p", { class: "hint" }, "Loading the agents …"));
      try {
        const offered = await api(`/api/agents?${new URLSearchParams({ game: play.game, parameters: JSON.stringify(play.parameters) })}`);
        const agents = el("select", { "aria-label": "Opponent" }, offered.map((agent) => el("option", { value: agent.spec }, agent.spec)));
        const seats = el("select", { "aria-label": "Your seat" }, this.layout.seats.map((id, seat) => el("option", { value: id, selected: seat === place.player }, `You play ${this.name(seat)}`)));
        const strongest = offered.find((agent) => agent.name === "mcts");
        if (strongest) agents.value = strongest.spec;
        const start = el("button", { type: "button", class: "main", onclick: async () => {
          start.disabled = true;
          try {
            const made = await api("/api/play", { game: play.game, parameters: play.parameters, seat: seats.value, agents: [agents.value], position: this.now.position });
            app.began = made;
            location.hash = `#/game/${made.view.id}`;
          } catch (error) {
            start.disabled = false;
            app.notice(error.message);
          }
        } }, "Play");
        clear(this.playBox, el("p", { class: "buttons" }, seats, agents, start));
      } catch (error) {
        clear(this.playBox, el("p", { class: "hint" }, error.message));
      }
    }
  }
})();
