// The operator's tablet: one station at a time, in controls for gloves, that works on without the network.

import { html, nothing, render } from "../vendor/lit-html/lit-html.js";
import { connection, signOut, stay } from "../shared/api.js";
import { sentence } from "../shared/dialog.js";
import { count, time } from "../shared/format.js";
import { keep } from "../shared/keep.js";
import { actsAt } from "../shared/roles.js";
import { acts, refusal } from "./acts.js";
import { Doing } from "./doing.js";
import { mindHands, rest, stayAwake } from "./hands.js";
import { chooseStation, menu, pickStations, showOthers, showWaiting, switchedOff } from "./menu.js";
import { install, recall, whose } from "./offline.js";
import { Person } from "./person.js";
import { queue } from "./queue.js";
import { sure } from "./sheets.js";
import { shown } from "./shown.js";
import { Station } from "./station.js";
import { messages, unread } from "./views/messages.js";
import { next } from "./views/next.js";
import { run } from "./views/run.js";
import { stops, uncaused } from "./views/stops.js";
import { tasks } from "./views/tasks.js";

const root = document.body.appendChild(Object.assign(document.createElement("div"), { id: "tablet" }));
const station = new Station();
const t = {
  station,
  go,
  view: null,
  doing: null,
  person: null,
  profile: null,
  codes: [],
  page: "run",
  error: null,
  get mayAct() {
    return Boolean(this.profile) && actsAt(this.profile, station.code);
  },
};

const pages = [
  { name: "run", label: "Now", sign: "▶", show: run },
  { name: "next", label: "Next", sign: "☰", show: next },
  { name: "stops", label: "Stops", sign: "■", show: stops, badge: (view) => uncaused(view).length },
  {
    name: "tasks",
    label: "Tasks",
    sign: "✓",
    show: tasks,
    badge: (view) => view.tasks.filter((task) => task.state === "pending").length,
    hidden: () => !station.flag("enableTasks"),
  },
  { name: "messages", label: "Messages", sign: "✉", show: messages, badge: (view) => unread(view).length },
];

function go(name) {
  if (t.page === name) return;
  t.page = name;
  history.replaceState(null, "", name === "run" ? location.pathname : `#${name}`);
  rest();
  update();
  document.querySelector("main")?.scrollTo(0, 0);
}

let drawn = false;

function update() {
  // draws again, once for however many calls
  if (drawn) return;
  drawn = true;
  requestAnimationFrame(() => {
    drawn = false;
    draw();
  });
}

function draw() {
  if (station.config) t.view = shown(station, acts.pending(station));
  const page = pages.find((p) => p.name === t.page && !p.hidden?.()) ?? pages[0];
  document.title = `${station.config?.name ?? "Tablet"} – opsmon`;
  render(
    html`
    <header class="t-bar">${station.config || t.codes.length ? bar() : html`<p class="brand">opsmon</p>`}</header>
    <div class="t-told">${told()}</div>
    <main id="main" tabindex="-1" class=${`t-main page-${page.name}`} data-station=${station.code || nothing} data-sequence=${station.now?.sequence ?? nothing}>${content(page)}</main>
    ${station.config ? html`<nav class="t-nav" aria-label="Pages">${pages.filter((p) => !p.hidden?.()).map(tab(page))}</nav>` : nothing}
    <p class=${`t-last ${acts.last?.state ?? "none"}`} role="status">${acts.last ? html`<span class="sign" aria-hidden="true">${{ sending: "…", sent: "✓", waiting: "↑", refused: "✕" }[acts.last.state]}</span> <span dir="auto">${acts.last.label}</span> <span class="state-word">${words[acts.last.state]}</span>` : nothing}</p>`,
    root,
  );
}

const words = {
  sending: "– being sent",
  sent: "– done",
  waiting: "– kept, and sent when the service can be reached",
  refused: "– refused",
};

const tab = (page) => (p) => {
  const n = t.view ? (p.badge?.(t.view) ?? 0) : 0;
  return html`<button type="button" data-page=${p.name} aria-current=${p === page ? "page" : nothing} @click=${() => go(p.name)}><span class="sign" aria-hidden="true">${p.sign}</span><span>${p.label}</span>${n ? html`<span class="badge">${n}<span class="visually-hidden"> waiting</span></span>` : nothing}</button>`;
};

