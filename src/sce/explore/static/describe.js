// What a cluster is: its size, its classes, the columns in which it differs, its place in the graph.

import { button, el, fill, readable } from "./dom.js";

/** Ask the server about rows ({ rows }) or a cluster ({ cluster }), and show the answer. */
export async function describePanel(page, host, question) {
  fill(host, el("p", { class: "note", text: "Looking …" }));
  try {
    fill(host, ...describe(page, await page.source.describe(question)));
  } catch (error) {
    fill(host, el("p", { class: "note", text: error.message }));
  }
}

function describe(page, answer) {
  const share = (value) => `${(100 * value).toFixed(value < 0.1 ? 1 : 0)} %`;
  const parts = [el("p", { class: "note", text: `${readable(answer.size)} points, ${share(answer.share)} of all.` })];
  for (const { name, top } of answer.classes ?? []) {
    parts.push(tableOf([name, "share here", "of all"], top.map((each) => [each.name, share(each.share), share(each.overall)])));
  }
  if (answer.columns?.length) {
    parts.push(tableOf(["differs in", "here", "elsewhere", "effect"], answer.columns.map((each) => [
      each.name, readable(each.mean), readable(each.rest), readable(each.effect),
    ])));
    const names = answer.columns.map((each) => each.name).filter((name) => page.about.columns.some((column) => column.name === name));
    if (names.length) parts.push(el("div", { class: "row" }, ...names.slice(0, 5).map((name) => button(`Colour by ${name}`, () => page.act.colourBy(name)))));
  }
  for (const sentence of answer.story ?? []) parts.push(el("p", { class: "note", text: sentence }));
  return parts;
}

function tableOf(head, rows) {
  const cells = (row) => row.map((value, k) => el("td", { class: k ? "number" : "", text: String(value), title: String(value) }));
  return el("div", { class: "scroll" }, el("table", {},
    el("thead", {}, el("tr", {}, ...head.map((text) => el("th", { text, scope: "col" })))),
    el("tbody", {}, ...rows.map((row) => el("tr", {}, ...cells(row))))));
}
