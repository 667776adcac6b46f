// The audit: every change, who made it, when and from where.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { get, query } from "../../shared/api.js";
import { whole } from "../../shared/brief.js";
import { sentence, toast } from "../../shared/dialog.js";
import { ago, count, number, time } from "../../shared/format.js";
import { table } from "../../shared/rows.js";

const size = 100;

export async function open(ctx) {
  const page = new Page(ctx);
  await page.load();
  return page;
}

class Page {
  title = "Audit";
  rows = [];
  found = 0; // by the searches that came before the last one: each looks at so many records alone
  total = 0; // what the last search has found
  next = 0; // where another search goes on; 0 = all was looked at
  from = "";
  to = "";
  busy = false;
  #before = 0;
  #first = 0; // rows that earlier searches gave
  #turn = 0;
  #timer = 0;

  constructor(ctx) {
    Object.assign(this, { ctx, search: ctx.query.get("search") ?? "" });
  }

  leave() {
    clearTimeout(this.#timer);
    this.#turn++;
  }

  // Days are those of whoever looks.
  get filters() {
    const midnight = (day, later) => {
      const at = new Date(`${day}T00:00`);
      at.setDate(at.getDate() + later);
      return at.toISOString();
    };
    return { search: this.search, from: this.from && midnight(this.from, 0), to: this.to && midnight(this.to, 1) };
  }

  get narrow() {
    return this.search || this.from || this.to;
  }

  async load(more = false) {
    const mine = ++this.#turn,
      older = more && this.rows.length - this.#first >= this.total;
    const before = older ? this.next : more ? this.#before : 0,
      first = older ? this.rows.length : more ? this.#first : 0;
    this.busy = true;
    try {
      const { results, paging } = await get(
        `/audit${query({ ...this.filters, limit: size, skip: (more ? this.rows.length : 0) - first || "", before: before || "" })}`,
      );
      if (mine !== this.#turn) return;
      this.found = older ? this.found + this.total : more ? this.found : 0;
      Object.assign(this, {
        rows: more ? [...this.rows, ...results] : results,
        total: paging.totalElements,
        next: paging.before ?? 0,
      });
      this.#before = before;
      this.#first = first;
    } finally {
      if (mine === this.#turn) this.busy = false;
    }
    this.ctx.update();
  }

  /** set changes a filter; what is found comes when the hands rest. */
  set(name, value) {
    this[name] = value;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#tell(this.load()), 250);
    this.ctx.update();
  }

  #tell(work) {
    return work.catch((error) => {
      toast(sentence(error), "bad");
      this.ctx.update();
    });
  }

  render() {
    const all = this.found + this.total,
      left = this.rows.length - this.#first < this.total;
    return html`
      <div class="page-head"><h1>Audit</h1><a class="button" href=${`/audit/export${query(this.filters)}`} download="audit.csv">Export CSV</a></div>
      <div class="row audit-filters"><input type="search" class="search" maxlength="200" aria-label="Search the audit" placeholder="Who, what, where" .value=${this.search} @input=${(e) => this.set("search", e.target.value.trim())}>
        ${[
          ["from", "From"],
          ["to", "To"],
        ].map(
          ([name, label]) =>
            html`<label class=${this[name] ? "" : "no-print"}>${label} <input type="date" max="9999-12-31" .value=${this[name]} @change=${(e) => this.set(name, e.target.value)}></label>`,
        )}</div>
      ${table({ rows: this.rows, caption: "Audit", key: (r) => r.seq, empty: this.narrow ? "Nothing is found." : "Nothing was changed yet.", columns })}
      <p class="spread"><span class="muted">${number(this.rows.length)} of ${count(all, "record")}${this.next ? ", and older ones were not searched yet" : ""}</span>
        ${left || this.next ? html`<button type="button" class="button" ?disabled=${this.busy} @click=${() => this.#tell(this.load(true))}>${left ? "Show more" : "Search older records"}</button>` : nothing}</p>`;
  }
}

const moment = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

function detail(all) {
  const said = Object.entries(all ?? {})
    .filter(([, value]) => value !== "")
    .slice(0, 6);
  return said.length
    ? html`<dl class="small detail">${said.map(([name, value]) => html`<div><dt>${name}</dt><dd dir="auto">${moment.test(value) ? time(value, { seconds: true }) : value}</dd></div>`)}</dl>`
    : nothing;
}

const columns = [
  {
    name: "at",
    label: "When",
    cell: (r) => html`<time datetime=${r.at} title=${ago(r.at)}>${time(r.at, { seconds: true })}</time>`,
  },
  {
    name: "who",
    label: "Who",
    cell: (r) =>
      html`<bdi>${r.actor.email || r.actor.credential}</bdi><br><span class="muted small">${[r.actor.email && r.actor.credential, r.actor.address].filter(Boolean).join(", ")}</span>`,
  },
  { name: "action", label: "What", cell: (r) => html`<code class="whole">${r.action}</code>` },
  { name: "target", label: "Of what", cell: (r) => whole(r.target ?? "") },
  { name: "detail", label: "Detail", cell: (r) => detail(r.detail) },
];
