// What one can do with a position under analysis: see what decided the game, link, save, set up, play on.
"use strict";
(() => {
  const app = Cellgames.app;
  const { el, clear, api } = app;

  app.percent = (chance) => `${Math.round(100 * chance)} %`;
  const capital = app.capital = (name) => name.charAt(0).toUpperCase() + name.slice(1).replace("_", " ");

  /** A link to the analysis board for a game with these settings, from a position and with moves. */
  app.analysisLink = (game, parameters, position, moves) => {
    const query = new URLSearchParams(parameters);
    if (position) query.set("position", position);
    if (moves && moves.length) query.set("moves", moves.join(","));
    const text = query.toString();
    return `#/analysis/${game}${text ? `?${text}` : ""}`;
  };

  app.AnalysisTools = class {
    /** A link to what decided a record's game: the viewer plays it again without each of its parts. */
    worthLink() {
      const { line, key } = this.source;
      return line && !key.startsWith("opened") && ["torus-v0", "cloth-of-gold-v0"].includes(this.info.game)
        && el("p", {}, el("a", { class: "button", href: `#/watch?${key}` }, "What decided the game?"));
    }

    // --- links, files, positions, games -----------------------------------------------------------------------

    address() {
      const { play, game } = this.info, { parameters, position } = this.source;
      const from = this.tree.root.place.position, moves = this.tree.path(this.tree.at).map((node) => node.move);
      const known = position || moves.length < 300 ? [position, moves] : [this.now.position, []];
      const settings = play || { game, parameters };
      return `${location.origin}/${app.analysisLink(settings.game, settings.parameters, known[0] && from ? known[0] : "", known[1])}`;
    }

    /** With what games of the store went on from here: how often, with what result, by whom. */
    async explore() {
      const at = (this.storedOf = this.tree.at), { game, parameters, position, seed } = this.source, player = this.now.player;
      const wish = { game, parameters, position, seed, moves: this.tree.path(at).map((node) => node.move) };
      const { moves, error } = await api("/api/analysis/stored", wish).catch(({ message }) => ({ moves: [], error: message }));
      if (this.closed || this.storedOf !== at) return;
      const cell = (kind, ...content) => el("td", { class: kind }, ...content);
      clear(this.stored, moves.length ? app.cards("list", ["move", "games", `${this.name(player)} scores`, "by"], moves.map((one) => [
        cell("", el("button", { type: "button", onclick: () => this.playLine([one.move]) }, one.move)), cell("number", one.games),
        cell("number", app.percent(one.score)), cell("wrap", one.agents.map(([name, times]) => `${app.shortened(name, 24)} (${times})`)
          .join(", ") || "random openings")])) : el("p", { class: "hint" }, error || "No stored game went on from here."));
    }

    share() {
      this.sharedOf = this.tree.at;
      const [link, copyLink] = app.copied("Link to this position", this.address());
      const [text, copyText] = app.copied("This position as text", this.now.position);
      clear(this.shared, el("p", { class: "hint" }, "The link holds the position and the moves that led to it."), link,
        el("p", { class: "buttons small" }, copyLink),
        el("p", { class: "hint" }, "This position as text, for the command line:"), text,
        el("p", { class: "buttons small" }, copyText, el("button", { type: "button", onclick: () => this.save() },
          this.source.line ? "Save the record with the variations" : "Save the analysis")));
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
      this.mover = el("select", { "aria-label": "To move", onchange: () => this.change(null) },
        this.layout.players.map((_, seat) => el("option", { value: seat, selected: seat === (this.now.player ?? 0) },
        `${this.name(seat)} to move`)));
      clear(this.setupBox, el("p", { class: "hint" },
        "Choose what to put, then click cells. The moves before this position are given up."), el("div", { class: "palette" }, tools),
        this.mover,
        el("p", { class: "buttons small" }, el("button", { type: "button", onclick: () => this.clearBoard() }, "Clear the board"),
          el("button", { type: "button", class: "main", onclick: () => { this.root.querySelector(".setup-position").open = false; } },
            "Done")));
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
        const answer = await api("/api/analysis/positions", { game, parameters, seed, position: this.now.position, put: wanted,
          mover: Number(this.mover.value) });
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
      Object.assign(source, { position: place.position, moves: [], line: null, names: null, title: `${this.layout.title}, a position`,
        variations: null });
      source.key = new URLSearchParams({ id, ...parameters, position: place.position }).toString();
      history.replaceState(null, "", app.analysisLink(id, parameters, place.position));
      tree.root = tree.at = tree.node(null, null);
      tree.root.place = place;
      this.moves.draw();
    }

    /** A link to a game from here, where the page offers these settings. */
    offerPlay() {
      const { play } = this.info, { player, position } = this.now, over = player === null;
      const seat = this.layout.seats[player];
      clear(this.playBox, play && !over
        ? el("a", { class: "button main", href: `#/play/${play.game}?${new URLSearchParams({ ...play.parameters, position, seat })}` },
        "Play")
        : el("p", { class: "hint" }, over ? "The game is over in this position." : "The page does not offer these settings for play."));
    }
  };
})();
