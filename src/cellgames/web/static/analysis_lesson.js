// Learning from mistakes: the player finds a better move for each of them, and a search says whether it is one.
"use strict";
(() => {
  const app = Cellgames.app;
  const { el, clear } = app;

  app.AnalysisLesson = class extends app.AnalysisTools {
    /** Ask for a better move than each of these nodes. */
    learn(nodes) {
      this.lesson = { nodes, place: -1, found: 0 };
      this.lessonBox.hidden = false;
      this.pose();
    }

    /** The next mistake; after the last one, how many better moves were found. */
    pose() {
      const { lesson } = this, node = lesson.nodes[++lesson.place];
      if (!node) {
        this.leave(`You found ${lesson.found} of ${app.plural(lesson.nodes.length, "better move")}.`);
        return;
      }
      lesson.node = node;
      lesson.over = false;
      this.teach(`Mistake ${lesson.place + 1} of ${lesson.nodes.length}: ${this.name(node.review.player)} played ${node.move}. Find a ` +
        `better move.`);
      this.select(node.parent);
      this.root.scrollIntoView();
    }

    /** Whether what the search says is hidden, so that the player finds it. */
    get secret() { return Boolean(this.lesson) && !this.lesson.over; }

    teach(words) {
      const { lesson } = this, button = (text, act, main) => el("button", { type: "button", class: main ? "main" : "", onclick: act },
        text);
      clear(this.lessonBox, el("p", { role: "status" }, words), el("p", { class: "buttons small" },
        lesson.over ? button("Next", () => this.pose(), true) : button("Show it", () => this.reveal()),
        button("Leave", () => this.leave(""))));
    }

    reveal() {
      const { lesson } = this;
      lesson.over = true;
      this.teach(`${lesson.node.review.best} was better.`);
      this.go(lesson.node.parent);
      this.show();
    }

    leave(words) {
      this.lesson = null;
      clear(this.lessonBox, words && el("p", { role: "status" }, words));
      this.lessonBox.hidden = !words;
      this.select(this.tree.at);
    }

    /** Judge a move that was tried instead of the mistake. */
    async judge(node) {
      const { lesson } = this, { review, parent, move } = lesson.node;
      if (node.parent !== parent || lesson.over) return;
      if (node !== lesson.node && node.move !== review.best && !node.review) {
        this.teach("The search looks at your move …");
        this.stop();
        const job = (this.job = new AbortController());
        try { await this.search(node, this.quick, job); } catch (error) { this.teach(error.message); }
        if (this.job === job) this.job = null;
      }
      const best = node.move === review.best;
      if (this.closed || this.lesson !== lesson || lesson.node.parent !== parent || !(best || node.review)) return;
      if (best || !node.review.mark) {
        lesson.found++;
        lesson.over = true;
        this.teach(`${node.move} is ${best ? "the best move" : "good, too"}.`);
        this.show();
        return;
      }
      this.teach(`${node.move} ${node.move === move ? "was played" : "loses value, too"}. Try another move.`);
      if (node !== lesson.node) this.tree.remove(node);
      this.moves.draw();
      this.select(parent);
    }
  };
})();
