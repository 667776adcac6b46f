// The overview: what this account is, what changed lately, and what needs a person.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { get } from "../../shared/api.js";
import { brief } from "../../shared/brief.js";
import { sentence } from "../../shared/dialog.js";
import { ago, count, number, time } from "../../shared/format.js";
import { warnings } from "./appliance.js";

/** How often it is looked at again what the appliance says, in milliseconds. */
const every = 30000;

export async function open(ctx) {
  const state = { revisions: [], revision: 0, appliance: null, failed: "" };
  const lately = async () => {
    state.revision = ctx.workspace.revision;
    state.revisions = (await get("/account/manifest/revisions?limit=5")).results;
    ctx.update();
  };
  const look = async () => {
    if (!ctx.can("admin")) return;
    try {
      Object.assign(state, { appliance: (await get("/appliance")).result, failed: "" });
    } catch (error) {
      state.failed = sentence(error);
    }
    ctx.update();
  };
  const applied = () => {
    if (ctx.workspace.revision !== state.revision)
      lately().catch(() => {
        state.revision = 0;
      });
  }; // asked again at the next change
  await Promise.all([lately(), look()]);
  ctx.workspace.addEventListener("change", applied);
  const timer = setInterval(() => {
    if (document.visibilityState === "visible") look();
  }, every);
  const leave = () => {
    clearInterval(timer);
    ctx.workspace.removeEventListener("change", applied);
  };
  return { title: "Overview", render: () => page(ctx, state), leave };
}

function page(ctx, { revisions, appliance, failed }) {
  const account = ctx.workspace.base.account;
  return html`
    <div class="page-head"><h1 dir="auto">${account.id}</h1></div>
    ${failed ? html`<p class="notice bad" role="alert"><strong>How the appliance is cannot be told.</strong> ${failed}</p>` : warnings(appliance?.warnings)}
    <div class="cards">
      ${account.plants.map((plant) => plantCard(plant))}
      <section class="card stack"><h2>Also in this account</h2>${tiles({
        SKU: account.skus?.length,
        "Shift pattern": account.shiftPatterns?.length,
        Reason: reasons(account.reasons),
        Task: account.tasks?.length,
        "Task list": account.taskLists?.length,
      })}</section>
      <section class="card stack"><div class="spread"><h2>Changed lately</h2><a href="/console/revisions">All revisions</a></div>
        <ul class="plain-list">${revisions.map(
          (r) => html`<li><a href=${`/console/revisions/${r.revision}`}>Revision ${r.revision}</a> ${brief(r.note)}<br>
          <span class="muted small"><span dir="auto">${r.author}</span>, <time datetime=${r.createdAt} title=${time(r.createdAt, { seconds: true })}>${ago(r.createdAt)}</time></span></li>`,
        )}</ul></section>
      ${appliance ? machine(appliance) : nothing}
    </div>`;
}

const tiles = (counts) =>
  html`<dl class="tiles">${Object.entries(counts).map(([name, n]) => html`<div><dt>${n === 1 ? name : `${name}s`}</dt><dd>${number(n ?? 0)}</dd></div>`)}</dl>`;

const reasons = (list) => (list ?? []).reduce((sum, reason) => sum + 1 + reasons(reason.reasons), 0);

const plantCard = (
  plant,
) => html`<section class="card stack"><div class="spread"><h2><a href=${`/console/plants/${encodeURIComponent(plant.code)}`}>${brief(plant.name)}</a></h2><span class="muted">${plant.timezone}</span></div>
  ${tiles({ Group: plant.stationGroups.length, Station: plant.stationGroups.reduce((sum, group) => sum + group.stations.length, 0) })}</section>`;

const machine = (
  now,
) => html`<section class="card stack"><div class="spread"><h2>Appliance</h2><a href="/console/appliance">Details</a></div>
  <dl class="facts"><dt>Version</dt><dd>${now.version}${now.startedAt ? html` <span class="muted">running since ${time(now.startedAt)}</span>` : nothing}</dd>
    <dt>Last backup</dt><dd>${now.backup.lastAt ? html`<span class=${now.backup.overdue ? "state wait" : "state ok"}>${ago(now.backup.lastAt)}</span>` : html`<span class="state wait">none yet</span>`}</dd>
    <dt>Certificate</dt><dd>${now.certificate ? html`<span class=${now.certificate.problems.length ? "state wait" : "state ok"}>${count(now.certificate.daysLeft, "day")} left</span>` : "none: without TLS"}</dd></dl></section>`;
