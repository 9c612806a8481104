// As much of a document as panels need to build their elements, whose texts and attributes a test reads back.

class Element {
  attributes = {};
  childNodes = [];
  dataset = {};
  style = {};

  setAttribute(name, value) {
    this.attributes[name] = String(value);
    if (name.startsWith("data-")) this.dataset[name.slice(5)] = String(value);
  }

  getAttribute(name) {
    return this.attributes[name] ?? null;
  }

  addEventListener() {}

  append(...children) {
    this.childNodes.push(...children);
  }

  replaceChildren(...children) {
    this.childNodes = children;
  }

  get textContent() {
    return this.childNodes.map((child) => child.textContent ?? String(child)).join("");
  }

  set textContent(text) {
    this.childNodes = [text];
  }
}

globalThis.document = { createElement: () => new Element(), createElementNS: () => new Element() };

/** The text of what `draw` puts into an element. @param {(body: any) => void} draw */
export function drawn(draw) {
  const body = new Element();
  draw(body);
  return body.textContent;
}

/** The text of children. @param {...any} children */
export const textOf = (...children) => drawn((body) => body.append(...children.filter(Boolean)));
