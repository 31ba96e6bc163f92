// A game that is being played: the board, whose turn it is, and what a person may do.
"use strict";
(() => {
  const app = Cellgames.app;
  const { api } = app;
  const [TOUCHED, CLICKED] = [14, 9]; // CSS pixels of a cell that a finger can touch, that a mouse can
  const SPOKEN = { end: "ended the turn", "swap-pieces": "took over the first stone" };

  app.route(/^game\/([^/]+)$/, async (main, [id], query, current) => {
    const made = app.began && app.began.view.id === id ? app.began : null;
    app.began = null;
    return app.showGame(main, made || await api(`/api/play/${encodeURIComponent(id)}`), current);
  });

  // Begin a game, and show it.
  app.begin = async (wish) => {
    app.began = await api("/api/play", wish);
    location.hash = `#/game/${app.began.view.id}`;
  };

  // Show a game, as the server has described it; the answer closes it.
  app.showGame = async (main, { about, view }, current) => {
    const games = await app.games();
    if (!current()) return null;
    if (!view.lesson) app.remember(view.id);
    const game = new Game(main, about, view, games.find((one) => one.game === about.game && !one.preset));
    return () => game.close();
  };

  class Game extends app.GameView {
    constructor(main, about, view, rules) {
      super();
      Object.assign(this, { about, view, rules, layout: about.layout, moves: [...about.moves] });
      this.path = `/api/play/${encodeURIComponent(view.id)}`;
      this.seen = about.moves.length;
      this.queue = []; // what is still to be shown: [frame, milliseconds], or a packed film
      this.film = null; // the film that is being shown
      this.watched = null; // the last one, packed
      this.frame = view.frame;
      this.closed = this.busy = this.polling = false;
      this.build(main);
      const kind = Cellgames.controls[about.game] || Cellgames.controls.default;
      this.controls = new kind(this, this.place);
      const { band } = this.layout; // one's own, where teams have bands
      const least = about.people.length && (window.matchMedia("(pointer: coarse)").matches ? TOUCHED : CLICKED);
      this.board = new Cellgames.Board(this.canvas, this.layout, { least, x: band && this.person !== null && !this.several
        ? (this.person + 0.5) * band : undefined });
      this.board.onCell = (cell) => { if (this.free()) this.controls.cell(cell, this.pointer); };
      this.board.onHover = (cell) => this.controls.hover(cell);
      app.game = this; // for the browser's console, and for tests
      this.onKey = (event) => {
        if (event.key === "Escape" && this.film) this.skip();
        if (event.target.closest("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
        if (event.key === "Enter" && event.target.closest("button, a, summary")) return; // theirs
        if (event.key === "Escape" && this.showing) this.skip();
        else if (this.film && !event.target.closest("button, canvas")) { if (this.film.key(event.key)) event.preventDefault(); }
        else if (event.key.toLowerCase() === "t" && this.free() && !this.trialButton.hidden) this.tryOut();
        else if (event.key.toLowerCase() === "h" && this.free() && !this.hintButton.hidden) this.advise();
        else if (this.controls.key(event.key.toLowerCase())) event.preventDefault();
      };
      document.addEventListener("keydown", this.onKey);
      this.settle();
      if (view.pending) this.poll();
      if (view.clocks) this.ticker = setInterval(() => this.tick(), 100);
    }

    close() {
      this.closed = true;
      if (this.bots) this.bots.pause();
      clearTimeout(this.timer);
      clearInterval(this.ticker);
      if (this.film) this.film.destroy();
      document.removeEventListener("keydown", this.onKey);
      this.board.destroy();
    }

    // --- what the server tells --------------------------------------------------------------------------------

    take(view) {
      if (this.closed) return;
      app.quiet();
      if (view.unsaved) app.notice(view.unsaved);
      for (const event of view.events) {
        this.moves.push(event.move);
        const own = event.seat !== null && event.seat === this.person;
        if (event.film) this.queue.push(event.film);
        else for (const frame of event.frames) this.queue.push([frame, own ? 0 : this.bots ? this.bots.wait : 160]);
      }
      this.tellMoves(view);
      this.seen = view.epoch === this.view.epoch ? this.seen + view.events.length : view.turn;
      this.view = view;
      if (view.events.length) this.drawMoves();
      this.play();
      if (view.pending) this.poll();
    }

    // Say to screen readers what others have played.
    tellMoves(view) {
      const { players } = this.layout,
        spoken = (move) => (SPOKEN[move] || `played ${move.replace(/\br(\d+)c(\d+)/g, "row $1, column $2")}`);
      const told = view.events.filter(({ seat }) => seat !== null && seat !== this.person).slice(-12)
        .map(({ seat, move }) => `${players[seat]} ${spoken(move)}.`);
      const joint = view.events.some(({ seat, film }) => seat === null && !film);
      if (joint && this.board.painter.changes) told.push(this.board.painter.changes(view.frame, Cellgames.planes(view.frame)));
      if (told.length) this.spoken.textContent = told.join(" ");
    }

    async poll() {
      if (this.polling) return;
      this.polling = true;
      let failures = 0;
      while (this.view.pending && !this.closed) {
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
        const answer = await api(`${this.path}/move`, { action, turn: this.view.turn, epoch: this.view.epoch, since: this.seen,
          seat: this.person });
        this.busy = false;
        this.take(answer.view);
      } catch (error) {
        this.busy = false;
        await this.refused(error);
      }
    }

    // Ask for a move that an agent suggests, and show it.
    async advise() {
      if (!this.free()) return;
      const { turn, epoch } = this.view;
      this.hinted = null;
      this.status.textContent = "Looking for a good move …";
      try {
        const { words, action } = await api(`${this.path}/hint`, { turn, epoch });
        if (this.view.turn !== turn || this.closed) return;
        const isCell = action !== null && action < Cellgames.planes(this.frame).cells.length;
        this.hinted = isCell ? { turn, cells: [action] } : null;
        app.notice(words);
      } catch (error) {
        app.notice(error.message);
      }
      this.draw();
    }

    async resign() {
      if (!this.view.can_resign || this.busy) return;
      const who = this.several ? `${this.layout.players[this.person]} resigns` : "You resign";
      const seat = this.person, { epoch } = this.view;
      if (!await app.ask(`${who}, and the other player wins?`, "Resign", "Play on")) return;
      try {
        const { about, view } = await api(`${this.path}/resign`, { seat, epoch });
        this.renew(about, view);
      } catch (error) {
        await this.refused(error);
      }
    }

    async refused(error) {
      const { turn, epoch } = this.view, lost = error.status === 404 || error.status === 0;
      if (lost) this.fail(error); else await this.reload();
      const moved = !lost && (this.view.turn !== turn || this.view.epoch !== epoch);
      app.notice(moved ? "This game has gone on in another tab. Here is how it stands." : error.message);
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
      this.stop();
      this.moves = [...about.moves];
      this.seen = view.turn;
      this.view = view;
      this.drawMoves();
      this.settle();
      if (view.pending) this.poll();
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
      const { people, names, asked } = this.about, { seats } = this.layout, move = this.view.done ? 1 : 0; // after the end all change seats
      const seated = seats.map((_, seat) => (seat + seats.length - move) % seats.length); // who sits there now
      const agents = seated.filter((before) => !people.includes(before)).map((before) => names[before]);
      const wish = { ...asked, seat: seats.filter((_, seat) => people.includes(seated[seat])),
        agents: agents.length ? agents : ["random"] };
      try {
        await app.begin(wish);
        if (!this.view.turn) app.forget(this.view.id).catch(() => {}); // nothing was played in it
      } catch (error) {
        this.busy = false;
        app.notice(error.message);
        this.draw();
      }
    }

    // All pictures have been shown: the position as it is.
    settle() {
      this.frame = this.view.frame;
      if (this.view.yours) {
        const legal = app.legal(this.view.legal, this.about.nvec);
        this.controls.start(this.view.controls, legal);
      } else {
        this.controls.rest();
      }
      this.draw();
      if (this.view.done) this.finish(); else this.end.hidden = true;
      if (this.bots) this.bots.next();
    }
  }
})();
