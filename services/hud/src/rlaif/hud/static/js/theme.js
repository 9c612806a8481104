// Light, dark, or what the system says: a button goes through them, and the choice is kept. first.js puts it in place.

import { kept } from "./kept.js";

const NAME = "rlaif.theme";
const ORDER = /** @type {const} */ (["system", "light", "dark"]);
const SIGNS = { system: "◐", light: "☀", dark: "☾" };

/** @returns {"system" | "light" | "dark"} */
export function theme() {
  const chosen = document.documentElement.dataset.theme;
  return chosen === "light" || chosen === "dark" ? chosen : "system";
}

/** @param {"system" | "light" | "dark"} chosen */
export function setTheme(chosen) {
  if (chosen === "system") {
    delete document.documentElement.dataset.theme;
    kept.removeItem(NAME);
  } else {
    document.documentElement.dataset.theme = chosen;
    kept.setItem(NAME, chosen);
  }
}

/** Let a button go through the themes. @param {HTMLElement} button */
export function makeThemeButton(button) {
  const draw = () => {
    button.textContent = SIGNS[theme()];
    button.title = `Colours: ${theme()}`;
    button.setAttribute("aria-label", `Colours: ${theme()}. Change.`);
  };
  button.addEventListener("click", () => {
    setTheme(ORDER[(ORDER.indexOf(theme()) + 1) % ORDER.length]);
    draw();
  });
  draw();
}
