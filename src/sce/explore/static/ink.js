// From a column to the colours of points: a small number for each point, 0 for hidden, and the colours of the numbers.

import { THEMES, mixed, numberRamp, rgb } from "./colors.js";

const MOST_COLORS = 60000; // beyond this classes share colours
const ON_DARK = ["#3f90da", "#ffa90e", "#c4240a", "#9a45cf", "#a96b59", "#e76300", "#b9ac70", "#ffe680", "#d9fff2", "#92dadd"];
const FEW_COLORS = ["#3f90da", "#ffa90e", "#bd1f01", "#832db6", "#a96b59", "#e76300", "#b9ac70", "#004461", "#78000e", "#92dadd"];

/** The colour of the k-th cluster that has none of its own. */
export function usualColor(k, dark = false) {
  return (dark ? ON_DARK : FEW_COLORS)[k % FEW_COLORS.length];
}

/** The colour of a class, as the server chose it, or one of a few. */
export function classColor(column, k, theme) {
  const colors = (THEMES[theme].dark && column.dark_colors) || column.colors || FEW_COLORS;
  return rgb(colors[k % colors.length]);
}

/** Points without colours: black on white, or light on dark. */
export function plainInk(n, theme) {
  const palette = new Uint8Array(8);
  palette.set([...THEMES[theme].ink, 255], 4);
  return { ink: new Uint16Array(n).fill(1), palette };
}

/** The ink of a column of classes; classes in `hidden` (0 is "no class") are not drawn. */
export function classInk(column, hidden, theme) {
  const count = Math.min(column.names.length, MOST_COLORS);
  const palette = new Uint8Array(4 * (count + 2));
  palette.set([...THEMES[theme].missing, 255], 4);
  for (let k = 0; k < count; k++) palette.set([...classColor(column, k, theme), 255], 4 * (k + 2));
  const table = new Uint16Array(column.names.length + 1);
  for (let code = 0; code < table.length; code++) {
    table[code] = hidden.has(code) ? 0 : code === 0 ? 1 : 2 + ((code - 1) % count);
  }
  const { codes } = column;
  const ink = new Uint16Array(codes.length);
  for (let i = 0; i < ink.length; i++) ink[i] = table[codes[i]];
  return { ink, palette };
}

/** The ink of a column of numbers; those outside [low, high] of `range` are not drawn, unless it is null. */
export function numberInk(column, range, theme) {
  const palette = new Uint8Array(4 * 258);
  palette.set([...THEMES[theme].missing, 255], 4);
  palette.set(numberRamp, 8);
  const { values, low, high } = column;
  const scale = high > low ? 255 / (high - low) : 0;
  const ink = new Uint16Array(values.length);
  for (let i = 0; i < ink.length; i++) {
    const value = values[i];
    if (Number.isNaN(value)) ink[i] = range ? 0 : 1;
    else if (range && (value < range[0] || value > range[1])) ink[i] = 0;
    else ink[i] = 2 + Math.min(255, Math.max(0, Math.round((value - low) * scale)));
  }
  return { ink, palette };
}

/** The same ink without the points that other filters leave out. */
export function filtered(ink, masks) {
  if (!masks.length) return ink;
  const left = ink.slice();
  for (const mask of masks) for (let i = 0; i < left.length; i++) if (!mask[i]) left[i] = 0;
  return left;
}

/** The colours of a density, from the background to the ink of the theme, as stops. */
export function densityStops(theme) {
  const { background, ink, dark } = THEMES[theme];
  const blue = dark ? [90, 160, 235] : [33, 82, 148];
  return [background, mixed(background, blue, 0.35), blue, mixed(blue, ink, 0.75)];
}
