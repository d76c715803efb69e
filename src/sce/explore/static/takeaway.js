// What can be taken along: pictures of the view, labels, a new map, the rows of the selection.

import { THEMES } from "./colors.js";
import { button, el, save } from "./dom.js";
import { rowsOf } from "./selecting.js";
import { packBits } from "./source.js";

const MOST_IN_SVG = 50000; // dots that an SVG draws one by one; more become an image in it

/** The panel of exports. */
export function takeawayPanel(page) {
  const { source, store, about, scene, trouble } = page;
  const get = (what, format, body) => async () => {
    try {
      const { name, blob } = await source.file(what, format, typeof body === "function" ? body() : body);
      save(name, blob);
    } catch (error) {
      trouble(error.message);
    }
  };
  const selected = () => {
    if (!store.state.selection) throw new Error("Select some points first.");
    return { rows: packBits(store.state.selection), format: "csv" };
  };
  const name = () => about.title.replace(/[^\w.-]+/g, "_").slice(0, 60) || "map";
  const rows = async () => {
    if (!store.state.selection) return trouble("Select some points first.");
    return source.live ? get("rows", "csv", selected)() : save(`${name()}-rows.csv`, await rowsAsCsv(source, store.state.selection));
  };
  const picture = (make, ending) => async () => save(`${name()}.${ending}`, await make(scene, store.state, page.names));
  const live = source.live ? [
    el("div", { class: "row" }, button("Labels as CSV", get("labels", "csv"), { id: "labels-csv" }), button("Labels as Parquet", get("labels", "parquet"))),
    el("div", { class: "row" }, button("New map with these labels", get("map", "npz")), button("Figures", get("figures", "json"))),
  ] : [];
  return el("details", {}, el("summary", { text: "Take along" }), el("div", { class: "inside" },
    el("div", { class: "row" }, button("Picture (PNG)", picture(pngOf, "png"), { id: "png" }), button("Picture (SVG)", picture(svgOf, "svg"), { id: "svg" })),
    el("div", { class: "row" }, button("Rows of the selection", rows, { id: "rows-csv" })), ...live));
}

/** The present view with twice the pixels of the page. */
export async function pngOf(scene) {
  const [ratio, camera, fitted] = [scene.ratio, scene.camera, scene.fitted];
  const factor = Math.max(2 / ratio, 1);
  const large = camera.with({ width: Math.round(camera.width * factor), height: Math.round(camera.height * factor), scale: camera.scale * factor });
  const style = scene.style();
  scene.points.draw(large, { ...style, size: style.size * factor }, false);
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width: large.width, height: large.height });
  const context = canvas.getContext("2d");
  context.drawImage(scene.points.canvas, 0, 0);
  context.scale(factor * ratio, factor * ratio);
  for (const layer of scene.layers) layer(context, scene);
  Object.assign(scene, { camera, fitted });
  scene.request();
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

/** The present view as SVG: circles, or an image where there are too many. */
export async function svgOf(scene, { ink, theme }, names) {
  const { width, height } = scene.camera;
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  const put = (tag, attributes, text) => {
    const made = document.createElementNS(space, tag);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text) made.textContent = text;
    svg.append(made);
  };
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("xmlns", space);
  put("rect", { width, height, fill: `rgb(${THEMES[theme].background.join(" ")})` });
  const { size, opacity } = scene.style();
  const seen = [];
  for (let i = 0; i < scene.n && seen.length <= MOST_IN_SVG; i++) {
    if (!ink.ink[i]) continue;
    const [x, y] = scene.place(i);
    if (x > -size && y > -size && x < width + size && y < height + size) seen.push([x, y, ink.ink[i]]);
  }
  if (seen.length > MOST_IN_SVG) put("image", { width, height, href: scene.points.canvas.toDataURL("image/png") });
  else for (const [x, y, number] of seen) {
    const color = [...ink.palette.subarray(4 * number, 4 * number + 3)].join(" ");
    put("circle", { cx: x.toFixed(1), cy: y.toFixed(1), r: (size / 2).toFixed(2), fill: `rgb(${color})`, "fill-opacity": opacity.toFixed(2) });
  }
  const { ratio } = scene;
  for (const { text, x, y } of names) {
    put("text", {
      x: x * ratio, y: y * ratio, "font-family": "system-ui, sans-serif", "font-weight": 600, "font-size": 13 * ratio, "text-anchor": "middle", "dominant-baseline": "central",
      fill: THEMES[theme].text, stroke: `rgb(${THEMES[theme].background.join(" ")})`, "stroke-width": 3 * ratio, "paint-order": "stroke",
    }, text);
  }
  return new Blob([new XMLSerializer().serializeToString(svg)], { type: "image/svg+xml" });
}

/** Ids and cells of the selected rows; text that a spreadsheet would take for a formula is defused. */
async function rowsAsCsv(source, mask) {
  const { columns, rows } = await source.rows([...rowsOf(mask)]);
  const cell = (value) => {
    const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value ?? "");
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = [columns, ...rows].map((row) => row.map(cell).join(","));
  return new Blob([`${lines.join("\n")}\n`], { type: "text/csv" });
}
