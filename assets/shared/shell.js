// The shell around pages that share a bar and a menu: who is signed in, the page at the address, and whether the service is
// there. The console has one and the floor another; a link from one to the other loads anew.
//
// A shell's pages stand in a table, in the order of the menu: sections of {label, hidden, pages: [{path, module, label, role,
// bare}]}. A page's module is loaded when it is first shown, and exports
//
//   open(ctx)  -> {title, render(), leave?(), changed?(ctx)}, or a promise of it
//
// render gives a template and is called again after ctx.update(). leave is called when another page takes over; changed when
// the path or the query changed and the page is the same. ctx: {profile, can(role), acts(stationCode), path (array of what follows the page's
// name, decoded), query (URLSearchParams), navigate(href, {replace, still}), update()}, and what the shell adds. A bare page has no
// bar and no menu.

import { html, nothing, render } from "../vendor/lit-html/lit-html.js";
import { connection, get, post, signOut } from "./api.js";
import { attempt, sentence, toast } from "./dialog.js";
import { actsAt, atLeast } from "./roles.js";

const patience = 2000; // milliseconds that keeping what was entered may take when somebody signs out

const lasting = (message) => Object.assign(new Error(message), { final: true }); // trying again gives the same

/**
 * openShell shows the page at the address and goes on from there. base is the path that its pages stand below ("/console"),
 * sections the table, load(module) imports a page's module; others are the menu's links to other shells, [{href, label}]. May
 * be left out: prepare(profile), awaited before a page is opened; extra, what ctx has more; banner(), what stands above the
 * page of a shell with a bar; foot(ctx), what stands below it; unsaved(), whether something is entered and not applied; save(), keeps it. It gives {profile, update, show}.
 */
