// The pages of the floor, in the order of the menu (shared/shell.js says what a page is).

export const sections = [
  {
    pages: [
      { path: "", module: "floor", label: "Floor", role: "readonly" },
      { path: "station", module: "station", label: "Station", role: "readonly" },
      { path: "analysis", module: "analysis", label: "Analysis", role: "readonly" },
      { path: "schedules", module: "schedules", label: "Schedules", role: "readonly" },
      { path: "stops", module: "stops", label: "Stops", role: "readonly" },
      { path: "tasks", module: "tasks", label: "Tasks", role: "readonly" },
      { path: "corrections", module: "corrections", label: "Corrections", role: "admin" },
      { path: "tuner", module: "tuner", label: "Threshold tuner", role: "supervisor" },
      { path: "wall", module: "wall", label: "Wall screen", role: "readonly", bare: true, hidden: true },
    ],
  },
];
