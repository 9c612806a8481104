// State and live connection of the pages: sections go to the store, frames through the rewind buffer to the current canvas.

import { Connection } from "./connection.js";
import { forgetClock, hudNow, roundTrip, setClock, syncClock } from "./format.js";
import { BASE } from "./routes.js";
import { readHeader, Rewind } from "./screen.js";

const FRAMES_PER_SECOND = 30;

/** @typedef {{open: boolean, attempt: number, retryAt: number | null}} Link */

export class Live {
  #connection;
  /** @type {((buffer: ArrayBuffer) => void) | null} */
  #sink = null;
  /** @type {Set<() => void>} */
  #watchers = new Set();
  /** @type {string | null} */
  #epoch = null;
  /** @type {Link} */
  link = { open: false, attempt: 0, retryAt: null };
  stats = new FrameStats();
  rewind = new Rewind({ show: (frame) => this.#sink?.(frame.buffer) });

  /** @param {Store} store @param {(entry: any) => void} onEvent */
  constructor(store, onEvent) {
    this.store = store;
    this.onEvent = onEvent;
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    this.#connection = new Connection(`${scheme}//${location.host}${BASE}/ws/v1`, {
      text: (message) => this.#receive(message),
      frame: (buffer) => this.#take(buffer),
      clock: syncClock,
      state: (link) => {
        this.link = link;
        this.#changed();
      },
    });
    document.addEventListener("visibilitychange", () => this.#want());
  }

  open() {
    this.#want();
    this.#connection.open();
  }

  /** Reconnect now. */
  retry() {
    this.#connection.open();
  }

  /** Give all frames to `draw(buffer)` until the function that this gives is called. @param {(buffer: ArrayBuffer) => void} draw */
  showFrames(draw) {
    this.#sink = draw;
    const last = this.rewind.shown?.buffer;
    if (last) draw(last);
    this.#want();
    return () => {
      if (this.#sink === draw) this.#sink = null;
      this.#want();
    };
  }

  /** A frame was drawn. @param {{seq: number, captured: number}} frame */
  drawn({ seq, captured }) {
    if (seq !== this.rewind.shown?.seq) return;
    this.#connection.ack(seq);
    if (this.rewind.mode !== "live") return;
    this.stats.drawn({ seq, age: believable(hudNow() - captured, roundTrip()), at: performance.now() });
  }

  /** "live" or "paused". */
  get mode() {
    return this.rewind.mode;
  }

  /** Move in the last minute. @param {(rewind: Rewind) => void} move */
  control(move) {
    move(this.rewind);
    if (this.rewind.mode !== "live") this.stats.clear();
    this.#want();
    this.#changed();
  }

  /** Call `report()` after the connection opened, closed, or the picture was paused. @param {() => void} report */
  watch(report) {
    this.#watchers.add(report);
    return () => this.#watchers.delete(report);
  }

  #changed() {
    for (const report of this.#watchers) report();
  }

  /** @param {ArrayBuffer} buffer */
  #take(buffer) {
    const { seq } = readHeader(buffer);
    // A picture that is not drawn now is done with, as it is kept.
    if (this.rewind.mode !== "live" || !this.#sink) this.#connection.ack(seq);
    this.rewind.take({ seq, at: performance.now(), buffer });
    if (this.rewind.full) this.#want();
  }

  #want() {
    const seen = !document.hidden;
    const fps = seen && this.#sink && !this.rewind.full ? FRAMES_PER_SECOND : 0;
    if (!fps) this.stats.clear();
    this.#connection.want({ fps, texts: seen });
  }

  /** @param {{type: string, data: any}} message */
  #receive({ type, data }) {
    if (type === "snapshot") {
      this.#begin(data);
      setClock(data.taken_at);
      this.store.merge(data);
    } else if (type === "metrics") {
      setClock(data.now);
      this.store.merge(data);
    } else if (type === "event") {
      this.store.addEvent(data);
      this.onEvent(data);
    }
  }

