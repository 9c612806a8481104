// An address that is no page's.

import { h, show } from "../dom.js";

/** @type {import("../router.js").Page} */
export const page = {
  title: "Not found",
  mount(root) {
    show(root, h("section", { class: "panel" },
      h("h2", {}, "Page not found"),
      h("p", {}, h("code", {}, location.pathname)),
      h("p", {}, h("a", { href: "/" }, "Go to the live page"))));
  },
};
