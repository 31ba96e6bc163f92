// A game that is being played: the board, whose turn it is, and what a person may do.
"use strict";
(() => {
  const app = Cellgames.app;
  const { el, add, clear, api } = app;
  const CALM = window.matchMedia("(prefers-reduced-motion: reduce)");

  app.route(/^game\/([^/]+)$/, async (main, [id], query, current) => {
    const games = await app.games();
    let first = app.began && app.began.view.id === id ? app.began : null;
    app.began = null;
    first = first || await api(`/api/play/${encodeURIComponent(id)}`);
    if (!current()) return null;
    const game = new Game(main, first.about, first.view, games.find((one) => one.game === first.about.game && !one.preset));
    return () => game.close();
  });

  // Bits as the server packs them, the highest first.
  const unpacked = (text, count) => {
    const bytes = Cellgames.bytes(text);
    return Uint8Array.from({ length: count }, (_, place) => (bytes[place >> 3] >> (7 - (place & 7))) & 1);
  };

  class Game {
    constructor(main, about, view, rules) {
      Object.assign(this, { about, view, rules, layout: about.layout, moves: [...about.moves] });
      this.path = `/api/play/${encodeURIComponent(view.id)}`;
      this.seen = about.moves.length;
      this.queue = []; // pictures that are still to be shown: [frame, milliseconds, animated or not]
      this.frame = view.frame;
      this.closed = this.busy = this.polling = false;
      this.build(main);
      const kind = Cellgames.controls[about.game] || Cellgames.controls.default;
      this.controls = new kind(this, this.place);
      this.board = new Cellgames.Board(this.canvas, this.layout);
      this.board.onCell = (cell) => { if (this.free()) this.controls.cell(cell, this.pointer); };
      this.board.onHover = (cell) => this.controls.hover(cell);
      app.game = this; // for the browser's console, and for tests
      this.onKey = (event) => {
        if (event.target.closest("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
        if (event.key === "Enter" && event.target.closest("button, a, summary")) return; // theirs
        if (event.key === "Escape") this.skip();
        else if (this.controls.key(event.key.toLowerCase())) event.preventDefault();
      };
      document.addEventListener("keydown", this.onKey);
      this.settle();
      if (view.thinking) this.poll();
      if (view.clocks) this.ticker = setInterval(() => this.tick(), 100);
    }

    close() {
      this.closed = true;
      clearTimeout(this.timer);
      clearInterval(this.ticker);
      document.removeEventListener("keydown", this.onKey);
      this.board.destroy();
    }

    get person() { return this.about.person; }

    // Whether the person may act now.
    free() { return this.view.yours && !this.busy && this.queue.length === 0; }

    name(seat) {
      const player = this.layout.players[seat];
      return seat === this.person ? `${player} (you)` : player;
    }

    // --- elements ---------------------------------------------------------------------------------------------

    build(main) {
      document.title = `${this.layout.title} · Cellgames`;
      this.status = el("p", { class: "status", role: "status", "aria-live": "polite" });
      this.canvas = el("canvas", { class: "board-canvas" });
      this.canvas.addEventListener("pointerdown", (event) => { this.pointer = event.pointerType; }, true);
      this.canvas.addEventListener("keydown", () => { this.pointer = "keyboard"; }, true);
      this.place = el("div", { class: "controls" });
      this.clocks = el("div", { class: "clocks", role: "timer", "aria-label": "Clocks", hidden: !this.view.clocks });
      this.skipButton = el("button", { type: "button", hidden: true, onclick: () => this.skip() }, "Skip the animation");
      this.undoButton = el("button", { type: "button", onclick: () => this.undo() }, "Undo");
      this.again = el("button", { type: "button", onclick: () => this.restart() }, "New game");
      this.table = el("div", { class: "scroll" });
      this.lines = el("p", { class: "hint" });
      // What a person who plays may not know has another name until the end.
      this.legend = (this.layout.legend || []).map((entry) => ({ ...entry, text: el("span", {}) }));
      const legend = this.legend.map((entry) => el("span", { class: "key" }, Cellgames.sample(this.layout, entry.code, entry.marks, 18), entry.text));
      this.list = el("ol", { class: "moves" });
      this.end = el("div", { class: "end", hidden: true });
      const wide = (this.layout.columns || []).length > 3; // too wide for a column at the side
      const players = el("section", { class: "panel people" }, el("h2", {}, "Players"), this.table);
      this.root = el("div", { class: "game" },
        el("div", { class: "stage" }, this.status, this.clocks, el("div", { class: "board" }, this.canvas),
          el("div", { class: "under" }, this.lines, legend)),
        el("div", { class: "side" },
          el("section", { class: "panel", "aria-label": "Your move" }, this.place, this.end, el("p", { class: "buttons" }, this.undoButton, this.skipButton, this.again)),
          !wide && players,
          el("details", { class: "panel" }, el("summary", {}, "Moves"), this.list),
          el("details", { class: "panel" }, el("summary", {}, "Rules in brief"), app.rulesOf(this.rules))),
        wide && players);
      clear(main, this.root);
      this.undoButton.hidden = this.layout.simultaneous || !!this.view.clocks;
      this.drawMoves();
    }

    drawMoves() {
      clear(this.list, this.moves.map((move) => el("li", {}, move)));
      this.list.scrollTop = this.list.scrollHeight;
    }

    drawPlayers() {
      const { layout, frame, about } = this, infos = frame.infos || {};
      // Own secrets stand in the panel; a column is shown when it tells of others.
      const known = (values) => values && values.some((value, seat) => value !== null && seat !== this.person);
      const columns = (layout.columns || []).filter((column) => known(infos[column.name]));
      const shown = (column, value) => (column.kind === "sequence" && value !== null && value !== undefined
        ? Cellgames.chip(layout, value) : Cellgames.cellOf(layout, column, value));
      const results = this.queue.length ? [] : this.outcomes();
      clear(this.table, el("table", { class: "players" },
        columns.length > 0 && el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "player"), columns.map((column) => el("th", { scope: "col", class: "number" }, column.label)))),
        el("tbody", {}, layout.players.map((player, seat) => {
          const chip = el("span", { class: "chip" });
          chip.style.background = layout.colours[seat];
          return el("tr", { class: [frame.player === seat && !frame.done ? "moving" : "", seat === this.person ? "own" : ""].join(" ") },
            el("th", { scope: "row" }, chip, player, " ", el("span", { class: "who", title: about.names[seat] }, seat === this.person ? "you" : app.shortened(about.names[seat], 24)),
              results[seat] && el("strong", { class: `result ${results[seat]}` }, results[seat])),
            columns.map((column) => el("td", { class: "number" }, shown(column, infos[column.name][seat]))));
        }))));
      this.lines.textContent = (frame.text || []).map(([label, value]) => `${label}: ${value}`).join(" · ");
      const playing = this.person !== null && !frame.done;
      for (const entry of this.legend) entry.text.textContent = (playing && entry.playing) || entry.label;
      this.place.hidden = this.root.dataset.state === "done";
    }

    // The clocks as they are now: the server's time, and what has passed since it told it.
    drawClocks() {
      const { clocks } = this.view;
      if (!clocks) return;
      this.heard = this.heard && this.heard.clocks === clocks ? this.heard : { clocks, at: performance.now() };
      const left = clocks.left.map((seconds, seat) => (seat === clocks.running ? Math.max(0, seconds - (performance.now() - this.heard.at) / 1000) : seconds));
      if (!this.clocks.children.length) {
        clear(this.clocks, this.layout.players.map((_, seat) => {
          const chip = el("span", { class: "chip" });
          chip.style.background = this.layout.colours[seat];
          return el("span", { class: "clock" }, chip, el("span", { class: "who" }, this.name(seat)), el("strong", {}));
        }));
      }
      [...this.clocks.children].forEach((shown, seat) => {
        const text = Cellgames.clock(left[seat]), face = shown.lastChild;
        if (face.textContent !== text) face.textContent = text;
        shown.classList.toggle("running", seat === clocks.running);
        shown.classList.toggle("low", left[seat] < 10);
      });
    }

    // Move the clocks on; when one has run down, the server says what that means.
    async tick() {
      this.drawClocks();
      const { clocks, done } = this.view;
      const over = clocks.running !== null && clocks.left[clocks.running] * 1000 < performance.now() - this.heard.at - 50;
      if (done || !over || this.busy || this.polling || this.asking) return;
      this.asking = true;
      try {
        const query = new URLSearchParams({ epoch: this.view.epoch, since: this.seen });
        const answer = await api(`${this.path}?${query}`);
        if (!this.busy && !this.polling) this.take(answer.view);
      } catch (error) {
        if (error.status >= 400) this.fail(error);
      }
      setTimeout(() => { this.asking = false; }, 500);
    }

    outcomes() {
      return this.view.result ? this.view.result.outcome.map((outcome) => Cellgames.words[outcome]) : [];
    }

    // What the line above the board says.
    say() {
      const { view, frame } = this;
      if (this.error) return this.error;
      if (this.queue.length) return frame.status;
      if (view.done) {
        if (view.forfeit) return view.forfeit;
        const own = this.person === null ? null : view.result.outcome[this.person];
        return own === null ? frame.status : `${{ win: "You win.", draw: "A draw for you.", loss: "You lose." }[own]} ${frame.status}`;
      }
      if (view.thinking) {
        if (this.controls.running()) return "Life runs to its end …";
        const seat = frame.player;
        if (seat !== null && seat === this.person) return "Your move is being played …";
        const who = seat === null || seat === undefined ? "The agents" : this.about.names[seat];
        return `${app.shortened(who)} ${seat === null || seat === undefined ? "are" : "is"} thinking …`;
      }
      if (view.yours) return `Your move. ${frame.status}`;
      return frame.status;
    }

    // --- what the server tells --------------------------------------------------------------------------------

    take(view) {
      if (this.closed) return;
      app.quiet();
      for (const event of view.events) {
        this.moves.push(event.move);
        const animated = event.frames.length > 1, own = event.seat !== null && event.seat === this.person;
        const wait = animated ? Math.max(35, Math.min(110, 4500 / event.frames.length)) : own ? 0 : 160;
        for (const frame of event.frames) this.queue.push([frame, wait, animated]);
      }
      this.seen = view.epoch === this.view.epoch ? this.seen + view.events.length : view.turn;
      this.view = view;
      if (view.events.length) this.drawMoves();
      this.play();
      if (view.thinking) this.poll();
    }

    async poll() {
      if (this.polling) return;
      this.polling = true;
      let failures = 0;
      while (this.view.thinking && !this.closed) {
        try {
          const query = new URLSearchParams({ epoch: this.view.epoch, since: this.seen, wait: true });
          const answer = await api(`${this.path}?${query}`);
          failures = 0;
          this.take(answer.view);
        } catch (error) {
          if (error.status >= 400 || ++failures > 5) {
            this.fail(error);
            break;
          }
          await new Promise((done) => setTimeout(done, 1000));
        }
      }
      this.polling = false;
    }

    fail(error) {
      this.error = error.message;
      if (!this.closed) this.settle();
    }

    async act(action) {
      if (this.busy || !this.view.yours) return;
      this.busy = true;
      this.draw();
      try {
        const answer = await api(`${this.path}/move`, { action, turn: this.view.turn, epoch: this.view.epoch, since: this.seen });
        this.busy = false;
        this.take(answer.view);
      } catch (error) {
        this.busy = false;
        await this.refused(error);
      }
    }

    async refused(error) {
      app.notice(error.message);
      if (error.status === 404 || error.status === 0) this.fail(error);
      else await this.reload();
    }

    async reload() {
      try {
        const { about, view } = await api(this.path);
        this.renew(about, view);
      } catch (error) {
        this.fail(error);
      }
    }

    renew(about, view) {
      if (this.closed) return;
      clearTimeout(this.timer);
      this.timer = null;
      this.queue = [];
      this.moves = [...about.moves];
      this.seen = view.turn;
      this.view = view;
      this.drawMoves();
      this.settle();
      if (view.thinking) this.poll();
    }

    // Two quick clicks are one request: until it is answered, the person may do nothing else.
    async undo() {
      if (this.busy || !this.view.can_undo) return;
      this.busy = true;
      this.draw();
      try {
        const { about, view } = await api(`${this.path}/undo`, { turn: this.view.turn, epoch: this.view.epoch });
        this.busy = false;
        this.renew(about, view);
      } catch (error) {
        this.busy = false;
        await this.refused(error);
      }
    }

    async restart() {
      if (this.busy) return;
      this.busy = true;
      this.draw();
      const wish = {
        ...this.about.asked,
        seat: this.person === null ? null : this.layout.players[this.person],
        agents: this.about.names.filter((_, seat) => seat !== this.person),
      };
      try {
        const made = await api("/api/play", wish);
        api(this.path, undefined, "DELETE").catch(() => {});
        app.began = made;
        location.hash = `#/game/${made.view.id}`;
      } catch (error) {
        this.busy = false;
        app.notice(error.message);
        this.draw();
      }
    }

    // --- pictures ---------------------------------------------------------------------------------------------

    play() {
      if (this.timer) return;
      if (CALM.matches) this.queue = this.queue.slice(-1);
      const next = () => {
        this.timer = null;
        if (this.closed) return;
        const step = this.queue.shift();
        if (!step) { this.settle(); return; }
        this.frame = step[0];
        if (this.queue.length === 0) { this.settle(); return; }
        this.skipButton.hidden = !this.queue.some((one) => one[2]);
        this.draw();
        this.timer = setTimeout(next, step[1]);
      };
      next();
    }

    skip() {
      clearTimeout(this.timer);
      this.timer = null;
      this.queue = [];
      this.settle();
    }

    // All pictures have been shown: the position as it is.
    settle() {
      this.frame = this.view.frame;
      this.skipButton.hidden = true;
      if (this.view.yours) {
        const legal = unpacked(this.view.legal, this.about.nvec.reduce((sum, count) => sum + count, 0));
        this.controls.start(this.view.controls, legal);
      } else {
        this.controls.rest();
      }
      this.draw();
      if (this.view.done) this.finish(); else this.end.hidden = true;
    }

    draw() {
      if (!this.board) return;
      const choosing = this.free();
      this.root.dataset.state = choosing ? "yours" : this.view.done && !this.queue.length ? "done" : "waiting";
      this.board.draw(this.frame, choosing ? this.controls.marks() : {});
      this.drawPlayers();
      this.drawClocks();
      const words = this.say();
      if (this.status.textContent !== words) this.status.textContent = words;
      this.status.classList.toggle("yours", choosing);
      this.undoButton.disabled = !this.view.can_undo || this.busy || this.queue.length > 0;
      this.again.disabled = this.busy;
      this.controls.enable(choosing);
    }

    finish() {
      this.end.hidden = false;
      const undone = this.view.undone > 0;
      const store = el("button", { type: "button", disabled: this.view.stored || undone, onclick: async () => {
        store.disabled = true;
        try {
          const { new: count } = await api(`${this.path}/store`, {});
          this.view.stored = true;
          store.textContent = count ? "Added to the store" : "Already in the store";
        } catch (error) {
          store.disabled = false;
          app.notice(error.message);
        }
      } }, this.view.stored ? "Added to the store" : "Add to the store");
      clear(this.end, el("h2", {}, "The game is over"), el("p", { class: "hint" }, `Seed ${this.view.seed}`),
        el("p", { class: "buttons" },
          el("a", { class: "button main", href: `#/watch?game=${encodeURIComponent(this.view.id)}` }, "Watch it again"),
          el("a", { class: "button", href: `${this.path}/record.jsonl`, download: "" }, "Save the record"),
          el("a", { class: "button", href: `${this.path}/record.html`, download: "" }, "Save as HTML"), this.about.store && store),
        this.about.store && undone && el("p", { class: "hint" }, "Moves were taken back in this game, so it cannot be added to the store."));
    }
  }
})();
