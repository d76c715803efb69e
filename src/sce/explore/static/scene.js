// The map on the page: points, the camera, and what is drawn over them.

import { Camera, FIRST_TURN } from "./camera.js";
import { THEMES, ramp } from "./colors.js";
import { crowding, dotsFor } from "./dots.js";
import { densityStops } from "./ink.js";
import { PageIndex, insidePolygon } from "./spatial.js";
import { Points } from "./points.js";

const STILL_AFTER = 140; // milliseconds without a movement, then all points are drawn
const FLIGHT = 450; // milliseconds from one view to another

/** Draws the state of a store into a host element. */
export class Scene {
  constructor(host, store, { prefer, say }) {
    this.host = host;
    this.store = store;
    this.points = new Points(host, { prefer, say });
    this.points.onchange = () => this.request();
    this.layers = []; // functions (context, scene) that draw over the points
    this.lookers = []; // functions that are called when one looks from another place
    this.overlay = document.createElement("canvas");
    this.overlay.className = "overlay";
    this.overlay.setAttribute("aria-hidden", "true");
    host.append(this.overlay);
    this.mix = 0;
    this.frames = [];
    new ResizeObserver(() => this.#resized()).observe(host);
    store.on(["ink", "top", "theme", "size", "opacity", "density", "faded"], () => this.request());
  }

  /** Show these coordinates, moving to them from the present ones if `morph`. */
  setPoints({ xy, dims, n }, { keepView = false } = {}) {
    Object.assign(this, { a: xy, b: null, dims, n, mix: 0 });
    this.points.setPositions(xy, null, dims);
    this.crowd = crowding(xy, dims);
    this.index = null;
    if (!keepView || !this.camera) this.fit(false);
    this.request();
  }

  /** Show a mix of two frames: 0 is the first, 1 the second. */
  setBlend(a, b, mix) {
    if (this.a !== a || this.b !== b) {
      Object.assign(this, { a, b });
      this.points.setPositions(a, b, this.dims);
    }
    this.mix = mix;
    this.request();
  }

  /** Pixels of the device to a CSS pixel. */
  get ratio() {
    return Math.min(window.devicePixelRatio || 1, 3);
  }

  /** Look at all points, or at those of some rows. */
  fit(fly = true, rows = null) {
    const [low, high] = this.#bounds(rows);
    const [width, height] = this.#size();
    const turn = this.dims === 3 ? (this.camera?.turn ?? FIRST_TURN) : null;
    const target = Camera.around(low, high, width, height, turn);
    if (!rows) this.fitted = target.scale;
    if (fly && this.camera) this.fly(target);
    else this.look(target);
  }

  /** Look from another place, at once. */
  look(camera) {
    this.camera = camera;
    this.index = null;
    for (const looker of this.lookers) looker(camera);
    this.request();
  }

  /** Move to another place. */
  fly(target) {
    if (window.matchMedia("(prefers-reduced-motion: reduce)").matches) return this.look(target);
    const [from, start] = [this.camera, performance.now()];
    const token = (this.flight = {});
    const step = (now) => {
      if (this.flight !== token) return;
      const share = Math.min(1, Math.max(0, now - start) / FLIGHT);
      const eased = share * share * (3 - 2 * share);
      const scale = from.scale * (target.scale / from.scale) ** eased;
      const center = from.center.map((value, k) => value + (target.center[k] - value) * eased);
      this.look(target.with(share < 1 ? { center, scale } : {}));
      if (share < 1) requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
    return undefined;
  }

  /** Where a point is on the page, in pixels of the device. */
  place(i) {
    return this.#index().place(i);
  }

  /** The point nearest to a place in CSS pixels, -1 for none. */
  pick(x, y, within = 10) {
    return this.#index().nearest(x * this.ratio, y * this.ratio, within * this.ratio);
  }

  /** The mask of points within a polygon of CSS pixels. */
  inside(polygon) {
    const corners = polygon.map(([x, y]) => [x * this.ratio, y * this.ratio]);
    return insidePolygon(this.camera, this.#positions(), corners, this.store.state.ink.ink);
  }

  /** Mark the points within a brush in CSS pixels. */
  brush(x, y, radius, mask) {
    this.#index().within(x * this.ratio, y * this.ratio, radius * this.ratio, (i) => (mask[i] = 1));
  }

  /** Draw soon. */
  request() {
    clearTimeout(this.rest);
    this.rest = setTimeout(() => this.#draw(false), STILL_AFTER);
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      this.#draw(true);
    });
  }

  /** The look of the points, as the renderers take it. */
  style() {
    const { theme, size, opacity, density, faded } = this.store.state;
    const dots = dotsFor(this.crowd, this.camera, this.fitted, this.ratio, { size, opacity });
    return {
      ...dots, background: THEMES[theme].background, mix: this.mix, fade: faded ? 0.72 : 0, topSize: faded ? 1.15 : 1,
      density, ramp: density ? ramp(densityStops(theme)) : null,
    };
  }

  #draw(moving) {
    const { ink, top, density } = this.store.state;
    if (!this.camera || !ink) return;
    if (this.lastInk !== ink) this.points.setInk(ink.ink, ink.palette);
    if (this.lastInk !== ink) this.index = null;
    this.lastInk = ink;
    this.points.choose(density);
    this.points.setTop(top);
    const drawn = this.points.draw(this.camera, this.style(), moving);
    if (moving && drawn.all) clearTimeout(this.rest);
    this.drawOver();
    this.host.dataset.drawn = drawn.drawn;
    this.host.dataset.still = String(drawn.all);
    this.ondraw?.(drawn);
  }

  /** Draw what is over the points. */
  drawOver() {
    const context = this.overlay.getContext("2d");
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.overlay.width, this.overlay.height);
    context.scale(this.ratio, this.ratio);
    for (const layer of this.layers) layer(context, this);
  }

  #positions() {
    return { a: this.a, b: this.b, dims: this.dims, mix: this.mix };
  }

  #index() {
    if (!this.index || this.index.mix !== (this.b ? this.mix : 0)) {
      this.index = new PageIndex(this.camera, { ...this.#positions(), ink: this.store.state.ink.ink });
    }
    return this.index;
  }

  #bounds(rows) {
    const low = Array(this.dims).fill(Infinity), high = Array(this.dims).fill(-Infinity);
    const count = rows ? rows.length : this.n;
    for (let k = 0; k < count; k++) {
      const at = this.dims * (rows ? rows[k] : k);
      for (let c = 0; c < this.dims; c++) {
        low[c] = Math.min(low[c], this.a[at + c]);
        high[c] = Math.max(high[c], this.a[at + c]);
      }
    }
    const padding = rows ? 0.15 * Math.max(...high.map((value, c) => value - low[c]), 400) : 0;
    return [low.map((value) => value - padding), high.map((value) => value + padding)];
  }

  #size() {
    const box = this.host.getBoundingClientRect();
    return [Math.max(1, Math.round(box.width * this.ratio)), Math.max(1, Math.round(box.height * this.ratio))];
  }

  #resized() {
    const [width, height] = this.#size();
    this.overlay.width = width;
    this.overlay.height = height;
    if (!this.camera) return;
    const factor = Math.min(width / this.camera.width, height / this.camera.height);
    this.fitted *= factor;
    this.look(this.camera.with({ width, height, scale: this.camera.scale * factor }));
  }
}
