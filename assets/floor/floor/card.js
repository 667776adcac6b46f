// A station's card. It is drawn again when its station has changed, and of that only what is another text; the time that its
// status lasts goes on without drawing. A card out of view is drawn every ten seconds, and when it comes into view.

import { html, nothing, render } from "../../vendor/lit-html/lit-html.js";
import { now } from "../../shared/clock.js";
import { time } from "../../shared/format.js";
import { factsOf, troubleOf } from "./facts.js";
import { elapsed } from "./ticking.js";

const unseen = 10_000; // ms between two drawings of a card that nobody sees

/** Card is the element of a station, root, and what it was drawn from, station. */
export class Card {
  root = document.createElement("li");
  station = null;
  trouble = 0;
  #names = null;
  #hidden = false;
  #stale = false;
  #drawn = 0; // when, ms
  #since = 0;
  #clock = null;
  #shown = "";

  /** show takes what a station does; it tells whether the place of the card among others may have changed by it. */
  show(station, names) {
    const trouble = troubleOf(station);
    const moved = this.station?.statusCode !== station.statusCode || this.trouble !== trouble;
    Object.assign(this, { station, trouble });
    this.#names = names;
    this.#stale = true;
    if (!this.#hidden) this.draw();
    return moved;
  }

  /** hide tells whether the card is out of view. */
  hide(hidden) {
    this.#hidden = hidden;
    if (!hidden) this.draw();
  }

  /** draw shows what was taken. */
  draw() {
    if (this.#stale) this.#draw(this.station, this.#names);
    else this.#tell(now());
  }

  #draw(station, names) {
    const facts = factsOf(station, names);
    this.#stale = false;
    this.#drawn = Date.now();
    const looks = `station ${facts.status.color}${facts.alert ? " alerted" : ""}`;
    if (this.root.className !== looks) this.root.className = looks;
    this.root.dataset.station = station.stationCode;
    this.root.dataset.sequence = station.sequence;
    render(card(station, facts, names), this.root);
    this.#clock ??= this.root.querySelector("time");
    this.#since = Date.parse(facts.since);
    bar(this.root.querySelector(".count-bar"), facts);
    this.#tell(now());
  }

  /** tick lets the time go on, ms. */
  tick(at) {
    if (!this.#hidden) this.#tell(at);
    else if (Date.now() - this.#drawn > unseen) this.draw();
  }

  #tell(at) {
    const text = elapsed(at - this.#since);
    if (text === this.#shown) return;
    this.#shown = text;
    this.#clock.textContent = text;
  }
}

// bar draws how far the count is, and where it should be by now, without a new layout. (The policy forbids styles in markup.)
function bar(element, facts) {
  if (!element) return;
  set(element.children[0], `scaleX(${facts.filled})`);
  set(element.children[1], `translateX(${Math.min(facts.expected, 0.99) * 100}%)`);
}

function set(element, transform) {
  if (element.style.transform !== transform) element.style.transform = transform;
}

const value = (name, text, more = "") => html`<span data-value=${name} class=${more || nothing} dir="auto">${text}</span>`;

const card = (station, f, names) => html`
  <div class="station-head"><a class="station-name" data-value="name" dir="auto" title=${f.name} href=${`/floor/station/${encodeURIComponent(station.stationCode)}`}>${f.name}</a>
    <span class="station-group" dir="auto">${names.group(station.plantCode, station.groupCode).name}</span>
    ${f.operator ? html`<span class="operator" data-value="operator" dir="auto" title="Operator">${f.operator}</span>` : nothing}</div>
  <p class="station-status"><span aria-hidden="true" class="sign">${f.status.sign}</span> <span class="word" data-value="status">${f.status.label}</span><time datetime=${f.since} title=${`since ${time(f.since, { zone: names.plantOf(station.stationCode)?.timezone })}`}></time></p>
  ${f.cause ? html`<p class=${f.uncaused ? "cause missing" : "cause"} title=${f.cause}>${value("cause", f.cause)}</p>` : nothing}
  <p class="product" title=${f.product ?? nothing}>${f.product ? value("product", f.product) : html`<span class="muted">No schedule</span>`}</p>
  <p class="order-line">${f.order ? html`<span class="order" title="Work order" data-value="order" dir="auto">${f.order}</span>` : nothing}${f.speed === null ? nothing : html`<span class="speed">Speed <span data-value="speed">${f.speed}</span></span>`}</p>
  ${f.good === null ? html`<p class="counts muted"></p>` : html`<div class=${f.behind ? "count-bar behind" : "count-bar"} aria-hidden="true"><i></i><b ?hidden=${f.due === null}></b></div>
    <p class="counts"><span class="good"><b data-value="good">${f.good}</b>${f.planned !== null ? html` of <span data-value="planned">${f.planned}</span>` : f.due !== null ? html` of <span data-value="due">${f.due}</span> due` : nothing}</span>
      ${f.apart === null ? nothing : html`<span class=${f.behind ? "apart behind" : "apart"} data-value="apart" title=${`${f.due} were due by now`}>${f.apart}</span>`}</p>`}
  <p class="figures">${f.oee === null ? html`<span class="muted">No shift now</span>` : html`<span class="oee"><abbr title="OEE of the shift so far">OEE</abbr> <b data-value="oee">${f.oee}</b></span>
    <span class="terms" ?hidden=${f.a === "–"} title="Availability, performance, quality of the shift so far"><abbr title="Availability">A</abbr> <span data-value="a">${f.a}</span> <abbr title="Performance">P</abbr> <span data-value="p">${f.p}</span> <abbr title="Quality">Q</abbr> <span data-value="q">${f.q}</span></span>`}
    ${f.bad === null ? nothing : html`<span class="scrap"><span data-value="bad">${f.bad}</span> scrap</span>`}</p>
  ${f.alert ? html`<p class="alert" title=${f.alert}><span aria-hidden="true">⚑</span> ${value("alert", f.alert)}</p>` : nothing}`;
