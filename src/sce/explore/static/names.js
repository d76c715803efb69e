// Names of classes or clusters on the map, clear of one another.

export const FONT = "600 13px system-ui, sans-serif";
const SAMPLE = 20000; // points by which the place of a name is found
const MOST = 200; // names
const TURNS = 6; // of the search for the densest place
const REACH = 4500; // units of the map, of 65,535
const SMALL = 22; // CSS pixels: half the height of a cluster that has its name above it
const GAP = 3; // CSS pixels between names

/** Where the name of each code belongs: in the midst of its points where they are densest, found on a sample. */
export function anchors(codes, count, { a, dims }, ink) {
  const step = Math.max(1, Math.floor(codes.length / SAMPLE / Math.max(1, Math.min(count, 20) / 4)));
  const rows = Array.from({ length: count + 1 }, () => []);
  for (let i = 0; i < codes.length; i += step) if (codes[i] && ink[i]) rows[codes[i]].push(i);
  const found = rows.map((own, code) => (own.length && code ? { code, size: own.length, ...midst(own, a, dims) } : null));
  return found.filter(Boolean).sort((one, other) => other.size - one.size).slice(0, MOST);
}

/** The densest place of some points, from the fullest cell of a coarse grid to the mean of what is near, and how wide it is. */
function midst(rows, a, dims) {
  const cells = new Map();
  const cellOf = (i) => (a[dims * i] >> 12) * 16 + (a[dims * i + 1] >> 12);
  for (const i of rows) cells.set(cellOf(i), (cells.get(cellOf(i)) ?? 0) + 1);
  const [fullest] = [...cells].reduce((best, cell) => (cell[1] > best[1] ? cell : best));
  let near = rows.filter((i) => cellOf(i) === fullest);
  let point = meanOf(near, a, dims);
  for (let turn = 0; turn < TURNS; turn++) {
    const around = rows.filter((i) => point.every((value, c) => Math.abs(a[dims * i + c] - value) < REACH));
    if (around.length) near = around;
    point = meanOf(near, a, dims);
  }
  const heights = near.map((i) => Math.abs(a[dims * i + 1] - point[1])).sort((one, other) => one - other);
  return { point, half: heights[Math.floor(0.9 * (heights.length - 1))] };
}

function meanOf(rows, a, dims) {
  return Array.from({ length: dims }, (_, c) => rows.reduce((sum, i) => sum + a[dims * i + c], 0) / rows.length);
}

/** The names that have room on the page, the largest classes first: { text, x, y } in CSS pixels. */
export function placeNames(context, scene, found, nameOf) {
  context.font = FONT;
  const placed = [];
  for (const { code, point, half: tall } of found) {
    const text = shortened(nameOf(code));
    const [x, middle] = scene.camera.toPage(point).map((value) => value / scene.ratio);
    const reach = (tall * scene.camera.scale) / scene.ratio;
    const y = reach < SMALL ? Math.max(middle - reach - 14, 10) : middle; // above what it would hide
    const half = context.measureText(text).width / 2 + GAP;
    const box = [x - half, y - 9, x + half, y + 9];
    const meets = ({ box: other }) => box[0] < other[2] && box[2] > other[0] && box[1] < other[3] && box[3] > other[1];
    if (text && !placed.some(meets)) placed.push({ text, x, y, box });
  }
  return placed;
}

/** Write placed names. */
export function drawNames(context, placed, theme) {
  context.font = FONT;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.lineJoin = "round";
  context.lineWidth = 4;
  context.strokeStyle = theme.dark ? "rgba(22,24,29,0.85)" : "rgba(255,255,255,0.9)";
  context.fillStyle = theme.text;
  for (const { text, x, y } of placed) {
    context.strokeText(text, x, y);
    context.fillText(text, x, y);
  }
}

function shortened(text) {
  return text.length > 28 ? `${text.slice(0, 27)}…` : text;
}
