// The selected rows: how many, what they are, a table, thumbnails; and a name for them.

import { describePanel } from "./describe.js";
import { button, el, fill, readable } from "./dom.js";
import { thumbnail } from "./hover.js";
import { packBits } from "./source.js";

const PAGE = 100; // rows of the table at a time
const THUMBNAILS = 24;
const WAIT = 150; // milliseconds after a change before the rows are fetched

/** The panel of the selection. */
export function selectionPanel(page) {
  const { store, source, act } = page;
  const words = el("p", { class: "note" });
  const naming = el("form", { class: "row", hidden: true });
  const name = el("input", { type: "text", placeholder: "name of the cluster", "aria-label": "Name of the new cluster", maxlength: 200, id: "new-name" });
  naming.append(name, el("button", { type: "submit", class: "main", text: "Name it" }));
  naming.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (await act.nameSelection(name.value.trim() || "cluster")) name.value = "";
  });
  const about = el("div");
  const pictures = el("div", { class: "row" });
  const table = el("div", { class: "scroll", hidden: true, tabindex: 0, role: "region", "aria-label": "Selected rows" });
  const what = button("What are these?", () => describePanel(page, about, { rows: packBits(store.state.selection) }), { hidden: !source.live });
  let timer = 0;
  store.follow(["top"], ({ top }) => {
    fill(about);
    words.textContent = top ? `${top.length.toLocaleString("en")} points selected.` : "Draw around points with Lasso, Box or Brush, or click a class.";
    naming.hidden = !top || !source.live || !store.state.naming?.writable;
    what.hidden = !top || !source.live;
    clearTimeout(timer);
    timer = setTimeout(() => showRows(page, top, table, pictures), WAIT);
  });
  return el("details", { open: true }, el("summary", { text: "Selection" }),
    el("div", { class: "inside" }, words, naming, what, about, pictures, table));
}

async function showRows(page, top, table, pictures) {
  table.hidden = !top;
  fill(pictures);
  if (!top) return fill(table);
  await fillTable(page, top, table, 0);
  if (page.about.has.thumbnails) {
    const step = Math.max(1, Math.floor(top.length / THUMBNAILS));
    const rows = [...top].filter((_, k) => k % step === 0).slice(0, THUMBNAILS);
    const images = await page.source.thumbnails(rows);
    fill(pictures, ...rows.map((row, k) => {
      const image = thumbnail(images, k);
      image.style.width = image.style.height = "44px";
      return el("button", { type: "button", class: "plain", "aria-label": `Row ${row}`, on: { click: () => page.act.show(row, true) } }, image);
    }));
  }
  return undefined;
}

async function fillTable(page, top, table, start) {
  const rows = [...top.subarray(start, start + PAGE)];
  const { columns, rows: cells } = await page.source.rows(rows);
  const head = el("tr", {}, el("th", { text: "id", scope: "col" }), ...columns.slice(2).map((name) => el("th", { text: name, scope: "col", title: name })));
  const body = cells.map(([row, id, ...values]) => el("tr", {
    tabindex: 0, on: { click: () => page.act.show(row, true), keydown: (event) => event.key === "Enter" && page.act.show(row, true) },
  }, el("td", { text: String(id) }), ...values.map((value) => (typeof value === "number"
    ? el("td", { class: "number", text: readable(value) }) : el("td", { text: String(value ?? ""), title: String(value ?? "") })))));
  const turn = (to) => fillTable(page, top, table, to);
  const pages = el("div", { class: "row" },
    button("Previous", () => turn(start - PAGE), { disabled: start === 0 }),
    el("span", { class: "note", text: `${start + 1} to ${Math.min(start + PAGE, top.length)}` }),
    button("Next", () => turn(start + PAGE), { disabled: start + PAGE >= top.length }));
  fill(table, el("table", {}, el("thead", {}, head), el("tbody", {}, ...body)), top.length > PAGE ? pages : null);
}
