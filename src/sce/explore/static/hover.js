// The card beside the pointer: id, classes, values and a thumbnail of a row.

import { el, fill, readable } from "./dom.js";

const WAIT = 60; // milliseconds before the server is asked
const KEPT = 400; // rows that are remembered
const MOST = 8; // columns in the card

/** Shows a card for the point under the pointer, and for the point that was clicked. */
export function hoverCard(card, page) {
  const { source, about, store, scene, host } = page;
  const known = new Map();
  let wanted = -1, timer = 0;

  page.onhover = (row, x, y) => {
    if (row === wanted) return;
    wanted = row;
    clearTimeout(timer);
    if (row < 0) return rest();
    timer = setTimeout(() => open(row, x, y), known.has(row) ? 0 : WAIT);
    return undefined;
  };
  store.on(["picked"], () => rest());
  scene.lookers.push(() => {
    if (!card.hidden && wanted < 0) rest(); // the card of the row that was clicked goes with it
  });

  /** Nothing is under the pointer: show the row that was clicked, if any. */
  function rest() {
    const picked = store.state.picked?.row;
    if (picked === undefined) {
      card.hidden = true;
      return;
    }
    const [x, y] = scene.place(picked).map((value) => value / scene.ratio);
    open(picked, x, y);
  }

  async function open(row, x, y) {
    if (!known.has(row)) known.set(row, await fetchRow(row));
    if (known.size > KEPT) known.delete(known.keys().next().value);
    if (wanted !== row && store.state.picked?.row !== row) return;
    fill(card, ...contents(known.get(row)));
    card.hidden = false;
    card.dataset.row = row;
    const box = host.getBoundingClientRect();
    const { offsetWidth: wide, offsetHeight: high } = card;
    card.style.left = `${Math.max(4, x + 16 + wide > box.width ? x - wide - 16 : x + 16)}px`;
    card.style.top = `${Math.min(Math.max(4, y - high / 2), Math.max(4, box.height - high - 4))}px`;
  }

  async function fetchRow(row) {
    const [table, image] = await Promise.all([
      source.rows([row]), about.has.thumbnails ? source.thumbnails([row]) : null,
    ]);
    return { columns: table.columns, cells: table.rows[0], image };
  }
}

function contents({ columns, cells, image }) {
  const lines = columns.slice(2, MOST + 2).flatMap((name, k) => [
    el("dt", { text: name }), el("dd", { text: typeof cells[k + 2] === "number" ? readable(cells[k + 2]) : cells[k + 2] }),
  ]);
  return [image ? thumbnail(image, 0) : null, el("strong", { text: String(cells[1]) }), el("dl", {}, ...lines)];
}

/** A small picture of a row. */
export function thumbnail({ width, height, pixels }, k) {
  const canvas = el("canvas", { width, height, class: "thumb" });
  const image = new ImageData(width, height);
  for (let i = 0; i < width * height; i++) {
    const grey = pixels[k * width * height + i];
    image.data.set([grey, grey, grey, 255], 4 * i);
  }
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}