function bar() {
  const initials = t.person && station.config ? t.person.initials(station) : "",
    name = station.config?.name ?? station.code;
  return html`
    ${t.codes.length > 1 ? html`<button type="button" class="t-station" data-do="station" @click=${change}><span dir="auto">${name}</span><span class="sign" aria-hidden="true">▾</span><span class="visually-hidden">, another station</span></button>` : html`<h1 class="t-station" dir="auto">${name}</h1>`}
    ${state()}
    ${t.mayAct && station.config ? html`<button type="button" class="t-who" data-do="who" @click=${() => t.person.ask(station).then(update)}>${initials ? html`<span dir="auto">${initials}</span><span class="visually-hidden"> works here; change</span>` : "Who works here?"}</button>` : nothing}
    <button type="button" class="t-menu" data-do="menu" aria-label="Menu" @click=${openMenu}>⋯</button>`;
}

function state() {
  const n = queue.waiting.length;
  if (connection.up && n === 0 && station.code && !station.followed)
    return html`<span class="t-state wait"><span aria-hidden="true">◌</span> <span>not up to date</span></span>`;
  if (connection.up && n === 0)
    return html`<span class="t-state ok"><span aria-hidden="true">●</span> <span>live</span></span>`;
  return html`<button type="button" class=${connection.up ? "t-state wait" : "t-state away"} data-do="waiting" @click=${showWaiting}><span aria-hidden="true">${connection.up ? "↑" : "✕"}</span> ${connection.up ? "" : "Not connected"}${n ? html`${connection.up ? nothing : " · "}<span data-value="waiting">${n}</span> to send` : nothing}</button>`;
}

