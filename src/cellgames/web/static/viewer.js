/* A recorded game: its board, its controls, its curves, its moves. Takes what frames.replay_data gives. */
(function () {
  "use strict";
  const Cellgames = window.Cellgames;
  const { element } = Cellgames;

  const LIFE = 1000 / 30; // milliseconds of a generation while Life runs, at speed 1
  const SPEEDS = [0.25, 0.5, 1, 2, 4, 8];

  /** A number of a table of players, as text or a sign. */
  Cellgames.cellOf = function (layout, column, value) {
    if (value === null || value === undefined) return "–";
    if (column.kind === "sequence") {
      const label = element("span", { class: "cg-bits" }, value.toString(2).padStart(3, "0"));
      return element("span", { class: "cg-sequence" }, Cellgames.chip(layout, value), label);
    }
    if (column.kind === "words") { // bubbles: to whom, and a word, which is a dot for silence
      return element("span", { class: "cg-talk" },
        ...value.map(([to, word]) => element("span", { class: word === "." ? "cg-silence" : "cg-bubble" },
        ...(to ? [element("small", {}, `${to} `)] : []), word === "." ? "silent" : word)));
    }
    if (column.kind === "percent") return `${value.toFixed(1)} %`;
    if (column.kind === "signed") return value > 0 ? `+${value}` : String(value).replace("-", "−");
    return String(value);
  };

  /** A mark of a seat's colour. */
  Cellgames.swatch = function (colour) {
    const mark = element("span", { class: "cg-swatch", "aria-hidden": "true" });
    mark.style.background = colour;
    return mark;
  };

  /** Return seconds as clocks show them, such as 4:59, or 0:07.3 in the last ten seconds. */
  Cellgames.clock = function (seconds) {
    const two = (number) => String(number).padStart(2, "0");
    if (seconds < 10) return `0:${(Math.floor(10 * Math.max(0, seconds)) / 10).toFixed(1).padStart(4, "0")}`;
    const whole = Math.floor(seconds), minutes = Math.floor(whole / 60) % 60, hours = Math.floor(whole / 3600);
    if (hours >= 48) return `${Math.floor(hours / 24)} d ${hours % 24} h`;
    return hours ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
  };

  /** The time of a move, in words. */
  const took = (seconds) => (seconds < 0.1 ? "< 0.1 s" : `${seconds.toFixed(1)} s`);

  const WAIT_S = 2; // what takes less time shows no seconds

  /** Show what is waited for in an element, and from two seconds on for how long, until it leaves the page. */
  Cellgames.passing = (line, words) => {
    const seconds = element("span", { "aria-hidden": "true" }), began = performance.now();
    line.replaceChildren(element("span", {}, words), seconds);
    const timer = setInterval(() => {
      const passed = Math.floor((performance.now() - began) / 1000);
      if (!line.isConnected) clearInterval(timer);
      else if (passed >= WAIT_S) seconds.textContent = ` ${passed} s`;
    }, 250);
  };

  Cellgames.RESIGNED = "resigned"; // the reason of a person who gave the game up
  Cellgames.LATE = "ran out of time: "; // how the reason of a loss on time begins

  Cellgames.words = { win: "wins", loss: "loses", draw: "draw" };

  /** The place of a seat in a finished game that has places, in words; else "". */
  Cellgames.place = function (frame, seat) {
    const place = (frame.places || [])[seat];
    return place ? `place ${place} of ${frame.places.length}` : "";
  };

  /** The goal of the game in a sentence: that of a seat, or those of all seats. */
  Cellgames.goal = function (layout, seat) {
    const goals = layout.goals || [], same = goals.every((goal) => goal === goals[0]);
    if (!goals.length) return null;
    const small = (text) => text[0].toLowerCase() + text.slice(1);
    const text = seat === null || seat === undefined
      ? (same ? goals[0] : goals.map((goal, at) => `${layout.players[at]}: ${small(goal)}`).join(" ")) : goals[seat];
    return element("p", { class: "cg-goal" }, element("b", {}, "Goal"), ` ${text}`);
  };

  /** Stands for a board where the game draws its own pictures. */
  class Pictures {
    constructor(image) {
      this.image = image;
    }

    draw(frame) {
      this.image.alt = frame.status;
      this.image.src = `data:image/svg+xml,${encodeURIComponent(frame.svg)}`; // an image runs no script
    }

    destroy() {}
  }

  /** A colour between two "#rrggbb", `share` of the way from the first to the second. */
  function mix(first, second, share) {
    const part = (colour, at) => parseInt(colour.slice(at, at + 2), 16);
    const mixed = (at) => Math.round(part(first, at) + (part(second, at) - part(first, at)) * share);
    return `#${[1, 3, 5].map((at) => mixed(at).toString(16).padStart(2, "0")).join("")}`;
  }

  const signed = (number) => `${number > 0 ? "+" : ""}${Number(number.toPrecision(4))}`.replace("-", "−");

  class Viewer extends Cellgames.Player {
    /**
     * @param root an element, which becomes the viewer's.
     * @param data what frames.replay_data gives; with `worth`, what an explanation says each part was worth, or with `explain`, a
     *   function that fetches it.
     */
    constructor(root, data) {
      super();
      this.root = root;
      this.data = data;
      this.layout = data.layout;
      this.at = 0;
      this.speed = 1;
      this.clock = new Cellgames.Clock(() => this.wait() / this.speed, (frames) => this.go(frames));
      this.charts = [];
      this.abort = new AbortController();
      root.classList.add("cg-viewer");
      root.replaceChildren(element("p", { class: "cg-note", role: "status" }, "Loading the game …"));
      this.ready = this.start().catch((error) => {
        const old = typeof DecompressionStream === "undefined";
        const why = old ? "This browser is too old to unpack the game." : `The game cannot be shown: ${error.message}`;
        root.replaceChildren(element("p", { class: "cg-note cg-error", role: "alert" }, why));
      });
    }

    async start() {
      this.frames = await Cellgames.unpack(this.data.frames);
      if (this.abort.signal.aborted) return;
      const wide = this.layout.kind === "cells" && this.layout.cols > 2 * this.layout.rows;
      this.root.classList.toggle("cg-wide", wide);
      this.build();
      this.observer = new ResizeObserver(() => this.charts.forEach((chart) => chart.resize()));
      this.observer.observe(this.root);
      this.charts.forEach((chart) => chart.resize());
      document.addEventListener("keydown", (event) => this.pressedKey(event), { signal: this.abort.signal });
      window.addEventListener("cg-theme", () => {
        this.charts.forEach((chart) => chart.restyle());
        this.seek(this.at); // colours of worth
      }, { signal: this.abort.signal });
      this.seek(0);
    }

    destroy() {
      this.pause();
      this.abort.abort();
      if (this.observer) this.observer.disconnect();
      if (this.board) this.board.destroy();
      this.root.replaceChildren();
    }

    // --- parts

    build() {
      const { layout } = this;
      const own = layout.kind === "picture";
      const canvas = element(own ? "img" : "canvas", { class: own ? "cg-picture" : "" });
      this.status = element("p", { class: "cg-status" });
      this.notes = element("p", { class: "cg-notes" });
      const holder = element("div", { class: "cg-board" }, canvas);
      const stage = element("div", { class: "cg-stage" }, Cellgames.goal(layout), this.status, holder, this.legend(), this.player());
      const side = element("div", { class: "cg-side" }, this.table(), this.notes, this.worthPanel(), this.moves());
      const curves = element("div", { class: "cg-curves" }, ...this.curves());
      this.root.replaceChildren(this.heading(), element("div", { class: "cg-body" }, stage, side), curves);
      const maxHeight = () => Math.max(300, window.innerHeight - 350);
      this.board = own ? new Pictures(canvas) : new Cellgames.Board(canvas, layout, { maxHeight });
    }

    heading() {
      const { record } = this.data;
      const line = Object.entries(record.parameters).map(([name, value]) => `${name} ${value}`);
      const facts = element("details", { class: "cg-facts" }, element("summary", {}, this.layout.credit || this.layout.title),
        element("p", {}, `Seed ${record.seed}; ${line.join(", ")}; cellgames ${record.version}`));
      return element("header", { class: "cg-head" }, element("h2", {}, this.layout.title),
        this.data.alone ? Cellgames.themeSwitch() : null, facts);
    }

    legend() {
      const items = (this.layout.legend || []).map(({ label, code, marks }) =>
        element("span", {}, Cellgames.sample(this.layout, code, marks, 16), label),
      );
      return items.length ? element("p", { class: "cg-legend" }, ...items) : null;
    }

    player() {
      const life = this.frames.some((frame) => frame.life);
      const speed = element("select", { class: "cg-speed", "aria-label": "Speed", title: life ? "1×: 30 generations a second" : "",
        onchange: () => { this.speed = Number(speed.value); } },
      SPEEDS.map((value) => element("option", { value, selected: value === 1 }, `${value}×`)));
      return this.controls(this.frames.length, ["Replay", "Moment", "Back", "Forward"], speed, true);
    }

    // --- what the parts of the game were worth

    worthPanel() {
      if (this.layout.kind === "picture" || !(this.data.worth || this.data.explain)) return null;
      this.worthBox = element("section", { class: "cg-worth", "aria-label": "Worth" });
      if (this.data.worth) this.showLayers();
      else {
        const ask = element("button", { type: "button", class: "cg-ask", onclick: async () => {
          ask.disabled = true;
          Cellgames.passing(ask, "Playing the game again without each of its parts …");
          try {
            this.data.worth = await this.data.explain();
            this.showLayers();
          } catch (error) {
            this.worthBox.replaceChildren(element("p", { class: "cg-pale", role: "alert" }, error.message));
          }
        } }, "What decided the game?");
        this.worthBox.append(ask);
      }
      return this.worthBox;
    }

    showLayers() {
      const { worth } = this.data;
      const choice = element("select", { class: "cg-speed", "aria-label": "What to value",
        onchange: () => this.showLayer(worth.layers[Number(choice.value)] || null) },
      element("option", { value: -1 }, "worth: not shown"),
      worth.layers.map((layer, i) => element("option", { value: i }, `worth of each ${layer.name}`)));
      this.worthList = element("ol", { class: "cg-moves cg-effects" });
      const note = element("p", { class: "cg-pale" }, `Worth: ${worth.measure}. Framed: the outcome hung on it.`);
      const details = element("details", { class: "cg-facts" }, element("summary", {}, "What stays the same"),
        element("p", {}, worth.kept));
      this.worthBox.replaceChildren(choice, note, this.worthList, details);
      this.worthList.hidden = true;
      if (!this.board) return; // the page is being built
      choice.value = 0;
      this.showLayer(worth.layers[0] || null);
    }

    showLayer(layer) {
      this.layer = layer;
      this.worthList.hidden = !layer;
      this.worthList.replaceChildren();
      this.pause();
      if (!layer) return void this.seek(this.at);
      const [harm, help] = this.worthColours();
      for (const { name, worth, result, first } of layer.effects) {
        const button = element("button", { type: "button", onclick: () => this.seek(this.frameOf(first)) },
          Cellgames.swatch(worth ? (worth > 0 ? help : harm) : "#ffffff"),
          element("span", { class: "cg-ply" }, signed(worth)), element("span", {}, name),
          result && element("span", { class: "cg-pale" }, "the outcome hung on it"));
        this.worthList.append(element("li", { class: "cg-all" }, button));
      }
      const worthy = layer.effects.filter(({ worth }) => worth);
      this.seek(worthy.length ? this.frameOf(Math.max(...worthy.map(({ first }) => first))) : this.at);
    }

    /** Of harm and of help. */
    worthColours() {
      return this.data.worth.colours.map((colour) => mix(colour, "#ffffff", Cellgames.either(0, 0.35)));
    }

    /** The frame in which the layer is shown after so many moves. */
    frameOf(moves) {
      const { generation } = this.layer;
      if (!generation) {
        const still = this.frames.findIndex((frame, i) => this.data.marks[i] === moves && (!frame.life || !frame.generation)
          && !(frame.generation && frame.done));
        return still < 0 ? this.frames.length - 1 : still;
      }
      let best = 0;
      this.frames.forEach((frame, i) => {
        const far = (at) => Math.abs((this.frames[at].generation || 0) - generation);
        if (frame.life && (!this.frames[best].life || far(i) < far(best))) best = i;
      });
      return best;
    }

    /** The cells of the layer in a frame, as boards paint them. */
    worthCells(frame) {
      const { layer } = this;
      if (!layer) return [];
      const moves = this.data.marks[this.at];
      if (layer.generation ? this.at !== this.frameOf(moves) : frame.life && frame.generation) return [];
      if (!layer.generation && frame.generation && frame.done) return [];
      const [harm, help] = this.worthColours();
      return layer.cells
        .filter(([, , , first, last]) => layer.generation || (first <= moves && moves <= last))
        .map(([cell, worth, framed]) =>
        [cell, worth && mix(Cellgames.either("#ffffff", "#1f1c19"), worth > 0 ? help : harm, Math.sqrt(Math.abs(worth) / layer.most)),
          framed]);
    }

    table() {
      const { layout } = this;
      const { agents } = this.data.record;
      this.columns = layout.columns.filter(({ name }) => this.frames.some(({ infos }) => known(infos[name])));
      const head = element("tr", {}, element("th", { scope: "col" }, "player"),
        this.columns.map((column) => element("th", { scope: "col", class: "cg-number" }, column.label)));
      this.rows = layout.players.map((player, seat) => {
        const result = element("span", { class: "cg-result" });
        const agent = element("span", { class: "cg-agent" }, agents[seat]);
        const name = element("span", { class: "cg-name" }, element("span", { class: "cg-seat" }, player), agent, result);
        const who = element("th", { scope: "row" }, element("div", {}, Cellgames.swatch(Cellgames.seatColour(layout, seat)), name));
        const cells = this.columns.map(() => element("td", { class: "cg-number" }));
        const row = element("tr", {}, who, ...cells);
        return { row, result, cells, values: [] };
      });
      const scroll = element("div", { class: "cg-scroll" }, element("table", { class: "cg-table" }, element("thead", {}, head),
        element("tbody", {}, this.rows.map(({ row }) => row))));
      return scroll;
    }

    moves() {
      const { record, marks } = this.data;
      this.list = element("ol", { class: "cg-moves", "aria-label": "Moves" });
      this.items = record.words.map((seats, number) => {
        const mover = record.movers[number];
        const times = (record.seconds || [])[number] || [];
        const parts = seats.map((part, seat) => {
          const colour = Cellgames.seatColour(this.layout, mover === null ? seat : mover);
          const time = mover === null && times[seat] !== undefined && element("span", { class: "cg-time" }, took(times[seat]));
          return element("span", { class: "cg-part" }, Cellgames.swatch(colour), part, time || "");
        });
        const button = element("button", { type: "button", "data-move": number + 1 }, element("span", { class: "cg-ply" }, number + 1),
          element("span", { class: "cg-parts" }, parts),
          mover !== null && times.length > 0 && element("span", { class: "cg-pale" }, took(times[0])),
          number < record.opening && element("span", { class: "cg-pale" }, "opening"));
        this.list.append(element("li", { class: mover === null ? "cg-all" : "" }, button));
        return button;
      });
      this.firstOf = [];
      marks.forEach((turn, i) => this.firstOf[turn] === undefined && (this.firstOf[turn] = i));
      this.list.addEventListener("click", (event) => {
        const button = event.target.closest("button");
        if (!button) return;
        this.pause();
        this.seek(this.firstOf[Number(button.dataset.move)]);
      });
      return this.items.length ? this.list : null;
    }

    curves() {
      for (const curve of this.layout.curves) {
        const values = this.frames.map(({ infos }) => infos[curve.name] || null);
        if (!values.some((row) => row && row.some((value) => value !== null))) continue;
        const chart = new Cellgames.Chart(this.layout, curve, values, (i) => {
          this.pause();
          this.seek(i);
        });
        this.charts.push(chart);
      }
      return this.charts.map((chart) => chart.root);
    }

    /** Return the status and results of a frame; the last one of a forfeited game says who forfeited it. */
    summary(frame) {
      const { forfeit, outcome } = this.data.record.result;
      if (!forfeit || this.at < this.frames.length - 1) return frame;
      const who = [forfeit.seat, ...(forfeit.also || [])].map((seat) => this.layout.players[seat]).join(", ");
      const late = forfeit.reason.startsWith(Cellgames.LATE);
      const status = forfeit.reason === Cellgames.RESIGNED ? `${who} resigned.` : late
        ? `${who} lost on time: ${forfeit.reason.slice(Cellgames.LATE.length)}` : `Forfeited by ${who}: ${forfeit.reason}`;
      return { status, results: outcome.map((result) => Cellgames.words[result]) };
    }

    // --- playing

    /** Show frame number `i`, from 0. */
    seek(i) {
      this.at = Math.min(this.frames.length - 1, Math.max(0, i));
      const frame = this.frames[this.at];
      this.board.draw(frame, { worth: this.worthCells(frame) });
      this.root.dataset.frame = this.at;
      if (!frame.life || this.clock.tells()) this.tell(frame);
    }

    /** Show what is said of a frame beside the board. */
    tell(frame) {
      const summary = this.summary(frame);
      this.status.textContent = summary.status;
      this.notes.textContent = frame.text.map(([label, value]) => `${label} ${value}`).join(" · ");
      this.range.value = this.at;
      this.range.setAttribute("aria-valuetext", summary.status);
      this.count.textContent = `${this.at + 1} / ${this.frames.length}`;
      this.charts.forEach((chart) => chart.show(this.at));
      this.showTable(frame, summary.results || []);
      this.showMove();
    }

    showTable(frame, results) {
      this.rows.forEach(({ row, result, cells, values }, seat) => {
        row.classList.toggle("cg-moving", frame.player === seat);
        const word = results[seat] || "";
        if (result.dataset.word !== word) {
          result.dataset.word = word;
          result.textContent = word && (Cellgames.place(frame, seat) || word);
          result.className = word ? `cg-result cg-${word}` : "cg-result";
        }
        this.columns.forEach((column, place) => {
          const value = (frame.infos[column.name] || [])[seat];
          if (values[place] === value && cells[place].firstChild) return;
          values[place] = value;
          cells[place].replaceChildren(Cellgames.cellOf(this.layout, column, value));
        });
      });
    }

    showMove() {
      const now = this.items[this.data.marks[this.at] - 1] || null;
      if (now === this.current) return;
      if (this.current) this.current.removeAttribute("aria-current");
      this.current = now;
      if (!now) return void (this.list && (this.list.scrollTop = 0));
      now.setAttribute("aria-current", "step");
      const item = now.parentElement; // the list scrolls, the page does not
      const over = item.offsetTop;
      if (over < this.list.scrollTop || over + item.offsetHeight > this.list.scrollTop + this.list.clientHeight)
        this.list.scrollTop = over - this.list.clientHeight / 2 + item.offsetHeight / 2;
    }

    /** Milliseconds of the present frame at speed 1. */
    wait() {
      if (this.frames[this.at].life) return LIFE;
      this.still = this.still || this.frames.filter((frame) => !frame.life).length;
      return Math.min(900, Math.max(140, 60000 / this.still));
    }

    go(frames) {
      this.seek(this.at + frames);
      if (this.at === this.frames.length - 1) this.pause();
    }

    pause() {
      const { running } = this.clock;
      this.clock.stop();
      if (this.toggle) Cellgames.relabel(this.toggle, "play", "Play");
      if (running && this.board) this.tell(this.frames[this.at]);
    }

    pressedKey(event) {
      const target = event.target;
      const inside = target === document.body || this.root.contains(target);
      if (!inside || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName);
      const act = {
        " ": () => (this.clock.running ? this.pause() : this.play()),
        ArrowLeft: () => this.stepBy(-1),
        ArrowRight: () => this.stepBy(1),
        Home: () => this.stepBy(-Infinity),
        End: () => this.stepBy(Infinity),
      }[event.key];
      if (!act || typing || (event.key === " " && /^(BUTTON|SUMMARY)$/.test(target.tagName))) return;
      event.preventDefault();
      act();
    }

    stepBy(frames) {
      this.pause();
      this.seek(this.at + frames);
    }
  }

  function known(values) {
    return values && values.some((value) => value !== null && value !== undefined);
  }

  Cellgames.Viewer = Viewer;
})();
