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