// told shows what must not be missed: what was refused, or may have a wrong time, stays until somebody has read it.
function told() {
  return html`
    ${queue.signedOut ? html`<div class="notice bad" role="alert"><div><strong>This tablet is signed out.</strong> What you do is kept, and sent when ${isTablet() ? html`it is paired again by its name, <bdi>${t.profile.tabletName}</bdi>. Ask whoever looks after the console for a new code` : "it is signed in again"}.</div>${isTablet() ? nothing : html`<a class="button large" href="/signin?next=/tablet">Sign in</a>`}</div>` : nothing}
    ${queue.others.length ? html`<div class="notice wait" role="alert" data-others><div><strong>${count(queue.others.length, "action")} of others ${queue.others.length === 1 ? "waits" : "wait"} here</strong>, and nobody else's sign-in sends ${queue.others.length === 1 ? "it" : "them"}.</div><button type="button" class="button large" data-do="others" @click=${showOthers}>See ${queue.others.length === 1 ? "it" : "them"}</button></div>` : nothing}
    ${!queue.kept && queue.waiting.length ? html`<div class="notice bad" role="alert"><strong>This browser keeps nothing.</strong> Do not close the page until everything is sent.</div>` : nothing}
    ${queue.refused.map((a) => html`<div class="notice bad refused" role="alert" data-refused=${a.id}><div><strong>Not done: <span dir="auto">${a.label}</span></strong> (<bdi>${a.station}</bdi>, ${time(a.at, { zone: a.zone, date: false })}). ${refusal(a.error, a.zone)}</div><button type="button" class="button large" data-do="dismiss" @click=${() => queue.dismiss(a.id)}>I have read it</button></div>`)}
    ${queue.unsure.map((a) => html`<div class="notice wait refused" role="alert" data-unsure=${a.id}><div><strong>The time may be wrong: <span dir="auto">${a.label}</span></strong> (<bdi>${a.station}</bdi>). It stands at ${time(a.at, { zone: a.zone })}, but this tablet's clock was set, or stood still, before it was sent. If that is not when it was, tell your supervisor.</div><button type="button" class="button large" data-do="dismiss" @click=${() => queue.dismiss(a.id)}>I have read it</button></div>`)}
    ${station.now?.alertMessage ? html`<div class="notice wait" role="alert"><strong>Alert:</strong> <span dir="auto">${station.now.alertMessage}</span></div>` : nothing}`;
}

function content(page) {
  const error = t.error ?? station.error;
  if (error) {
    return html`<section class="notice bad" role="alert"><strong>This station cannot be shown.</strong> ${sentence(error)} <p><button type="button" class="button large" @click=${() => begin()}>Try again</button></p></section>`;
  }
  if (t.person && t.codes.length === 0) {
    return html`<section class="card now none"><h2>No station yet</h2><p class="muted">Choose the stations that this tablet stands at.</p><button type="button" class="button large primary" data-do="choose" @click=${choose}>Choose stations</button></section>`;
  }
  if (!station.config || !t.view) return html`<p class="muted" role="status">Loading …</p>`;
  try {
    return page.show(t);
  } catch (fault) {
    console.error(fault);
    return html`<section class="notice bad" role="alert"><strong>This page has a fault.</strong> ${sentence(fault)}</section>`;
  }
}

async function change() {
  const code = await chooseStation(t.codes, station.code);
  if (code && code !== station.code) show(code);
}

function show(code) {
  t.person.stations = { codes: t.codes, current: code };
  return station.open(t.person.who, code, t.codes);
}

const isTablet = () => Boolean(t.profile?.email.startsWith("tablet:"));

const free = () => !t.profile.stationCodes?.length;

async function choose() {
  // the stations of a tablet that is bound to none
  const { body } = await recall("/station", t.person.who);
  const codes = await pickStations(body.results, t.codes);
  if (!codes) return;
  t.codes = codes;
  await show(codes.includes(station.code) ? station.code : codes[0]);
  update();
}

async function openMenu() {
  const chosen = await menu({
    initials: t.person.initials(station),
    several: t.codes.length > 1,
    free: free(),
    person: !isTablet(),
  });
  const does = {
    who: () => t.person.ask(station),
    leave: () => t.person.leave(station),
    station: change,
    stations: choose,
    off: () => switchedOff(station),
    waiting: showWaiting,
    floor: () => location.assign("/floor"),
    help: () => location.assign("/help/tablet"),
    out: leave,
  }[chosen];
  await does?.();
  update();
}

async function leave() {
  const n = queue.waiting.length;
  if (
    n &&
    !(await sure({
      title: "Sign out?",
      text: html`<p><strong>${n} of your actions wait to be sent.</strong> They stay on this tablet, and go when you sign in here again.</p>`,
      action: "Sign out",
      danger: true,
    }))
  )
    return;
  if (connection.up) await keep.clear("read:"); // what was read is nobody else's; signing out needs the network
  await signOut("POST", "/auth/logout");
}

// begin finds out whose tablet this is, and shows its station.
async function begin() {
  t.error = null;
  update();
  try {
    t.profile = await whose();
    t.person = new Person(`${t.profile.accountId}/${t.profile.email}`);
    t.doing = new Doing(station, t.person);
    await queue.open(t.profile);
    const kept = t.person.stations;
    t.codes = free() ? kept.codes : t.profile.stationCodes;
    if (t.codes.length === 0) await choose();
    else await show(t.codes.includes(kept.current) ? kept.current : t.codes[0]);
    station.beside();
  } catch (error) {
    if (error.status === 401) location.assign("/signin?next=/tablet");
    t.error = error;
  }
  update();
}

stay(() => {
  // who works here goes on, and what is done is kept; what was read is nobody's any more
  keep.clear("read:");
  queue.signOut();
});
mindHands();
stayAwake();
const asked = location.hash.slice(1);
if (pages.some((p) => p.name === asked)) t.page = asked;
for (const source of [station, acts, queue, connection]) source.addEventListener("change", update);
station.addEventListener("follow", () => t.person.tell(station)); // where no answer told so before the page was left
connection.addEventListener("change", () => {
  if (connection.up && t.error?.away) begin();
  else if (connection.up && t.person && station.config) t.person.tell(station);
});
setInterval(() => {
  if (station.config) t.person.expire(station);
  if (document.visibilityState === "visible") update(); // how long things last
}, 1000);
begin();
install(() => !document.querySelector("dialog[open]") && queue.waiting.length === 0);