  /** @param {{epoch: string}} snapshot */
  #begin({ epoch }) {
    if (this.#epoch !== null && this.#epoch !== epoch) {
      forgetClock();
      this.stats.clear();
    }
    this.#epoch = epoch;
  }
}

const WINDOW = 5000; // ms
const OLDEST = 60_000; // ms; frames this old are discarded

export class FrameStats {
  /** @type {{seq: number, age: number | null, at: number}[]} oldest first */
  #drawn = [];

  /** A frame was drawn. @param {{seq: number, age: number | null, at: number}} frame  `age` in ms since capture; null if the clock offset is unknown */
  drawn(frame) {
    const last = this.#drawn.at(-1);
    if (last && frame.seq <= last.seq) this.clear(); // another life of the HUD counts from one again
    this.#drawn.push(frame);
    this.#forget(frame.at);
  }

  /** What comes next does not follow what was: a pause lies between. */
  clear() {
    this.#drawn = [];
  }

  /** Figures of the last five seconds; null is not known. @param {number} now */
  view(now) {
    this.#forget(now);
    const drawn = this.#drawn;
    if (drawn.length < 2) return { fps: null, age: null, slowest: null, lost: null, of: null };
    const first = drawn[0];
    const last = drawn[drawn.length - 1];
    const ages = drawn.flatMap(({ age }) => (age === null ? [] : [age])).sort((a, b) => a - b);
    const of = last.seq - first.seq;
    return {
      fps: ((drawn.length - 1) * 1000) / Math.max(1, last.at - first.at),
      age: quantile(ages, 0.5),
      slowest: quantile(ages, 0.95),
      lost: of - (drawn.length - 1),
      of,
    };
  }

  #forget(now) {
    const from = this.#drawn.findIndex(({ at }) => at >= now - WINDOW);
    this.#drawn = from < 0 ? [] : this.#drawn.slice(from);
  }
}

/**
 * The age of a frame, or null when it shows that the clocks of trainer and HUD differ. The HUD's clock is known to half
 * of a way there and back, so an age may come out that much below zero.
 *
 * @param {number} age ms
 * @param {number | null} trip ms
 */
export function believable(age, trip) {
  const doubt = trip === null ? 0 : trip / 2 + 1;
  return age >= -doubt && age < OLDEST ? Math.max(0, age) : null;
}

/** @param {number[]} sorted @param {number} share @returns {number | null} */
export function quantile(sorted, share) {
  return sorted.length ? sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] : null;
}

export class Store {
  #panels = [];
  #changed = new Set();
  #scheduled = false;

  constructor() {
    /** @type {any} */
    this.state = { events: [] };
  }

  /** Call `draw(state)` now if something is known, and soon after one of these sections changed; gives the function that ends it. */
  watch(sections, draw) {
    const panel = { sections, draw };
    this.#panels.push(panel);
    if (this.known) draw(this.state);
    return () => {
      this.#panels = this.#panels.filter((each) => each !== panel);
    };
  }

  /** Whether any state is known. */
  get known() {
    return this.state.taken_at !== undefined;
  }

  /** Put in new values of sections. */
  merge(sections) {
    Object.assign(this.state, sections);
    for (const name of Object.keys(sections)) this.#changed.add(name);
    if (!this.#scheduled) {
      this.#scheduled = true;
      // A hidden page draws nothing; a timer, unlike an animation frame, still lets it catch up.
      setTimeout(() => this.#draw(), 16);
    }
  }

  /** Add one line of the event log; a line that is there already is left out. */
  addEvent(entry) {
    const events = this.state.events;
    if (events.length && entry.id <= events[events.length - 1].id) return;
    this.merge({ events: [...events.slice(-299), entry] });
  }

  #draw() {
    this.#scheduled = false;
    const changed = this.#changed;
    this.#changed = new Set();
    for (const { sections, draw } of [...this.#panels]) {
      if (!sections.some((name) => changed.has(name))) continue;
      try {
        draw(this.state);
      } catch (error) {
        console.error("a panel failed to render", sections, error);
      }
    }
  }
}
