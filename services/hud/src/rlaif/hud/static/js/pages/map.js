// The world as far as the run has seen it: rooms with pictures and layers, all players, and any of their screens.

import { h } from "../dom.js";
import { makeWorld } from "../map/atlas.js";
import { makeEnvironments, makeRoom } from "../map/room.js";
import { View } from "../map/view.js";
import { mountPanels } from "../panel.js";
import { search } from "../panels/course.js";
import { game } from "../panels/game.js";

/** @type {import("../router.js").Page} */
export const page = {
  title: "Map",
  mount(root, app, { query }) {
    const view = new View(app, query);
    const side = h("div", { class: "map-side" });
    const rest = h("div", { class: "map-world" });
    root.append(side, rest);
    const ends = [
      mountPanels(side, app, [game, makeRoom(view), makeEnvironments(view)]),
      mountPanels(rest, app, [makeWorld(view)]),
      mountPanels(root, app, [search]),
    ];
    view.open();
    return () => {
      view.close();
      for (const end of ends) end();
    };
  },
};
