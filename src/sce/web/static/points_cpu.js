// Points drawn by the processor into an image: without WebGL, and where WebGL is software anyway, where this is faster.

const NEAR = 1e9;

/** Draws points on a 2-D canvas. */
export class CpuPoints {
  kind = "2d";

  constructor(canvas) {
    this.context = canvas.getContext("2d", { alpha: false });
    if (!this.context) throw new Error("This browser has no 2-D canvas.");
    this.canvas = canvas;
  }

  /** The coordinates to draw, and those to mix them with, or null. */
  setPositions(a, b, dims) {
    Object.assign(this, { a, b, dims });
  }

  /** A number for each point, 0 for hidden, and the colours of the numbers as RGBA bytes. */
  setInk(ink, palette) {
    this.ink = ink;
    this.palette = palette;
  }

  /** Draw every `step`-th point, then `top`, a list of points, over them. Returns how many were drawn. */
  draw(camera, style, step, top) {
    const { width, height } = camera;
    this.#resize(width, height);
    this.pixels.fill(packed(style.background, 255));
    if (this.dims === 3) this.depth.fill(-NEAR);
    const stamp = makeStamp(style.size, style.opacity);
    let drawn = this.#layer(camera, style, stamp, null, step, style.fade);
    if (top?.length) {
      if (this.dims === 3) this.depth.fill(-NEAR);
      const bold = makeStamp(style.size * style.topSize, Math.max(style.opacity, 0.85));
      drawn += this.#layer(camera, style, bold, top, Math.max(1, Math.min(step, Math.ceil(top.length / 2e5))), 0);
    }
    this.context.putImageData(this.image, 0, 0);
    return drawn;
  }

  #resize(width, height) {
    if (this.image?.width === width && this.image?.height === height) return;
    this.canvas.width = width;
    this.canvas.height = height;
    this.image = this.context.createImageData(width, height);
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.depth = this.dims === 3 ? new Float32Array(width * height) : null;
  }

  #layer(camera, style, stamp, rows, step, fade) {
    const colors = inks(this.palette, style.background, fade);
    const m = camera.matrix();
    const { a, b, ink, dims } = this;
    const mix = b ? style.mix : 0;
    const { width, height } = camera;
    const reach = stamp.reach;
    const count = rows ? rows.length : ink.length;
    let drawn = 0;
    for (let k = 0; k < count; k += step) {
      const i = rows ? rows[k] : k;
      const number = ink[i];
      if (number === 0) continue;
      let p = a[dims * i];
      let q = a[dims * i + 1];
      let z = dims === 3 ? a[dims * i + 2] : 0;
      if (mix) {
        p += mix * (b[dims * i] - p);
        q += mix * (b[dims * i + 1] - q);
        if (dims === 3) z += mix * (b[dims * i + 2] - z);
      }
      const x = (m[0] * p + m[1] * q + m[2] * z + m[3]) | 0;
      const y = (m[4] * p + m[5] * q + m[6] * z + m[7]) | 0;
      if (x < reach || y < reach || x >= width - reach || y >= height - reach) continue;
      drawn++;
      if (dims === 3) this.#deepDot(x, y, m[8] * p + m[9] * q + m[10] * z, colors[number], stamp);
      else dot(this.pixels, y * width + x, width, colors[number], stamp);
    }
    return drawn;
  }

  #deepDot(x, y, depth, color, stamp) {
    const { pixels, depth: nearest } = this;
    const width = this.image.width;
    const at = y * width + x;
    for (let k = 0; k < stamp.count; k++) {
      const place = at + stamp.dy[k] * width + stamp.dx[k];
      if (stamp.weight[k] < 100 || nearest[place] > depth) continue;
      nearest[place] = depth;
      pixels[place] = color;
    }
  }
}

/** Blend a dot into the pixels, red and blue at once. */
function dot(pixels, at, width, color, stamp) {
  const { count, dx, dy, weight } = stamp;
  const redBlue = color & 0xff00ff;
  const green = color & 0x00ff00;
  for (let k = 0; k < count; k++) {
    const place = at + dy[k] * width + dx[k];
    const w = weight[k];
    if (w >= 256) {
      pixels[place] = color;
      continue;
    }
    const old = pixels[place];
    const rb = ((redBlue * w + (old & 0xff00ff) * (256 - w)) >>> 8) & 0xff00ff;
    const g = ((green * w + (old & 0x00ff00) * (256 - w)) >>> 8) & 0x00ff00;
    pixels[place] = (0xff000000 | rb | g) >>> 0;
  }
}

/** The pixels of a round dot, and how much of each it covers, in 256ths. */
function makeStamp(diameter, opacity) {
  const reach = Math.max(0, Math.ceil((diameter - 1) / 2));
  const dx = [], dy = [], weight = [];
  for (let y = -reach; y <= reach; y++) {
    for (let x = -reach; x <= reach; x++) {
      const cover = Math.min(1, Math.max(0, diameter / 2 + 0.5 - Math.hypot(x, y))) * Math.min(1, diameter) ** 2;
      const w = Math.round(256 * opacity * cover);
      if (w > 2) {
        dx.push(x);
        dy.push(y);
        weight.push(w);
      }
    }
  }
  return {
    reach: reach + 1, count: dx.length,
    dx: Int32Array.from(dx), dy: Int32Array.from(dy), weight: Int32Array.from(weight),
  };
}

/** The colours as pixels, mixed with the background by `fade`. */
function inks(palette, background, fade) {
  const found = new Uint32Array(palette.length / 4);
  for (let k = 0; k < found.length; k++) {
    const color = [0, 1, 2].map((c) => Math.round(palette[4 * k + c] * (1 - fade) + background[c] * fade));
    found[k] = packed(color, 255);
  }
  return found;
}

function packed([red, green, blue], alpha) {
  return ((alpha << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}
