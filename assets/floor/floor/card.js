// A station's card. It is drawn again when its station has changed, and of that only what is another text; the time that its
// status lasts goes on without drawing. A card out of view is drawn when it comes into view, and now and then before.

import { html, nothing, render } from "../../vendor/lit-html/lit-html.js";
import { now } from "../../shared/clock.js";
import { time } from "../../shared/format.js";
import { statusOf } from "../../shared/status.js";
import { text } from "../../shared/words.js";
import { draw } from "./bar.js";
import { factsOf, troubleOf } from "./facts.js";
import { elapsed } from "./ticking.js";

/** Card is the element of a station, root, and what it was drawn from, station. */
export class Card {
  root = Object.assign(document.createElement("li"), { className: "station" });
  station = null;
  trouble = 0;
  #names = null;
  #hidden = true; // until it is seen
  #stale = false;
  #since = 0;
  #clock = null;
  #shown = "";

  constructor(code) {
    this.root.dataset.station = code;
  }

  /** show takes what a station does; it tells whether the place of the card among others may have changed by it. */
  show(station, names) {
    const trouble = troubleOf(station);
    const moved = this.station?.statusCode !== station.statusCode || this.trouble !== trouble;
    Object.assign(this, { station, trouble });
    this.#names = names;
    this.#stale = true;
    const looks = `station ${statusOf(station.statusCode).color}${station.alertMessage ? " alerted" : ""}`; // an alert makes it taller
    if (this.root.className !== looks) this.root.className = looks;
    if (!this.#hidden) this.draw();
    return moved;
  }

  /** hide tells whether the card is out of view. */
  hide(hidden) {
    this.#hidden = hidden;
    if (!hidden) this.draw();
  }

  /** drawn tells whether it was ever drawn. */
  get drawn() {
    return this.#clock !== null;
  }

  /** old tells whether it shows what was, and nobody can have seen that yet. */
  get old() {
    return this.#stale && (!this.drawn || !this.root.isConnected);
  }

  /** draw shows what was taken. */
  draw() {
    if (this.#stale) this.#draw(this.station, this.#names);
    else this.#tell(now());
  }

  #draw(station, names) {
    const facts = factsOf(station, names);
    this.#stale = false;
    this.root.dataset.sequence = station.sequence;
    render(card(station, facts, names), this.root);
    this.#clock ??= this.root.querySelector("time");
    if (this.#since !== Date.parse(facts.since)) this.#clock.title = ""; // it was of another status
    this.#since = Date.parse(facts.since); // no number where there was no signal yet
    const bar = this.root.querySelector(".count-bar");
    if (bar) draw(bar, facts);
    this.#tell(now());
  }

  /** point tells since when, for who points at the card or comes to it: to write a time for the first time takes as long as ten cards. */
  point() {
    if (!this.drawn) return;
    const { stationCode, statusCodeUpdatedAt } = this.station;
    if (statusCodeUpdatedAt)
      this.#clock.title = text("floor.floor.since", {
        time: time(statusCodeUpdatedAt, { zone: this.#names.plantOf(stationCode)?.timezone }),
      });
  }

  /** tick lets the time go on, ms. */
  tick(at) {
    if (!this.#hidden) this.#tell(at);
  }

  #tell(at) {
    const lasts = Number.isNaN(this.#since) ? "" : elapsed(at - this.#since);
    if (lasts === this.#shown) return;
    this.#shown = lasts;
    this.#clock.textContent = lasts;
  }
}

const value = (name, shown, more = "") =>
  html`<span data-value=${name} class=${more || nothing} dir="auto">${shown}</span>`;

// goodOf tells what was made, of what is planned or due.
function goodOf(f) {
  const good = html`<b data-value="good">${f.good}</b>`;
  if (f.planned !== null)
    return text("floor.floor.goodOfPlanned", { good, planned: html`<span data-value="planned">${f.planned}</span>` });
  return f.due === null
    ? good
    : text("floor.floor.goodOfDue", { good, due: html`<span data-value="due">${f.due}</span>` });
}

const card = (station, f, names) => html`
  <div class="station-head"><a class="station-name" data-value="name" dir="auto" title=${f.name} href=${`/floor/station/${encodeURIComponent(station.stationCode)}`}>${f.name}</a>
    <span class="station-group" dir="auto">${names.group(station.plantCode, station.groupCode).name}</span>
    ${f.operator ? html`<span class="operator" data-value="operator" dir="auto" title=${text("floor.floor.operator")}>${f.operator}</span>` : nothing}</div>
  <p class="station-status"><span aria-hidden="true" class="sign">${f.status.sign}</span> <span class="word" data-value="status">${f.status.label}</span><time datetime=${f.since ?? nothing}></time></p>
  ${f.cause ? html`<p class=${f.uncaused ? "cause missing" : "cause"} title=${f.cause}>${value("cause", f.cause)}</p>` : nothing}
  <p class="product" title=${f.product ?? nothing}>${f.product ? value("product", f.product) : html`<span class="muted">${text("floor.floor.noSchedule")}</span>`}</p>
  <p class="order-line">${f.order ? html`<span class="order" title=${text("floor.floor.order")} data-value="order" dir="auto">${f.order}</span>` : nothing}${f.speed === null ? nothing : html`<span class="speed">${text("floor.floor.speed", { speed: html`<span data-value="speed">${f.speed}</span>` })}</span>`}</p>
  ${
    f.good === null
      ? html`<p class="counts muted">${f.extra === null ? nothing : html`<span class="good" title=${text("floor.floor.extra.hint")}>${text("floor.floor.extra", { n: html`<span data-value="extra">${f.extra}</span>` })}</span>`}</p>`
      : html`<div class=${`count-bar${f.behind ? " behind" : ""}${f.due === null ? " endless" : ""}`} aria-hidden="true"></div>
    <p class="counts"><span class="good">${goodOf(f)}</span>
      ${f.apart === null ? nothing : html`<span class=${f.behind ? "apart behind" : "apart"} data-value="apart" title=${text("floor.floor.due", { n: f.due })}>${f.apart}</span>`}</p>`
  }
  <p class="figures">${
    f.oee === null
      ? html`<span class="muted">${text("floor.floor.noShift")}</span>`
      : html`<span class="oee"><abbr title=${text("floor.floor.oee.hint")}>${text("floor.floor.oee")}</abbr> <b data-value="oee">${f.oee}</b></span>
    <span class="terms" ?hidden=${f.a === "–"} title=${text("floor.floor.terms")}><abbr title=${text("floor.floor.availability")}>${text("floor.floor.availability.letter")}</abbr> <span data-value="a">${f.a}</span> <abbr title=${text("floor.floor.performance")}>${text("floor.floor.performance.letter")}</abbr> <span data-value="p">${f.p}</span> <abbr title=${text("floor.floor.quality")}>${text("floor.floor.quality.letter")}</abbr> <span data-value="q">${f.q}</span></span>`
  }
    ${f.bad === null ? nothing : html`<span class="scrap">${text("floor.floor.scrap", { n: html`<span data-value="bad">${f.bad}</span>` })}</span>`}</p>
  ${f.alert ? html`<p class="alert" title=${f.alert}><span aria-hidden="true">⚑</span> ${value("alert", f.alert)}</p>` : nothing}`;
