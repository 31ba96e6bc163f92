/* A chart of a recorded game: lines over its frames; a click asks the viewer for a frame. */
(function () {
  "use strict";
  const Cellgames = window.Cellgames;
  const { element } = Cellgames;

  const CHART = 92; // CSS pixels high

  class Chart {
    constructor(layout, curve, values, onSeek) {
      this.layout = layout;
      this.values = values;
      this.lines = curve.lines || layout.players.map((label, seat) => ({ label, seat }));
      const known = values.flat().filter((value) => value !== null && value !== undefined);
      this.top = curve.most || known.reduce((most, value) => Math.max(most, value), 1);
      this.canvas = element("canvas", { class: "cg-chart", role: "img", "aria-label": `Curves: ${curve.label}` });
      const title = element("figcaption", {}, curve.label);
      if (curve.lines) {
        const legend = element("span", { class: "cg-keys" });
        for (const line of curve.lines) legend.append(element("span", {}, Cellgames.swatch(line.colour), line.label));
        title.append(legend);
      }
      this.root = element("figure", { class: "cg-figure" }, title, element("div", { class: "cg-plot" }, this.canvas));
      this.now = 0;
      const seek = (event) => {
        const box = this.canvas.getBoundingClientRect();
        const share = (event.clientX - box.left - this.left) / Math.max(1, this.wide);
        onSeek(Math.round(Math.min(1, Math.max(0, share)) * (values.length - 1)));
      };
      this.canvas.addEventListener("pointerdown", (event) => {
        this.canvas.setPointerCapture(event.pointerId);
        seek(event);
      });
      this.canvas.addEventListener("pointermove", (event) => event.buttons & 1 && seek(event));
    }

    /** The colour of a line on the canvas. */
    colour({ colour, seat }) {
      return colour || Cellgames.themed(this.layout).colours[seat];
    }

    /** The colours of the page have changed. */
    restyle() {
      this.width = 0;
      this.resize();
    }

    resize() {
      const width = this.canvas.parentElement.clientWidth;
      if (!width || width === this.width) return;
      this.width = width;
      this.left = 38;
      this.wide = width - this.left - 6;
      this.base = element("canvas");
      const context = Cellgames.sharpen(this.base, width, CHART);
      this.background(context);
      this.lines.forEach((line, i) => this.line(context, this.colour(line), i));
      this.show(this.now);
    }

    x(i) {
      return this.left + (this.values.length > 1 ? (i / (this.values.length - 1)) * this.wide : 0);
    }

    y(value) {
      return CHART - 6 - (value / this.top) * (CHART - 14);
    }

    background(context) {
      context.fillStyle = Cellgames.themed(this.layout).ground;
      context.fillRect(this.left, 0, this.wide + 1, CHART);
      context.strokeStyle = Cellgames.either("#00000022", "#ffffff22");
      context.fillStyle = Cellgames.styled("--cg-pale");
      context.font = "11px system-ui, sans-serif";
      context.textAlign = "right";
      context.textBaseline = "middle";
      const step = tick(this.top);
      for (let value = 0; value <= this.top; value += step) {
        const y = Math.round(this.y(value)) + 0.5;
        context.beginPath();
        context.moveTo(this.left, y);
        context.lineTo(this.left + this.wide, y);
        context.stroke();
        context.fillText(String(value), this.left - 5, Math.min(CHART - 6, Math.max(7, y)));
      }
    }

    line(context, colour, place) {
      context.lineJoin = "round";
      const halo = Cellgames.dark() && light(colour) < 90 ? "#ffffffaa" : "#00000088"; // to tell it from the ground
      for (const [stroke, width] of [[halo, 2.9], [colour, 1.9]]) {
        context.strokeStyle = stroke;
        context.lineWidth = width;
        context.beginPath();
        let open = false;
        this.values.forEach((row, i) => {
          const value = row ? row[place] : null;
          if (value === null || value === undefined) open = false;
          else if (open) context.lineTo(this.x(i), this.y(value));
          else {
            context.moveTo(this.x(i), this.y(value));
            open = true;
          }
        });
        context.stroke();
      }
    }

    show(i) {
      this.now = i;
      if (!this.base) return;
      const context = Cellgames.sharpen(this.canvas, this.width, CHART);
      context.clearRect(0, 0, this.width, CHART);
      context.drawImage(this.base, 0, 0, this.width, CHART);
      const x = Math.round(this.x(i)) + 0.5;
      context.strokeStyle = Cellgames.either("#c2185b", "#ff6fa8");
      context.lineWidth = 1.5;
      context.beginPath();
      context.moveTo(x, 0);
      context.lineTo(x, CHART);
      context.stroke();
      this.lines.forEach((line, place) => {
        const value = (this.values[i] || [])[place];
        if (value === null || value === undefined) return;
        context.beginPath();
        context.arc(x, this.y(value), 3, 0, 2 * Math.PI);
        context.fillStyle = this.colour(line);
        context.fill();
        context.lineWidth = 1;
        context.stroke();
      });
    }
  }

  /** How light a colour "#rrggbb" is, from 0 to 255. */
  function light(colour) {
    const [red, green, blue] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
    return 0.3 * red + 0.59 * green + 0.11 * blue;
  }

  /** A round number between ticks, some three of them. */
  function tick(top) {
    const size = 10 ** Math.floor(Math.log10(Math.max(1, top)));
    return [size / 10, size / 5, size / 2, size, 2 * size, 5 * size].find((step) => step >= 1 && top / step <= 3.5) || size;
  }

  Cellgames.Chart = Chart;
})();
