// The console's shell: who is signed in, the menu, the page at the address, and the bar of what is changed and not applied.

import { html, nothing, render } from "../vendor/lit-html/lit-html.js";
import { connection, get, post } from "../shared/api.js";
import { attempt, sentence, toast } from "../shared/dialog.js";
import { workspace } from "../shared/workspace.js";
import { changesBar } from "./changes.js";
import { atLeast, pageAt, sections } from "./pages.js";

const root = document.body.appendChild(Object.assign(document.createElement("div"), { id: "console" }));
const shell = { profile: null, page: null, view: null, error: null, menu: false };
const patience = 2000; // milliseconds that keeping the draft may take when somebody signs out
let drawn = false, turn = 0;

/** update draws again, once for however many calls. */
function update() {
  if (drawn) return;
  drawn = true;
  queueMicrotask(() => { drawn = false; draw(); });
}

function draw() {
  const title = shell.view?.title ?? shell.page?.label ?? "Console";
  document.title = `${workspace.dirty ? "• " : ""}${title} – opsmon`;
  render(html`
    <a class="skip" href="#main">Skip to the content</a>
    <header class="top">
      <button type="button" class="icon-button menu-button" aria-label="Menu" aria-expanded=${String(shell.menu)} aria-controls="menu" @click=${() => { shell.menu = !shell.menu; update(); }}>☰</button>
      <a class="brand" href="/console"><span>opsmon</span></a>
      <span class="account" dir="auto">${shell.profile?.accountId ?? ""}</span>
      ${shell.profile ? person(shell.profile) : nothing}
    </header>
    ${connection.up ? nothing : html`<div class="banner wait" role="alert"><strong>The service does not answer.</strong> ${connection.reason ? `${sentence({ message: connection.reason })} ` : ""}It may be starting again. This page goes on by itself; what you have entered is kept.</div>`}
    <div class="frame">
      ${menu()}
      <main id="main" tabindex="-1">${content()}</main>
    </div>
    ${shell.profile && workspace.doc ? changesBar(workspace, context(shell.path)) : nothing}`, root);
}

const menu = () => html`<nav id="menu" class=${shell.menu ? "menu open" : "menu"} aria-label="Pages">
  ${sections.filter((section) => !section.hidden).map((section) => ({ ...section, pages: section.pages.filter((p) => atLeast(shell.profile?.role, p.role)) })).filter((s) => s.pages.length).map((section) => html`
    ${section.label ? html`<h2>${section.label}</h2>` : nothing}
    <ul>${section.pages.map((p) => html`<li><a href=${p.path ? `/console/${p.path}` : "/console"} aria-current=${p === shell.page ? "page" : nothing}>${p.label}</a></li>`)}</ul>`)}
  <ul class="menu-foot"><li><a href="/docs">API documentation</a></li></ul>
</nav>`;

const person = (profile) => html`<details class="person"><summary><span dir="auto">${profile.email}</span> <span class="muted">${profile.role}</span></summary>
  <div class="card">
    ${profile.accounts.filter((a) => a.accountId !== profile.accountId).map((a) => html`<button type="button" class="button" @click=${() => change(a.accountId)}>Go to <bdi>${a.accountId}</bdi></button>`)}
    <a class="button" href="/console/keys">My API keys</a>
    <a class="button" href="/console/sessions">Where I am signed in</a>
    <button type="button" class="button" @click=${() => signOut("/auth/logout", "POST")}>Sign out</button>
    <button type="button" class="button" @click=${() => signOut("/session", "DELETE")}>Sign out everywhere</button>
  </div></details>`;

// closePerson closes the person's menu; it gives whether it was open.
function closePerson() {
  const open = document.querySelector(".person[open]");
  open?.removeAttribute("open");
  return Boolean(open);
}

const change = (accountId) => attempt(async () => {
  await post("/auth/account", { accountId });
  location.assign("/console");
});

async function signOut(path, method) {
  await Promise.race([workspace.save(), new Promise((done) => { setTimeout(done, patience); })]); // storage that hangs keeps nobody signed in
  const answer = await fetch(path, { method, headers: method === "POST" ? { "Content-Type": "application/json" } : {} }).catch(() => null);
  if (!answer?.ok && answer?.status !== 401) return toast("You are still signed in: the service could not end the session now. Try again in a moment.", "bad");
  location.assign("/signin?out=1");
}

