// The named clusters: start from those found, rename, recolour, merge, split, delete, undo, redo; blocks of the graph.

import { NAMED } from "./actions.js";
import { blocksPicture } from "./blocks.js";
import { describePanel } from "./describe.js";
import { button, el, fill, readable } from "./dom.js";
import { usualColor } from "./ink.js";
import { packBits } from "./source.js";

/** The panel of clusters; a file without a server has none. */
export function clustersPanel(page) {
  const { store, source, act, about } = page;
  if (!source.live) return null;
  const list = el("ul", { class: "list", "aria-label": "Clusters you named" });
  const marked = new Set(); // clusters to merge, by id
  const told = el("div");
  const note = el("p", { class: "note" });
  const undo = button("Undo", () => act.change({ kind: "undo" }), { id: "undo" });
  const redo = button("Redo", () => act.change({ kind: "redo" }), { id: "redo" });
  const found = button("Start from the clusters seen", () => act.change({ kind: "start_from_found", frame: store.state.frame }), { id: "from-found" });
  const merge = button("Merge marked", async () => {
    const { name } = store.state.naming.clusters.find(({ id }) => marked.has(id));
    if (await act.change({ kind: "merge", ids: [...marked], name })) marked.clear();
  }, { disabled: true });
  const split = button("Split by the selection", () => splitCluster(page), { title: "The selected points of a cluster become a cluster of their own" });
  const blocks = about.has.graph ? blocksPicture(page) : null;

  store.follow(["naming", "colour"], ({ naming }) => {
    if (!naming) return;
    const { clusters, writable } = naming;
    [undo.disabled, redo.disabled] = [!naming.undo || !writable, !naming.redo || !writable];
    for (const each of [found, split]) each.disabled = !writable;
    for (const id of [...marked]) if (!clusters.some((cluster) => cluster.id === id)) marked.delete(id);
    note.textContent = clusters.length ? "" : "None yet. Select points and give them a name, or start from the clusters that are seen on the map.";
    const renew = () => (merge.disabled = marked.size < 2 || !writable);
    fill(list, ...clusters.map((cluster, k) => item(page, cluster, k, marked, told, renew)));
    renew();
  });
  return el("details", { open: true }, el("summary", { text: "Clusters" }), el("div", { class: "inside" },
    note, list, el("div", { class: "row" }, undo, redo, merge, split), el("div", { class: "row" }, found,
      button("Colour by these", () => act.colourBy(NAMED))), told, blocks));
}

function item(page, cluster, k, marked, told, renew) {
  const { act, store } = page;
  const { writable } = store.state.naming;
  const mark = el("input", {
    type: "checkbox", checked: marked.has(cluster.id), "aria-label": `Mark ${cluster.name} for merging`,
    on: { change: () => { marked[mark.checked ? "add" : "delete"](cluster.id); renew(); } },
  });
  const color = el("input", {
    type: "color", value: cluster.color ?? usualColor(k), "aria-label": `Colour of ${cluster.name}`, disabled: !writable,
    on: { change: () => act.change({ kind: "recolor", id: cluster.id, color: color.value }) },
  });
  color.style.cssText = "width:26px;height:26px;padding:0;border:0;background:none";
  const name = button(cluster.name, () => act.selectCluster(k), { class: "plain", title: `Select ${cluster.name}` });
  const rename = button("✎", () => edit(), { "aria-label": `Rename ${cluster.name}`, disabled: !writable });
  const ask = button("?", () => describePanel(page, told, { cluster: cluster.id }), { "aria-label": `What is ${cluster.name}?` });
  const remove = button("×", () => act.change({ kind: "delete", id: cluster.id }), { "aria-label": `Delete ${cluster.name}`, disabled: !writable });
  const row = el("li", {}, mark, color, name, el("span", { class: "count", text: readable(cluster.size) }), ask, rename, remove);

  function edit() {
    const input = el("input", { type: "text", value: cluster.name, maxlength: 200, "aria-label": `New name of ${cluster.name}` });
    const done = () => {
      const text = input.value.trim();
      input.replaceWith(name);
      if (text && text !== cluster.name) act.change({ kind: "rename", id: cluster.id, name: text });
    };
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") done();
      if (event.key === "Escape") input.replaceWith(name);
    });
    input.addEventListener("blur", () => input.isConnected && done());
    name.replaceWith(input);
    input.focus();
    input.select();
  }
  return row;
}

/** The cluster that has most of the selection is split by it. */
async function splitCluster({ store, act, trouble }) {
  const { selection, naming } = store.state;
  if (!selection || !naming.clusters.length) return trouble("Select some points of a cluster first; they become a cluster of their own.");
  const shares = new Array(naming.clusters.length + 1).fill(0);
  for (let i = 0; i < selection.length; i++) if (selection[i]) shares[naming.codes[i]]++;
  shares[0] = 0;
  const most = shares.indexOf(Math.max(...shares));
  if (!shares[most]) return trouble("None of the selected points is in a cluster.");
  trouble("");
  const mask = selection.map((chosen, i) => (chosen && naming.codes[i] === most ? 1 : 0));
  const { id, name } = naming.clusters[most - 1];
  return act.change({ kind: "split", id, rows: packBits(mask), names: [`${name}, split off`, name], made: { tool: "rows" } });
}
