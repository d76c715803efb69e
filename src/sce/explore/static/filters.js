// Filters by column: points that do not pass are not drawn, and cannot be selected.

import { rangeOf } from "./colour.js";
import { button, choice, el, fill, tick } from "./dom.js";

const MOST_CLASSES = 200; // with a box each

/** The panel of filters. */
export function filterPanel({ store, about, act }) {
  const list = el("div", { class: "inside" });
  const columns = about.columns.filter((column) => ["classes", "number", "date"].includes(column.kind));
  const add = choice("Filter by", [["", "choose a column"], ...columns.map(({ name }) => [name, name])], "", async (name) => {
    try {
      if (name) open(await act.columnOf(name));
    } finally {
      add.querySelector("select").value = "";
    }
  }, { id: "filter-by" });

  function set(name, mask) {
    const filters = new Map(store.state.filters);
    if (mask) filters.set(name, { mask });
    else filters.delete(name);
    store.set({ filters });
  }

  function open(column) {
    const body = column.kind === "classes" ? classes(column, set) : rangeOf(column, null, (range) => set(column.name, range && within(column, range)));
    const box = el("fieldset", {}, el("legend", { text: column.name }), ...body, button("Remove", () => {
      set(column.name, null);
      box.remove();
    }));
    list.append(box);
  }

  const count = el("p", { class: "note" });
  store.follow(["ink"], ({ ink, filters }) => {
    if (!ink || !filters.size) return fill(count);
    let seen = 0;
    for (const number of ink.ink) if (number) seen++;
    return fill(count, `${seen.toLocaleString("en")} of ${about.n.toLocaleString("en")} points are drawn.`);
  });
  return el("details", {}, el("summary", { text: "Filters" }), el("div", { class: "inside" }, add, count), list);
}

function within({ values }, [low, high]) {
  const mask = new Uint8Array(values.length);
  for (let i = 0; i < mask.length; i++) if (values[i] >= low && values[i] <= high) mask[i] = 1;
  return mask;
}

function classes(column, set) {
  const left = new Set();
  return column.names.slice(0, MOST_CLASSES).map((name, k) => tick(name, true, (checked) => {
    if (checked) left.delete(k + 1);
    else left.add(k + 1);
    const mask = new Uint8Array(column.codes.length);
    for (let i = 0; i < mask.length; i++) if (!left.has(column.codes[i])) mask[i] = 1;
    set(column.name, left.size ? mask : null);
  }));
}
