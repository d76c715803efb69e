// Tools: move, lasso, box, brush; zoom; how selections join.

import { button, el } from "./dom.js";
import { HOW } from "./selecting.js";

const TOOLS = [
  ["move", "Move", "Drag moves the map; hold Shift to lasso"],
  ["lasso", "Lasso", "Draw around points"],
  ["box", "Box", "Draw a box around points"],
  ["brush", "Brush", "Paint over points"],
];

/** Fill the toolbar. */
export function toolbar(host, { store, scene, act }) {
  const tools = TOOLS.map(([tool, word, title]) =>
    button(word, () => store.set({ tool }), { title, "data-tool": tool, "aria-pressed": "false" }));
  const how = el("select", { "aria-label": "How a selection joins the one before", on: { change: () => store.set({ how: how.value }) } },
    ...HOW.map(([key, word]) => el("option", { value: key, text: word })));
  host.append(
    ...tools, how,
    button("+", () => scene.look(scene.camera.zoomed(1.4)), { "aria-label": "Zoom in" }),
    button("−", () => scene.look(scene.camera.zoomed(1 / 1.4)), { "aria-label": "Zoom out" }),
    button("All", () => scene.fit(), { title: "Show all points" }),
    button("Clear", () => act.clear(), { title: "Select nothing" }),
  );
  store.follow(["tool"], (state) => {
    for (const each of tools) each.setAttribute("aria-pressed", String(each.dataset.tool === state.tool));
  });
}
