// What the points are coloured by: a choice of columns, a legend whose classes can be switched off, a bar that can be cut.

import { NAMED } from "./actions.js";
import { THEMES, hex, numberRamp } from "./colors.js";
import { button, choice, el, fill, readable, tick } from "./dom.js";
import { classColor } from "./ink.js";
import { maskOfCode } from "./selecting.js";

const MOST_SHOWN = 300; // classes in the legend

/** The panel of colours. */
export function colourPanel(page) {
  const { store, about, act } = page;
  const legend = el("div", { class: "inside" });
  const chooser = el("div");
  const roles = { label: "", column: "", found: "", quality: "quality: " };
  const offered = () => [
    ["", "nothing: all points alike"],
    ...about.columns.map((column) => [column.name, `${roles[column.role] ?? ""}${column.name}`]),
    ...(store.state.naming?.clusters.length || store.state.colour === NAMED ? [[NAMED, NAMED]] : []),
  ];
  store.follow(["colour", "naming"], show);
  function show({ colour }) {
    fill(chooser, choice("Colour by", offered(), colour ?? "", pick, { id: "colour-by" }));
  }
  async function pick(name) {
    try {
      await act.colourBy(name || null);
    } catch (error) {
      show(store.state); // what the points are coloured by, still
      throw error;
    }
  }
  store.follow(["column", "hidden", "theme", "names"], (state) => fill(legend, ...legendOf(page, state)));
  return el("details", { open: true }, el("summary", { text: "Colour" }), el("div", { class: "inside" }, chooser), legend);
}

function legendOf(page, state) {
  const { column } = state;
  if (!column) return [];
  if (column.kind === "classes") return classLegend(page, state);
  return numberLegend(page, state);
}

function classLegend(page, { column, hidden, theme, names }) {
  const { store, act } = page;
  const sizes = sizesOf(column);
  const order = [...sizes.keys()].filter((code) => sizes[code] && code > 0);
  if (order.length > 40) order.sort((one, other) => sizes[other] - sizes[one]);
  if (sizes[0]) order.push(0);
  const shown = order.slice(0, MOST_SHOWN);
  const items = shown.map((code) => {
    const name = code ? column.names[code - 1] : column.missing || "none";
    const color = code ? classColor(column, code - 1, theme) : THEMES[theme].missing;
    const box = el("input", {
      type: "checkbox", checked: !hidden.has(code), "aria-label": `Show ${name}`,
      on: { change: () => store.set({ hidden: toggled(hidden, code) }) },
    });
    const swatch = el("span", { class: "swatch" });
    swatch.style.background = hex(color);
    return el("li", {}, box, swatch, button(name, () => act.choose(maskOfCode(column.codes, code), {
      tool: "class", shape: null, query: `${column.name}: ${name}`,
    }), { class: "plain", title: `Select ${name}` }), el("span", { class: "count", text: readable(sizes[code]) }));
  });
  const all = () => store.set({ hidden: new Set() });
  const none = () => store.set({ hidden: new Set(order) });
  return [
    el("div", { class: "row" }, button("Show all", all), button("Hide all", none),
      tick("names on the map", names, (value) => store.set({ names: value }))),
    el("ul", { class: "list", "aria-label": `Classes of ${column.name}` }, ...items),
    order.length > MOST_SHOWN ? el("p", { class: "note", text: `${order.length - MOST_SHOWN} more, smaller classes.` }) : null,
  ];
}

function toggled(hidden, code) {
  const other = new Set(hidden);
  if (!other.delete(code)) other.add(code);
  return other;
}

/** How many points each code has; counted once for each column. */
export function sizesOf(column) {
  if (!column.sizes) {
    column.sizes = new Array(column.names.length + 1).fill(0);
    for (let i = 0; i < column.codes.length; i++) column.sizes[column.codes[i]]++;
  }
  return column.sizes;
}

function numberLegend({ store }, { column, range }) {
  const { low, high } = column;
  const bar = el("canvas", {
    class: "bar", width: 256, height: 1, role: "img", "aria-label": `Colours from ${readable(low)} to ${readable(high)}`,
  });
  const image = new ImageData(256, 1);
  image.data.set(numberRamp);
  bar.getContext("2d").putImageData(image, 0, 0);
  return [bar, ...rangeOf(column, range, (both) => store.set({ range: both }))];
}

/** Two sliders that cut a column of numbers or dates; `change` gets [low, high], or null for the whole range. */
export function rangeOf(column, range, change) {
  const { low, high } = column;
  const words = (value) => (column.kind === "date" ? new Date(value * 864e5).toISOString().slice(0, 10) : readable(value));
  const ends = [0, 1].map((k) => el("span", { text: words((range ?? [low, high])[k]) }));
  const make = (k, label) => el("input", {
    type: "range", min: low, max: high, step: (high - low) / 1000 || 1, value: (range ?? [low, high])[k], "aria-label": label,
    on: { input: moved },
  });
  const inputs = [make(0, `Lowest ${column.name}`), make(1, `Highest ${column.name}`)];
  function moved() {
    const both = inputs.map((input) => Number(input.value)).sort((one, other) => one - other);
    ends.forEach((end, k) => (end.textContent = words(both[k])));
    change(both[0] <= low && both[1] >= high ? null : both);
  }
  const whole = button("Whole range", () => {
    inputs.forEach((input, k) => (input.value = [low, high][k]));
    moved();
  });
  return [el("div", { class: "ends" }, ...ends), ...inputs, whole];
}
