// The cards of all stations that are shown, under the heads of their groups.

import { html, nothing, render } from "../../vendor/lit-html/lit-html.js";
import { repeat } from "../../vendor/lit-html/directives/repeat.js";
import { compare, matches } from "../../shared/format.js";
import { live } from "../../shared/live.js";
import { text } from "../../shared/words.js";
import { Card } from "./card.js";
import { factsOf, tally } from "./facts.js";

const settle = 3000; // ms between two times that cards change their places by trouble, so that hands can keep up
const pause = 1000; // ms between two times that what changes is searched
const atOnce = 40; // cards that are drawn before the page is shown; about as many are in view
const margin = "20%"; // of the window's height, above and below, where cards count as seen: content-visibility takes far more
const atATime = 10; // cards that are drawn afterwards without a pause for what else there is to do
const unseen = 60; // s after which a card that nobody sees is drawn again, for those who search or read the page otherwise

/** Board has the cards in its element; wanted is {plant, group, status: [], search, sort}. */
export class Board {
  element = Object.assign(document.createElement("div"), { className: "board" });
  /** scope are the stations of the part of the plant that is looked at and of the search, of whatever status. */
  scope = [];
  #cards = new Map();

  constructor(changed) {
    this.#changed = changed;
    for (const type of ["pointerover", "focusin"])
      this.element.addEventListener(type, (event) =>
        this.#cards.get(event.target.closest("[data-station]")?.dataset.station)?.point(),
      );
    addEventListener("beforeprint", this.#all);
  }

  #changed;
  #names;
  #version = 0; // of the names that cards show
  #wanted;
  #ordered = 0;
  #timer = 0;
  #filling = 0;
  #turn = [].values();
  #eye = new IntersectionObserver(
    (seen) => {
      for (const { target, isIntersecting } of seen) this.#cards.get(target.dataset.station)?.hide(!isIntersecting);
    },
    { rootMargin: margin },
  );

  /** show draws all anew. */
  show(names, wanted) {
    const renamed = names.version !== this.#version;
    this.#names = names;
    this.#version = names.version;
    this.#wanted = wanted;
    for (const [code, card] of this.#cards) {
      const station = live.stations.get(code);
      if (!station) this.#drop(code);
      else if (renamed) card.show(station, names);
    }
    this.#arrange();
  }

