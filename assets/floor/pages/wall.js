// The wall screen: one group after the other, large, with nothing around it. What it shows stands in the address:
// plant, group, stations, every (seconds until the next page), together (all stations, not by group), theme (light).

import { html, nothing, render } from "../../vendor/lit-html/lit-html.js";
import { repeat } from "../../vendor/lit-html/directives/repeat.js";
import { ahead } from "../../shared/clock.js";
import { directory, renamed } from "../../shared/directory.js";
import { time } from "../../shared/format.js";
import { live } from "../../shared/live.js";
import { addressOf, readScope } from "../../shared/scope.js";
import { style } from "../../shared/styles.js";
import { text } from "../../shared/words.js";
import { tally } from "../floor/facts.js";
import { elapsed, everySecond } from "../floor/ticking.js";
import { Cell } from "../wall/cell.js";
import { columnsOf, pagesOf } from "../wall/layout.js";
import { keepUp } from "../wall/upkeep.js";

const usual = 20,
  shortest = 3; // seconds that a page is shown
const rest = 4000; // ms without a hand until the controls go

export async function open(ctx) {
  const [names, unfollow] = await Promise.all([
    directory(),
    live.follow(),
    style(new URL("../wall.css", import.meta.url)),
  ]);
  const wall = new Wall(ctx, names);
  const ends = [wall.begin(), everySecond((now) => wall.tick(now)), keepUp(), unfollow];
  return {
    title: text("floor.nav.wall"),
    render: () => wall.root,
    changed: (now) => wall.look(now),
    leave: () => {
      for (const end of ends) end();
    },
  };
}

class Wall {
  root = Object.assign(document.createElement("div"), { className: "wall" });
  #cells = new Map(); // those of the page that is shown
  #at = 0;
  #until = 0; // when the next page comes, ms
  #still = false;
  #old = 0;
  #hands = 0;

  constructor(ctx, names) {
    this.names = names;
    this.look(ctx);
  }

  look(ctx) {
    Object.assign(this, { ctx, scope: readScope(ctx.query) });
    this.every = Math.max(shortest, Number(ctx.query.get("every")) || usual) * 1000;
    this.together = ctx.query.get("together") === "true" || this.scope.stations.length > 0;
    this.root.classList.toggle("light", ctx.query.get("theme") === "light");
    this.#cells.clear();
    this.#lay();
    this.#turn(0);
  }

