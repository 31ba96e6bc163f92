// What the page of a game shows: the board, the players, the clocks, and what may be done.
"use strict";
(() => {
  const app = Cellgames.app;
  const { el, clear, api } = app;

  app.GameView = class extends app.GameFilms {
    // The seat of the person at the screen; null for spectators, and while it is hidden.
    get person() { return this.view.seat; }

    // Whether several people share the screen: then nobody is "you".
    get several() { return this.about.people.length > 1; }

    // Whether it is a game by link, in which each person has a screen.
    get linked() { return this.view.id.includes("."); }

    // Whether the person may act now.
    free() { return this.view.yours && !this.busy && !this.showing; }

    // Whether pictures of what happened are being shown.
    get showing() { return this.queue.length > 0 || this.film !== null; }

    // What an agent is called: by its level, where it has one.
    agent(seat) { return this.about.called[seat] || app.shortened(this.about.names[seat], 24); }

    name(seat) {
      const player = this.layout.players[seat];
      return seat === this.person && !this.several ? `${player} (you)` : player;
    }

    build(main) {
      document.title = `${this.layout.title} · Cellgames`;
      this.status = el("p", { class: "status", role: "status", "aria-live": "polite" });
      this.canvas = el("canvas", { class: "board-canvas" });
      this.canvas.addEventListener("pointerdown", (event) => { this.pointer = event.pointerType; }, true);
      this.canvas.addEventListener("keydown", () => { this.pointer = "keyboard"; }, true);
      this.place = el("div", { class: "controls" });
      this.clocks = el("div", { class: "clocks", role: "timer", "aria-label": "Clocks", hidden: !this.view.clocks });
      this.extra = el("div", {}); // controls below the buttons that all games have
      this.films = el("div", {}); // the controls of a film
      this.watchButton = el("button", { type: "button", hidden: true, onclick: () => this.watch() }, "Watch Life again");
      this.undoButton = el("button", { type: "button", onclick: () => this.undo() }, "Undo");
      this.again = el("button", { type: "button", onclick: () => this.restart() }, "New game");
      this.hintButton = el("button", { type: "button", title: "Key H", onclick: () => this.advise() }, "Hint");
      this.resignButton = el("button", { type: "button", onclick: () => this.resign() }, "Resign");
      this.curtain = new app.Curtain(this);
      this.bots = this.about.people.length ? null : new app.Bots(this);
      this.table = el("div", { class: "scroll" });
      this.lines = el("p", { class: "hint" });
      // What a person who plays may not know has another name until the end.
      this.legend = (this.layout.legend || []).map((entry) => ({ ...entry, text: el("span", {}) }));
      const legend = this.legend.map((entry) => el("span", { class: "key" }, Cellgames.sample(this.layout, entry.code, entry.marks, 18),
        entry.text));
      this.list = el("ol", { class: "moves" });
      this.spoken = el("p", { class: "cg-sr", "aria-live": "polite" }); // what others have played
      this.end = el("div", { class: "end", hidden: true });
      const wide = (this.layout.columns || []).length > 3; // too wide for a column at the side
      const long = this.layout.kind === "cells" && this.layout.cols > 2 * this.layout.rows; // a board for the whole width
      const players = el("section", { class: "panel people" }, el("h2", {}, "Players"), this.table);
      this.banner = el("p", { class: "trial", hidden: true }, el("span", {}));
      this.trialButton = el("button", { type: "button", title: "Key T", hidden: !this.layout.trials || !this.about.people.length,
        onclick: () => this.tryOut() }, "Trial run");
      this.row = el("p", { class: "buttons" }, this.hintButton, this.trialButton, this.undoButton, this.watchButton, this.resignButton,
        this.again);
      this.root = el("div", { class: long ? "game wide" : "game" },
        el("div", { class: "stage" }, this.spoken, Cellgames.goal(this.layout, this.several ? null : this.person), this.status,
          this.clocks, this.banner, el("div", { class: "board" }, this.canvas), this.films,
          el("div", { class: "under" }, this.lines, legend)),
        el("div", { class: "side" },
          app.invitation(this.about), el("section", { class: "panel", "aria-label": "Your move" }, this.bots && this.bots.root, this.place,
            this.end, this.row, this.extra),
          !wide && players,
          el("details", { class: "panel" }, el("summary", {}, "Moves"), this.list),
          el("details", { class: "panel" }, el("summary", {}, "Rules in brief"), app.rulesOf(this.rules),
            this.rules.lesson && app.learnLinks(this.rules.game))),
        wide && players, this.curtain.root);
      clear(main, el("h1", { class: "cg-sr" }, this.layout.title), this.root);
      this.undoable = this.about.people.length > 0 && !this.layout.simultaneous && !this.view.clocks && !this.linked;
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
      const results = this.showing ? [] : this.outcomes();
      clear(this.table, el("table", { class: "players" },
        columns.length > 0 && el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "player"),
          columns.map((column) => el("th", { scope: "col", class: "number" }, column.label)))),
        el("tbody", {}, layout.players.map((player, seat) => {
          const chip = el("span", { class: "chip" });
          chip.style.background = Cellgames.seatColour(layout, seat);
          return el("tr", { class: [frame.player === seat && !frame.done ? "moving" : "", seat === this.person ? "own" : ""].join(" ") },
            el("th", { scope: "row" }, chip, player, " ", el("span", { class: "who", title: about.names[seat] },
              about.people.includes(seat) ? (this.several ? "person" : "you") : about.names[seat] === "human" ? "person"
                : this.agent(seat)),
              results[seat] && el("strong", { class: `result ${results[seat]}` }, Cellgames.place(frame, seat) || results[seat])),
            columns.map((column) => el("td", { class: "number" }, shown(column, infos[column.name][seat]))));
        }))));
      this.lines.textContent = (frame.text || []).map(([label, value]) => `${label}: ${value}`).join(" · ");
      const playing = this.person !== null && !frame.done;
      for (const entry of this.legend) entry.text.textContent = (playing && entry.playing) || entry.label;
      this.place.hidden = this.extra.hidden = this.root.dataset.state === "done" || !about.people.length;
    }

    // The clocks as they are now: the server's time, and what has passed since it told it.
    drawClocks() {
      const { clocks } = this.view;
      if (!clocks) return; // both are shown also while the game is hidden
      this.heard = this.heard && this.heard.clocks === clocks ? this.heard : { clocks, at: performance.now() };
      const left = clocks.left.map((seconds, seat) => (seat === clocks.running
        ? Math.max(0, seconds - (performance.now() - this.heard.at) / 1000) : seconds));
      if (!this.clocks.children.length) {
        clear(this.clocks, this.layout.players.map((_, seat) => {
          const chip = el("span", { class: "chip" });
          chip.style.background = Cellgames.seatColour(this.layout, seat);
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
      if (this.showing) return frame.status;
      if (view.done) {
        if (view.forfeit) return view.forfeit;
        const own = this.person === null || this.several ? null : view.result.outcome[this.person];
        const place = own !== null && Cellgames.place(frame, this.person);
        const words = place ? `You take ${place}.` : { win: "You win.", draw: "A draw for you.", loss: "You lose." }[own];
        return own === null ? frame.status : `${words} ${frame.status}`;
      }
      if (view.thinking) {
        if (this.controls.running()) return "Life runs to its end …";
        const seat = frame.player;
        if (this.several && this.about.people.includes(seat)) return `The move of ${this.layout.players[seat]} is being played …`;
        if (seat !== null && seat === this.person) return "Your move is being played …";
        const who = seat === null || seat === undefined ? "The agents" : this.agent(seat);
        return `${who} ${seat === null || seat === undefined ? "are" : "is"} thinking …`;
      }
      if (view.pending) return `Waiting for ${this.layout.players[frame.player] || "the others"} …`;
      if (view.yours) return this.several ? `${this.layout.players[this.person]} to move. ${frame.status}` : `Your move. ${frame.status}`;
      return frame.status;
    }

    draw() {
      if (!this.board) return;
      this.curtain.draw();
      if (this.view.curtain || !this.frame) return;
      const choosing = this.free();
      this.root.dataset.state = choosing ? "yours" : this.view.done && !this.showing ? "done" : "waiting";
      if (this.view.lesson) this.lesson = this.lesson || new app.LessonPanel(this);
      this.board.draw(this.frame, choosing ? { ...this.controls.marks(), guide: this.guide() } : {});
      this.drawPlayers();
      this.drawClocks();
      const words = this.say(), { frame } = this;
      if (this.status.textContent !== words) this.status.textContent = words;
      this.banner.firstChild.textContent = `${frame.status}, if nobody places anything more`;
      this.status.classList.toggle("yours", choosing);
      this.undoButton.hidden = !this.undoable || this.view.done;
      this.hintButton.hidden = this.view.done || !this.about.people.length || this.linked || Boolean(this.view.lesson);
      this.hintButton.disabled = !choosing;
      this.undoButton.disabled = !this.view.can_undo || this.busy || this.showing;
      this.trialButton.disabled = !choosing;
      this.watchButton.hidden = this.showing || !this.watched;
      this.again.disabled = this.busy;
      this.again.hidden = this.linked;
      this.resignButton.hidden = !this.view.can_resign || Boolean(this.view.lesson);
      this.controls.enable(choosing);
      if (this.lesson) this.lesson.draw();
    }

    // Cells that a lesson or a hint speaks of.
    guide() {
      if (this.lesson) return this.lesson.cells;
      return this.hinted && this.hinted.turn === this.view.turn ? this.hinted.cells : null;
    }

    finish() {
      this.end.hidden = false;
      this.again.textContent = "Play again";
      this.again.className = "main";
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
          this.again,
          el("a", { class: "button", href: `#/analysis?game=${encodeURIComponent(this.view.id)}` }, "Analyse"),
          el("a", { class: "button", href: `#/watch?game=${encodeURIComponent(this.view.id)}` }, "Watch it again"),
          el("a", { class: "button", href: `${this.path}/record.jsonl`, download: "" }, "Save the record"),
          el("a", { class: "button", href: `${this.path}/html`, download: "" }, "Save as HTML"), this.about.store && store),
        this.about.store && undone && el("p", { class: "hint" },
          "Moves were taken back in this game, so it cannot be added to the store."));
    }
  };
})();
