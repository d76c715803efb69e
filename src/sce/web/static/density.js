// The density of points on the page: counts in small squares, smoothed, from the background's colour to dark (or bright).

const SIDE = 3; // pixels a square
const BLUR = 2; // passes of a blur over three squares

/** An image of the density of the points whose ink is not 0; `ramp` has 256 colours as RGBA bytes. */
export function densityImage(context, camera, { a, b, dims, mix, ink, step = 1 }, ramp) {
  const wide = Math.ceil(camera.width / SIDE);
  const high = Math.ceil(camera.height / SIDE);
  let counts = countPoints(camera, { a, b, dims, mix, ink, step }, wide, high);
  for (let k = 0; k < BLUR; k++) counts = blurred(blurred(counts, wide, high, 1), wide, high, wide);
  return paint(context, counts, wide, high, ramp);
}

function countPoints(camera, { a, b, dims, mix, ink, step }, wide, high) {
  const counts = new Float32Array(wide * high);
  const m = camera.matrix().map((value) => value / SIDE);
  const share = b ? mix : 0;
  for (let i = 0; i < ink.length; i += step) {
    if (ink[i] === 0) continue;
    const at = dims * i;
    let p = a[at], q = a[at + 1], z = dims === 3 ? a[at + 2] : 0;
    if (share) {
      p += share * (b[at] - p);
      q += share * (b[at + 1] - q);
      if (dims === 3) z += share * (b[at + 2] - z);
    }
    const x = Math.floor(m[0] * p + m[1] * q + m[2] * z + m[3]);
    const y = Math.floor(m[4] * p + m[5] * q + m[6] * z + m[7]);
    if (x >= 0 && y >= 0 && x < wide && y < high) counts[y * wide + x] += step;
  }
  return counts;
}

/** Weights 1 : 2 : 1 along rows (stride 1) or columns (stride of a row). */
function blurred(values, wide, high, stride) {
  const out = new Float32Array(values.length);
  const last = stride === 1 ? wide - 1 : high - 1;
  for (let y = 0; y < high; y++) {
    for (let x = 0; x < wide; x++) {
      const i = y * wide + x;
      const k = stride === 1 ? x : y;
      out[i] = (2 * values[i] + (k > 0 ? values[i - stride] : 0) + (k < last ? values[i + stride] : 0)) / 4;
    }
  }
  return out;
}

function paint(context, counts, wide, high, ramp) {
  let most = 0;
  for (const count of counts) if (count > most) most = count;
  const image = context.createImageData(wide, high);
  const pixels = new Uint32Array(image.data.buffer);
  const colors = new Uint32Array(ramp.buffer, ramp.byteOffset, 256);
  const least = Math.min(0.25, most / 16); // below this a square is empty
  const scale = most > least ? 255 / Math.log(most / least) : 0;
  for (let i = 0; i < counts.length; i++) {
    pixels[i] = colors[counts[i] > least ? Math.min(255, Math.round(Math.log(counts[i] / least) * scale)) : 0];
  }
  return { image, side: SIDE };
}
