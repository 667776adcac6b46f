// What people left for the next shift and nobody has done yet.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { get } from "../../shared/api.js";
import { count, time } from "../../shared/format.js";
import { live } from "../../shared/live.js";

/** Messages follows them; changed is called when there are others. */
export class Messages {
  #open = [];
  #changed;

  constructor(changed) {
    this.#changed = changed;
    live.addEventListener("message", this.#take);
    live.addEventListener("reset", this.#read);
    this.#read();
  }

  close() {
    live.removeEventListener("message", this.#take);
    live.removeEventListener("reset", this.#read);
  }

  #read = async () => {
    const { results } = await get("/message?limit=200").catch(() => ({ results: null })); // a reset comes when the service is back
    if (!results) return;
    this.#open = results.filter((message) => !message.doneAt);
    this.#changed();
  };

  #take = ({ detail }) => {
    this.#open = this.#open.filter((message) => message.id !== detail.id);
    if (!detail.doneAt) this.#open.unshift(detail);
    this.#changed();
  };

  /** list shows those of some stations. */
  list(stations, names) {
    const codes = new Set(stations.map((s) => s.stationCode)), here = this.#open.filter((message) => codes.has(message.stationCode));
    if (!here.length) return nothing;
    return html`<details class="messages" open><summary>${count(here.length, "message")} for the next shift</summary><ul class="plain-list">${here.slice(0, 20).map((m) => html`<li>
      <a dir="auto" href=${`/floor/station/${encodeURIComponent(m.stationCode)}`}>${names.station(m.stationCode).name}</a> <span class="message-text" dir="auto">${m.text}</span>
      <span class="muted">${m.initials}, ${time(m.at, { zone: names.plantOf(m.stationCode)?.timezone })}</span></li>`)}</ul></details>`;
  }
}
