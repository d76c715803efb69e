// What a cluster is: its size, its classes, the columns in which it differs, its place in the graph.

import { button, el, fill, readable } from "./dom.js";

/** Ask the server about rows ({ rows }) or a cluster ({ cluster }), and show the answer. */
export async function describePanel(page, host, question) {
  const note = el("p", { class: "note", text: "Looking …" });
  fill(host, note);
  try {
    const parts = describe(page, await page.source.describe(question));
    if (note.parentNode === host) fill(host, ...parts); // else something else was asked in the meantime
  } catch (error) {
    note.textContent = error.message;
  }
}

function describe(page, answer) {
  const parts = [el("p", { class: "note", text: `${readable(answer.size)} points, ${percent(answer.share)} of all.` })];
  if (answer.graph) parts.push(...graphSentences(answer.graph));
  for (const { column, top } of answer.labels) {
    parts.push(tableOf([column, "here", "overall"], top.map((each) => [each.name, percent(each.share), percent(each.overall)])));
  }
  if (answer.numbers.length) {
    parts.push(tableOf(["differs in", "here", "elsewhere", "effect"], answer.numbers.map((each) => [
      each.column, readable(each.inside), readable(each.outside), readable(each.effect),
    ])));
  }
  if (answer.categories.length) {
    parts.push(tableOf(["differs in", "here", "elsewhere"], answer.categories.map((each) => [
      `${each.column}: ${each.name}`, percent(each.inside), percent(each.outside),
    ])));
  }
  const known = new Set(page.about.columns.map(({ name }) => name));
  const names = answer.numbers.map(({ column }) => column).filter((name) => known.has(name)).slice(0, 3);
  parts.push(el("div", { class: "row" }, ...names.map((name) => button(`Colour by ${name}`, () => page.act.colourBy(name)))));
  return parts;
}

/** What the neighbour graph says about a cluster, in words. */
function graphSentences(graph) {
  const gap = graph.real === null ? `In the graph: ${graph.says}.`
    : graph.real ? "Real: it has a clear gap to all others in the neighbour graph."
      : `Not separate in the neighbour graph: ${graph.says}.`;
  const inside = `It holds ${percent(graph.share)} of the edges; by chance it would hold ${percent(graph.share_null)}.`;
  const times = (value) => (value === null ? "endlessly" : `${readable(value)} times`);
  const dense = `Two of its points are linked ${times(graph.density_ratio)} as strongly as other pairs (by chance ${times(graph.density_ratio_null)}).`;
  const leaving = `${percent(graph.conductance)} of the edges of its points lead out of it (by chance ${percent(graph.conductance_null)}).`;
  return [gap, inside, dense, leaving].map((text) => el("p", { class: "note", text }));
}

function percent(share) {
  return `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;
}

function tableOf(head, rows) {
  const cells = (row) => row.map((value, k) => el("td", { class: k ? "number" : "", text: String(value), title: String(value) }));
  return el("div", { class: "scroll" }, el("table", {},
    el("thead", {}, el("tr", {}, ...head.map((text) => el("th", { text, scope: "col" })))),
    el("tbody", {}, ...rows.map((row) => el("tr", {}, ...cells(row))))));
}
