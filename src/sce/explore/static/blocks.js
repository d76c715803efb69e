// The graph in blocks, ordered by cluster: the paper's spy plot, linked with the map.

import { ramp } from "./colors.js";
import { button, el, fill } from "./dom.js";
import { densityStops } from "./ink.js";

/** A button that fetches the picture, and the picture: a click selects the points of its row. */
export function blocksPicture(page) {
  const { source, store } = page;
  const host = el("div", { class: "inside" });
  const open = button("Show the graph in blocks", load, { id: "show-blocks" });
  store.on(["naming"], () => fill(host, open));

  async function load() {
    fill(host, el("p", { class: "note", text: "Ordering the graph by cluster …" }));
    try {
      fill(host, ...draw(page, await source.blocks(), load));
    } catch (error) {
      fill(host, open, el("p", { class: "note", text: error.message }));
    }
  }
  fill(host, open);
  return host;
}

function draw(page, blocks, again) {
  const { store, act, about } = page;
  const { side } = blocks;
  const canvas = el("canvas", {
    class: "blocks", width: side, height: side, role: "img",
    "aria-label": `The neighbour graph ordered by cluster: ${blocks.names.join(", ")}. Dense squares on the diagonal are clusters of the graph.`,
  });
  const colors = ramp(densityStops(store.state.theme));
  const image = new ImageData(side, side);
  for (let k = 0; k < blocks.pixels.length; k++) image.data.set(colors.subarray(4 * blocks.pixels[k], 4 * blocks.pixels[k] + 4), 4 * k);
  canvas.getContext("2d").putImageData(image, 0, 0);
  canvas.addEventListener("click", (event) => {
    const box = canvas.getBoundingClientRect();
    const at = (event.clientY - box.top) / box.height * about.n;
    choose(blocks.starts.findLastIndex((start) => start <= at));
  });
  function choose(k) {
    if (k < 0 || k >= blocks.names.length) return;
    const mask = new Uint8Array(about.n);
    for (let at = blocks.starts[k]; at < blocks.starts[k + 1]; at++) mask[blocks.order[at]] = 1;
    act.choose(mask, { tool: "block", shape: null, query: blocks.names[k] }, "replace");
  }
  const names = blocks.names.slice(0, 60).map((name, k) => button(name, () => choose(k), { class: "plain" }));
  return [canvas, el("p", { class: "note", text: "Each square is a cluster; dark means many edges. Click a row to select its points." }),
    el("div", { class: "row" }, ...names), button("Draw anew", again)];
}
