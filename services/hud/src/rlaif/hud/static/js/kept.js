// Browser storage, disabled where the browser does not allow it: settings, the token, and the state of the last visit.

/** @type {Pick<Storage, "getItem" | "setItem" | "removeItem">} */
export const kept = {
  /** @param {string} name @returns {string | null} */
  getItem(name) {
    try {
      return localStorage.getItem(name);
    } catch {
      return null;
    }
  },

  /** @param {string} name @param {string} value */
  setItem(name, value) {
    try {
      localStorage.setItem(name, value);
    } catch {
      // full, or forbidden
    }
  },

  /** @param {string} name */
  removeItem(name) {
    try {
      localStorage.removeItem(name);
    } catch {
      // forbidden
    }
  },
};

const TOKEN = "rlaif.token";

export const token = {
  /** @returns {string | null} */
  get: () => sessionStorage.getItem(TOKEN),

  /** @param {string | null} value */
  set(value) {
    if (value) sessionStorage.setItem(TOKEN, value);
    else sessionStorage.removeItem(TOKEN);
  },
};

const STATE = "rlaif.state";
const EVERY = 10_000; // ms
const LONGEST = 600_000; // characters: a browser keeps some five million of all that a site has
const OLDEST = 7 * 86_400_000; // ms; older states are discarded
const EVENTS = 100;
const LARGEST_FRAME = 50_000; // bytes; a screen has one to six thousand

/** The build of the page's files: another one may draw other fields. */
export const build = () => document.querySelector('meta[name="build"]')?.getAttribute("content") ?? "";

/** What to keep of a state, or null: of the event log the newest. @param {any} state @param {string} made  by this build */
export function packed(state, made) {
  const text = JSON.stringify({ build: made, state: { ...state, events: state.events.slice(-EVENTS) } });
  return text.length <= LONGEST ? text : null;
}

/** @param {ArrayBuffer | null} frame */
const textOf = (frame) => (frame && frame.byteLength <= LARGEST_FRAME ? btoa(String.fromCharCode(...new Uint8Array(frame))) : null);

/** @param {string} text @returns {ArrayBuffer} */
const bytesOf = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).buffer;

/** The state that was kept, if this build made it and it is not too old. @param {string | null} text @param {string} made @param {number} now ms */
export function unpacked(text, made, now) {
  try {
    const { build: other, state } = JSON.parse(text ?? "null") ?? {};
    const age = now - Date.parse(state?.kept_at);
    return other === made && age < OLDEST ? state : null;
  } catch {
    return null;
  }
}

/** Show the last visit's state and screen, if there are any. @param {import("./store.js").Store} store @param {import("./live.js").Live} live */
export function recallState(store, live) {
  const state = unpacked(kept.getItem(STATE), build(), Date.now());
  if (!state) return;
  const { kept_at: at, frame, ...sections } = state;
  store.recall(sections, at);
  if (frame) live.recall(bytesOf(frame));
}

/** Keep the state from now on, as long as it is the present one. @param {import("./store.js").Store} store @param {import("./live.js").Live} live */
export function keepState(store, live) {
  const keep = () => {
    if (!store.known || store.past !== null || !live.link.open) return;
    const text = packed({ ...store.state, kept_at: new Date().toISOString(), frame: textOf(live.newest) }, build());
    if (text) kept.setItem(STATE, text);
  };
  setInterval(keep, EVERY);
  window.addEventListener("pagehide", keep);
}
