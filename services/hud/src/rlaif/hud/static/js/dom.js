// Builds elements. Text always becomes a text node, so that words of a language model stay words.

import { based } from "./routes.js";

const SVG = "http://www.w3.org/2000/svg";

/**
 * @typedef {string | number | Node | null | undefined | false} Child  nothing comes of null, undefined and false
 * @typedef {Record<string, any>} Attributes  null, undefined and false leave one out; "onclick" listens
 */

/**
 * Make an HTML element: h("p", {class: "note", title: "…"}, "text", child, …).
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} [attributes]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/**
 * Make an SVG element.
 *
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} [attributes]
 * @param {...Child} children
 * @returns {SVGElementTagNameMap[Tag]}
 */
export function s(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** @param {Child[]} children @returns {(string | Node)[]} */
const known = (children) => /** @type {(string | Node)[]} */ (children.filter((child) => child !== null && child !== undefined && child !== false));

/**
 * @template {Element} E
 * @param {E} element
 * @param {Attributes} attributes
 * @param {Child[]} children
 */
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : name === "href" || name === "src" ? based(value) : value);
  }
  element.append(...known(children));
  return element;
}

/** Replace everything inside an element. @param {Element} element @param {...Child} children */
export function show(element, ...children) {
  element.replaceChildren(...known(children));
}

/** Set the text of an element, without touching the page when it is the same. @param {Element | null} element @param {string} text */
export function setText(element, text) {
  if (element && element.textContent !== text) element.textContent = text;
}

/** An element that index.html has. @param {string} id @returns {HTMLElement} */
export const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/**
 * Bring the children of an element in line with a list, one element an item. An item that stays keeps its
 * element, and with it focus, selection and scroll; only what is new, gone or moved is touched.
 *
 * @template T
 * @param {Element} parent  has no other children
 * @param {readonly T[]} items
 * @param {(item: T, index: number) => string | number} key  report apart by this
 * @param {(item: T, index: number) => Element} make
 * @param {(element: any, item: T, index: number) => void} [update]  for an element that stays; a new one is made with its values
 */
export function keyed(parent, items, key, make, update) {
  const old = elementsOf.get(parent) ?? new Map();
  const now = new Map();
  items.forEach((item, index) => {
    const name = key(item, index);
    if (now.has(name)) return console.error("duplicate key in a list", name);
    const kept = old.get(name);
    if (kept) update?.(kept, item, index);
    now.set(name, kept ?? make(item, index));
  });
  elementsOf.set(parent, now);
  const wanted = new Set(now.values());
  for (const child of [...parent.childNodes]) if (!wanted.has(child)) child.remove();
  arrange(parent, [...wanted]);
}

/** @type {WeakMap<Element, Map<string | number, Element>>} */
const elementsOf = new WeakMap();

/** Put children in order; those that stand right are not moved, and what has the focus never is. @param {Element} parent @param {Element[]} wanted */
function arrange(parent, wanted) {
  const pivot = wanted.findIndex((element) => element.parentNode === parent && element.contains(document.activeElement));
  if (pivot < 0) return place(parent, wanted, parent.firstChild);
  // Everything is placed around it, so that it need not move.
  place(parent, wanted.slice(0, pivot), parent.firstChild);
  place(parent, wanted.slice(pivot + 1), wanted[pivot].nextSibling);
}

/** @param {Element} parent @param {Element[]} elements @param {ChildNode | null} at */
function place(parent, elements, at) {
  for (const element of elements) {
    if (element === at) at = at.nextSibling;
    else parent.insertBefore(element, at);
  }
}

export class Scope {
  /** @type {(() => void)[]} */
  #ends = [];

  /** Call this at the end. @param {(() => unknown) | void} end */
  add(end) {
    if (end) this.#ends.push(end);
  }

  /** Listen until the end. @param {EventTarget} target @param {string} type @param {(event: any) => void} listener */
  on(target, type, listener) {
    target.addEventListener(type, listener);
    this.add(() => target.removeEventListener(type, listener));
  }

  /** Call again and again until the end. @param {number} milliseconds @param {() => void} run */
  every(milliseconds, run) {
    const timer = setInterval(run, milliseconds);
    this.add(() => clearInterval(timer));
  }

  /** End all of it, the newest first. */
  end() {
    for (const end of this.#ends.splice(0).reverse()) end();
  }
}
