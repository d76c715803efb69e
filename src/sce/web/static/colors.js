// Colours as numbers.

const VIRIDIS = ["440154", "482878", "3e4a89", "31688e", "26838f", "1f9e89", "35b779", "6ece58", "b5de2b", "fde725"];

/** Red, green and blue, 0 to 255, of "#rrggbb". */
export function rgb(hex) {
  const text = hex.replace("#", "");
  return [0, 2, 4].map((k) => parseInt(text.slice(k, k + 2), 16));
}

/** "#rrggbb" of red, green and blue. */
export function hex(color) {
  return `#${color.map((value) => Math.round(value).toString(16).padStart(2, "0")).join("")}`;
}

/** Between two colours. */
export function mixed(one, other, share) {
  return one.map((value, k) => value + share * (other[k] - value));
}

/** 256 colours along a few, as RGBA bytes. */
export function ramp(stops) {
  const colors = stops.map((stop) => (typeof stop === "string" ? rgb(stop) : stop));
  const bytes = new Uint8Array(4 * 256);
  for (let k = 0; k < 256; k++) {
    const at = (k / 255) * (colors.length - 1);
    const low = Math.min(Math.floor(at), colors.length - 2);
    bytes.set([...mixed(colors[low], colors[low + 1], at - low).map(Math.round), 255], 4 * k);
  }
  return bytes;
}

/** The colours of numbers, from low to high. */
export const numberRamp = ramp(VIRIDIS);

/** The colours of a theme: background, ink of points, of text and of points without a class. */
export const THEMES = {
  light: { background: [255, 255, 255], ink: [0, 0, 0], text: "#1d1d22", missing: [199, 199, 199], dark: false },
  dark: { background: [22, 24, 29], ink: [237, 237, 237], text: "#eceef2", missing: [84, 87, 92], dark: true },
};
