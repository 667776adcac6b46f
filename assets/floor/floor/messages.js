// What people left for the next shift and nobody has done yet.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { get } from "../../shared/api.js";
import { time } from "../../shared/format.js";
import { live } from "../../shared/live.js";
import { text } from "../../shared/words.js";

const patience = 10_000; // ms until what could not be read is asked for once more

/** Messages follows them; changed is called when there are others. */
export class Messages {
  #open = [];
  #heard = []; // since the last reading has begun
  #timer = 0;
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
    clearTimeout(this.#timer);
    this.#heard = null;
  }

  #read = async () => {
    const heard = (this.#heard = []); // what is told meanwhile: the answer may be of before
    clearTimeout(this.#timer);
    const { results } = await get("/message?open=true&limit=1000").catch(() => ({ results: null })); // as many as one request gives
    if (heard !== this.#heard) return; // another reading has begun, or the page was left
    if (!results) {
      this.#timer = setTimeout(this.#read, patience);
      return;
    }
    this.#open = results;
    for (const message of heard) this.#put(message);
    this.#changed();
  };

  #take = ({ detail }) => {
    this.#heard.push(detail);
    this.#put(detail);
    this.#changed();
  };

  #put(message) {
    this.#open = this.#open.filter((other) => other.id !== message.id);
    if (!message.doneAt) this.#open.unshift(message);
  }

  /** list shows those of some stations. */
  list(stations, names) {
    const codes = new Set(stations.map((s) => s.stationCode)),
      here = this.#open.filter((message) => codes.has(message.stationCode));
    if (!here.length) return nothing;
    return html`<details class="messages" open><summary>${text("floor.floor.messages", { n: here.length })}</summary><ul class="plain-list">${here
      .slice(0, 20)
      .map(
        (m) => html`<li>
      <a dir="auto" href=${`/floor/station/${encodeURIComponent(m.stationCode)}`}>${names.station(m.stationCode).name}</a> <span class="message-text" dir="auto">${m.text}</span>
      <span class="muted">${m.initials}, ${time(m.at, { zone: names.plantOf(m.stationCode)?.timezone })}</span></li>`,
      )}</ul></details>`;
  }
}
