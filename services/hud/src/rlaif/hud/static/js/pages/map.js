// The world as far as the run has seen it: rooms with pictures and layers, all players, and any of their screens.

import { h } from "../dom.js";
import { makeWorld } from "../map/atlas.js";
import { View } from "../map/layers.js";
import { makeEnvironments, makeRoom } from "../map/room.js";
import { game } from "../panels/game.js";
import { search } from "../panels/run.js";
import { mountPanels } from "../parts.js";

/** @type {import("../router.js").Page} */
export const page = {
  title: "Map",
  mount(root, app, { query }, scope) {
    const view = new View(app, query);
    const side = h("div", { class: "map-side" });
    const rest = h("div", { class: "map-world" });
    root.append(side, rest);
    scope.add(mountPanels(side, app, [game, makeRoom(view), makeEnvironments(view)]));
    scope.add(mountPanels(rest, app, [makeWorld(view)]));
    scope.add(mountPanels(root, app, [search]));
    view.open(scope);
  },
};
