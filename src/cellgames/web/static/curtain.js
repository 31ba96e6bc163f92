// The curtain between people who share a screen and may not see the same: the game is hidden until the next one is there.
"use strict";
(() => {
  const app = Cellgames.app;
  const { el, clear, api } = app;

  app.Curtain = class {
    constructor(game) {
      this.game = game;
      this.words = el("h2", { role: "status", "aria-live": "polite" });
      this.button = el("button", { type: "button", class: "main", onclick: () => this.sit() });
      this.hint = el("p", { class: "hint" }, "The others look away until the choice is made.");
      this.root = el("section", { class: "panel curtain", "aria-label": "Pass the device", hidden: true }, this.words,
        el("p", { class: "buttons" }, this.button), this.hint);
    }

    // Hide the game or show it; what was known to the last person leaves the page.
    draw() {
      const { game } = this, { curtain } = game.view, hidden = Boolean(curtain);
      this.root.hidden = !hidden;
      for (const part of game.root.children) if (part !== this.root) part.hidden = hidden;
      if (!hidden) return;
      game.root.dataset.state = "curtain";
      game.moves = [];
      game.watched = null;
      clear(game.list);
      clear(game.table);
      game.lines.textContent = game.status.textContent = game.spoken.textContent = "";
      if (game.board) {
        game.board.reader.clear();
        game.board.wipe();
      }
      const name = curtain.seat === null ? null : game.layout.players[curtain.seat];
      const words = game.error || (name === null ? "The choices are made. The agents are thinking …" : `Pass the device to ${name}.`);
      if (this.words.textContent !== words) this.words.textContent = words;
      this.button.hidden = this.hint.hidden = name === null || Boolean(game.error);
      this.button.disabled = game.busy;
      this.button.textContent = `I am ${name}`;
    }

    async sit() {
      const { game } = this, { view } = game;
      if (game.busy || !view.curtain || view.curtain.seat === null) return;
      game.busy = true;
      this.draw();
      try {
        const shown = await api(`${game.path}/sit`, { seat: view.curtain.seat, turn: view.turn, epoch: view.epoch });
        game.busy = false;
        const news = shown.view.events.length;
        game.moves = shown.about.moves.slice(0, shown.about.moves.length - news);
        game.seen = shown.view.turn - news;
        game.take(shown.view);
        game.canvas.focus({ preventScroll: true });
      } catch (error) {
        game.busy = false;
        await game.refused(error);
      }
    }
  };
})();
