// The slider over the repulsion weight: points morph from over-attractive to over-repulsive.

import { button, el, fill, readable } from "./dom.js";

// The figures of a frame that are told beneath the slider.
const TOLD = [["n_clusters", "clusters seen"], ["accuracy", "accuracy"], ["edges_kept", "edges kept"]];

/** Fill the slider of a sweep; a single map has none. */
export function slidePanel(host, page) {
  const { about, store, scene, source } = page;
  if (!about.frames) return;
  const { r, alphas, marks, figures } = about.frames;
  const last = r.length - 1;
  const kept = new Map([[store.state.frame, Promise.resolve(scene.a)]]);
  const words = el("output", { class: "note" });
  const input = el("input", {
    type: "range", min: 0, max: last, step: 0.02, value: store.state.frame, "aria-label": alphas ? "alpha" : "Repulsion weight r",
    id: "slide-input", on: { input: () => move(Number(input.value)), change: () => settle() },
  });
  const places = el("div", { class: "marks" });
  for (const [name, { r: chosen, frame }] of Object.entries(marks)) {
    if (frame === null) continue;
    const mark = button(name, () => glide(frame), { title: `${name} chooses r = ${readable(chosen)}` });
    mark.style.left = `${(100 * frame) / last}%`;
    places.append(mark);
  }
  host.hidden = false;
  fill(host, input, places, words);
  let wanted = store.state.frame, turn = 0;
  tell(wanted);

  function points(frame) {
    if (!kept.has(frame)) kept.set(frame, source.points(frame).then(({ xy }) => xy));
    return kept.get(frame);
  }

  async function move(at) {
    wanted = at;
    const own = ++turn;
    tell(at);
    const low = Math.min(Math.floor(at), last - 1);
    const [a, b] = await Promise.all([points(low), points(low + 1)]);
    if (own === turn) scene.setBlend(a, b, at - low);
    for (const near of [low - 1, low + 2]) if (near >= 0 && near <= last) points(near);
  }

  async function settle() {
    const frame = Math.round(wanted);
    const own = ++turn;
    const xy = await points(frame);
    if (own !== turn) return;
    store.set({ frame });
    input.value = frame;
    tell(frame);
    scene.setPoints({ xy, dims: scene.dims, n: scene.n }, { keepView: true });
  }

  function glide(frame) {
    const [from, start] = [wanted, performance.now()];
    const step = async (now) => {
      const share = Math.min(1, Math.max(0, now - start) / 900);
      input.value = from + (frame - from) * share;
      await move(Number(input.value));
      if (share < 1) requestAnimationFrame(step);
      else settle();
    };
    requestAnimationFrame(step);
  }

  function tell(at) {
    const k = Math.round(at);
    const parts = [alphas ? `alpha = ${readable(alphas[k])}` : "", `r = ${readable(r[k])}`];
    for (const [name, told] of TOLD) {
      const value = figures[name]?.[k];
      if (value !== null && value !== undefined) parts.push(`${told} ${readable(value)}`);
    }
    words.textContent = parts.filter(Boolean).join(" · ");
    input.setAttribute("aria-valuetext", words.textContent);
  }
}
