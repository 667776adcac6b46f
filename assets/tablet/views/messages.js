// What the people of one shift leave to the next.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { time } from "../../shared/format.js";
import { acts } from "../acts.js";
import { now } from "../../shared/clock.js";
import { waits } from "./run.js";

/** unread gives the messages that nobody has seen to. */
export const unread = (view) => view.messages.filter((m) => !m.doneAt);

/** messages shows them. */
export function messages(t) {
  const open = unread(t.view),
    done = t.view.messages.filter((m) => m.doneAt);
  return html`
    ${t.mayAct ? html`<button type="button" class="button large primary" data-do="write" ?disabled=${acts.rests("message")} @click=${() => t.doing.write()}>Write to the next shift</button>` : nothing}
    ${t.station.messages === null ? html`<p class="muted" role="status">Loading …</p>` : open.length === 0 ? html`<p class="empty">No message waits here.</p>` : html`<ul class="list">${open.map((m) => item(t, m))}</ul>`}
    ${done.length ? html`<h2>Done</h2><ul class="list">${done.slice(0, 20).map((m) => item(t, m))}</ul>` : nothing}`;
}

function item({ station, doing, mayAct }, m) {
  const at = (moment) =>
    time(moment, { zone: station.config.plant.timezone, date: now() - Date.parse(moment) > 20 * 3600_000 });
  return html`<li class=${m.doneAt ? "entry done" : "entry"} data-message=${m.id}>
    <div class="entry-text"><p class="message" dir="auto">${m.text}</p>
      <p class="muted"><strong dir="auto">${m.initials}</strong> · ${at(m.at)}${m.shiftName ? html` · <span dir="auto">${m.shiftName}</span>` : nothing}${m.doneAt ? html` · done by <span dir="auto">${m.doneBy}</span>` : nothing} ${m.waits ? waits : nothing}</p></div>
    ${mayAct && !m.doneAt ? html`<button type="button" class="button large" data-do="settle" ?disabled=${acts.rests(`message ${m.id}`)} @click=${() => doing.settle(m)}>Done</button>` : nothing}</li>`;
}
