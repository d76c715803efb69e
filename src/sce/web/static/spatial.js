// Which points are where on the page: a grid of points as they are projected now, for pointers and brushes.

const SIDE = 8; // pixels a square

/** The points of a view, sorted into squares. */
export class PageIndex {
  constructor(camera, { a, b, dims, mix, ink }) {
    Object.assign(this, { camera, a, b, dims, mix: b ? mix : 0, ink, m: camera.matrix() });
    this.wide = Math.ceil(camera.width / SIDE);
    this.high = Math.ceil(camera.height / SIDE);
    this.#sort();
  }

  /** The place of a point on the page. */
  place(i) {
    const { a, b, dims, mix, m } = this;
    const at = dims * i;
    let p = a[at], q = a[at + 1], z = dims === 3 ? a[at + 2] : 0;
    if (mix) {
      p += mix * (b[at] - p);
      q += mix * (b[at + 1] - q);
      if (dims === 3) z += mix * (b[at + 2] - z);
    }
    return [m[0] * p + m[1] * q + m[2] * z + m[3], m[4] * p + m[5] * q + m[6] * z + m[7]];
  }

  /** The point nearest to a place, within some pixels; -1 for none. */
  nearest(x, y, within) {
    let best = -1, least = within * within;
    this.#around(x, y, within, (i, dx, dy) => {
      const square = dx * dx + dy * dy;
      if (square <= least) [best, least] = [i, square];
    });
    return best;
  }

  /** Call `take` with all points within some pixels of a place. */
  within(x, y, radius, take) {
    this.#around(x, y, radius, (i, dx, dy) => {
      if (dx * dx + dy * dy <= radius * radius) take(i);
    });
  }

  #around(x, y, radius, take) {
    const first = (value, most) => Math.min(Math.max(Math.floor(value / SIDE), 0), most - 1);
    const [left, right] = [first(x - radius, this.wide), first(x + radius, this.wide)];
    const [top, bottom] = [first(y - radius, this.high), first(y + radius, this.high)];
    for (let row = top; row <= bottom; row++) {
      for (let k = this.starts[row * this.wide + left]; k < this.starts[row * this.wide + right + 1]; k++) {
        const [px, py] = this.place(this.order[k]);
        take(this.order[k], px - x, py - y);
      }
    }
  }

  #sort() {
    const n = this.ink.length;
    const square = new Int32Array(n);
    const starts = new Uint32Array(this.wide * this.high + 2);
    for (let i = 0; i < n; i++) {
      square[i] = this.ink[i] === 0 ? -1 : this.#square(i);
      if (square[i] >= 0) starts[square[i] + 2]++;
    }
    for (let k = 2; k < starts.length; k++) starts[k] += starts[k - 1];
    this.order = new Uint32Array(starts[starts.length - 1]);
    for (let i = 0; i < n; i++) if (square[i] >= 0) this.order[starts[square[i] + 1]++] = i;
    this.starts = starts;
  }

  #square(i) {
    const [x, y] = this.place(i);
    if (x < 0 || y < 0 || x >= this.camera.width || y >= this.camera.height) return -1;
    return Math.floor(y / SIDE) * this.wide + Math.floor(x / SIDE);
  }
}

/** The points inside a polygon of the page, given as [x, y] pairs: a byte for each point. */
export function insidePolygon(camera, positions, polygon, ink) {
  const { a, b, dims, mix } = positions;
  const m = camera.matrix();
  const share = b ? mix : 0;
  const xs = Float64Array.from(polygon, (corner) => corner[0]);
  const ys = Float64Array.from(polygon, (corner) => corner[1]);
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const [top, bottom] = [Math.min(...ys), Math.max(...ys)];
  const found = new Uint8Array(ink.length);
  for (let i = 0; i < ink.length; i++) {
    if (ink[i] === 0) continue;
    const at = dims * i;
    let p = a[at], q = a[at + 1], z = dims === 3 ? a[at + 2] : 0;
    if (share) {
      p += share * (b[at] - p);
      q += share * (b[at + 1] - q);
      if (dims === 3) z += share * (b[at + 2] - z);
    }
    const x = m[0] * p + m[1] * q + m[2] * z + m[3];
    const y = m[4] * p + m[5] * q + m[6] * z + m[7];
    if (x >= left && x <= right && y >= top && y <= bottom && isInside(x, y, xs, ys)) found[i] = 1;
  }
  return found;
}

/** Whether a place is inside a polygon, by the even-odd rule. */
export function isInside(x, y, xs, ys) {
  let inside = false;
  for (let k = 0, last = xs.length - 1; k < xs.length; last = k++) {
    if (ys[k] > y !== ys[last] > y && x < ((xs[last] - xs[k]) * (y - ys[k])) / (ys[last] - ys[k]) + xs[k]) inside = !inside;
  }
  return inside;
}
