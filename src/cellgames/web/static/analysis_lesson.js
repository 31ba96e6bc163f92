// Learning from mistakes: the player finds a better move for each of them, and a search says whether it is one.
"use strict";
(() => {
  const app = Cellgames.app;
  const { el, clear } = app;

  app.AnalysisLesson = class extends app.AnalysisTools {
    /** Ask for a better move than each of these nodes; `told` hears whether the first try was one. */
    learn(nodes, told) {
      this.lesson = { nodes, told, place: -1, found: 0 };
      this.lessonBox.hidden = false;
      this.pose();
    }

    /** The next mistake; after the last one, how many better moves were found. */
    pose() {
      const { lesson } = this, node = lesson.nodes[++lesson.place];
      if (!node) return lesson.told ? app.open()
        : this.leave(`You found ${lesson.found} of ${app.plural(lesson.nodes.length, "better move")}.`);
      lesson.node = node;
      lesson.over = false;
      lesson.first = true;
      const { place, nodes } = lesson, mistake = node.move && `Mistake ${place + 1} of ${nodes.length}: ` +
        `${this.name(node.review.player)} played ${node.move}.`;
      const task = this.turn.length > 1 ? "place units so that you win when you end the turn" : "find the only move that wins";
      this.teach(mistake ? `${mistake} Find a better move.` : `${this.name(this.now.player)} to move: ${task}.`);
      this.root.scrollIntoView();
      return this.select(node.parent);
    }

    /** The moves that win, or the one that is better. */
    get turn() { return this.lesson.node.review.best.split(" "); }

    /** Whether what the search says is hidden, so that the player finds it. */
    get secret() { return Boolean(this.lesson) && !this.lesson.over; }

    teach(words) {
      const { lesson } = this, button = (text, act) => el("button", { type: "button", onclick: act }, text);
      clear(this.lessonBox, el("p", { role: "status" }, words), el("p", { class: "buttons small" },
        lesson.over ? button("Next", () => this.pose()) : button("Show it", () => this.reveal()),
        button("Leave", () => this.leave(""))));
    }

    /** Note how the first try at a node ended. */
    tried(found) {
      const { first, told } = this.lesson;
      this.lesson.first = false;
      if (first && told) told(found);
    }

    reveal() {
      const { lesson } = this;
      this.tried(false);
      lesson.over = true;
      this.teach(`It was ${lesson.node.review.best}.`);
      if (this.turn.length > 1) {
        this.tree.at = lesson.node.parent;
        this.playLine(this.turn);
      } else this.go(lesson.node.parent);
      this.show();
    }

    leave(words) {
      this.lesson = null;
      clear(this.lessonBox, words && el("p", { role: "status" }, words));
      this.lessonBox.hidden = !words;
      this.select(this.tree.at);
    }

    solved(words) {
      const { lesson } = this;
      lesson.found++;
      this.tried(true);
      lesson.over = true;
      this.teach(words);
      this.show();
    }

    /** Go back to where it began, without the nodes from `wrong` on. */
    missed(words, wrong) {
      this.tried(false);
      this.teach(words);
      if (wrong !== this.lesson.node) this.tree.remove(wrong);
      this.moves.draw();
      this.select(this.lesson.node.parent);
    }

    /** Judge a move that was tried instead of the mistake, or the turn that it ends. */
    async judge(node) {
      const { lesson, turn } = this, { review, parent, move } = lesson.node;
      if (lesson.over) return;
      if (turn.length > 1) {
        if (node.move !== turn[turn.length - 1]) return;
        if ((node.place.chances || [])[parent.place.player] === 1) this.solved("You win: this turn decides the game.");
        else this.missed("That turn does not win at once. Try another one.", this.tree.path(node)[0]);
        return;
      }
      if (node.parent !== parent) return;
      if (node !== lesson.node && node.move !== review.best && !node.review) {
        this.teach("The search looks at your move …");
        this.stop();
        const job = (this.job = new AbortController());
        try { await this.search(node, this.quick, job); } catch (error) { this.teach(error.message); }
        if (this.job === job) this.job = null;
      }
      const best = node.move === review.best;
      if (this.closed || this.lesson !== lesson || lesson.node.parent !== parent || !(best || node.review)) return;
      if (best || !node.review.mark) this.solved(`${node.move} is ${best ? "the best move" : "good, too"}.`);
      else this.missed(`${node.move} ${node.move === move ? "was played" : "loses value, too"}. Try another move.`, node);
    }
  };
})();
