// The pages of the floor, in the order of the menu (shared/shell.js says what a page is).

import { text } from "../shared/words.js";

export const sections = [
  {
    pages: [
      { path: "", module: "floor", label: text("floor.nav.floor"), role: "readonly" },
      { path: "station", module: "station", label: text("floor.nav.station"), role: "readonly" },
      { path: "analysis", module: "analysis", label: text("floor.nav.analysis"), role: "readonly" },
      { path: "schedules", module: "schedules", label: text("floor.nav.schedules"), role: "readonly" },
      { path: "stops", module: "stops", label: text("floor.nav.stops"), role: "readonly" },
      { path: "tasks", module: "tasks", label: text("floor.nav.tasks"), role: "readonly" },
      { path: "corrections", module: "corrections", label: text("floor.nav.corrections"), role: "admin" },
      { path: "tuner", module: "tuner", label: text("floor.nav.tuner"), role: "supervisor" },
      { path: "wall", module: "wall", label: text("floor.nav.wall"), role: "readonly", bare: true, hidden: true },
    ],
  },
];