export function openShell({
  base,
  title,
  sections,
  load,
  others = [],
  prepare = () => {},
  extra = {},
  banner = () => nothing,
  foot = () => nothing,
  unsaved = () => false,
  save = async () => {},
}) {
  const root = document.body.appendChild(Object.assign(document.createElement("div"), { id: "shell" }));
  const shell = { profile: null, page: null, path: [], view: null, error: null, menu: false, update, show };
  let drawn = false,
    turn = 0,
    at = "";

  function update() {
    // draws again, once for however many calls
    if (drawn) return;
    drawn = true;
    queueMicrotask(() => {
      drawn = false;
      draw();
    });
  }

  function draw() {
    const name = shell.view?.title ?? shell.page?.label ?? title;
    document.title = `${unsaved() ? "• " : ""}${name} – opsmon`;
    document.body.classList.toggle("bare", Boolean(shell.page?.bare));
    render(
      shell.page?.bare
        ? html`${away()}<main id="main" tabindex="-1">${content()}</main>`
        : html`
      <a class="skip" href="#main">Skip to the content</a>
      <header class="top">
        <button type="button" class="icon-button menu-button" aria-label="Menu" aria-expanded=${String(shell.menu)} aria-controls="menu" @click=${() => openMenu(!shell.menu)}>☰</button>
        <a class="brand" href=${base}><span>opsmon</span></a>
        <span class="account" dir="auto">${shell.profile?.accountId ?? ""}</span>
        ${shell.profile ? person(shell.profile) : nothing}
      </header>
      <div class="banners">${away()}${banner()}</div>
      <div class="frame">
        ${menu()}
        <main id="main" tabindex="-1">${content()}</main>
      </div>
      ${shell.profile ? foot(context(shell.path)) : nothing}`,
      root,
    );
  }

  const away = () =>
    connection.up
      ? nothing
      : html`<div class="banner wait" role="alert"><strong>The service does not answer.</strong> ${connection.reason ? `${sentence({ message: connection.reason })} ` : ""}It may be starting again. This page goes on by itself; what you have entered is kept.</div>`;

  const menu = () => html`<nav id="menu" class=${shell.menu ? "menu open" : "menu"} aria-label="Pages">
    ${sections
      .filter((section) => !section.hidden)
      .map((section) => ({
        ...section,
        pages: section.pages.filter((p) => !p.hidden && atLeast(shell.profile?.role, p.role)),
      }))
      .filter((s) => s.pages.length)
      .map(
        (section) => html`
      ${section.label ? html`<h2>${section.label}</h2>` : nothing}
      <ul>${section.pages.map((p) => html`<li><a href=${p.path ? `${base}/${p.path}` : base} aria-current=${p === shell.page ? "page" : nothing}>${p.label}</a></li>`)}</ul>`,
      )}
    <ul class="menu-foot">${others.map((other) => html`<li><a href=${other.href}>${other.label}</a></li>`)}</ul>
  </nav>`;

  const person = (
    profile,
  ) => html`<details class="person"><summary><span dir="auto">${profile.email}</span> <span class="muted">${profile.role}</span></summary>
    <div class="card">
      ${profile.accounts.filter((a) => a.accountId !== profile.accountId).map((a) => html`<button type="button" class="button" @click=${() => change(a.accountId)}>Go to <bdi>${a.accountId}</bdi></button>`)}
      <a class="button" href="/console/keys">My API keys</a>
      <a class="button" href="/console/sessions">Where I am signed in</a>
      <button type="button" class="button" @click=${() => goAway("POST", "/auth/logout")}>Sign out</button>
      <button type="button" class="button" @click=${() => goAway("DELETE", "/session")}>Sign out everywhere</button>
    </div></details>`;

  function closePerson() {
    // gives whether it was open
    const open = document.querySelector(".person[open]");
    open?.removeAttribute("open");
    return Boolean(open);
  }

  function openMenu(open) {
    // over the page, on a small screen
    shell.menu = open;
    update();
  }

  const change = (accountId) =>
    attempt(async () => {
      await post("/auth/account", { accountId });
      location.assign(base);
    });

  async function goAway(method, path) {
    await Promise.race([
      save(),
      new Promise((done) => {
        setTimeout(done, patience);
      }),
    ]); // storage that hangs keeps nobody signed in
    if (!(await signOut(method, path)))
      toast("You are still signed in: the service could not end the session now. Try again in a moment.", "bad");
  }

  function content() {
    if (shell.error) {
      return html`<section class="notice bad" role="alert"><strong>This page cannot be shown.</strong> ${sentence(shell.error)}
        <p>${shell.error.final ? html`<a class="button" href=${base}>${title}</a>` : html`<button type="button" class="button" @click=${() => show()}>Try again</button>`}</p></section>`;
    }
    if (!shell.view) return html`<p class="muted loading" role="status">Loading …</p>`;
    try {
      return shell.view.render();
    } catch (error) {
      console.error(error);
      return html`<section class="notice bad" role="alert"><strong>This page has a fault.</strong> ${sentence(error)}</section>`;
    }
  }

  const context = (path) => ({
    profile: shell.profile,
    can: (role) => atLeast(shell.profile.role, role),
    acts: (stationCode) => actsAt(shell.profile, stationCode),
    path,
    query: new URLSearchParams(location.search),
    navigate,
    update,
    ...extra,
  });

  function navigate(href, { replace = false, still = false } = {}) {
    // goes to another address of the shell; still: the page is not scrolled to its beginning
    history[replace ? "replaceState" : "pushState"](null, "", href);
    if (still) at = location.pathname;
    return show();
  }

  // pageAt finds the page of a path below base, and what of the path follows its name.
  function pageAt(pathname) {
    let parts;
    try {
      parts = pathname.split("/").map(decodeURIComponent);
    } catch {
      return null; // no text at all, such as %FF
    }
    const [, , name = "", ...rest] = parts;
    const found = sections.flatMap((s) => s.pages).find((p) => p.path === name);
    return found ? { page: found, path: rest.filter(Boolean) } : null;
  }

  async function show() {
    // opens the page at the address
    const mine = ++turn;
    const found = pageAt(location.pathname);
    shell.menu = false;
    closePerson();
    const elsewhere = at !== location.pathname;
    at = location.pathname;
    if (found && shell.view && found.page === shell.page && shell.view.changed && !shell.error) {
      shell.path = found.path;
      shell.view.changed(context(found.path));
      if (elsewhere) scrollTo(0, 0);
      return update();
    }
    shell.view?.leave?.();
    Object.assign(shell, { page: found?.page ?? null, path: found?.path ?? [], view: null, error: null });
    update();
    const coming = found && whole(found.page.module); // while the service tells who is asking
    coming?.catch(() => {}); // it is told below, once it is known that the page is to be shown
    try {
      shell.profile ??= (await get("/auth/profile")).result;
      if (!found) throw lasting("there is no page at this address");
      if (!atLeast(shell.profile.role, found.page.role))
        throw lasting(`this page is for the role ${found.page.role}; yours is ${shell.profile.role}`);
      const [module] = await Promise.all([coming, prepare(shell.profile)]);
      if (mine !== turn) return;
      const view = await module.open(context(found.path));
      if (mine === turn) shell.view = view;
      else view.leave?.();
    } catch (error) {
      if (mine === turn) shell.error = error;
    }
    if (mine !== turn) return;
    update();
    if (mine === 1) return; // the browser has begun at the top, or goes on where a page was that is loaded again
    if (document.activeElement === document.body) document.getElementById("main")?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }

  // whole gives a page's module. Where the service is there and the module is not, it is another version by now, which is
  // loaded whole; what was entered is kept.
  async function whole(name) {
    try {
      return await load(name);
    } catch (cause) {
      await get("/ready");
      if (turn === 1) throw cause;
      await save();
      location.reload();
      return new Promise(() => {});
    }
  }

  // Links within the shell change the page without loading it anew.
  document.addEventListener("click", (event) => {
    if (!event.target.closest?.(".person")) closePerson();
    if (shell.menu && !event.target.closest?.("#menu, .menu-button")) openMenu(false);
    const link = event.target.closest?.("a[href]");
    if (
      !link ||
      event.defaultPrevented ||
      event.button !== 0 ||
      event.ctrlKey ||
      event.metaKey ||
      event.shiftKey ||
      event.altKey ||
      link.target ||
      link.hasAttribute("download")
    )
      return;
    const to = new URL(link.href);
    if (
      to.origin !== location.origin ||
      !(to.pathname === base || to.pathname.startsWith(`${base}/`)) ||
      (to.hash && to.pathname === location.pathname)
    )
      return;
    event.preventDefault();
    navigate(to.pathname + to.search + to.hash);
    document.getElementById("main")?.focus({ preventScroll: true });
  });
  addEventListener("popstate", () => show());
  // What is being typed counts when its box is left, and a page that is left is left with all its boxes. Of the two events the
  // first leaves time to write, and the second comes everywhere.
  for (const type of ["beforeunload", "pagehide"])
    addEventListener(type, () => {
      document.activeElement?.blur?.();
      save();
    });
  addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.defaultPrevented) return;
    if (closePerson()) document.querySelector(".person summary").focus();
    else if (shell.menu) {
      openMenu(false);
      document.querySelector(".menu-button").focus();
    }
  });
  connection.addEventListener("change", () => {
    update();
    if (connection.up && shell.error?.away) show();
  });
  return shell;
}
