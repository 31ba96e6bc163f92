/* The analysis board: a tree of moves, and a search of the position on the server while one looks at it. The server knows
   the rules and searches; this page keeps the tree. */
"use strict";
(() => {
  const app = Cellgames.app;
  const { api, kept, keep } = app;

  app.Analysis = class extends app.AnalysisView {
    constructor(main, source, first) {
      super();
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
      this.board = new app.NotedBoard(this.canvas, this.layout, { maxHeight });
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
      const before = kept(app.KEPT + source.key);
      if (before) {
        tree.addList(before.list);
        if (!source.moves.length || source.line) tree.goto(before.at);
      }
      this.moves.draw();
      await this.select(tree.at);
    }

    get frame() { return this.now.frame; }
    name(seat) { return this.layout.players[seat]; }
    colour(seat) { return Cellgames.seatColour(this.layout, seat); }
    free() { return this.mode === "play" && this.ready && !this.busy && Boolean(this.now) && this.now.player !== null; }

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
          answer = await api("/api/analysis/positions", { game, parameters, seed, position: base.place.position,
            moves: ahead.map((one) => one.move) });
        } catch (error) {
          if (error.status !== 400) throw error;
          const number = Number((/^move (\d+)/.exec(error.message) || [])[1]) || 1; // of the first one that cannot be played
          this.tree.remove(ahead[number - 1]);
          app.notice(`${error.message}. The moves from there on are left out.`);
          this.moves.draw();
          if (path.includes(ahead[number - 1])) return ahead[number - 1].parent.place ? ahead[number - 1].parent
            : this.load(ahead[number - 1].parent);
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
        this.controls.start(place.controls, app.legal(place.legal, this.info.nvec));
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
      const act = { ArrowLeft: () => this.back(), ArrowRight: () => this.forward(), ArrowUp: () => this.beside(-1),
        ArrowDown: () => this.beside(1), Home: () => this.go(this.tree.root), End: () => this.end() }[event.key];
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
        if (this.lesson) await this.judge(node);
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
      if (!at.parent || (after && !await app.ask(`Delete ${at.move} and ${app.plural(after, "move")} after it? That cannot be undone.`,
        "Delete", "Keep"))) return;
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
      if (source.puzzle) return;
      const hash = source.line || source.position || location.hash.includes("?") ? location.hash : `#/analysis/${source.game}`;
      keep(app.KEPT + source.key, { list: tree.toList(), at: tree.where(), time: Date.now(), title: source.title, hash,
        shown: { game: source.game, parameters: source.parameters, position: this.now.position },
        ...(/(^|&)game=/.test(source.key) && { line: source.line }) });
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

    /** The effort from which on moves are reviewed. */
    get quick() { return Math.min(this.searched + 1, this.engine.efforts.length - 1); }

    /** What to search next: this position quickly, then the main line, then this position for longer. */
    next() {
      const { at } = this.tree, last = this.engine.efforts.length - 1;
      const over = at.place.player === null;
      const { quick } = this;
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
      const body = { game, parameters, seed, position: from.place.position, moves: from === node ? [] : [node.move], engine: name,
        simulations: efforts[place] };
      const data = await api("/api/analysis", body, "POST", job.signal);
      if (this.job !== job) return;
      node.found[name] = { ...data, place };
      const before = node.review && node.review.mark && node.review.mark.sign;
      if (data.review && !this.dealt(node)) node.review = data.review;
      if (this.source.line && node.review && node.parent.found[name]) app.keepPuzzle(this.source, node.parent, node.review, name);
      if (node.review && (node.review.mark && node.review.mark.sign) !== before) this.moves.draw();
      if (node === this.tree.at) this.show(); else this.drawCurve();
      this.drawFaults();
    }

    /** Whether a move is one of a record's random opening, which is nobody's mistake. */
    dealt(node) { return node.ply <= this.source.opening && this.tree.isMain(node); }

    get found() { return this.engine ? this.tree.at.found[this.engine.name] : null; }
  };
})();
