// A page of points: WebGL where a graphics card draws it, else the processor; fewer points while moving, all when still.

import { densityImage } from "./density.js";
import { CpuPoints } from "./points_cpu.js";
import { GlPoints, webglKind } from "./points_gl.js";

const MOVING_BUDGET = 35; // milliseconds a frame may take while the view moves
const FEWEST = 20000; // points drawn however slow the machine is

/** Two canvases in a host element, of which one shows the points. */
export class Points {
  constructor(host, { prefer = "auto", say = () => {} } = {}) {
    this.host = host;
    this.say = say;
    this.cost = 0; // milliseconds a point, as last measured
    this.top = null;
    const kind = prefer === "auto" ? webglKind() : prefer === "2d" ? "none" : "hardware";
    this.cpu = new CpuPoints(this.#canvas("points-2d"));
    this.gl = null;
    if (kind === "hardware") this.#useGl();
    if (kind === "none") say("This browser has no WebGL 2; the points are drawn without it.");
    this.#show();
  }

  /** "webgl2" or "2d". */
  get kind() {
    return this.active.kind;
  }

  setPositions(a, b, dims) {
    this.positions = [a, b, dims];
    this.active.setPositions(a, b, dims);
  }

  setInk(ink, palette) {
    this.inks = [ink, palette];
    this.active.setInk(ink, palette);
  }

  setTop(rows) {
    this.top = rows;
  }

  /** Draw what a camera sees; returns { drawn, milliseconds, all }. */
  draw(camera, style, moving) {
    const count = this.inks[0].length;
    const budget = this.cost ? MOVING_BUDGET / this.cost : 2e5;
    const step = moving ? Math.max(1, Math.ceil(count / Math.max(budget, FEWEST))) : 1;
    const start = performance.now();
    const drawn = style.density ? this.#drawDensity(camera, style, step) : this.active.draw(camera, style, step, this.top);
    const milliseconds = performance.now() - start;
    const expected = Math.max(count / step, 1);
    if (this.active === this.cpu || style.density) this.cost = (this.cost + milliseconds / expected) / (this.cost ? 2 : 1);
    return { drawn, milliseconds, all: step === 1 };
  }

  /** A canvas with the present picture, for export. */
  get canvas() {
    return this.active.canvas;
  }

  #drawDensity(camera, style, step) {
    const [a, b, dims] = this.positions;
    const { context, canvas } = this.cpu;
    if (canvas.width !== camera.width || canvas.height !== camera.height) {
      Object.assign(canvas, { width: camera.width, height: camera.height });
      this.cpu.image = null;
    }
    const seen = { a, b, dims, mix: style.mix, ink: this.inks[0], step };
    const { image, side } = densityImage(context, camera, seen, style.ramp);
    const small = new OffscreenCanvas(image.width, image.height);
    small.getContext("2d").putImageData(image, 0, 0);
    context.imageSmoothingEnabled = true;
    context.drawImage(small, 0, 0, image.width * side, image.height * side);
    return Math.ceil(this.inks[0].length / step);
  }

  /** Use the canvas that can do what is asked. */
  choose(density) {
    const wanted = density || !this.gl ? this.cpu : this.gl;
    if (wanted === this.active) return;
    this.active = wanted;
    this.#refill();
    this.#reveal();
  }

  #show() {
    this.active = this.gl ?? this.cpu;
    this.#refill();
    this.#reveal();
  }

  #refill() {
    if (this.positions) this.active.setPositions(...this.positions);
    if (this.inks) this.active.setInk(...this.inks);
  }

  #reveal() {
    for (const one of [this.cpu, this.gl]) if (one) one.canvas.hidden = one !== this.active;
  }

  #useGl() {
    const canvas = this.#canvas("points-gl");
    try {
      this.gl = new GlPoints(canvas);
    } catch (error) {
      canvas.remove();
      this.say(`${error.message} The points are drawn without it.`);
      return;
    }
    canvas.addEventListener("webglcontextlost", (event) => {
      event.preventDefault(); // so that it may be restored
      this.gl = null;
      canvas.hidden = true;
      this.say("The graphics card stopped drawing for this page; the points are drawn without it.");
      this.#show();
      this.onchange?.();
    });
    canvas.addEventListener("webglcontextrestored", () => {
      this.gl = new GlPoints(canvas);
      this.say("");
      this.#show();
      this.onchange?.();
    });
  }

  #canvas(name) {
    const canvas = document.createElement("canvas");
    canvas.className = `points ${name}`;
    canvas.setAttribute("aria-hidden", "true");
    this.host.append(canvas);
    return canvas;
  }
}
