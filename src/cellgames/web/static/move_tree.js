/* A tree of moves: a main line and variations, with comments; and the list in which a person sees it.

   A node has the move that led to it, its number of moves from the root (`ply`), its position as the server drew it
   (`place`, null until it has been asked for), `comment`, and `review`, what a search says of the move. The first of
   its `children` continues its line, the others are variations. */
"use strict";
(() => {
  const { el, clear } = Cellgames.app;
  const MOST_NODES = 20000, MOST_TEXT = 2000;

  class MoveTree {
    constructor() {
      this.root = this.node(null, null);
      this.at = this.root;
    }

    node(parent, move) {
      return { parent, move, ply: parent ? parent.ply + 1 : 0, place: null, comment: "", review: null, found: {}, children: [] };
    }

    /** The node of a move, a new one if it has not been played there. */
    add(parent, move, place) {
      let found = parent.children.find((child) => child.move === move);
      if (!found) parent.children.push((found = this.node(parent, move)));
      if (place) found.place = place;
      return found;
    }

    /** The nodes from the first move to this one. */
    path(node) {
      const found = [];
      for (let one = node; one.parent; one = one.parent) found.push(one);
      return found.reverse();
    }

    /** The nodes of the line that goes on from a node, without it. */
    line(node) {
      const found = [];
      for (let one = node.children[0]; one; one = one.children[0]) found.push(one);
      return found;
    }

    get main() { return this.line(this.root); }

    isMain(node) {
      for (let one = node; one.parent; one = one.parent) if (one.parent.children[0] !== one) return false;
      return true;
    }

    /** Make the variation with the node the line that its position goes on with. */
    promote(node) {
      for (let one = node; one.parent; one = one.parent) {
        const { children } = one.parent;
        if (children[0] === one) continue;
        children.splice(children.indexOf(one), 1);
        children.unshift(one);
        return;
      }
    }

    remove(node) {
      if (!node.parent) return;
      if (this.path(this.at).includes(node)) this.at = node.parent;
      node.parent.children.splice(node.parent.children.indexOf(node), 1);
    }

    /** The tree as a list of [place of the parent in the list, -1 for the root; move; comment, if there is one]. */
    toList() {
      const list = [], open = this.root.children.map((child) => [child, -1]).reverse();
      while (open.length) {
        const [node, parent] = open.pop(), number = list.length;
        list.push(node.comment ? [parent, node.move, node.comment] : [parent, node.move]);
        open.push(...node.children.map((child) => [child, number]).reverse());
      }
      return list;
    }

    /** Add what a list holds; what is no such list is left out, as files may come from anywhere. */
    addList(list) {
      if (!Array.isArray(list)) return;
      const nodes = [];
      for (const entry of list.slice(0, MOST_NODES)) {
        if (!Array.isArray(entry)) return;
        const [parent, move, comment] = entry, over = parent === -1 ? this.root : nodes[parent];
        if (!over || typeof move !== "string" || !move || move.length > 100) return;
        const made = this.add(over, move, null);
        if (typeof comment === "string") made.comment = comment.slice(0, MOST_TEXT);
        nodes.push(made);
      }
    }

    /** Where the tree is, as places in lists of children. */
    where() { return this.path(this.at).map((node) => node.parent.children.indexOf(node)); }

    goto(places) {
      this.at = this.root;
      for (const place of Array.isArray(places) ? places : []) {
        const next = this.at.children[place];
        if (!next) return;
        this.at = next;
      }
    }
  }

  class MoveList {
    /**
     * @param place an element, which the list fills.
     * @param tree the tree.
     * @param options `mover(node)`: the colour of who made the move; `select(node)`.
     */
    constructor(place, tree, options) {
      Object.assign(this, { place, tree, options, buttons: new Map(), shown: null });
      place.addEventListener("click", (event) => {
        const button = event.target.closest("button");
        if (button && button.node) options.select(button.node);
      });
    }

    draw() {
      this.buttons.clear();
      clear(this.place, this.line(this.tree.root));
      if (!this.tree.root.children.length) this.place.append(el("p", { class: "hint" }, "No moves yet."));
      this.shown = null;
      this.mark();
    }

    /** The moves that go on from a node; variations stand after the move that they replace. */
    line(from) {
      const parts = [];
      let node = from;
      while (node.children.length) {
        const [next, ...others] = node.children;
        parts.push(...this.move(next));
        for (const other of others) parts.push(el("div", { class: "variation" }, this.move(other), this.line(other)));
        node = next;
      }
      return parts;
    }

    move(node) {
      const { review } = node, mark = review && review.mark;
      const chip = el("span", { class: "chip" });
      chip.style.background = this.options.mover(node) || "transparent";
      const button = el("button", { type: "button", class: "ply", title: mark ? mark.name : null },
        el("small", {}, node.ply), chip, el("span", {}, node.move), mark && el("b", { class: `sign ${mark.name}` }, mark.sign));
      button.node = node;
      this.buttons.set(node, button);
      return [button, node.comment && el("span", { class: "comment" }, node.comment)];
    }

    /** Mark where the tree is; the list scrolls there, the page does not. */
    mark() {
      const now = this.buttons.get(this.tree.at) || null;
      if (now === this.shown) return;
      if (this.shown) this.shown.removeAttribute("aria-current");
      this.shown = now;
      if (!now) { this.place.scrollTop = 0; return; }
      now.setAttribute("aria-current", "step");
      const box = this.place.getBoundingClientRect(), own = now.getBoundingClientRect();
      if (own.top < box.top || own.bottom > box.bottom) this.place.scrollTop += own.top - box.top - box.height / 2;
    }
  }

  Cellgames.MoveTree = MoveTree;
  Cellgames.MoveList = MoveList;
})();
