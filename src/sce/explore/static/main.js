// The page: opens the source, shows the map, and joins the parts.

import { address, readAddress } from "./address.js";
import { clustersPanel } from "./clusters.js";
import { colourPanel } from "./colour.js";
import { el, fill } from "./dom.js";
import { filterPanel } from "./filters.js";
import { hoverCard } from "./hover.js";
import { Keys } from "./keys.js";
import { helpPanel, looksPanel } from "./looks.js";
import { makeActions, NAMED } from "./actions.js";
import { namesLayer } from "./name_layer.js";
import { outlineLayer } from "./outline.js";
import { Pointer } from "./pointer.js";
import { Scene } from "./scene.js";
import { searchBox } from "./search.js";
import { selectionPanel } from "./selection.js";
import { slidePanel } from "./slide.js";
import { openSource } from "./source.js";
import { Store } from "./store.js";
import { takeawayPanel } from "./takeaway.js";
import { toolbar } from "./toolbar.js";
import { workList } from "./work.js";

const START = {
  theme: "light", size: 1, opacity: 1, density: false, names: true, faded: false, ink: null, top: null,
  colour: null, column: null, hidden: new Set(), range: null, filters: new Map(),
  tool: "move", how: "replace", selection: null, made: null, picked: null, frame: 0, naming: null,
};

/** A sentence on the page; an empty one takes it away. */
function trouble(sentence) {
  const place = document.getElementById("trouble");
  place.textContent = sentence;
  place.hidden = !sentence;
}

/** What stays true of this page, such as how it is drawn. */
function notice(sentence) {
  const place = document.getElementById("notice");
  place.textContent = sentence;
  place.hidden = !sentence;
}

function say(sentence) {
  document.getElementById("status").textContent = sentence;
}

/** Show errors of any origin as a sentence, never as an empty page. */
function watchErrors() {
  window.addEventListener("error", (event) => trouble(`Something went wrong on this page: ${event.message}`));
  window.addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    trouble(event.reason?.message ?? String(event.reason));
  });
}

async function start() {
  const source = await openSource();
  workList(document.getElementById("work"), source, () => trouble(""));
  const early = source.points(null); // asked for at once; the frame that most addresses want
  early.catch(() => {}); // whoever awaits it is told
  const about = await source.about();
  document.title = `${about.title} – sce`;
  document.getElementById("title").textContent = about.title;
  const wanted = readAddress(about);
  const store = new Store({ ...START, ...wanted.state, about, frame: wanted.state.frame ?? about.frame ?? 0 });
  const host = document.getElementById("map");
  const scene = new Scene(host, store, { prefer: wanted.prefer, say: notice });
  const page = { store, scene, source, about, host, say, trouble };
  page.act = makeActions(page);
  scene.setPoints(await (store.state.frame === (about.frame ?? 0) ? early : source.points(store.state.frame)));
  page.act.plain();
  const panel = document.getElementById("panel");
  const panels = [colourPanel, clustersPanel, selectionPanel, filterPanel, looksPanel, takeawayPanel, helpPanel];
  fill(panel, ...panels.map((make) => make(page)));
  toolbar(document.getElementById("tools"), page);
  searchBox(document.getElementById("find"), page);
  hoverCard(document.getElementById("card"), page);
  slidePanel(document.getElementById("slide"), page);
  outlineLayer(page);
  namesLayer(page);
  new Pointer(host, scene, store, page.act);
  new Keys(host, scene, store, page.act);
  store.follow(["theme"], ({ theme }) => (document.body.dataset.theme = theme));
  store.follow(["tool"], ({ tool }) => (host.dataset.tool = tool));
  const naming = page.act.loadNaming().catch((error) => trouble(error.message));
  const first = wanted.state.colour === undefined ? about.label : wanted.state.colour;
  if (first === NAMED) await naming;
  await page.act.colourBy(first).catch((error) => trouble(error.message));
  await naming;
  if (wanted.view) scene.look(scene.camera.with(wanted.view(scene.camera)));
  if (wanted.row !== undefined) page.act.show(wanted.row, false);
  address(page);
  host.append(el("p", { class: "unseen", text: `${about.n.toLocaleString("en")} points.` }));
  if (!document.getElementById("status").textContent) say(`${about.n.toLocaleString("en")} points. ${about.summary ?? ""}`);
  document.body.dataset.ready = "true";
}

watchErrors();
start().catch((error) => trouble(error.message));
