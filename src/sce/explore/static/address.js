// The state of the page in its address, after the #; never the token, which is a cookie.

/** The state that the address asks for. */
export function readAddress(about) {
  const words = new URLSearchParams(window.location.hash.slice(1));
  const state = {};
  if (words.has("colour")) state.colour = words.get("colour") || null;
  if (["light", "dark"].includes(words.get("theme"))) state.theme = words.get("theme");
  for (const name of ["size", "opacity"]) {
    const value = Number(words.get(name));
    if (value > 0 && value <= 16) state[name] = value;
  }
  if (words.get("density") === "yes") state.density = true;
  if (words.get("names") === "no") state.names = false;
  const frame = Number(words.get("frame"));
  if (words.has("frame") && about.frames && frame >= 0 && frame < about.frames.r.length) state.frame = Math.round(frame);
  const row = Number(words.get("row"));
  const view = (words.get("view") ?? "").split(",").map(Number);
  return {
    state, prefer: ["2d", "webgl"].includes(words.get("draw")) ? words.get("draw") : "auto",
    row: words.has("row") && Number.isInteger(row) && row >= 0 && row < about.n ? row : undefined,
    view: view.length >= 3 && view.every(Number.isFinite) && view.at(-1) > 0 ? (camera) => ({
      center: camera.center.map((value, k) => view[k] ?? value), scale: view.at(-1) * Math.min(camera.width, camera.height),
    }) : null,
  };
}

/** Keep the address in step with the page. */
export function address({ store, scene }) {
  let timer = 0;
  const write = () => {
    const { state } = store;
    const words = new URLSearchParams();
    words.set("colour", state.colour ?? "");
    if (state.theme !== "light") words.set("theme", state.theme);
    for (const name of ["size", "opacity"]) if (state[name] !== 1) words.set(name, state[name].toFixed(3));
    if (state.density) words.set("density", "yes");
    if (!state.names) words.set("names", "no");
    if (state.about.frames) words.set("frame", state.frame);
    if (state.picked) words.set("row", state.picked.row);
    const { center, scale, width, height } = scene.camera;
    words.set("view", [...center.map((value) => value.toFixed(1)), (scale / Math.min(width, height)).toExponential(4)].join(","));
    const old = new URLSearchParams(window.location.hash.slice(1)).get("draw");
    if (old) words.set("draw", old);
    window.history.replaceState(null, "", `#${words}`);
  };
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(write, 300);
  };
  store.on(["colour", "theme", "size", "opacity", "density", "names", "frame", "picked"], later);
  scene.lookers.push(later);
  later();
}
