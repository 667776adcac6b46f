// The audit: every change, who made it, when and from where.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { get, query } from "../../shared/api.js";
import { ago, count, time } from "../../shared/format.js";
import { table } from "../../shared/rows.js";

const size = 100;

export async function open(ctx) {
  const state = { rows: [], total: 0, search: ctx.query.get("search") ?? "", turn: 0, timer: 0, busy: false };
  const load = async (more = false) => {
    const mine = ++state.turn;
    state.busy = true;
    const body = await get(`/audit${query({ limit: size, skip: more ? state.rows.length : 0, search: state.search })}`);
    if (mine !== state.turn) return;
    Object.assign(state, { rows: more ? [...state.rows, ...body.results] : body.results, total: body.paging.totalElements, busy: false });
    ctx.update();
  };
  const search = (text) => {
    state.search = text;
    clearTimeout(state.timer);
    state.timer = setTimeout(() => load().catch(() => {}), 250);
  };
  await load();
  return { title: "Audit", render: () => page(ctx, state, load, search), leave: () => clearTimeout(state.timer) };
}

const page = (ctx, state, load, search) => html`
  <div class="page-head"><h1>Audit</h1><a class="button" href=${`/export/audit${query({ search: state.search })}`} download="audit.csv">Export CSV</a></div>
  <input type="search" class="search" aria-label="Search the audit" placeholder="Who, what, where" .value=${state.search} @input=${(e) => search(e.target.value.trim())}>
  ${table({
    rows: state.rows, caption: "Audit", key: (r) => r.seq, empty: state.search ? "Nothing is found." : "Nothing was changed yet.",
    columns: [
      { name: "at", label: "When", cell: (r) => html`<time datetime=${r.at} title=${ago(r.at)}>${time(r.at, { seconds: true })}</time>` },
      { name: "who", label: "Who", cell: (r) => html`<bdi>${r.actor.email || r.actor.credential}</bdi><br><span class="muted small">${[r.actor.email && r.actor.credential, r.actor.address].filter(Boolean).join(", ")}</span>` },
      { name: "action", label: "What", cell: (r) => html`<code>${r.action}</code>` },
      { name: "target", label: "Of what", cell: (r) => html`<bdi class="wrap">${r.target}</bdi>` },
      { name: "detail", label: "Detail", cell: (r) => (r.detail && Object.keys(r.detail).length ? html`<dl class="small detail">${Object.entries(r.detail).slice(0, 6).map(([name, value]) => html`<div><dt>${name}</dt><dd dir="auto">${typeof value === "object" ? JSON.stringify(value) : String(value)}</dd></div>`)}</dl>` : nothing) },
    ],
  })}
  <p class="spread"><span class="muted">${state.rows.length} of ${count(state.total, "record")}</span>
    ${state.rows.length < state.total ? html`<button type="button" class="button" ?disabled=${state.busy} @click=${() => load(true)}>Show more</button>` : nothing}</p>`;
