// The console: the shell with its pages, the draft of the manifest, and the bar of what is changed and not applied.

import { connection } from "../shared/api.js";
import { openShell } from "../shared/shell.js";
import { workspace } from "../shared/workspace.js";
import { changesBar } from "./changes.js";
import { sections } from "./pages.js";

const shell = openShell({
  base: "/console",
  title: "Console",
  sections,
  others: [
    { href: "/floor", label: "Floor" },
    { href: "/docs", label: "API documentation" },
    { href: "/help/console", label: "Help" },
  ],
  load: (module) => import(`./pages/${module}.js`),
  extra: { workspace },
  prepare: (profile) => workspace.open(profile),
  foot: (ctx) => (workspace.doc ? changesBar(workspace, ctx) : null),
  unsaved: () => workspace.dirty,
  save: async () => {
    if (workspace.doc) await workspace.save();
  },
});

addEventListener("keydown", (event) => {
  const typing = event.composedPath()[0].closest?.("input, textarea, select, [contenteditable], .cm-editor");
  if (
    (event.ctrlKey || event.metaKey) &&
    event.key.toLowerCase() === "z" &&
    !typing &&
    !document.querySelector("dialog[open]")
  ) {
    event.preventDefault();
    if (event.shiftKey) workspace.redo();
    else workspace.undo();
  }
});
workspace.addEventListener("change", shell.update);
connection.addEventListener("change", () => {
  if (!connection.up) return;
  listen();
  workspace.look().catch(() => {});
});

// What others apply is seen at once, where the service can tell, and else when the page is looked at again. A page that nobody
// sees does not listen: over HTTP/1.1 a browser has six connections to a host, for all its tabs together.
let events = null,
  again = 0;
function listen() {
  clearTimeout(again);
  events?.close();
  events = null;
  if (!shell.profile || document.visibilityState !== "visible") return;
  events = new EventSource("/events?types=account");
  const look = () => workspace.look().catch(() => {});
  events.addEventListener("account", look);
  events.addEventListener("open", look);
  events.addEventListener("error", () => {
    if (events?.readyState === EventSource.CLOSED) {
      // it was refused: the browser does not try again by itself
      look();
      again = setTimeout(listen, 10_000);
    }
    connection.check();
  });
}
document.addEventListener("visibilitychange", () => {
  listen();
  if (document.visibilityState === "visible") workspace.look().catch(() => {});
  else workspace.doc && workspace.save();
});
addEventListener("pagehide", () => events?.close());
addEventListener("pageshow", (event) => {
  if (event.persisted) listen();
});

shell.show().then(listen);
