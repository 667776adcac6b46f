// The floor: the shell with the pages of those who run the machines.

import { openShell } from "../shared/shell.js";
import { sections } from "./pages.js";

openShell({
  base: "/floor", title: "Floor", sections, others: [{ href: "/console", label: "Console" }, { href: "/docs", label: "API documentation" }],
  load: (module) => import(`./pages/${module}.js`),
}).show();
