// What a person does in each game: which cells can be chosen, and what else there is to choose.
"use strict";
(() => {
  const { el, clear, notice, plural } = Cellgames.app;
  const COARSE = window.matchMedia("(pointer: coarse)").matches; // a finger
  const FINGER = 30; // CSS pixels of a cell that a finger does not miss
  const CONFIRM = "cellgames.confirm";

  // A move is one cell.
  class OneCell {
    constructor(game, place) {
      this.game = game;
      this.place = place;
      this.hint = el("p", { class: "hint" });
      this.build();
    }
    build() { clear(this.place, this.hint); }
    start(info, legal) { // the person's turn begins
      this.info = info;
      this.legal = legal;
      this.hint.textContent = "Choose a cell with a dot.";
    }
    rest() { this.hint.textContent = ""; } // it is not the person's turn
    enable() {} // buttons, by whether the person may act
    key() { return false; } // whether the key meant something
    running() { return false; } // whether agents have long moved, and the rules are at work
    hover() {}
    planned() { return null; } // an action for a trial run that the board does not show yet
    marks() { return { legal: this.cells() }; } // for Board.draw
    cells() {
      const found = new Set();
      for (let cell = 0; cell < this.legal.length; cell++) if (this.legal[cell]) found.add(cell);
      return found;
    }
    cell(cell) {
      if (this.legal[cell]) this.game.act([cell]);
      else notice("There is no legal move on that cell.");
    }
  }

  // Where cells are small, a tap proposes a cell; a second tap, or the button, places there.
  class Tapped extends OneCell {
    build() {
      this.put = el("button", { type: "button", class: "main", onclick: () => this.game.act([this.proposed]) }, "Place");
      this.choice = el("input", { type: "checkbox", onchange: () => {
        Cellgames.app.keep(CONFIRM, this.choice.checked);
        this.propose(null);
      } });
      clear(this.place, this.hint, el("p", { class: "buttons", hidden: !COARSE || !this.game.about.people }, this.put,
        el("label", { class: "check" }, this.choice, " confirm each tap")));
    }
    start(info, legal) {
      super.start(info, legal);
      this.proposed = null;
      this.choice.checked = Cellgames.app.kept(CONFIRM) ?? this.game.board.scale < FINGER;
    }
    enable(free) { this.put.disabled = !free || this.proposed === null; }
    propose(cell) {
      this.proposed = cell;
      this.game.draw();
    }
    marks() {
      return { ...super.marks(), hover: this.proposed === null ? null : { cells: [this.proposed], seat: this.game.person } };
    }
    cell(cell, pointer) {
      const asks = this.legal[cell] && pointer === "touch" && this.choice.checked && cell !== this.proposed;
      if (asks) this.propose(cell); else super.cell(cell);
    }
  }

  // Cloth of Gold: units are placed and taken back until the turn is ended.
  class Cloth extends OneCell {
    build() {
      this.end = el("button", { type: "button", class: "main", onclick: () => this.finish() }, "End the turn");
      this.bolt = el("button", { type: "button", title: "Key B", hidden: true, onclick: () => this.toggle() }, "Cast a bolt");
      this.put = el("button", { type: "button", class: "main", title: "Enter", hidden: true, onclick: () => this.lay(this.at) },
        "Place it here");
      this.more = el("button", { type: "button", class: "main", onclick: () => this.go() }, "Place what is marked");
      this.forget = el("button", { type: "button", onclick: () => { this.palette.ghost = []; this.show(); } }, "Remove the marks");
      this.left = el("p", { class: "hint" });
      this.plan = el("div", { hidden: true }, this.left, el("p", { class: "buttons" }, this.more, this.forget));
      const { about, layout, person } = this.game;
      this.palette = new Cellgames.Palette(about.patterns, { ...layout, colour: Cellgames.seatColour(layout, person ?? 0) },
        () => this.show());
      this.at = null; // the cell about which the pattern in hand would lie
      clear(this.place, this.hint, el("p", { class: "buttons" }, this.end, this.put, this.bolt), this.plan);
      clear(this.game.extra, this.palette.root);
    }
    start(info, legal) {
      super.start(info, legal);
      this.bolt.hidden = !info.bolts;
      this.aim(false);
      this.tell();
      if (this.going) queueMicrotask(() => this.step());
    }
    // What is marked and not built, and the buttons for it.
    tell() {
      const { palette } = this, { cells } = Cellgames.planes(this.game.frame);
      if (palette.ghost.every((cell) => this.own(cell, cells))) palette.ghost = [];
      const missing = palette.ghost.filter((cell) => !this.own(cell, cells));
      this.plan.hidden = !missing.length;
      this.left.textContent = `${plural(missing.length, "unit")} of the pattern ${missing.length === 1 ? "is" : "are"} still to be ` +
        `placed, in this turn or in later ones.`;
      this.put.hidden = !palette.hand;
    }
    own(cell, cells) { return cells[cell] === this.game.person + 1; }
    show() {
      if (!this.info) return;
      if (this.palette.hand) this.aim(false);
      this.tell();
      this.game.draw();
    }
    hover(cell) {
      if (cell === null || cell === this.at || !this.palette.hand || !this.game.free() || this.game.pointer === "touch") return;
      this.at = cell;
      this.game.draw();
    }
    // The pattern in hand about a cell: its cells, and which of them cannot be placed.
    lying(at) {
      const cells = at === null ? null : this.palette.around(at);
      if (!cells) return null;
      const held = Cellgames.planes(this.game.frame).cells;
      return { cells, bad: new Set(cells.filter((cell) => !this.own(cell, held) && (this.info.left ? !this.legal[cell] : held[cell]))) };
    }
    // Place the pattern in hand; what this turn has no units for stays marked.
    lay(at) {
      const lying = this.lying(at);
      if (!this.game.free() || !this.palette.hand) return;
      if (!lying) notice("The pattern would leave the board there.");
      else if (lying.bad.size) notice("Some cells of the pattern cannot be placed: they are shown in red.");
      else if (!this.info.left) notice("All units of this turn are placed: end the turn, or take one back.");
      else {
        this.palette.ghost = lying.cells;
        this.at = null;
        this.palette.take(null);
        this.go();
      }
    }
    // Place marked cells as long as that is allowed; each unit is a move, and widens the territory of the next.
    go() {
      this.going = this.info.left;
      this.step();
    }
    step() {
      if (!this.going || !this.game.free()) return; // it goes on when the last unit has been answered
      const held = Cellgames.planes(this.game.frame).cells, { ghost } = this.palette;
      const next = ghost.find((cell) => !held[cell] && this.legal[cell]);
      if (next !== undefined && this.info.left) {
        this.going--;
        this.game.act([next]);
        return;
      }
      this.going = 0;
      if (this.info.left && ghost.length) notice("The other marked cells cannot be placed now.");
      this.show();
    }
    toggle() {
      if (this.palette.hand) this.palette.take(null);
      this.aim(!this.aiming);
      this.game.draw();
    }
    aim(on) { // whether the next cell is a bolt's
      const info = this.info;
      this.aiming = on && this.canCast();
      this.bolt.setAttribute("aria-pressed", String(this.aiming));
      this.bolt.textContent = this.aiming ? "Cast no bolt" : `Cast a bolt (${info.bolts || 0} left)`;
      if (this.aiming) this.hint.textContent = "Choose a cell: a bolt empties its 3 x 3, except cells warded for your opponent.";
      else this.hint.textContent = `${plural(info.left, "unit")} left of ${info.most}. You may place them on cells that are not ` +
        `shaded. Choose a unit of this turn again to take it back.`;
    }
    canCast() { return Boolean(this.info.bolts) && Boolean(this.legal[this.info.cells]); }
    enable(free) {
      this.end.disabled = !free || !this.legal[this.info.end];
      this.bolt.disabled = !free || !this.canCast();
      const lying = free && this.palette.hand ? this.lying(this.at) : null;
      this.put.disabled = !lying || lying.bad.size > 0 || !this.info.left;
      this.more.disabled = !free || !this.info.left;
      this.forget.disabled = !free;
      this.palette.enable(free);
    }
    finish() {
      this.going = 0;
      if (this.game.free()) this.game.act([this.info.end]);
    }
    key(key) {
      if (key === "b" && !this.bolt.hidden && !this.bolt.disabled) {
        this.bolt.click();
        return true;
      }
      if (this.game.free() && this.palette.key(key)) return true;
      if (key === "enter" && !this.put.hidden && !this.put.disabled) {
        this.put.click();
        return true;
      }
      if (key !== "e" || this.end.disabled) return false;
      this.finish();
      return true;
    }
    marks() {
      const found = { legal: this.cells(), shade: !this.aiming && this.info.left > 0, ghost: this.palette.ghost };
      if (!this.palette.hand || this.at === null) return found;
      const lying = this.lying(this.at), seat = this.game.person;
      return { ...found, hover: lying ? { ...lying, seat } : { cells: [this.at], ok: false } };
    }
    cells() {
      if (this.aiming) return new Set(Array(this.info.cells).keys());
      const found = super.cells();
      for (let action = this.info.cells || this.info.end; action <= this.info.end; action++) found.delete(action);
      return found;
    }
    cell(cell, pointer) {
      if (this.palette.hand) {
        if (pointer === "touch") {
          this.at = cell;
          this.game.draw();
        } else this.lay(cell);
      } else if (this.aiming) {
        this.aiming = false;
        this.game.act([this.info.cells + cell]);
      } else if (this.legal[cell]) this.game.act([cell]);
      else if (this.info.left === 0) notice("All units of this turn are placed: end the turn, or take one back.");
      else notice("A unit goes on an empty cell of your own territory that is not the opponent's too, and not directly beside (left, " +
        "right, above, below) an opponent's unit.");
    }
  }

  // Hex and Y: a cell, or once the first stone.
  class Stones extends Tapped {
    build() {
      super.build();
      this.swap = el("button", { type: "button", title: "Key S", onclick: () => this.take() }, "Take over the first stone");
      this.line = el("p", { class: "buttons" }, this.swap);
      this.place.append(this.line);
    }
    can() { return this.info && this.info.swap !== null && this.legal[this.info.swap]; }
    start(info, legal) {
      super.start(info, legal);
      this.line.hidden = !this.can();
      if (this.can()) this.hint.textContent = `Choose a cell with a dot, or take over the first stone (swap): it becomes ` +
        `yours${info.swapped ? `, at ${info.swapped}` : ""}.`;
      else if (info.open) this.hint.textContent = "Choose a cell with a dot. Your opponent may take over your first stone (swap), so " +
        "do not make it too strong.";
    }
    rest() {
      super.rest();
      this.line.hidden = true;
    }
    enable(free) {
      super.enable(free);
      this.swap.disabled = !free;
    }
    take() { if (this.game.free() && this.can()) this.game.act([this.info.swap]); }
    key(key) {
      if (key !== "s" || !this.can()) return false;
      this.take();
      return true;
    }
    cells() {
      const found = super.cells();
      found.delete(this.info.swap);
      return found;
    }
  }

  // Toroidal Cup: a shape, turned and flipped, on a lattice of places in one's own band.
  class Cup extends OneCell {
    build() {
      this.turned = 0;
      this.anchor = null;
      this.picture = el("canvas", { class: "shape", width: 72, height: 72, role: "img" });
      this.picture.redraw = () => { if (this.info) this.draw(); };
      this.buttons = [
        el("button", { type: "button", title: "Key R", onclick: () => this.turn() }, "Turn ↻"),
        el("button", { type: "button", title: "Key F", onclick: () => this.flip() }, "Flip ⇋"),
        el("button", { type: "button", class: "main", title: "Enter", onclick: () => this.put() }, "Place it here"),
      ];
      clear(this.place, el("div", { class: "row" }, this.picture, this.hint), el("p", { class: "buttons" }, this.buttons));
    }
    start(info, legal) {
      super.start(info, legal);
      this.anchor = null;
      this.hint.textContent = `${info.shape}, ${plural(info.left, "shape")} to place. Point at your band and click, or tap a place ` +
        `and then the button.`;
      this.draw();
    }
    rest() {
      super.rest();
      this.anchor = null;
    }
    enable(free) {
      this.buttons.forEach((button) => { button.disabled = !free; });
      this.buttons[2].disabled = !free || this.anchor === null || !this.legal[this.action()];
    }
    action() { return this.anchor * 8 + this.turned; }
    planned() { return this.anchor !== null && this.legal[this.action()] ? [this.action()] : null; }
    running() { return this.info !== undefined && this.info.left === 1; }
    turn() { this.change((this.turned & 4) | ((this.turned + 1) & 3)); }
    flip() { this.change(((this.turned ^ 4) & 4) | ((4 - (this.turned & 3)) & 3)); }
    change(turned) {
      this.turned = turned;
      this.draw();
      this.game.draw();
    }
    key(key) {
      if (!this.game.free()) return false;
      if (key === "r") this.turn();
      else if (key === "f") this.flip();
      else if (key === "enter" && this.anchor !== null) this.put();
      else return false;
      return true;
    }
    draw() { // the shape in hand
      const cells = this.info.around[this.turned], pen = this.picture.getContext("2d");
      const [low, left] = [0, 1].map((axis) => Math.min(...cells.map((cell) => cell[axis])));
      const [high, right] = [0, 1].map((axis) => Math.max(...cells.map((cell) => cell[axis])));
      const size = Math.min(16, 68 / Math.max(high - low + 1, right - left + 1));
      const top = (72 - size * (high - low + 1)) / 2, start = (72 - size * (right - left + 1)) / 2;
      pen.clearRect(0, 0, 72, 72);
      pen.fillStyle = Cellgames.themed(this.game.layout).colours[this.game.person];
      for (const [row, col] of cells) pen.fillRect(start + (col - left) * size + 0.5, top + (row - low) * size + 0.5, size - 1, size - 1);
      this.picture.setAttribute("aria-label", `${this.info.shape}, orientation ${this.turned}`);
    }
    // The place in the lattice that is nearest to a cell, null outside one's own band.
    nearest(cell) {
      const { first, stride, down, across } = this.info, { band, cols } = this.game.layout;
      const row = Math.floor(cell / cols), col = (cell % cols) - this.game.person * band;
      if (col < 0 || col >= band) return null;
      const at = (value, count) => Math.max(0, Math.min(count - 1, Math.round((value - first) / stride)));
      return at(row, down) * across + at(col, across);
    }
    centre(anchor) {
      const { first, stride, across } = this.info, { band } = this.game.layout;
      return [first + stride * Math.floor(anchor / across), this.game.person * band + first + stride * (anchor % across)];
    }
    hover(cell) {
      if (!this.game.free() || this.game.pointer === "touch") return;
      const anchor = cell === null ? null : this.nearest(cell);
      if (anchor === this.anchor || anchor === null) return;
      this.anchor = anchor;
      this.game.draw();
    }
    cell(cell, pointer) {
      const anchor = this.nearest(cell);
      if (anchor === null) { notice("Shapes are placed in your own band of the board."); return; }
      this.anchor = anchor;
      if (pointer === "touch") this.game.draw();
      else this.put();
    }
    put() {
      if (this.anchor === null || !this.game.free()) return;
      if (this.legal[this.action()]) this.game.act([this.action()]);
      else { this.game.draw(); notice("The shape would overlap your own cells there, or leave your band."); }
    }
    marks() {
      const { around } = this.info, { rows, cols, band } = this.game.layout, found = new Set();
      for (let action = this.turned; action < this.legal.length; action += 8) {
        if (this.legal[action]) {
          const [row, col] = this.centre(action >> 3);
          found.add(row * cols + col);
        }
      }
      const first = this.game.person * band;
      const shade = { has: (cell) => cell % cols >= first && cell % cols < first + band }; // one's own band stays light
      if (this.anchor === null) return { legal: found, shade };
      const [row, col] = this.centre(this.anchor);
      const cells = around[this.turned].filter(([, side]) => col + side >= 0 && col + side < cols)
        .map(([over, side]) => Cellgames.mod(row + over, rows) * cols + col + side);
      return { legal: found, shade, hover: { cells, ok: !!this.legal[this.action()], seat: this.game.person } };
    }
  }

  // Grid Adaptation: tiles, a reserve tile, a flip, a purchase, a vote; all at once.
  class Grid extends OneCell {
    build() {
      this.tiles = [];
      this.reserve = null;
      this.own = el("p", { class: "holdings" });
      this.useReserve = el("input", { type: "checkbox", onchange: () => { if (!this.useReserve.checked) this.reserve = null; this.show();
        } });
      this.reserveLine = el("label", { class: "check" }, this.useReserve, el("span"));
      this.flip = el("select", { "aria-label": "Flip a digit" });
      this.flipLine = el("label", { class: "field" }, "Flip a digit ", this.flip);
      this.buy = el("input", { type: "checkbox" });
      this.buyLine = el("label", { class: "check" }, this.buy, el("span"));
      this.vote = el("select", {});
      this.voteLine = el("label", { class: "field" }, "Vote for the Elimination Candidate ", this.vote);
      this.words = el("div", {});
      this.public = el("div", { class: "public" });
      this.submit = el("button", { type: "button", class: "main", onclick: () => this.send() }, "Submit");
      this.over = el("button", { type: "button", onclick: () => { this.tiles = []; this.reserve = null; this.show(); } }, "Clear");
      clear(this.place, this.own, this.public, this.hint, this.reserveLine, this.buyLine, this.flipLine, this.voteLine, this.words,
        el("p", { class: "buttons" }, this.submit, this.over));
    }
    start(info, legal) {
      const same = this.info && this.info.round === info.round && this.info.voting === info.voting && this.info.talk === info.talk;
      this.info = info;
      this.legal = legal;
      if (same && this.started) { this.tell(); return; }
      this.started = true;
      this.tiles = [];
      this.reserve = null;
      this.useReserve.checked = this.buy.checked = false;
      const { layout } = this.game, nvec = this.game.about.nvec;
      this.spaces = layout.rows * layout.cols;
      this.starts = nvec.map((_, part) => nvec.slice(0, part).reduce((sum, count) => sum + count, 0));
      clear(this.own, "Your sequence ", Cellgames.chip(layout, parseInt(info.sequence, 2)), " ", el("strong", {}, info.sequence),
        ` · ${info.points} points · ${plural(info.reserves, "reserve tile")} · ${plural(info.garnets, "garnet")}`);
      clear(this.public, info.public && [el("span", { class: "hint" }, "Each sequence would have earned in the last round: "),
        info.public.map((points, sequence) => el("span", { class: "earned" }, Cellgames.chip(layout, sequence), ` ${points}`))]);
      clear(this.flip, ["none", "the third (…x)", "the second (.x.)", "the first (x..)"].map((label, value) =>
        el("option", { value }, value ? `${label}: to ${this.flipped(value)}` : label)));
      clear(this.vote, info.votes.map((seat) => el("option", { value: seat },
        `${layout.players[seat]}${info.totals ? `, ${info.totals[seat]} points` : ""}`)));
      this.reserveLine.lastChild.textContent = info.reserves ? ` also place a reserve tile (${info.reserves} left)`
        : ` buy and place a reserve tile for ${plural(info.price, "garnet")}`;
      this.buyLine.lastChild.textContent = ` buy a reserve tile for ${plural(info.price, "garnet")}`;
      this.reserveLine.hidden = !this.some(3, this.spaces);
      this.buyLine.hidden = !this.can(5, 1);
      this.flipLine.hidden = !info.flips;
      this.voteLine.hidden = !info.votes.length;
      this.over.hidden = info.voting || info.talking;
      this.submit.textContent = info.talking ? "Say it" : "Submit";
      clear(this.words, info.talking && info.receivers.map((name) => el("label", { class: "field" }, `A word to ${name} `,
        el("select", {}, Array.from({ length: info.words + 1 }, (_, word) =>
          el("option", { value: word }, word ? String(word) : "silence"))))));
      this.tell();
    }
    flipped(value) { return (parseInt(this.info.sequence, 2) ^ (1 << (value - 1))).toString(2).padStart(3, "0"); }
    can(part, choice) { return !!this.legal[this.starts[part] + choice]; }
    some(part, count) { return this.legal.subarray(this.starts[part], this.starts[part] + count).some((bit) => bit); }
    rest() {
      super.rest();
      this.started = false;
    }
    enable(free) {
      for (const input of this.place.querySelectorAll("input, select, button")) input.disabled = !free;
      if (this.info) this.submit.disabled = !free || !this.ready();
    }
    needed() { // tiles that must be named
      return this.info.voting || this.info.talking ? 0 : Math.min(this.info.tiles, this.free);
    }
    ready() { return this.tiles.length >= this.needed() && (!this.useReserve.checked || this.reserve !== null); }
    show() {
      this.tell();
      this.game.draw();
    }
    tell() { // in words, what is still to be chosen
      const { info } = this;
      this.free = info.voting ? 0 : this.legal.subarray(this.starts[0], this.starts[0] + this.spaces).reduce((sum, bit) => sum + bit, 0);
      const left = this.needed() - this.tiles.length;
      if (info.talking) {
        this.hint.textContent = `Talk before round ${info.round} of ${info.rounds}: say a word to ` +
          `${info.receivers[0] === "all" ? "all" : "each player"}, or be silent.`;
        return;
      }
      this.hint.textContent = info.voting
        ? (info.votes.length ? "Several players are tied for the fewest points: vote."
        : "Several players are tied for the fewest points. Those with a Token of Life vote; you have no vote.")
        : left > 0 ? `Round ${info.round} of ${info.rounds}: choose ${plural(left, "space")}${this.tiles.length ? " more" : ""}.`
          : this.useReserve.checked && this.reserve === null ? "Choose the space of the reserve tile."
          : "All tiles are chosen. Choose one again to take it back.";
    }
    cell(cell) {
      if (this.info.voting || this.info.talking) return;
      const place = this.tiles.indexOf(cell);
      if (place >= 0) this.tiles.splice(place, 1);
      else if (this.reserve === cell) this.reserve = null;
      else if (!this.can(0, cell)) { notice("There is a tile on that space."); return; }
      else if (this.tiles.length < this.needed()) this.tiles.push(cell);
      else if (this.useReserve.checked) this.reserve = cell;
      else if (this.needed() === 1) this.tiles = [cell];
      else { notice("All tiles are chosen: take one back first, or submit."); return; }
      this.show();
    }
    marks() {
      const legal = new Set();
      if (!this.info.voting) for (let cell = 0; cell < this.spaces; cell++) if (this.can(0, cell)) legal.add(cell);
      const chosen = this.tiles.map((cell, place) => [cell, this.needed() > 1 ? String(place + 1) : "T"]);
      if (this.reserve !== null) chosen.push([this.reserve, "R"]);
      return { legal, chosen, shade: true };
    }
    send() {
      if (!this.game.free() || !this.ready()) return;
      this.started = false;
      this.game.act(this.planned());
    }
    planned() {
      const { votes, flips } = this.info, none = this.spaces;
      return [
        ...[0, 1, 2].map((slot) => (slot < this.tiles.length ? this.tiles[slot] : none)),
        this.useReserve.checked && this.reserve !== null ? this.reserve : none,
        flips ? Number(this.flip.value) : 0,
        this.buy.checked && this.can(5, 1) ? 1 : 0,
        votes.length ? Number(this.vote.value) : this.game.layout.players.length,
        ...this.info.receivers.map((_, place) => (this.info.talking ? Number(this.words.querySelectorAll("select")[place].value) : 0)),
      ];
    }
  }

  Cellgames.controls = { default: Tapped, "hex-v0": Stones, "y-v0": Stones, "cloth-of-gold-v0": Cloth, "toroidal-cup-v0": Cup,
    "grid-adaptation-v0": Grid };
})();
