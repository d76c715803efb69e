// How large and how opaque dots are: by their number, their crowding, and how near one looks.

const USUAL_DIAMETER = 4.4; // CSS pixels, of the dots of 1,000 places on a page of USUAL_SIDE
const USUAL_PLACES = 1000, USUAL_SIDE = 630;
const LEAST = 1, MOST = 14; // CSS pixels
const GROWTH = 0.45; // the power of the magnification by which dots grow
const CELLS = 512; // squares across the map where crowding is counted
const DARKEST = 0.97; // the opacity of the most crowded places

/** How crowded the points of a map are: the places that they occupy, and the density of the most crowded ones. */
export function crowding(xy, dims) {
  const counts = new Uint32Array(CELLS * CELLS);
  const n = xy.length / dims;
  for (let i = 0; i < n; i++) counts[(xy[dims * i + 1] >> 7) * CELLS + (xy[dims * i] >> 7)]++;
  const occupied = counts.filter((count) => count > 0).sort();
  const crowd = occupied[Math.floor(0.95 * (occupied.length - 1))] ?? 1;
  return { n, places: occupied.length, density: crowd / (128 * 128) };
}

/** Diameter and opacity of dots on a page; `factors` are the reader's own, 1 for none. */
export function dotsFor(crowd, camera, fitted, ratio, factors) {
  const side = Math.sqrt(camera.width * camera.height) / ratio;
  const typical = Math.sqrt(crowd.n * Math.max(crowd.places, 1));
  const near = Math.max(camera.scale / fitted, 0.2) ** GROWTH;
  const hiding = Math.max(crowd.n / Math.max(crowd.places, 1) / 1.5, 1) ** -0.15; // smaller where dots hide one another
  const usual = USUAL_DIAMETER * (USUAL_PLACES / typical) ** 0.2 * Math.max(hiding, 0.55);
  const diameter = usual * Math.sqrt(side / USUAL_SIDE) * near * factors.size;
  const size = Math.min(Math.max(diameter, LEAST), MOST * Math.max(1, factors.size)) * ratio;
  const overlap = Math.max((crowd.density / camera.scale ** 2) * (Math.PI / 4) * size * size, 1);
  const least = overlap > 4 ? Math.max(0.35, 0.75 - 0.087 * Math.log(overlap / 4)) : 0.75;
  const opacity = Math.max(1 - (1 - DARKEST) ** (1 / overlap), crowd.n <= 20000 ? 0.85 : least);
  return { size, opacity: Math.min(1, Math.max(0.02, opacity * factors.opacity)) };
}
