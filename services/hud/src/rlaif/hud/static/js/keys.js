// Keys of the page and of the view that is open. A binding is "Space", "?", "ArrowLeft", "Shift+ArrowLeft", or two keys in a row: "g l".

import { kept } from "./kept.js";

const CONTROLS = "input, select, textarea, [contenteditable]";
const PRESSED_BY_SPACE = `button, a, summary, ${CONTROLS}`;
const TOGETHER = 1500; // ms between the two keys of one binding
const SWITCH = "rlaif.keys";

/**
 * @typedef {{label: string, run: (event: KeyboardEvent) => void, hidden?: boolean}} Binding
 */

/** The name of what was pressed, as bindings write it. @param {{key: string, shiftKey: boolean}} event */
export function nameOf({ key, shiftKey }) {
  if (key === " ") return "Space";
  if (key.length === 1) return key.toLowerCase() === key.toUpperCase() ? key : key.toLowerCase();
  return shiftKey && key !== "Shift" ? `Shift+${key}` : key;
}

/** Whether a binding is a letter, digit or sign alone: those can be switched off (WCAG 2.1.4). @param {string} key */
export const isCharacter = (key) => key.split(" ").every((part) => part.length === 1);

export class Keys {
  /** @type {{group: string, bindings: Record<string, Binding>}[]} newest last */
  #layers = [];
  /** @type {{name: string, at: number} | null} */
  #first = null;

  /** @param {{now?: () => number, storage?: Pick<Storage, "getItem" | "setItem">}} [with_] */
  constructor({ now = () => Date.now(), storage = kept } = {}) {
    this.now = now;
    this.storage = storage;
  }

  /** Add bindings; gives the function that takes them away. Newer ones win. @param {Record<string, Binding>} bindings @param {string} [group] heading in the help */
  bind(bindings, group = "This page") {
    const layer = { group, bindings };
    this.#layers.push(layer);
    return () => {
      this.#layers = this.#layers.filter((each) => each !== layer);
    };
  }

  /** What is bound now, by groups, for the help: [[group, [[key, label], …]], …]. @returns {[string, [string, string][]][]} */
  listing() {
    /** @type {Map<string, Map<string, string>>} */
    const groups = new Map();
    for (const { group, bindings } of this.#layers) {
      const rows = groups.get(group) ?? new Map();
      for (const [key, { label, hidden }] of Object.entries(bindings)) if (!hidden) rows.set(key, label);
      groups.set(group, rows);
    }
    return [...groups].filter(([, rows]) => rows.size).map(([group, rows]) => [group, [...rows]]);
  }

  /** Whether letters alone do something. */
  get letters() {
    return this.storage.getItem(SWITCH) !== "off";
  }

  /** @param {boolean} on */
  set letters(on) {
    this.storage.setItem(SWITCH, on ? "on" : "off");
  }

  /** Do what a key is bound to; true when it was bound. @param {KeyboardEvent} event */
  press(event) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return false;
    const target = /** @type {Element | null} */ (event.target);
    if (target?.closest?.(CONTROLS)) return false;
    const name = nameOf(event);
    if ((name === "Space" || name === "Enter") && target?.closest?.(PRESSED_BY_SPACE)) return false;
    const first = this.#first && this.now() - this.#first.at < TOGETHER ? this.#first.name : null;
    this.#first = null;
    const binding = (first && this.#find(`${first} ${name}`)) || this.#find(name);
    if (binding) {
      event.preventDefault();
      binding.run(event);
      return true;
    }
    if (this.#begins(name)) this.#first = { name, at: this.now() };
    return false;
  }

  /** @param {string} key */
  #find(key) {
    if (isCharacter(key) && key !== "?" && !this.letters) return null;
    return this.#layers.findLast(({ bindings }) => Object.hasOwn(bindings, key))?.bindings[key] ?? null;
  }

  /** @param {string} name */
  #begins(name) {
    return this.letters && this.#layers.some(({ bindings }) => Object.keys(bindings).some((key) => key.startsWith(`${name} `)));
  }
}
