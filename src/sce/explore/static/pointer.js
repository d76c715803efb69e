// Mouse, touch and pen on the map: move and zoom, and draw selections.

const CLICK = 5; // CSS pixels that a click may move
const BRUSH = 18; // CSS pixels, the radius of the brush
const WHEEL = 0.0018; // the logarithm of the magnification for each unit of the wheel

/** Listens on the map; `act` has choose(mask, made), hover(row, x, y), click(row), outline(polygon or null). */
export class Pointer {
  constructor(host, scene, store, act) {
    Object.assign(this, { host, scene, store, act });
    this.down = new Map(); // pointers that touch the map, by id
    host.addEventListener("pointerdown", (event) => this.#press(event));
    host.addEventListener("pointermove", (event) => this.#move(event));
    for (const end of ["pointerup", "pointercancel"]) host.addEventListener(end, (event) => this.#lift(event));
    host.addEventListener("pointerleave", () => act.hover(-1));
    host.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    host.addEventListener("dblclick", () => scene.fit());
    host.addEventListener("contextmenu", (event) => event.preventDefault());
  }

  #at(event) {
    const box = this.host.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  #press(event) {
    if (event.target.closest("button, .card")) return;
    this.host.setPointerCapture(event.pointerId);
    this.scene.flight = null;
    const at = this.#at(event);
    this.down.set(event.pointerId, at);
    this.start = at;
    this.moved = false;
    if (this.down.size > 1) return this.#begin(null, at);
    const { tool } = this.store.state;
    const wanted = event.button === 1 || event.button === 2 ? "move" : event.shiftKey && tool === "move" ? "lasso" : tool;
    this.turning = event.button === 2;
    return this.#begin(wanted, at);
  }

  #begin(tool, at) {
    this.tool = tool;
    this.path = tool && tool !== "move" ? [at] : null;
    this.painted = tool === "brush" ? new Uint8Array(this.scene.n) : null;
    if (!tool) this.act.outline(null);
    if (this.painted) this.scene.brush(...at, BRUSH, this.painted);
  }

  #move(event) {
    const at = this.#at(event);
    const before = this.down.get(event.pointerId);
    if (!before) return this.act.hover(this.scene.pick(...at), ...at);
    const [dx, dy] = [at[0] - before[0], at[1] - before[1]];
    this.moved ||= Math.hypot(at[0] - this.start[0], at[1] - this.start[1]) > CLICK;
    if (this.down.size === 2) this.#pinch(event.pointerId, at);
    this.down.set(event.pointerId, at);
    if (this.down.size > 1 || !this.moved) return undefined;
    if (this.tool === "move") return this.#drag(dx, dy, event);
    return this.#trace(at);
  }

  #drag(dx, dy, event) {
    const { scene } = this;
    const ratio = scene.ratio;
    const turns = scene.dims === 3 && !this.turning && !event.ctrlKey;
    if (turns) scene.look(scene.camera.turned(-dx * 0.008, dy * 0.008));
    else scene.look(scene.camera.panned(dx * ratio, dy * ratio));
  }

  /** Two fingers: the map follows both. */
  #pinch(id, at) {
    const [other] = [...this.down].filter(([each]) => each !== id).map(([, place]) => place);
    const before = this.down.get(id);
    const middle = (one) => [(one[0] + other[0]) / 2, (one[1] + other[1]) / 2];
    const apart = (one) => Math.max(Math.hypot(one[0] - other[0], one[1] - other[1]), 1);
    const ratio = this.scene.ratio;
    const [x, y] = middle(at), [x0, y0] = middle(before);
    const moved = this.scene.camera.panned((x - x0) * ratio, (y - y0) * ratio);
    this.scene.look(moved.zoomed(apart(at) / apart(before), x * ratio, y * ratio));
  }

  #trace(at) {
    if (this.tool === "brush") {
      this.scene.brush(...at, BRUSH, this.painted);
      return this.act.outline({ brush: at, radius: BRUSH, painted: this.painted });
    }
    if (this.tool === "box") this.path = boxOf(this.start, at);
    else this.path.push(at);
    return this.act.outline({ polygon: this.path });
  }

  #lift(event) {
    if (!this.down.delete(event.pointerId) || this.down.size) return;
    const { tool, path } = this;
    const at = this.#at(event);
    this.act.outline(null);
    if (event.type === "pointercancel" || !tool) return;
    if (!this.moved) this.act.click(this.scene.pick(...at, event.pointerType === "touch" ? 22 : 10), ...at);
    else if (tool === "brush") this.act.choose(this.painted, { tool, shape: null });
    else if (path && path.length > 2) this.act.choose(this.scene.inside(path), { tool, shape: this.#onMap(path) });
  }

  /** A polygon in the coordinates of the map, for the file; null in three dimensions. */
  #onMap(path) {
    const { camera, ratio } = this.scene;
    return camera.turn ? null : path.map(([x, y]) => camera.toMap(x * ratio, y * ratio));
  }

  #wheel(event) {
    event.preventDefault();
    const { scene } = this;
    scene.flight = null;
    const [x, y] = this.#at(event);
    const pixels = event.deltaY * (event.deltaMode === 1 ? 30 : event.deltaMode === 2 ? 400 : 1);
    const factor = Math.exp(-WHEEL * Math.max(-400, Math.min(400, pixels)) * (event.ctrlKey ? 4 : 1));
    scene.look(scene.camera.zoomed(factor, x * scene.ratio, y * scene.ratio));
  }
}

/** The corners of a box. */
export function boxOf([x0, y0], [x1, y1]) {
  return [[x0, y0], [x1, y0], [x1, y1], [x0, y1]];
}
