// Elements of a page. Text is always text: nothing here reads HTML.

/** An element with attributes (class, id, aria-..., data-...), properties, listeners ({ on: { click } }) and children. */
export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") for (const [event, react] of Object.entries(value)) made.addEventListener(event, react);
    else if (name === "text") made.textContent = value;
    else if (["value", "checked", "disabled", "hidden", "selected", "open"].includes(name)) made[name] = value;
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** Put other children into an element. */
export function fill(host, ...children) {
  host.replaceChildren(...children.filter((child) => child !== null && child !== undefined));
}

/** A button with a word, and what it does. */
export function button(text, click, attributes = {}) {
  return el("button", { type: "button", text, on: { click }, ...attributes });
}

/** A choice of words: [value, word] pairs. */
export function choice(label, pairs, value, change, attributes = {}) {
  const options = pairs.map(([key, word]) => el("option", { value: key, text: word, selected: key === value }));
  const select = el("select", { on: { change: () => change(select.value) }, ...attributes }, ...options);
  return el("label", { class: "field" }, el("span", { text: label }), select);
}

/** A slider with a label. */
export function slider(label, { min, max, step, value }, change, attributes = {}) {
  const input = el("input", {
    type: "range", min, max, step, value, on: { input: () => change(Number(input.value)) }, ...attributes,
  });
  return el("label", { class: "field" }, el("span", { text: label }), input);
}

/** A box to tick. */
export function tick(label, checked, change, attributes = {}) {
  const input = el("input", { type: "checkbox", checked, on: { change: () => change(input.checked) }, ...attributes });
  return el("label", { class: "tick" }, input, el("span", { text: label }));
}

/** A number as people read it: 12,345 and 0.0123. */
export function readable(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return value.toLocaleString("en");
  const size = Math.abs(value);
  return size >= 1e6 || (size < 1e-3 && size > 0) ? value.toExponential(2) : String(Number(value.toPrecision(4)));
}

/** Give the browser a file to save. */
export function save(name, blob) {
  const link = el("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
