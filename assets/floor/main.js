// The floor: the shell with the pages of those who run the machines.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { ahead } from "../shared/clock.js";
import { renamed } from "../shared/directory.js";
import { time } from "../shared/format.js";
import { live } from "../shared/live.js";
import { openShell } from "../shared/shell.js";
import { text } from "../shared/words.js";
import { everySecond } from "./floor/ticking.js";
import { sections } from "./pages.js";

let old = 0; // since when what is shown is old, ms; 0: it is not

const shell = openShell({
  base: "/floor",
  title: text("floor.nav.floor"),
  sections,
  others: [
    { href: "/console", label: text("shared.nav.console") },
    { href: "/docs", label: text("floor.nav.api") },
    { href: "/help/floor", label: text("shared.nav.help") },
  ],
  load: (module) => import(`./pages/${module}.js`),
  banner: () =>
    old
      ? html`<div class="banner wait stale" role="alert">${text("floor.away", { time: time(old + ahead()), b: (lost) => html`<strong>${lost}</strong>` })}</div>`
      : nothing,
});
shell.show();
renamed.addEventListener("change", shell.update);
everySecond(() => {
  if (live.oldSince() === old) return;
  old = live.oldSince();
  shell.update();
});