  /**
   * change draws the stations that have changed; it tells whether some have come, gone or changed their status, or may be what
   * is searched for. Where that shows later, changed of the constructor is called.
   */
  change(codes) {
    let moved = false;
    for (const code of codes) {
      const station = live.stations.get(code);
      if (!station) moved = this.#drop(code) || moved;
      else if (this.#cards.get(code)?.station !== station)
        moved = this.#card(station).show(station, this.#names) || moved;
    }
    const { search, sort } = this.#wanted;
    if (!moved && !search) return false;
    if (!search) this.#choose();
    const wait = this.#ordered + (sort === "trouble" ? settle : search ? pause : 0) - Date.now();
    if (wait <= 0) this.#arrange();
    else
      this.#timer ||= setTimeout(() => {
        this.#arrange();
        this.#changed();
      }, wait);
    return !search || wait <= 0;
  }

  tick(now) {
    for (const card of this.#cards.values()) card.tick(now);
    this.#draw(this.#cards.size / unseen);
  }

  // draw draws some cards, in turn.
  #draw(count) {
    for (; count > 0; count--) {
      let next = this.#turn.next();
      if (next.done) next = (this.#turn = this.#cards.values()).next();
      next.value?.draw();
    }
  }

  // fill draws the cards that are to be shown and are not as they should be, the first ones at once.
  #fill(shown) {
    clearTimeout(this.#filling);
    const missing = shown.map((s) => this.#cards.get(s.stationCode)).filter((card) => card.old);
    const some = (count) => {
      for (const card of missing.splice(0, count)) card.draw();
    };
    const rest = () => {
      if (missing.length)
        this.#filling = setTimeout(() => {
          some(atATime);
          rest();
        });
    };
    some(atOnce);
    rest();
  }

  close() {
    clearTimeout(this.#timer);
    clearTimeout(this.#filling);
    this.#eye.disconnect();
    removeEventListener("beforeprint", this.#all);
  }

  #all = () => {
    for (const card of this.#cards.values()) card.draw();
  };

  #card(station) {
    const code = station.stationCode;
    if (!this.#cards.has(code)) {
      this.#cards.set(code, new Card(code));
      this.#eye.observe(this.#cards.get(code).root);
    }
    return this.#cards.get(code);
  }

  #drop(code) {
    const card = this.#cards.get(code);
    if (card) this.#eye.unobserve(card.root);
    return this.#cards.delete(code);
  }

  #arrange() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.#ordered = Date.now();
    for (const station of live.stations.values()) {
      // what has come is told a moment later
      if (this.#cards.get(station.stationCode)?.station !== station) this.#card(station).show(station, this.#names);
    }
    this.#choose();
    const { status, sort } = this.#wanted;
    const shown = status.length ? this.scope.filter((s) => status.includes(s.statusCode)) : this.scope;
    const sorted = sort === "trouble" ? this.#byTrouble(shown) : shown;
    this.#fill(sorted);
    const focused = document.activeElement;
    render(
      shown.length === 0
        ? html`<p class="empty">${this.scope.length === 0 && live.stations.size === 0 ? text("floor.floor.noStation") : text("floor.floor.noneSo")}</p>`
        : sort === "trouble"
          ? this.#list(sorted)
          : this.#groups(sorted),
      this.element,
    );
    if (focused !== document.activeElement && this.element.contains(focused)) focused.focus({ preventScroll: true });
  }

  #choose() {
    const { plant, group, search } = this.#wanted;
    this.scope = [...live.stations.values()].filter(
      (s) =>
        (!plant || s.plantCode === plant) &&
        (!group || s.groupCode === group) &&
        (!search || found(search, s, this.#names)),
    );
  }

  #byTrouble(stations) {
    const of = (s) => this.#cards.get(s.stationCode).trouble;
    return [...stations].sort(
      (a, b) =>
        of(a) - of(b) ||
        (a.statusCodeUpdatedAt ?? "").localeCompare(b.statusCodeUpdatedAt ?? "") ||
        compare(a.stationCode, b.stationCode),
    );
  }

  #groups(shown) {
    const whole = byGroup(this.scope),
      many = this.#names.plants.length > 1;
    return html`${repeat(
      this.#names.byGroup(shown),
      ({ plant }) => plant.code,
      ({ plant, groups }) => html`<section class="plant">
        ${many ? html`<div class="plant-head"><h2 dir="auto">${plant.name}</h2><p class="tally">${tally(this.scope.filter((s) => s.plantCode === plant.code))}</p></div>` : nothing}
        ${repeat(
          groups,
          ({ group }) => group.code,
          ({
            group,
            stations,
          }) => html`<section class="group"><div class="group-head">${many ? html`<h3 dir="auto">${group.name}</h3>` : html`<h2 dir="auto">${group.name}</h2>`}
          <p class="tally">${tally(whole.get(keyOf(plant.code, group.code)))}</p></div>${this.#list(stations)}</section>`,
        )}</section>`,
    )}`;
  }

  #list(stations) {
    return html`<ul class="stations" role="list">${repeat(
      stations,
      (s) => s.stationCode,
      (s) => this.#cards.get(s.stationCode).root,
    )}</ul>`;
  }
}

const keyOf = (plantCode, groupCode) => JSON.stringify([plantCode, groupCode]);

function byGroup(stations) {
  const groups = new Map();
  for (const station of stations) {
    const key = keyOf(station.plantCode, station.groupCode);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(station);
  }
  return groups;
}

function found(search, station, names) {
  const f = factsOf(station, names);
  return matches(
    search,
    station.stationCode,
    f.name,
    f.product ?? "",
    f.order ?? "",
    f.operator ?? "",
    f.cause ?? "",
    f.alert ?? "",
  );
}
