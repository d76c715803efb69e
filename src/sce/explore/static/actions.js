// What a reader can do; panels, pointer and keyboard all call these.

import { classInk, filtered, numberInk, plainInk, usualColor } from "./ink.js";
import { combine, countOf, maskOfCode, rowsOf } from "./selecting.js";
import { packBits } from "./source.js";

export const NAMED = "clusters you named";
const EMPTY = { revision: 0, writable: false, undo: false, redo: false, clusters: [], codes: null };

/** The actions of a page. */
export function makeActions(page) {
  const { store, scene, source, about, say, trouble } = page;
  const columns = new Map();
  let asked = null; // the column that was chosen last
  store.on(["column", "theme", "hidden", "range", "filters"], repaint);

  /** Points in one colour. */
  function plain() {
    store.set({ colour: null, column: null, hidden: new Set(), range: null });
  }

  /** Colour by a column, null for none. */
  async function colourBy(name) {
    asked = name;
    if (!name) return plain();
    const column = name === NAMED ? namedColumn() : await columnOf(name);
    if (asked !== name) return undefined; // another one, while this was worked out
    return store.set({ colour: name, column, hidden: new Set(), range: null });
  }

  /** The values of a column, fetched once; those that depend on the frame, once for each frame. */
  async function columnOf(name) {
    const facts = about.columns.find((column) => column.name === name);
    if (!facts) throw new Error(`There is no column ${name}.`);
    const { frame } = store.state;
    const key = ["found", "quality"].includes(facts.role) ? `${frame} ${name}` : name;
    if (!columns.has(key)) {
      say(`Working out ${name} …`);
      try {
        columns.set(key, await source.column(facts, frame));
      } finally {
        say("");
      }
    }
    return columns.get(key);
  }

  /** The named clusters as a column of classes. */
  function namedColumn() {
    const { clusters, codes } = store.state.naming ?? EMPTY;
    const colors = (dark) => clusters.map(({ color }, k) => color ?? usualColor(k, dark));
    return {
      name: NAMED, kind: "classes", names: clusters.map((cluster) => cluster.name), missing: "no cluster",
      colors: colors(false), dark_colors: colors(true), codes: codes ?? new Uint32Array(about.n),
    };
  }

  /** Colours anew, after a change of column, theme, hidden classes, range or filters. */
  function repaint() {
    const { column, hidden, range, theme, filters } = store.state;
    let made = plainInk(about.n, theme);
    if (column?.kind === "classes") made = classInk(column, hidden, theme);
    else if (column) made = numberInk(column, range, theme);
    store.set({ ink: { ...made, ink: filtered(made.ink, [...filters.values()].map((filter) => filter.mask)) } });
  }

  /** Take points as the selection, joined with the one before as `how` says. */
  function choose(mask, made, how = store.state.how) {
    const before = store.state.selection;
    const together = combine(before, mask, how);
    const count = countOf(together);
    const earlier = how === "replace" || !store.state.made ? [] : store.state.made.steps;
    const steps = [...earlier, `${how}: ${[made.tool, made.query].filter(Boolean).join(" ")}`];
    const parent = made.parent ?? (how === "replace" ? null : (store.state.made?.parent ?? null));
    setSelection(count ? together : null, { ...made, parent, how, steps });
    say(count ? `${count.toLocaleString("en")} points selected.` : "No points selected.");
  }

  function setSelection(mask, made) {
    store.set({ selection: mask, made, top: mask ? rowsOf(mask) : null, faded: Boolean(mask) });
  }

  function clear() {
    setSelection(null, null);
    show(-1);
  }

  /** Look at a row: its card, its neighbours; and fly to it. */
  async function show(row, fly = false) {
    store.set({ picked: row < 0 ? null : { row, near: null } });
    if (row < 0) return;
    if (fly) scene.fly(scene.camera.with(nearView(row)));
    if (!(about.has.data || about.has.graph || about.has.neighbors)) return;
    const near = await source.neighbors(row);
    if (store.state.picked?.row === row) store.set({ picked: { row, near: near.rows, from: near.from } });
  }

  function nearView(row) {
    const point = Array.from({ length: scene.dims }, (_, c) => scene.a[scene.dims * row + c]);
    return { center: point, scale: Math.max(scene.camera.scale, scene.fitted * 6) };
  }

  /** The clusters that have been named, from the server. */
  async function loadNaming() {
    if (!source.live) return store.set({ naming: { ...EMPTY, writable: true, local: true, codes: new Uint32Array(about.n) } });
    store.set({ naming: await source.naming() });
    return store.state.naming.note ? say(store.state.naming.note) : undefined;
  }

  /** Change the named clusters; the answer comes when it is on disk. */
  async function change(op) {
    const { naming } = store.state;
    try {
      say("Saving …");
      await source.change(naming.revision, op);
      store.set({ naming: await source.naming() });
      say(["Saved.", store.state.naming.note].filter(Boolean).join(" "));
    } catch (error) {
      if (error.status === 409) await loadNaming();
      say("");
      trouble(error.status === 409 ? "The clusters were changed in another window; they are shown as they are now. Your last change was not made." : `Not saved: ${error.message}`);
      return false;
    }
    trouble("");
    if (store.state.colour === NAMED || op.kind !== "undo") await colourBy(NAMED);
    return true;
  }

  /** Name the selection. */
  async function nameSelection(name) {
    const { selection, made } = store.state;
    if (!selection) return trouble("Select some points first.");
    const { steps, ...last } = made;
    const query = (steps.length > 1 ? steps.join("; ") : (last.query ?? "")).slice(0, 1000);
    const how = { ...last, frame: about.frames ? store.state.frame : null, ...(query ? { query } : {}) };
    const done = await change({ kind: "create", name, rows: packBits(selection), made: how });
    if (done) setSelection(null, null);
    return done;
  }

  function selectCluster(index, how = "replace") {
    const { naming } = store.state;
    choose(maskOfCode(naming.codes, index + 1), { tool: "rows", parent: naming.clusters[index].id, shape: null }, how);
  }

  return {
    plain, colourBy, columnOf, choose, setSelection, clear, show, loadNaming, change, nameSelection, selectCluster,
    say, hover: (row, x, y) => page.onhover?.(row, x, y), outline: (shape) => page.onoutline?.(shape),
    click: (row) => show(row),
  };
}
