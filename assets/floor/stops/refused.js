// What tablets and other clients sent that was refused: somebody thought that it was done.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { get, query } from "../../shared/api.js";
import { sentence } from "../../shared/dialog.js";
import { time } from "../../shared/format.js";

const shown = 100;

/** Refused is the section of refused writes; changed draws the page again. It is read when it is opened. */
export class Refused {
  rows = null;
  total = 0;
  error = null;

  constructor(changed) {
    this.changed = changed;
  }

  async read(all = false) {
    try {
      const { results, paging } = await get(`/refused${query({ limit: all ? 1000 : shown })}`);
      Object.assign(this, { rows: results, total: paging.totalElements, error: null });
    } catch (error) {
      this.error = error;
    }
    this.changed();
  }

  show(zone) {
    return html`<details class="card refused" @toggle=${(e) => {
      if (e.target.open) this.read();
    }}><summary><h2>Refused writes</h2></summary>
      <p class="muted">What tablets sent and the service refused. Who sent it may believe that it was done: tell them.</p>
      ${this.error ? html`<p class="notice bad" role="alert">${sentence(this.error)} <button type="button" class="button small" @click=${() => this.read()}>Try again</button></p>` : nothing}
      ${this.rows?.length === 0 ? html`<p class="empty">Nothing was refused.</p>` : nothing}
      ${
        this.rows?.length
          ? html`<ol class="refused-list">${this.rows.map((r) => row(r, zone))}</ol>
        ${this.total > this.rows.length && this.rows.length < 1000 ? html`<button type="button" class="button" @click=${() => this.read(true)}>Show more of ${this.total}</button>` : nothing}`
          : nothing
      }
    </details>`;
  }
}

const row = (
  r,
  zone,
) => html`<li><div class="spread"><span><strong>${time(r.lastAt, { zone, seconds: true })}</strong>${r.times > 1 ? html` <span class="muted">sent ${r.times} times, first ${time(r.firstAt, { zone, seconds: true })}</span>` : nothing}</span>
    <span class="muted" dir="auto">${r.by}</span></div>
  <p><span class="state bad">${sentence(r.errorMessage)}</span></p>
  ${r.details.length ? html`<ul>${r.details.map((d) => html`<li>${sentence(`${d.field} ${d.issue}`)}</li>`)}</ul>` : nothing}
  <details class="inline"><summary class="muted">${doing(r)}</summary><pre tabindex="0">${r.method} ${r.path}\n${r.body}</pre></details></li>`;

const doings = [
  [
    /^POST \/issue\/.*\/(\w+)/,
    (m) =>
      ({
        cause: "Give the cause of a stop",
        acknowledge: "Acknowledge a stop",
        estimate: "Say when a stop ends",
        escalate: "Escalate a stop",
        split: "Split a stop",
        exclude: "Take a stop out of the figures",
      })[m[1]],
  ],
  [/^POST \/issue/, () => "Manual downtime"],
  [/^POST \/production\/.*\/undo/, () => "Take an entry back"],
  [/^POST \/production/, () => "Enter good or scrap"],
  [/^POST \/schedule\/.*\/start/, () => "Start a schedule"],
  [/^POST \/schedule\/.*\/end/, () => "End a schedule"],
  [/^POST \/schedule\/.*\/move/, () => "Move a schedule"],
  [/^POST \/schedule/, () => "Write a schedule"],
  [/^DELETE \/schedule/, () => "Delete a schedule"],
  [/^POST \/quick-schedule/, () => "Quick start"],
  [/^POST \/task\//, () => "Complete a Task"],
  [/^POST \/task-list\//, () => "Start a Task list"],
  [/^POST \/message/, () => "Write a message"],
];

function doing({ method, path }) {
  for (const [pattern, name] of doings) {
    const match = pattern.exec(`${method} ${path}`);
    if (match) return name(match) ?? `${method} ${path}`;
  }
  return `${method} ${path}`;
}