function content() {
  if (shell.error) {
    return html`<section class="notice bad" role="alert"><strong>This page cannot be shown.</strong> ${sentence(shell.error)}
      <p><button type="button" class="button" @click=${() => show()}>Try again</button></p></section>`;
  }
  if (!shell.view) return html`<p class="muted loading" role="status">Loading …</p>`;
  try {
    return shell.view.render();
  } catch (error) {
    console.error(error);
    return html`<section class="notice bad" role="alert"><strong>This page has a fault.</strong> ${sentence(error)}</section>`;
  }
}

function context(path = []) {
  return {
    profile: shell.profile, can: (role) => atLeast(shell.profile.role, role), workspace, path, query: new URLSearchParams(location.search), navigate, update,
  };
}

/** navigate goes to another address of the console. */
function navigate(href, { replace = false } = {}) {
  history[replace ? "replaceState" : "pushState"](null, "", href);
  return show();
}

// show opens the page at the address.
async function show() {
  const mine = ++turn;
  const found = pageAt(location.pathname);
  shell.menu = false;
  closePerson();
  if (found && shell.view && found.page === shell.page && shell.view.changed && !shell.error) {
    shell.path = found.path;
    shell.view.changed(context(found.path));
    scrollTo(0, 0);
    return update();
  }
  shell.view?.leave?.();
  Object.assign(shell, { page: found?.page ?? null, path: found?.path ?? [], view: null, error: null });
  update();
  const coming = found && load(found.page.module); // while the service tells who is asking
  coming?.catch(() => {}); // it is told below, once it is known that the page is to be shown
  try {
    shell.profile ??= (await get("/auth/profile")).result;
    if (!found) throw new Error("there is no page at this address");
    if (!atLeast(shell.profile.role, found.page.role)) throw new Error(`this page is for the role ${found.page.role}; yours is ${shell.profile.role}`);
    const [module] = await Promise.all([coming, workspace.open(shell.profile)]);
    const view = await module.open(context(found.path));
    if (mine === turn) shell.view = view;
    else view.leave?.();
  } catch (error) {
    if (mine === turn) shell.error = error;
  }
  if (mine !== turn) return;
  update();
  if (document.activeElement === document.body) document.getElementById("main")?.focus({ preventScroll: true });
  scrollTo(0, 0);
}

// load gives a page's module. Where the service is there and the module is not, it is another version by now, which is loaded
// whole; the draft is kept.
async function load(name) {
  try {
    return await import(`./pages/${name}.js`);
  } catch (cause) {
    await get("/ready");
    if (turn === 1) throw cause;
    await workspace.save();
    location.reload();
    return new Promise(() => {});
  }
}

// Links within the console change the page without loading it anew.
document.addEventListener("click", (event) => {
  if (!event.target.closest?.(".person")) closePerson();
  const link = event.target.closest?.("a[href]");
  if (!link || event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || link.target || link.hasAttribute("download")) return;
  const to = new URL(link.href);
  if (to.origin !== location.origin || !(to.pathname === "/console" || to.pathname.startsWith("/console/")) || (to.hash && to.pathname === location.pathname)) return;
  event.preventDefault();
  navigate(to.pathname + to.search + to.hash);
  document.getElementById("main")?.focus({ preventScroll: true });
});
addEventListener("popstate", () => show());
addEventListener("keydown", (event) => {
  if (event.key === "Escape" && closePerson()) document.querySelector(".person summary").focus();
  const typing = event.composedPath()[0].closest?.("input, textarea, select, [contenteditable], .cm-editor");
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z" && !typing && !document.querySelector("dialog[open]")) {
    event.preventDefault();
    if (event.shiftKey) workspace.redo(); else workspace.undo();
  }
});
workspace.addEventListener("change", update);
connection.addEventListener("change", () => {
  update();
  if (!connection.up) return;
  if (shell.error?.away) show().then(listen);
  else listen();
  workspace.look().catch(() => {});
});

// What others apply is seen at once, where the service can tell, and else when the page is looked at again. A page that nobody
// sees does not listen: over HTTP/1.1 a browser has six connections to a host, for all its tabs together.
let events = null, again = 0;
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
    if (events?.readyState === EventSource.CLOSED) { // it was refused: the browser does not try again by itself
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
// What is being typed counts when its box is left, and a page that is left is left with all its boxes. Of the two events the
// first leaves time to write, and the second comes everywhere.
function leave() {
  document.activeElement?.blur?.();
  if (workspace.doc) workspace.save();
}
addEventListener("beforeunload", leave);
addEventListener("pagehide", () => {
  leave();
  events?.close();
});
addEventListener("pageshow", (event) => { if (event.persisted) listen(); });

show().then(listen);
