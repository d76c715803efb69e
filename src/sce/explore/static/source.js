// Where the data come from: the server, or the page itself if it is a file. Both answer the same questions.

import { fromBase64, toBase64, unpack } from "./container.js";

/** An answer that is no success, with the server's sentence. */
export class Refused extends Error {
  constructor(status, sentence, body) {
    super(sentence);
    this.status = status;
    this.body = body;
  }
}

/** The source of this page. */
export async function openSource() {
  const inside = document.getElementById("data");
  return inside ? new FileSource(await unzipped(inside.textContent)) : new ServerSource();
}

async function unzipped(text) {
  const stream = new Blob([fromBase64(text)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return unpack(await new Response(stream).arrayBuffer());
}

/** A mask of bytes as the bits that travel. */
export function packBits(mask) {
  const bytes = new Uint8Array(Math.ceil(mask.length / 8));
  for (let i = 0; i < mask.length; i++) if (mask[i]) bytes[i >> 3] |= 1 << (i & 7);
  return toBase64(bytes);
}

/** Data from the server of `sce explore`. */
class ServerSource {
  live = true;
  jobs = new Map(); // those that are waited for: promises, by id

  /** Called when the server needs long, with words and a function that cancels; what it returns is told how far the work is. */
  onwork = () => ({ tell() {}, end() {} });

  about() {
    return this.#json("about");
  }

  /** The coordinates of a frame, null for the one to show first. */
  async points(frame) {
    const { meta, arrays } = await this.#container(frame === null ? "points" : `points?frame=${frame}`);
    return { ...meta, xy: arrays.xy.data };
  }

  /** A column by its name and role; clusters seen and figures of quality are those of a frame. */
  async column({ name, role }, frame) {
    const word = encodeURIComponent(name);
    const paths = { found: `found?frame=${frame}`, quality: `quality?name=${word}&frame=${frame}` };
    const { meta, arrays } = await this.#container(paths[role] ?? `column?name=${word}`);
    return { name, ...meta, codes: arrays.codes?.data, values: arrays.values?.data };
  }

  search(words) {
    return this.#json(`search?q=${encodeURIComponent(words)}`);
  }

  rows(rows) {
    return this.#json("rows", { rows });
  }

  async thumbnails(rows) {
    const { meta, arrays } = await this.#container(`thumbnails?rows=${rows.join(",")}`);
    return { ...meta, pixels: arrays.pixels.data };
  }

  neighbors(row) {
    return this.#json(`neighbors?row=${row}`);
  }

  async naming() {
    const { meta, arrays } = await this.#container("naming");
    return { ...meta, codes: arrays.codes.data };
  }

  change(base, op) {
    return this.#json("naming", { base, op });
  }

  describe(question) {
    return this.#json("describe", question);
  }

  async blocks() {
    const { meta, arrays } = await this.#container("blocks");
    const [side] = arrays.density.shape;
    return { ...meta, side, pixels: arrays.density.data, starts: arrays.starts.data, order: arrays.order.data };
  }

  /** A file to save, from GET, or from POST where a selection is sent. */
  async file(what, format, body) {
    const answer = await this.#ask(`export?what=${what}&format=${format}`, body);
    const name = /filename="([^"]+)"/.exec(answer.headers.get("Content-Disposition") ?? "");
    return { name: name?.[1] ?? `${what}.${format}`, blob: await answer.blob() };
  }

  async #json(path, body) {
    return (await this.#ask(path, body)).json();
  }

  async #container(path) {
    return unpack(await (await this.#ask(path)).arrayBuffer());
  }

  /** Ask the server, and again while it works on the answer. */
  async #ask(path, body) {
    for (;;) {
      const answer = await this.#fetch(path, body);
      if (answer.status !== 202) return answer;
      const { job, what } = await answer.json();
      if (!this.jobs.has(job)) this.jobs.set(job, this.#wait(job, what).finally(() => this.jobs.delete(job)));
      await this.jobs.get(job);
    }
  }

  async #wait(job, what) {
    const work = this.onwork(what, () => this.#fetch(`jobs/${job}/cancel`, {}));
    try {
      for (let pause = 100; ; pause = Math.min(pause * 1.5, 500)) {
        await new Promise((done) => setTimeout(done, pause));
        const now = await (await this.#fetch(`jobs/${job}`)).json();
        if (now.state === "done") return;
        if (!["waiting", "running"].includes(now.state)) throw new Refused(500, now.message || `The computation was ${now.state}.`);
        work.tell(now);
      }
    } finally {
      work.end();
    }
  }

  async #fetch(path, body) {
    const how = body === undefined ? {} : {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
    };
    let answer;
    try {
      answer = await fetch(`/api/${path}`, { ...how, credentials: "same-origin" });
    } catch {
      throw new Refused(0, "The server does not answer. Is sce explore still running?");
    }
    if (answer.ok) return answer;
    const said = await answer.text();
    let parsed = null;
    try {
      parsed = JSON.parse(said);
    } catch {
      // a sentence in plain text
    }
    throw new Refused(answer.status, parsed?.error ?? (said.slice(0, 300) || `The server answered ${answer.status}.`), parsed);
  }
}

/** Data in the page: meta.about, arrays xy, columns and thumbnails. */
class FileSource {
  live = false;

  constructor({ meta, arrays }) {
    this.meta = meta;
    this.arrays = arrays;
  }

  async about() {
    return this.meta.about;
  }

  async points(frame) {
    const k = frame ?? this.meta.about.frame ?? 0;
    return { ...this.meta.points[k], xy: this.arrays[`xy${k}`].data };
  }

  async column({ name }) {
    const k = this.meta.columns.findIndex((column) => column.name === name);
    const held = this.meta.columns[k];
    return { name, ...held, codes: this.arrays[`codes${k}`]?.data, values: this.arrays[`values${k}`]?.data };
  }

  async search(words) {
    const wanted = words.toLowerCase();
    const found = [];
    const { n } = this.meta.about;
    for (let row = 0; row < n && found.length <= 50; row++) {
      const id = this.#id(row);
      if (id.toLowerCase().includes(wanted)) found.push({ row, id, text: "" });
    }
    return { found: found.slice(0, 50), more: found.length > 50 };
  }

  async rows(rows) {
    const names = this.meta.columns.map((column) => column.name);
    return { columns: ["row", "id", ...names], rows: rows.map((row) => [row, this.#id(row), ...names.map((_, k) => this.#cell(k, row))]) };
  }

  async thumbnails(rows) {
    const { width, height } = this.meta.about.has.thumbnails;
    const all = this.arrays.thumbnails.data;
    const pixels = new Uint8Array(rows.length * width * height);
    rows.forEach((row, k) => pixels.set(all.subarray(row * width * height, (row + 1) * width * height), k * width * height));
    return { width, height, pixels };
  }

  async neighbors(row) {
    const { data, shape } = this.arrays.near;
    const rows = [...data.subarray(row * shape[1], (row + 1) * shape[1])].filter((other) => other !== row);
    return { rows, from: this.meta.about.has.neighbors };
  }

  #id(row) {
    return this.meta.ids ? this.meta.ids[row] : String(row);
  }

  #cell(k, row) {
    const column = this.meta.columns[k];
    if (column.kind !== "classes") return this.arrays[`values${k}`].data[row];
    const code = this.arrays[`codes${k}`].data[row];
    return code ? column.names[code - 1] : "";
  }
}
