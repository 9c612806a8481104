// The segments that the HUD knows, by filters and in an order that the address has.

import { mountList } from "../panels/segments/list.js";

/** @type {import("../router.js").Page} */
export const page = {
  title: "Segments",
  mount: (root, app, { query }) => mountList(root, app, query),
};
