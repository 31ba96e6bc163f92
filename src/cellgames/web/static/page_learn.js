// How to play a game, with boards, and guided first games.
"use strict";
(() => {
  const app = Cellgames.app;
  const { el, clear, api } = app;

  const key = (game) => `cellgames.guide.${game}`;
  const read = (game) => app.kept(key(game)) || [];
  const write = (game, actions) => app.keep(key(game), actions);

  app.learnLinks = (game) => el("p", { class: "buttons" }, el("a", { class: "button", href: `#/learn/${game}` }, "How to play"),
    el("a", { class: "button", href: `#/guide/${game}` }, read(game).length ? "Go on with your guided game" : "Guided first game"));

  app.route(/^learn\/([^/]+)$/, async (main, [game], query, current) => {
    const lesson = await api(`/api/lesson?${new URLSearchParams({ game })}`);
    if (!current()) return null;
    document.title = `How to play ${lesson.title} · Cellgames`;
    const boards = [];
    const figure = (shown) => {
      const canvas = el("canvas", {});
      boards.push([canvas, shown]);
      return el("figure", { class: "lesson-board" }, el("div", {}, canvas), el("figcaption", {}, shown.caption));
    };
    const begun = read(lesson.game).length > 0;
    const buttons = () => el("p", { class: "buttons" },
      el("a", { class: "button main", href: `#/guide/${lesson.game}` }, begun ? "Go on with your guided game" : "Play a guided first game"),
      begun && el("button", { type: "button", onclick: () => { write(lesson.game, []); location.hash = `#/guide/${lesson.game}`; } },
        "Begin it again"),
      el("a", { class: "button", href: `#/play/${game}` }, "Play against an opponent"));
    clear(main, el("article", { class: "lesson" }, el("h1", {}, `How to play ${lesson.title}`),
      Cellgames.goal(lesson, null), buttons(),
      lesson.parts.map((part) => el("section", { class: "panel" }, el("h2", {}, part.title), el("p", {}, part.text),
        part.boards.length > 0 && el("div", { class: "lesson-boards" }, part.boards.map(figure)))),
      buttons(), el("p", { class: "credit" }, lesson.credit)));
    boards.forEach(([canvas, { layout, frame, marked }]) => {
      const board = new Cellgames.Board(canvas, layout, { maxHeight: 340 });
      board.draw(frame, { guide: marked });
      canvas.tabIndex = -1; // a picture
    });
    return null;
  });

  app.route(/^guide\/([^/]+)$/, async (main, [game], query, current) => {
    const lesson = game.replace(/-small-/, "-");
    const made = await api("/api/guide", { game: lesson, actions: read(lesson) });
    if (!current()) return null;
    return app.showGame(main, made, current);
  });

  // What a lesson says in a game that is being played; the game calls `draw` whenever it draws itself.
  app.LessonPanel = class {
    constructor(game) {
      this.game = game;
      this.count = el("p", { class: "lesson-count" });
      this.text = el("p", { class: "lesson-text", "aria-live": "polite" });
      this.buttons = el("p", { class: "buttons" });
      this.place = el("section", { class: "panel lesson-panel", "aria-label": "Lesson" }, this.count, this.text, this.buttons);
      game.root.querySelector(".board").before(this.place);
    }

    draw() {
      const { game } = this, { lesson, done } = game.view;
      game.again.hidden = true;
      write(lesson.game, done ? [] : lesson.actions);
      const over = done && !game.showing;
      if (game.showing || game.view.thinking) { this.frame(false); return; } // the text stays until what it asked for was shown
      this.count.textContent = over ? "The lesson is over" : `Guided game · step ${lesson.step + 1} of ${lesson.of}`;
      if (this.text.textContent !== lesson.text) this.text.textContent = lesson.text;
      if (over !== this.over || !this.buttons.children.length) this.offer(over);
      this.over = over;
      this.frame(game.free());
    }

    offer(over) {
      const { lesson } = this.game.view;
      const own = el("button", { type: "button", class: "main", onclick: () => this.play(own) }, "Play your first own game");
      clear(this.buttons, over && own, over && el("a", { class: "button", href: `#/learn/${lesson.game}` }, "How to play"),
        !over && el("a", { href: `#/learn/${lesson.game}` }, "Leave the lesson; you can go on later"));
    }

    // The cells and buttons to choose next.
    get cells() {
      const { lesson } = this.game.view, { tiles } = this.game.controls;
      return this.game.free() ? lesson.cells.filter((cell) => !(tiles || []).includes(cell)) : [];
    }

    frame(free) {
      const { lesson } = this.game.view, { controls, place } = this.game;
      const turns = lesson.press.filter((label) => label === "Turn").length;
      const left = this.cells.length > 0;
      for (const button of place.querySelectorAll("button")) {
        const label = button.textContent, asked = lesson.press.some((press) => label.startsWith(press));
        let on = asked && !left;
        if (label.startsWith("Turn")) on = asked && controls.turned !== turns;
        if (label.startsWith("Place it here")) on = lesson.cells.length > 0 && controls.anchor !== null && (controls.turned & 3) === turns;
        button.classList.toggle("guided", Boolean(free && on && !button.disabled));
      }
    }

    async play(button) {
      button.disabled = true;
      const { next } = this.game.view.lesson;
      try {
        const [games, levels] = await Promise.all([app.games(), api(`/api/levels?${new URLSearchParams({ game: next })}`)]);
        const { players } = games.find((one) => one.id === next);
        await app.begin({ game: next, parameters: {}, seat: players[0],
          agents: [levels.length ? levels[0].agent : "random"] });
      } catch (error) {
        button.disabled = false;
        app.notice(error.message);
      }
    }
  };
})();
