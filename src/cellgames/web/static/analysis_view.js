// What the analysis board shows: the position with what the search says of it, the curve of win chances, mistakes.
"use strict";
(() => {
  const app = Cellgames.app;
  const { el, clear, keep, percent } = app;
  // Before a search:
  const GIVEN = { gumbel: "the network's values, not searched yet", mcts: "ranked by a round of Life, not searched yet" };
  const LEAST = 7; // CSS pixels of a disc that holds a number; smaller ones are shades
  const SHOWN = 8; // moves on the board
  const SHARE = 0.02; // of the visits, below which a move is not shown on the board

  app.NotedBoard = class extends Cellgames.Board {
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
          if (radius < LEAST) {
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
  };

  app.AnalysisView = class extends app.AnalysisLesson {
    get now() { return this.tree.at.place; }
    build(main) {
      document.title = `Analysis, ${this.layout.title} · Cellgames`;
      const button = (text, label, act) => el("button", { type: "button", title: label, "aria-label": label, onclick: act }, text);
      const tool = (kind, name, box, toggled) => el("details", { class: `panel ${kind}`, ontoggle: (event) => toggled(event.target.open) },
        el("summary", {}, name), box);
      this.status = el("p", { class: "status", role: "status", "aria-live": "polite" });
      this.canvas = el("canvas", { class: "board-canvas" });
      this.bar = el("span", {});
      this.meter = el("div", { class: "evalbar", role: "meter", "aria-valuemin": 0, "aria-valuemax": 100, "aria-valuenow": 50,
        "aria-valuetext": "not known yet", "aria-label": `Win chance of ${this.name(0)}` }, this.bar);
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
      this.toggle = el("input", { type: "checkbox", checked: this.on, onchange: () => { this.on = this.toggle.checked; this.settings();
        } });
      this.engines = el("select", { "aria-label": "Search", onchange: () => { this.engine = this.info.engines[Number(this.engines.value)];
        this.settings(); } },
        this.info.engines.map((one, place) => el("option", { value: place, selected: one === this.engine },
          { gumbel: "network search", mcts: "playout search" }[one.name] || one.name)));
      this.kind = el("select", { "aria-label": "Numbers on the board", onchange: () => { this.numbers = this.kind.value; this.settings();
        } },
        [["chance", "win chance"], ["share", "share of visits"], ["", "nothing"]].map(([value, words]) =>
          el("option", { value, selected: value === this.numbers }, `board: ${words}`)));
      this.treeBox = el("div", { class: "tree", role: "group", "aria-label": "Moves" });
      this.moves = new Cellgames.MoveList(this.treeBox, this.tree, {
        mover: (node) => (node.parent.place && node.parent.place.player !== null ? this.colour(node.parent.place.player) : null),
        select: (node) => this.select(node),
      });
      this.comment = el("textarea", { class: "comments", maxLength: 2000, placeholder: "Comment on this move",
        "aria-label": "Comment on this move",
        onchange: () => { this.tree.at.comment = this.comment.value.trim(); this.moves.draw(); this.remember(); } });
      this.promoteButton = el("button", { type: "button", onclick: () => { this.tree.promote(this.tree.at); this.changed(); } }, "Promote");
      this.removeButton = el("button", { type: "button", onclick: () => this.remove() }, "Delete");
      this.faults = el("div", { class: "faults" });
      this.lessonBox = el("div", { class: "lesson-box", hidden: true });
      this.progress = el("p", { class: "hint", role: "status" });
      this.shared = el("div", {});
      this.stored = el("div", {});
      this.setupBox = el("div", {});
      this.playBox = el("div", {});
      const names = this.source.names;
      this.root = el("div", { class: "game analysis" },
        el("div", { class: "stage" },
          el("p", { class: "hint path" }, names ? names.map((name, seat) => `${this.name(seat)} ${app.shortened(name, 24)}`).join(", ")
            : this.source.title), this.lessonBox,
          this.status, el("div", { class: "evaluated" }, this.meter, el("div", { class: "board" }, this.canvas)),
          el("div", { class: "steps", role: "group", "aria-label": "Go to" },
            button("|◀", "To the start (Home)", () => this.go(this.tree.root)), button("◀", "Back (left)", () => this.back()),
            button("▶", "Forward (right)", () => this.forward()), button("▶|", "To the end of the line (End)", () => this.end())),
          el("div", { class: "tools" },
            tool("setup-position", "Set up a position", this.setupBox, (open) => this.setup(open)),
            tool("", "Play from here", this.playBox, (open) => open && this.offerPlay()),
            tool("", "Stored games", this.stored, (open) => open && this.explore()),
            tool("", "Link and files", this.shared, (open) => open && this.share())),
          el("div", { class: "curveline" }, el("span", {}, `Win chance of ${this.name(0)} over the main line`),
            el("span", {}, "0 to 100 %")), this.curve),
        el("div", { class: "side" },
          el("section", { class: "panel", "aria-label": "Analysis" },
            el("div", { class: "enginerow" }, el("label", {}, this.toggle, " Analyse"), this.info.engines.length > 1 && this.engines,
              this.kind),
            this.verdict, this.said, this.lines),
          el("section", { class: "panel" }, el("h2", {}, "Moves"), this.place, this.extra, this.treeBox, this.comment,
            el("p", { class: "buttons small" }, this.promoteButton, this.removeButton)),
          el("section", { class: "panel" }, el("h2", {}, "Mistakes"), this.progress, this.faults),
          this.worthLink()));
      clear(main, el("h1", { class: "cg-sr" }, `Analysis: ${this.layout.title}`), this.root);
    }

    settings() {
      keep("cellgames.engine", { on: this.on, engine: this.engine && this.engine.name, numbers: this.numbers });
      this.stop();
      this.show();
      this.work();
    }

    draw() { this.show(); }

    show() {
      if (!this.ready) return;
      const { tree, frame, now: place } = this, free = this.free(), { board } = this;
      this.root.dataset.state = place.player === null ? "done" : "open";
      const words = this.mode === "setup" ? "Put stones on the board, or take them away." : frame.status;
      if (this.status.textContent !== words) this.status.textContent = words;
      const marks = free ? this.controls.marks() : {};
      board.draw(frame, { ...marks, legal: this.mode === "setup" ? null : marks.legal, notes: this.notes(),
        chosen: this.pointed || marks.chosen });
      this.controls.enable(free);
      this.place.hidden = this.extra.hidden = !free;
      this.promoteButton.disabled = tree.isMain(tree.at);
      this.removeButton.disabled = this.comment.disabled = !tree.at.parent;
      if (this.shared.parentElement.open && this.sharedOf !== tree.at) this.share();
      if (this.stored.parentElement.open && this.storedOf !== tree.at) this.explore();
      this.drawVerdict();
      this.drawCurve();
      this.drawFaults();
    }

    notes() {
      const { found } = this, cells = Cellgames.planes(this.frame).cells.length;
      if (!found || !this.on || !this.numbers || this.secret || this.mode === "setup" || this.pointed) return [];
      const share = (move) => (found.visits ? move.share : move.policy); // before the search: what it would try
      const most = Math.max(...found.moves.map(share), 0.001);
      const known = ({ win_chance: chance }) => this.numbers === "chance" && found.visits && (chance === 0 || chance === 1);
      const shown = found.moves.filter((move) => move.action < cells
        && (known(move) || share(move) >= SHARE || move.move === found.chosen));
      return shown.filter((move, place) => place < SHOWN || known(move)).map((move) => {
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
      clear(this.verdict, chances ? el("strong", {}, `${this.name(0)} ${percent(chance)} : ${percent(1 - chance)} ${this.name(1)}`)
        : el("strong", {}, searching ? "Searching …" : "–"),
        found && this.now.player !== null && el("span", { class: "hint" }, this.told(found)));
      clear(this.lines, this.on && found && !this.secret ? found.lines.map((line) => this.line(line)) : []);
      clear(this.said);
      if (!review || this.secret) return;
      const { mark, best, played, player, chance_best: better, chance_played: worse } = review;
      if (mark) {
        const other = el("button", { type: "button", onclick: () => { this.tree.at = this.tree.at.parent; this.playLine([best]); } }, best);
        app.add(this.said, [el("b", { class: `sign ${mark.name}` }, mark.sign),
          ` ${played} is ${mark.name === "inaccuracy" ? "an" : "a"} ${mark.name}: the win chance of ${this.name(player)} falls from ` +
            `${percent(better)} to ${percent(worse)}. Better: `, other]);
      } else this.said.textContent = best === played ? `${played} is the best move.` : `${played} is a good move.`;
    }

    /** Where the numbers of an answer come from. */
    told({ visits, chances, place }) {
      if (!visits) return GIVEN[this.engine.name];
      const shades = this.numbers && this.board.scale * 0.38 < LEAST ? "; the darker a cell, the more of them" : "";
      return chances.some((one) => one === 1) ? "solved" : `${app.plural(this.engine.efforts[place], "simulation")}${shades}`;
    }

    line(line) {
      const mover = line.moves[0].player, chance = line.chance;
      const cells = Cellgames.planes(this.frame).cells.length;
      const point = (count) => () => {
        const seen = new Set();
        this.pointed = count ? line.moves.slice(0, Math.max(count, 1)).map((move, place) => [move.action, place + 1])
          .filter(([action]) => action < cells && !seen.has(action) && seen.add(action)) : null;
        this.board.draw(this.frame, { ...(this.free() ? this.controls.marks() : {}), notes: this.notes(),
          ...(this.pointed && { chosen: this.pointed }) });
      };
      return el("li", { onmouseleave: point(0) }, el("b", { title: `Win chance of ${this.name(mover)}` },
        chance === null ? "–" : percent(chance)),
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
      const x = (place) => (nodes.length > 1 ? 6 + (place / (nodes.length - 1)) * (width - 12) : width / 2),
        y = (chance) => 5 + (1 - chance) * (high - 10);
      const known = nodes.map((node, place) => [place, this.chanceOf(node)]).filter(([, chance]) => chance !== null);
      this.curve.setAttribute("viewBox", `0 0 ${width} ${high}`);
      const parts = [app.svg("rect", { x: 0, y: 0, width, height: high, fill: this.colour(1) })];
      if (known.length > 1) {
        const points = known.map(([place, chance]) => `${x(place).toFixed(1)},${y(chance).toFixed(1)}`);
        parts.push(app.svg("polygon", { points: `${x(known[0][0])},${high} ${points.join(" ")} ${x(known[known.length - 1][0])},${high}`,
          fill: this.colour(0) }));
        parts.push(app.svg("polyline", { points: points.join(" "), fill: "none", stroke: "#888888", "stroke-width": 1.5 }));
      }
      parts.push(app.svg("line", { x1: 0, x2: width, y1: y(0.5), y2: y(0.5), stroke: "#c2185b", "stroke-dasharray": "3 4" }));
      nodes.forEach((node, place) => {
        const mark = node.review && node.review.mark, chance = this.chanceOf(node);
        if (mark && chance !== null) parts.push(app.svg("circle", { cx: x(place), cy: y(chance), r: 4.5,
          fill: { blunder: "#c01c1c", mistake: "#d2600a", inaccuracy: "#d9a316" }[mark.name], stroke: "#ffffff", "stroke-width": 1.2 }));
      });
      const trunk = this.tree.path(this.tree.at).filter((node) => this.tree.isMain(node)).length;
      parts.push(app.svg("line", { x1: x(trunk), x2: x(trunk), y1: 0, y2: high, stroke: "#1565c0", "stroke-width": 2 }));
      this.curve.replaceChildren(...parts);
      this.curve.setAttribute("aria-label",
        `Win chance of ${this.name(0)} after each move: ` +
          `${known.map(([place, chance]) => `${place}: ${percent(chance)}`).slice(-40).join(", ") || "not known yet"}`);
      this.curve.parentElement.dataset.known = known.length;
      const todo = nodes.length - known.length;
      const slow = this.layout.kind === "cells" ? "A search that plays Life is slow: a move is reviewed while you look at it. " : "";
      this.progress.textContent = this.on && nodes.length > 1 ? slow + (todo > 0
        ? `${known.length} of ${nodes.length} positions of the main line are analysed.` : "") : "";
    }

    seek(event) {
      const box = this.curve.getBoundingClientRect(), nodes = [this.tree.root, ...this.tree.main];
      const share = (event.clientX - box.left - 6) / Math.max(1, box.width - 12);
      this.go(nodes[Math.max(0, Math.min(nodes.length - 1, Math.round(share * (nodes.length - 1))))]);
    }

    drawFaults() {
      const nodes = this.tree.main.filter((node) => node.review && node.review.mark);
      const key = [this.tree.main.some((node) => node.review),
        ...nodes.map((node) => `${node.ply}${node.move}${node.review.mark.sign}`)].join();
      if (key === this.faultKey && this.faults.children.length) return;
      this.faultKey = key;
      clear(this.faults, this.layout.players.map((_, seat) => {
        const own = nodes.filter((node) => node.review.player === seat);
        return el("div", {}, el("h3", {}, `Mistakes of ${this.name(seat)}`),
          own.length > 0 && el("button", { type: "button", class: "learn", onclick: () => this.learn(own) }, "Learn from them"), own.length
          ? el("ul", {}, own.map((node) =>
          el("li", {}, el("button", { type: "button", title: `Better: ${node.review.best}`, onclick: () => this.go(node) },
            `${node.ply}. ${node.move} `, el("b", { class: `sign ${node.review.mark.name}` }, node.review.mark.sign),
              el("small", {}, ` −${percent(node.review.loss)}`)))))
          : el("p", { class: "hint" }, this.tree.main.some((node) => node.review) ? "none" : "–"));
      }));
    }
  };
})();
