// The map by keyboard alone: move, zoom, a cross-hair that reads points out, and selections drawn with it.

import { boxOf } from "./pointer.js";

const STEP = 40; // CSS pixels a key press moves the map
const FINE = 6; // and the cross-hair, with Shift five times as far

/** Listens on the map while it has the focus; `act` as for the pointer, and say(text). */
export class Keys {
  constructor(host, scene, store, act) {
    Object.assign(this, { host, scene, store, act });
    this.cross = null; // the place of the cross-hair, in CSS pixels
    this.path = null; // the corners of a selection being drawn
    host.addEventListener("keydown", (event) => this.#press(event));
    host.addEventListener("blur", () => this.#hide());
    scene.layers.push((context) => this.#draw(context));
  }

  #press(event) {
    if (event.target !== this.host || event.altKey || event.metaKey || event.ctrlKey) return;
    const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const { scene } = this;
    if (event.key in arrows) this.#arrow(arrows[event.key], event.shiftKey);
    else if (event.key === "+" || event.key === "=") scene.look(scene.camera.zoomed(1.25));
    else if (event.key === "-" || event.key === "_") scene.look(scene.camera.zoomed(0.8));
    else if (event.key === "0") scene.fit();
    else if (event.key === "c" || event.key === "C") this.#toggle();
    else if (event.key === " " || event.key === "Enter") this.#mark(event.key === "Enter");
    else if (event.key === "Escape") this.#escape();
    else return;
    event.preventDefault();
  }

  #arrow([dx, dy], far) {
    const { scene } = this;
    if (!this.cross) {
      if (scene.dims === 3 && !far) scene.look(scene.camera.turned(-dx * 0.12, dy * 0.12));
      else scene.look(scene.camera.panned(-dx * STEP * scene.ratio, -dy * STEP * scene.ratio));
      return;
    }
    const box = this.host.getBoundingClientRect();
    const step = FINE * (far ? 5 : 1);
    this.cross = [
      Math.min(Math.max(this.cross[0] + dx * step, 0), box.width),
      Math.min(Math.max(this.cross[1] + dy * step, 0), box.height),
    ];
    if (this.path) this.act.outline({ polygon: this.#outline() });
    this.act.hover(scene.pick(...this.cross), ...this.cross);
    scene.drawOver();
  }

  #toggle() {
    if (this.cross) return this.#hide();
    const box = this.host.getBoundingClientRect();
    this.cross = [box.width / 2, box.height / 2];
    this.act.say("Cross-hair on: arrows move it, space sets a corner, Enter closes the selection, Escape ends.");
    this.act.hover(this.scene.pick(...this.cross), ...this.cross);
    return this.scene.drawOver();
  }

  /** Space sets a corner of a lasso, or of a box; Enter closes the selection, or clicks a point. */
  #mark(close) {
    if (!this.cross) return this.#toggle();
    if (!close) {
      this.path = [...(this.path ?? []), [...this.cross]];
      this.act.say(`Corner ${this.path.length}.`);
      return this.act.outline({ polygon: this.#outline() });
    }
    if (!this.path) return this.act.click(this.scene.pick(...this.cross), ...this.cross);
    const polygon = this.#outline();
    this.path = null;
    this.act.outline(null);
    if (polygon.length < 3) return this.act.say("A selection needs three corners, or two of a box.");
    const { camera, ratio } = this.scene;
    const shape = camera.turn ? null : polygon.map(([x, y]) => camera.toMap(x * ratio, y * ratio));
    return this.act.choose(this.scene.inside(polygon), { tool: "keyboard", shape });
  }

  #outline() {
    if (this.store.state.tool === "box" || this.path.length === 1) return boxOf(this.path[0], this.cross);
    return [...this.path, [...this.cross]];
  }

  #escape() {
    if (this.path) {
      this.path = null;
      this.act.outline(null);
    } else if (this.cross) this.#hide();
    else this.act.clear();
  }

  #hide() {
    this.cross = this.path = null;
    this.act.outline(null);
    this.act.hover(-1);
    this.scene.drawOver();
  }

  #draw(context) {
    if (!this.cross) return;
    const [x, y] = this.cross;
    for (const [color, width] of [["rgba(255,255,255,0.9)", 4], ["#c2185b", 1.6]]) {
      context.strokeStyle = color;
      context.lineWidth = width;
      context.beginPath();
      for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
        context.moveTo(x + 4 * dx, y + 4 * dy);
        context.lineTo(x + 14 * dx, y + 14 * dy);
      }
      context.stroke();
    }
  }
}
