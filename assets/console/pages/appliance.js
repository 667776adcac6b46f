// The appliance: how it is, how it is reached, and what needs a person.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { get } from "../../shared/api.js";
import { ago, bytes, count, number, time } from "../../shared/format.js";

const every = 10000; // milliseconds

const ways = {
  off: "off",
  auto: "by the appliance's own authority",
  files: "by a certificate of the plant's",
  proxy: "by a proxy before it",
};

export async function open(ctx) {
  const state = { now: (await get("/appliance")).result };
  const timer = setInterval(async () => {
    if (document.visibilityState !== "visible") return;
    state.now = await get("/appliance").then(
      (body) => body.result,
      () => state.now,
    );
    ctx.update();
  }, every);
  return { title: "Appliance", render: () => page(state.now), leave: () => clearInterval(timer) };
}

const facts = (pairs) =>
  html`<dl class="facts">${pairs.filter(Boolean).map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;

const page = (now) => html`
  <div class="page-head"><h1>Appliance</h1></div>
  ${warnings(now.warnings)}
  <div class="cards">
    <section class="card stack"><h2>Program</h2>${facts([
      ["Version", html`${now.version} <code class="muted small">${now.commit?.slice(0, 12)}</code>`],
      ["Platform", now.platform],
      ["Machine", now.hostName],
      ["Running", now.startedAt ? html`since ${time(now.startedAt)}` : ""],
      [
        "Clock",
        html`${time(now.clock.now, { seconds: true })} <span class="muted">${now.clock.zone}</span>${now.clock.believed ? nothing : html`<br><span class="state wait">not believed</span>`}`,
      ],
    ])}</section>
    <section class="card stack"><h2>Reached at</h2>${facts([
      [
        "Addresses",
        html`<ul class="plain-list">${now.urls.map((url) => html`<li><a href=${url} class="wrap">${url}</a></li>`)}</ul>`,
      ],
      now.name && ["Name on the network", now.name],
      [
        "Listens on",
        html`${now.listen.map((l) => html`<div><code>${l.address}</code> <span class="muted">${l.setting}${l.tls ? ", TLS" : ""}</span></div>`)}`,
      ],
    ])}</section>
    <section class="card stack"><h2>Certificate</h2>${certificate(now)}</section>
    <section class="card stack"><h2>Storage</h2>${facts([
      [
        "Store",
        html`${bytes(now.store.bytes)} <span class="muted">${bytes(now.store.free)} of it unused</span>${now.store.full ? html`<br><span class="state bad">full</span>` : nothing}`,
      ],
      now.disk && [
        "Disk",
        html`${bytes(now.disk.free)} free of ${bytes(now.disk.total)}<meter min="0" max=${now.disk.total} low=${now.disk.total * 0.8} high=${now.disk.total * 0.95} optimum="0" value=${now.disk.total - now.disk.free}>${bytes(now.disk.total - now.disk.free)} used</meter>`,
      ],
      ["Folder", html`<code class="wrap">${now.dataDir}</code>`],
      [
        "Kept",
        `signals ${count(now.retention.signalDays, "day")}, windows ${count(now.retention.windowDays, "day")}, audit ${count(now.retention.auditDays, "day")}`,
      ],
    ])}</section>
    <section class="card stack"><div class="spread"><h2>Backups</h2><a href="/console/backups">All backups</a></div>${facts(
      [
        [
          "Last",
          now.backup.lastAt
            ? html`<span class=${now.backup.overdue ? "state wait" : "state ok"} title=${time(now.backup.lastAt)}>${ago(now.backup.lastAt)}</span>`
            : html`<span class="state wait">none yet</span>`,
        ],
        [
          "Next",
          now.backup.running ? "is being made" : now.backup.nextAt ? time(now.backup.nextAt) : "none is scheduled",
        ],
        ["Encrypted", now.backup.encrypted ? "yes" : "no"],
      ],
    )}</section>
    <section class="card stack"><h2>Who and what uses it</h2>
      <dl class="tiles">${Object.entries({ Account: now.counts.accounts, User: now.counts.users, Tablet: now.counts.tablets, Device: now.counts.devices }).map(([name, n]) => html`<div><dt>${n === 1 ? name : `${name}s`}</dt><dd>${number(n)}</dd></div>`)}</dl></section>
  </div>`;

// Where something can be done about a warning, by its code.
const doors = {
  backup: ["backups", "Backups"],
  noSchedule: ["backups", "Backups"],
  deviceClocks: ["devices", "Devices"],
  plantBroker: ["log", "Log"],
};

/** warnings shows what needs a person: it stands on the overview too. */
export function warnings(list) {
  if (!list?.length) return nothing;
  return html`<section class="stack" aria-label="Warnings">${list.map(
    (w) => html`
    <div class=${w.severity === "problem" ? "notice bad" : "notice wait"}><strong>${w.message}</strong> ${w.action}${doors[w.code] ? html` <a href=${`/console/${doors[w.code][0]}`}>${doors[w.code][1]}</a>` : nothing}</div>`,
  )}</section>`;
}

function certificate(now) {
  const c = now.certificate;
  if (!c) return html`<p>TLS is ${ways[now.tls] ?? now.tls}.</p>`;
  return html`${facts([
    ["TLS", ways[now.tls] ?? now.tls],
    [
      "Ends",
      html`<span class=${c.problems.length ? "state wait" : "state ok"} title=${time(c.endsAt)}>in ${count(c.daysLeft, "day")}</span>`,
    ],
    ["For", html`<span class="wrap">${c.hosts.join(", ")}</span>`],
    ["Fingerprint", html`<code class="wrap small">${c.fingerprint}</code>`],
    c.authority && [
      "Authority",
      html`<bdi>${c.authority.name}</bdi>, until ${time(c.authority.endsAt)}<br><a download="plant-ca.pem" href=${`data:application/x-pem-file;charset=utf-8,${encodeURIComponent(c.authority.pem)}`}>Download it</a>`,
    ],
    c.authority?.pages?.length && [
      "Page for devices",
      html`${c.authority.pages.map((url) => html`<a class="wrap" href=${url}>${url}</a> `)}`,
    ],
  ])}${c.problems.map((p) => html`<p class="notice wait">${p}</p>`)}`;
}
