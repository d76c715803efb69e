// Where we look from. Coordinates are those that travel, 0 to 65,535 along the longest side; a pixel is a device pixel.

const CLOSEST = 40; // pixels a unit
const MARGIN = 0.06; // of the page, around a frame

/** A view of a map in two or three dimensions; values never change, methods return another view. */
export class Camera {
  constructor({ center, scale, turn = null, width, height }) {
    Object.assign(this, { center, scale, turn, width, height });
    Object.freeze(this);
  }

  /** The view that shows a box. */
  static around(low, high, width, height, turn = null) {
    const center = low.map((value, k) => (value + high[k]) / 2);
    let sides = low.map((value, k) => Math.max(high[k] - value, 1));
    if (turn) sides = sides.map(() => Math.hypot(...sides));
    const room = 1 - 2 * MARGIN;
    const scale = Math.min((width * room) / sides[0], (height * room) / sides[1], CLOSEST);
    return new Camera({ center, scale, turn, width, height });
  }

  with(change) {
    return new Camera({ ...this, ...change });
  }

  /** Moved by pixels. */
  panned(dx, dy) {
    if (!this.turn) {
      const center = [this.center[0] - dx / this.scale, this.center[1] + dy / this.scale];
      return this.with({ center });
    }
    const [right, up] = this.turn;
    const center = this.center.map((value, k) => value - (dx * right[k] - dy * up[k]) / this.scale);
    return this.with({ center });
  }

  /** Magnified about a pixel, which stays where it is. */
  zoomed(factor, x = this.width / 2, y = this.height / 2) {
    const scale = Math.min(Math.max(this.scale * factor, 1e-4), CLOSEST);
    const dx = x - this.width / 2;
    const dy = y - this.height / 2;
    const moved = this.panned(-dx, -dy).with({ scale });
    return moved.panned(dx, dy);
  }

  /** Turned about the page's upright and level axes; only for three dimensions. */
  turned(around, over) {
    if (!this.turn) return this;
    const [x, y, z] = this.turn;
    const mixed = (a, b, angle) => a.map((value, k) => Math.cos(angle) * value + Math.sin(angle) * b[k]);
    const right = mixed(x, z, around);
    const deep = mixed(z, x, -around);
    return this.with({ turn: [right, mixed(y, deep, over), mixed(deep, y, -over)] });
  }

  /** The page's place of a point of the map: [x, y]. */
  toPage(point) {
    const d = point.map((value, k) => value - this.center[k]);
    if (!this.turn) return [this.width / 2 + d[0] * this.scale, this.height / 2 - d[1] * this.scale];
    const along = (axis) => axis[0] * d[0] + axis[1] * d[1] + axis[2] * (d[2] ?? 0);
    return [this.width / 2 + along(this.turn[0]) * this.scale, this.height / 2 - along(this.turn[1]) * this.scale];
  }

  /** The point of a map in two dimensions at a place of the page. */
  toMap(x, y) {
    return [this.center[0] + (x - this.width / 2) / this.scale, this.center[1] - (y - this.height / 2) / this.scale];
  }

  /** The rows by which points become page coordinates: x = m[0..2] . p + m[3], y = m[4..6] . p + m[7], depth likewise. */
  matrix() {
    const s = this.scale;
    const [right, up, deep] = this.turn ?? [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
    const c = [this.center[0], this.center[1], this.center[2] ?? 0];
    const dot = (axis) => axis[0] * c[0] + axis[1] * c[1] + axis[2] * c[2];
    return [
      s * right[0], s * right[1], s * right[2], this.width / 2 - s * dot(right),
      -s * up[0], -s * up[1], -s * up[2], this.height / 2 + s * dot(up),
      deep[0], deep[1], deep[2], -dot(deep),
    ];
  }
}

/** Axes that look at three dimensions a little from above. */
export const FIRST_TURN = [
  [0.9, 0, -0.436],
  [0.13, 0.954, 0.27],
  [0.416, -0.3, 0.858],
];
