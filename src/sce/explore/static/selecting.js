// Sets of points as masks: a byte for each point.

/** How a new choice joins the one before. */
export const HOW = [
  ["replace", "New selection"],
  ["add", "Add to selection"],
  ["subtract", "Take from selection"],
  ["intersect", "Keep what both have"],
];

/** The two masks together, as `how` says. */
export function combine(before, chosen, how) {
  if (how === "replace" || !before) return how === "subtract" || how === "intersect" ? new Uint8Array(chosen.length) : chosen;
  const out = new Uint8Array(chosen.length);
  for (let i = 0; i < out.length; i++) {
    if (how === "add") out[i] = before[i] | chosen[i];
    else if (how === "subtract") out[i] = before[i] & (1 - chosen[i]);
    else out[i] = before[i] & chosen[i];
  }
  return out;
}

/** The points of a mask, in rising order. */
export function rowsOf(mask) {
  const rows = new Uint32Array(countOf(mask));
  for (let i = 0, k = 0; i < mask.length; i++) if (mask[i]) rows[k++] = i;
  return rows;
}

/** How many points a mask has. */
export function countOf(mask) {
  let count = 0;
  for (let i = 0; i < mask.length; i++) count += mask[i];
  return count;
}

/** The mask of points with this code. */
export function maskOfCode(codes, code) {
  const mask = new Uint8Array(codes.length);
  for (let i = 0; i < mask.length; i++) if (codes[i] === code) mask[i] = 1;
  return mask;
}
