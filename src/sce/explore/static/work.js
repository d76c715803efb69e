// What the server is working out, beside the status: a line for each job, with a button that cancels it.

import { button, el } from "./dom.js";

/** Show the work of a source; `begins` is called when some is begun. */
export function workList(host, source, begins) {
  source.onwork = (what, cancel) => {
    begins();
    const words = el("span", { text: `${what} …` });
    const stop = button("Cancel", () => {
      stop.disabled = true;
      return cancel();
    }, { "aria-label": `Cancel: ${what}` });
    const line = el("p", {}, words, stop);
    host.append(line);
    return {
      tell: ({ state, progress, message }) => {
        const more = [message, state === "waiting" ? "waiting for its turn" : "", progress ? `${Math.round(100 * progress)} %` : ""];
        words.textContent = [`${what} …`, ...more.filter(Boolean)].join(" ");
      },
      end: () => line.remove(),
    };
  };
}
