// A station on the wall screen: few words, large. Its texts are those of the floor page.

import { html, nothing, render } from "../../vendor/lit-html/lit-html.js";
import { now } from "../../shared/clock.js";
import { text } from "../../shared/words.js";
import { draw } from "../floor/bar.js";
import { factsOf } from "../floor/facts.js";
import { elapsed } from "../floor/ticking.js";

/** Cell is the element of a station, root. */
export class Cell {
  root = document.createElement("li");
  station = null;
  #since = 0;
  #clock = null;
  #bar = null;

  show(station, names) {
    const facts = factsOf(station, names);
    this.station = station;
    this.root.className = `cell ${facts.status.color}`;
    this.root.dataset.station = station.stationCode;
    this.root.dataset.sequence = station.sequence;
    render(cell(facts), this.root);
    this.#since = Date.parse(facts.since);
    this.#clock ??= this.root.querySelector("time");
    this.#bar ??= this.root.querySelector(".cell-bar");
    draw(this.#bar, facts);
    this.tick(now());
  }

  tick(at) {
    const lasts = Number.isNaN(this.#since) ? "" : elapsed(at - this.#since); // there was no signal yet
    if (lasts !== this.#clock.textContent) this.#clock.textContent = lasts;
  }
}

// long says how much smaller a line is written, so that it is read whole: characters of usual letters.
const long = (line, most) => (line.length <= most ? "" : line.length <= most * 1.4 ? " long" : " longer");

function goodOf(f) {
  const good = html`<b data-value="good">${f.good}</b>`;
  return f.planned === null
    ? good
    : text("floor.floor.goodOfPlanned", { good, planned: html`<span data-value="planned">${f.planned}</span>` });
}

const cell = (f) => html`
  <p class=${`cell-name${long(f.name, 14)}`} data-value="name" dir="auto">${f.name}</p>
  <p class=${`cell-status${long(f.status.label, 10)}`}><span aria-hidden="true">${f.status.sign}</span> <span data-value="status">${f.status.label}</span></p>
  <p class="cell-since"><time datetime=${f.since ?? nothing}></time>${f.oee === null || f.oee === "–" ? nothing : html`<span class="cell-oee">${text("floor.wall.oee", { oee: html`<b data-value="oee">${f.oee}</b>` })}</span>`}</p>
  <p class=${f.cause || f.alert ? "cell-cause" : "cell-product"}>${
    f.alert
      ? html`<span aria-hidden="true">⚑</span> <span data-value="alert" dir="auto">${f.alert}</span>`
      : f.cause
        ? html`<span data-value="cause" dir="auto">${f.cause}</span>`
        : f.product
          ? html`<span data-value="product" dir="auto">${f.product}</span>`
          : nothing
  }</p>
  <div class=${f.due === null ? "cell-bar endless" : "cell-bar"} aria-hidden="true" ?hidden=${f.good === null}></div>
  <p class="cell-figures">${f.good === null ? nothing : html`<span>${goodOf(f)}</span>`}
    ${f.apart === null ? nothing : html`<span class="cell-apart" data-value="apart">${f.apart}</span>`}</p>`;
