// The floor: the shell with the pages of those who run the machines.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { ahead } from "../shared/clock.js";
import { renamed } from "../shared/directory.js";
import { time } from "../shared/format.js";
import { live } from "../shared/live.js";
import { openShell } from "../shared/shell.js";
import { everySecond } from "./floor/ticking.js";
import { sections } from "./pages.js";

let old = 0; // since when what is shown is old, ms; 0: it is not

const shell = openShell({
  base: "/floor",
  title: "Floor",
  sections,
  others: [
    { href: "/console", label: "Console" },
    { href: "/docs", label: "API documentation" },
    { href: "/help/floor", label: "Help" },
  ],
  load: (module) => import(`./pages/${module}.js`),
  banner: () =>
    old
      ? html`<div class="banner wait stale" role="alert"><strong>Connection lost since ${time(old + ahead())}.</strong> What is shown is from then; it goes on by itself.</div>`
      : nothing,
});
shell.show();
renamed.addEventListener("change", shell.update);
everySecond(() => {
  if (live.oldSince() === old) return;
  old = live.oldSince();
  shell.update();
});
