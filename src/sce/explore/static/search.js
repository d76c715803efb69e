// Find a row by its id or its text, and fly to it.

import { el, fill } from "./dom.js";

const WAIT = 180; // milliseconds after a key before the search begins

/** Fill the form of the search. */
export function searchBox(form, { source, act, host }) {
  const list = el("ul", { role: "listbox", id: "found", "aria-label": "Rows found", hidden: true });
  const input = el("input", {
    type: "search", placeholder: "Find a row", autocomplete: "off", role: "combobox", "aria-label": "Find a row by id or text",
    "aria-controls": "found", "aria-expanded": "false", "aria-autocomplete": "list",
    on: { input: () => later(), keydown: (event) => press(event), blur: () => setTimeout(close, 200) },
  });
  let timer = 0, rows = [], at = -1, asked = 0;
  form.append(input, list);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    go(Math.max(at, 0));
  });

  function later() {
    clearTimeout(timer);
    timer = setTimeout(ask, WAIT);
  }

  async function ask() {
    const words = input.value.trim();
    if (!words) return close();
    const own = ++asked;
    const { found, more } = await source.search(words);
    if (own !== asked) return undefined;
    rows = found;
    at = -1;
    const items = found.map(({ id, text }, k) => el("li", {
      role: "option", id: `found-${k}`, "aria-selected": "false", on: { mousedown: () => go(k) },
    }, el("strong", { text: id }), text ? ` ${text}` : ""));
    if (!found.length) items.push(el("li", { role: "option", "aria-selected": "false", text: "No row has this." }));
    if (more) items.push(el("li", { role: "option", "aria-selected": "false", text: "… and more: type on." }));
    fill(list, ...items);
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    return undefined;
  }

  function press(event) {
    if (event.key === "Escape") return close();
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return undefined;
    event.preventDefault();
    at = Math.min(Math.max(at + (event.key === "ArrowDown" ? 1 : -1), 0), rows.length - 1);
    [...list.children].forEach((item, k) => item.setAttribute("aria-selected", String(k === at)));
    input.setAttribute("aria-activedescendant", `found-${at}`);
    return undefined;
  }

  async function go(k) {
    if (!rows.length) await ask();
    if (!rows[k]) return;
    act.show(rows[k].row, true);
    close();
    host.focus();
  }

  function close() {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }
}