  // begin listens; it gives a function that ends it.
  begin() {
    const stations = ({ detail }) => this.#change(detail);
    const again = () => this.look(this.ctx);
    const hand = () => this.#awake();
    const fit = new ResizeObserver(() => this.#fit());
    live.addEventListener("stations", stations);
    renamed.addEventListener("change", again);
    for (const type of ["pointermove", "pointerdown", "keydown"]) document.addEventListener(type, hand);
    document.addEventListener("keydown", this.#key);
    fit.observe(this.root);
    return () => {
      live.removeEventListener("stations", stations);
      renamed.removeEventListener("change", again);
      for (const type of ["pointermove", "pointerdown", "keydown"]) document.removeEventListener(type, hand);
      document.removeEventListener("keydown", this.#key);
      clearTimeout(this.#hands);
      fit.disconnect();
    };
  }

  tick(at) {
    // by the service's clock; a screen's own may be wrong
    const old = live.oldSince();
    if (old !== this.#old) {
      this.#old = old;
      this.#draw();
    }
    if (!old) for (const cell of this.#cells.values()) cell.tick(at); // what is not known does not go on
    if (!this.#still && this.pages.length > 1 && Date.now() >= this.#until) this.#turn(this.#at + 1);
    const clock = this.root.querySelector(".wall-clock"),
      shown = time(at, { date: false, zone: this.page?.zone });
    if (clock.textContent !== shown) clock.textContent = shown;
    const age = this.root.querySelector(".wall-age");
    if (age) age.textContent = elapsed(Date.now() - old);
  }

  // lay finds the stations and cuts them into pages.
  #lay() {
    const { plant, group, stations } = this.scope;
    const here = [...live.stations.values()].filter(
      (s) =>
        (!plant || s.plantCode === plant) &&
        (!group || s.groupCode === group) &&
        (stations.length === 0 || stations.includes(s.stationCode)),
    );
    const groups = this.names.byGroup(here).flatMap(({ plant: p, groups: all }) =>
      all.map((g) => ({
        plant: p.name,
        title: this.names.plants.length > 1 ? `${p.name} · ${g.group.name}` : g.group.name,
        zone: p.timezone,
        stations: g.stations.map((s) => s.stationCode),
      })),
    );
    this.pages = pagesOf(groups, this.together);
    for (const page of this.pages) page.zone = groups.find((g) => g.stations.includes(page.stations[0])).zone;
    this.laid = [...live.stations.keys()].join();
  }

  get page() {
    return this.pages[this.#at];
  }

  #turn(to) {
    const n = this.pages.length;
    this.#at = n ? ((to % n) + n) % n : 0;
    this.#until = Date.now() + this.every;
    const codes = this.page?.stations ?? [];
    for (const code of this.#cells.keys()) if (!codes.includes(code)) this.#cells.delete(code);
    for (const code of codes) this.#cell(code);
    this.#draw();
    this.#fit();
  }

  #change(codes) {
    if ([...live.stations.keys()].join() !== this.laid) {
      this.#lay();
      return this.#turn(this.#at);
    }
    const here = [...codes].filter((code) => this.#cells.has(code));
    for (const code of here) this.#cell(code);
    if (here.length) this.#draw();
  }

  #cell(code) {
    const station = live.stations.get(code);
    if (!station) return; // it went, which is told a moment later
    if (!this.#cells.has(code)) this.#cells.set(code, new Cell());
    const cell = this.#cells.get(code);
    if (cell.station !== station) cell.show(station, this.names);
  }

  #draw() {
    const page = this.page,
      n = this.pages.length;
    this.root.classList.toggle("old", this.#old > 0);
    render(
      html`
      <header class="wall-head"><h1 dir="auto">${page ? page.title : text("floor.wall.noStation")}${page?.parts > 1 ? html` <small>${text("floor.wall.part", { part: page.part, parts: page.parts })}</small>` : nothing}</h1>
        <p class="wall-tally">${page ? tally(page.stations.map((code) => live.stations.get(code)).filter(Boolean)) : nothing}</p>
        ${n > 1 ? html`<p class="wall-dots" aria-label=${text("floor.wall.page", { page: this.#at + 1, pages: n })} role="img">${n <= 24 ? this.pages.map((_, i) => html`<i class=${i === this.#at ? "here" : ""}></i>`) : `${this.#at + 1} / ${n}`}</p>` : nothing}
        <p class="wall-clock"></p></header>
      ${
        page
          ? html`<ul class="wall-grid" role="list">${repeat(
              page.stations,
              (code) => code,
              (code) => this.#cells.get(code)?.root,
            )}</ul>`
          : html`<p class="wall-empty">${text("floor.wall.empty")}</p>`
      }
      ${this.#old ? html`<p class="wall-old" role="alert">${text("floor.wall.away", { time: time(this.#old + ahead(), { zone: page?.zone, date: Date.now() - this.#old > 12 * 3600000 }), b: (lost) => html`<strong>${lost}</strong>`, age: html`<span class="wall-age"></span>` })}</p>` : nothing}
      ${this.#controls(n)}`,
      this.root,
    );
  }

  #controls(n) {
    const { plant, group } = this.scope;
    return html`<div class="wall-controls" role="toolbar" aria-label=${text("floor.nav.wall")}>
      ${
        n > 1
          ? html`<button type="button" class="button" @click=${() => this.#turn(this.#at - 1)}><span aria-hidden="true">◀</span><span class="visually-hidden">${text("floor.wall.before")}</span></button>
        <button type="button" class="button" aria-pressed=${String(this.#still)} @click=${() => this.#stay()}>${this.#still ? text("floor.wall.goOn") : text("floor.wall.stay")}</button>
        <button type="button" class="button" @click=${() => this.#turn(this.#at + 1)}><span aria-hidden="true">▶</span><span class="visually-hidden">${text("floor.wall.next")}</span></button>
        <label>${text("floor.wall.every", { time: html`<select @change=${(e) => this.#go({ every: e.target.value })}>${[...new Set([10, 20, 30, 60, 120, this.every / 1000])].sort((a, b) => a - b).map((s) => html`<option value=${s} .selected=${s * 1000 === this.every}>${text("floor.wall.seconds", { n: s })}</option>`)}</select>` })}</label>`
          : nothing
      }
      ${this.scope.stations.length ? nothing : html`<button type="button" class="button" @click=${() => this.#go({ together: this.together ? "" : "true" })}>${this.together ? text("floor.wall.byGroup") : text("floor.wall.together")}</button>`}
      <button type="button" class="button" @click=${() => this.#go({ theme: this.root.classList.contains("light") ? "" : "light" })}>${this.root.classList.contains("light") ? text("floor.wall.dark") : text("floor.wall.light")}</button>
      ${document.fullscreenEnabled ? html`<button type="button" class="button" @click=${() => this.#full()}>${text("floor.wall.full")}</button>` : nothing}
      <a class="button" href=${addressOf({ plant, group }, {}, "/floor")}>${text("floor.wall.leave")}</a>
      <span class="visually-hidden">${text("floor.wall.pages", { n })}</span></div>`;
  }

  #go(changed) {
    const now = Object.fromEntries(
      ["every", "together", "theme"].map((name) => [name, this.ctx.query.get(name) ?? ""]),
    );
    const { plant, group, stations } = this.scope;
    this.ctx.navigate(addressOf({ plant, group, stations }, { ...now, ...changed }), { replace: true });
  }

  #stay() {
    this.#still = !this.#still;
    this.#until = Date.now() + this.every;
    this.#draw();
  }

  #full() {
    if (document.fullscreenElement) document.exitFullscreen();
    else document.documentElement.requestFullscreen().catch(() => {}); // the browser may have it forbidden
  }

  #key = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest?.("button, select, a")) return;
    const act = {
      ArrowRight: () => this.#turn(this.#at + 1),
      ArrowLeft: () => this.#turn(this.#at - 1),
      " ": () => this.#stay(),
      f: () => this.#full(),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  };

  // awake shows the pointer and the controls for a while.
  #awake() {
    this.root.classList.add("handled");
    clearTimeout(this.#hands);
    this.#hands = setTimeout(() => this.root.classList.remove("handled"), rest);
  }

  #fit() {
    const grid = this.root.querySelector(".wall-grid");
    if (!grid) return;
    const columns = columnsOf(this.page.stations.length, grid.clientWidth, grid.clientHeight);
    grid.style.setProperty("--columns", columns);
    grid.style.setProperty("--rows", Math.ceil(this.page.stations.length / columns));
  }
}
