// Stylesheets of single pages: loaded once, before such a page is shown.

/** @type {Map<string, Promise<void>>} */
const asked = new Map();

/** Resolves when `css/<name>.css` counts. One that cannot be loaded holds nothing up. @param {string} name @returns {Promise<void>} */
export function style(name) {
  const known = asked.get(name) ?? load(name);
  asked.set(name, known);
  return known;
}

/** @param {string} name @returns {Promise<void>} */
function load(name) {
  if (document.querySelector(`link[data-style="${name}"]`)) return Promise.resolve(); // index.html named it
  const link = document.createElement("link");
  link.rel = "stylesheet";
  link.dataset.style = name;
  link.href = new URL(`../css/${name}.css`, import.meta.url).href;
  return new Promise((resolve) => {
    link.onload = link.onerror = () => resolve();
    document.head.append(link);
  });
}
