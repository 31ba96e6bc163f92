/* Helpers that boards, viewer and pages share: data of frames, elements, canvases, samples of cells. */
(function () {
  "use strict";
  const Cellgames = (window.Cellgames = window.Cellgames || {});
  Cellgames.painters = Cellgames.painters || {};

  Cellgames.mod = (a, n) => ((a % n) + n) % n;

  /** Bytes out of base64. */
  Cellgames.bytes = function (text) {
    const raw = atob(text);
    const out = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
    return out;
  };

  /** The planes of a frame, decoded once. */
  Cellgames.planes = function (frame) {
    if (!frame.planes) {
      const cells = typeof frame.cells === "string" ? Cellgames.bytes(frame.cells) : frame.cells;
      const layers = frame.layers || {};
      const marks = typeof layers.marks === "string" ? Cellgames.bytes(layers.marks) : layers.marks;
      Object.defineProperty(frame, "planes", { value: { cells, marks: marks || new Uint8Array(cells.length) } });
    }
    return frame.planes;
  };

  /** The painter of a board in the colours of the theme. */
  Cellgames.painter = function (light) {
    const layout = Cellgames.themed(light);
    return Cellgames.painters[layout.kind === "torus" ? "torus" : layout.paint](layout);
  };

  // An element; text becomes text nodes, never markup. Properties that begin with "on" are listeners, "class" and "data-..."
  // attributes; others are set.
  Cellgames.element = (tag, properties = {}, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (value === null || value === undefined || value === false) continue;
      if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
      else if (name === "class") made.className = value;
      else if (name.includes("-") || ["for", "role", "colspan", "scope", "list"].includes(name)) made.setAttribute(name, value);
      else made[name] = value;
    }
    Cellgames.add(made, children);
    if (/^(cg-)?scroll$/.test(made.className)) Cellgames.reachable.observe(made);
    return made;
  };

  Cellgames.add = (parent, children) => {
    for (const child of children.flat(Infinity)) {
      if (child !== null && child !== undefined && child !== false) parent.append(child);
    }
    return parent;
  };

  /** A canvas of so many CSS pixels, sharp on every screen; returns its context, which counts in CSS pixels. */
  Cellgames.sharpen = function (canvas, width, height) {
    const dpr = window.devicePixelRatio || 1;
    const [w, h] = [Math.max(1, Math.round(width * dpr)), Math.max(1, Math.round(height * dpr))];
    if (canvas.width !== w || canvas.height !== h) {
      canvas.width = w;
      canvas.height = h;
      canvas.style.width = `${width}px`;
      canvas.style.height = `${height}px`;
    }
    const context = canvas.getContext("2d");
    context.setTransform(dpr, 0, 0, dpr, 0, 0);
    return context;
  };

  /** Makes elements that scroll sideways reachable by the keyboard, as long as there is something to scroll. */
  Cellgames.reachable = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
    }
  });

  const painters = new WeakMap(); // of samples, by layout and theme; a board has its own

  function painterFor(light) {
    const layout = Cellgames.themed(light);
    if (!painters.has(layout)) painters.set(layout, Cellgames.painter(light));
    return painters.get(layout);
  }

  /** A small picture of one cell, for legends and tables. */
  Cellgames.sample = function (layout, code, marks, side) {
    const canvas = Cellgames.element("canvas", { class: "cg-chip", "aria-hidden": "true" });
    const size = side || 18;
    canvas.redraw = () => {
      const context = Cellgames.sharpen(canvas, size, size);
      context.clearRect(0, 0, size, size);
      painterFor(layout).sample(context, size, code, marks || 0);
    };
    canvas.redraw();
    return canvas;
  };

  window.addEventListener("cg-theme", () => {
    for (const canvas of document.querySelectorAll("canvas")) if (canvas.redraw) canvas.redraw();
  });

  /** A tile of Grid Adaptation with a sequence from 0 to 7. */
  Cellgames.chip = (layout, sequence) => Cellgames.sample(layout, sequence + 1, 0, 20);
})();
