// How the map looks: theme, dots, density.

import { choice, el, slider, tick } from "./dom.js";

/** The panel of looks. */
export function looksPanel({ store, scene }) {
  const { state } = store;
  const factor = (name) => (value) => store.set({ [name]: 2 ** value });
  const kind = el("p", { class: "note" });
  scene.ondraw = ({ drawn, all }) => {
    kind.textContent = `${drawn.toLocaleString("en")} dots in view${all ? "" : " while moving"}, drawn by ${scene.points.kind === "webgl2" ? "WebGL" : "the processor"}.`;
  };
  return el("details", {}, el("summary", { text: "Looks" }), el("div", { class: "inside" },
    choice("Theme", [["light", "black on white"], ["dark", "light on dark"]], state.theme, (theme) => store.set({ theme }), { id: "theme" }),
    slider("Dot size", { min: -2, max: 2, step: 0.1, value: Math.log2(state.size) }, factor("size"), { id: "dot-size" }),
    slider("Opacity", { min: -4, max: 2, step: 0.1, value: Math.log2(state.opacity) }, factor("opacity"), { id: "dot-opacity" }),
    tick("Density instead of dots", state.density, (density) => store.set({ density }), { id: "density" }),
    kind));
}

const HELP = [
  ["drag", "move the map (in three dimensions: turn it)"], ["wheel, two fingers", "zoom"], ["double click", "show everything"],
  ["Shift + drag", "lasso"], ["click", "look at a point and its neighbours in the data"], ["Tab", "reach the map by keyboard"],
  ["arrows, + and -, 0", "move, zoom, show everything"], ["C", "a cross-hair, which the arrows move"],
  ["space, Enter", "set the corners of a selection, close it"], ["Escape", "end it"],
];

/** The panel of help. */
export function helpPanel() {
  const lines = HELP.flatMap(([key, what]) => [el("dt", { text: key }), el("dd", { text: what })]);
  return el("details", {}, el("summary", { text: "Help" }), el("div", { class: "inside" }, el("dl", { class: "help" }, ...lines)));
}
