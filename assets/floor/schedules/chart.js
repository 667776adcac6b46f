// The chart itself: rows of stations over time. Only the rows and the time that can be seen are in the page, whatever there is;
// names and axis are held by the browser while it scrolls.

import { now as present } from "../../shared/clock.js";
import { el } from "../../shared/dom.js";
import { live } from "../../shared/live.js";
import { drawBar, makeBar } from "./bars.js";
import { spanOf } from "./plan.js";
import { shading } from "./shifts.js";
import { ticks } from "./ticks.js";

const day = 86400000; // ms
const spare = 3; // rows beyond what is seen that are drawn too
const axis = 46,
  heading = 34; // heights in pixels; the style sheet has the same

// A finger needs more than a mouse.
const coarse = matchMedia("(pointer: coarse)");
const lanes = () =>
  coarse.matches
    ? { row: 102, production: [4, 46], nonProduction: [52, 46] }
    : { row: 56, production: [4, 27], nonProduction: [33, 19] };

/**
 * Chart draws rows, [{heading, note} | {code, name, zone, pattern}], from a moment to another; scale is pixels per ms. Events:
 * "view" when another time or other rows can be seen, told when the hands rest.
 */
export class Chart extends EventTarget {
  rows = [];
  from = 0;
  to = 0;
  scale = 1;
  zone = "UTC";
  held = null; // code of a row that stays in the page whatever is seen
  #tops = [];
  #drawn = new Map(); // row key -> {element, bars}
  #window = "";
  #frame = 0;
  #rest = 0;
  #focus = ""; // id of the bar that Tab leads to

  constructor(plan, names) {
    super();
    Object.assign(this, { plan, names });
    this.lines = el("div", { class: "gantt-lines", "aria-hidden": "true" });
    this.body = el("div", { class: "gantt-rows" });
    this.over = el(
      "div",
      { class: "gantt-over" },
      (this.nowLine = el("i", { class: "gantt-now", "aria-hidden": "true" })),
    );
    this.marks = el("div", { class: "gantt-marks" });
    this.axis = el(
      "div",
      { class: "gantt-axis", "aria-hidden": "true" },
      (this.corner = el("div", { class: "gantt-corner" })),
      this.marks,
    );
    this.column = el("div", { class: "gantt-column" }); // one for all names: each thing that is held while scrolling costs
    this.content = el("div", { class: "gantt-content" }, this.axis, this.column, this.lines, this.body, this.over);
    this.element = el(
      "div",
      { class: "gantt", role: "group", "aria-label": "Schedules by station", onscroll: () => this.#later() },
      this.content,
    );
    this.sizes = new ResizeObserver(() => this.#resized());
    this.sizes.observe(this.element);
    plan.addEventListener("change", this.#changed);
    live.addEventListener("stations", this.#changed);
    coarse.addEventListener("change", this.#relay);
    this.clock = setInterval(() => this.tick(), 10_000);
    this.element.addEventListener("focusin", (event) => this.#focused(event));
  }

  leave() {
    this.sizes.disconnect();
    this.plan.removeEventListener("change", this.#changed);
    live.removeEventListener("stations", this.#changed);
    coarse.removeEventListener("change", this.#relay);
    clearInterval(this.clock);
    clearTimeout(this.#rest);
    cancelAnimationFrame(this.#frame);
  }

  get namesWidth() {
    return this.corner.offsetWidth || 0;
  }
  get width() {
    return Math.max(100, this.element.clientWidth - this.namesWidth);
  }
  get left() {
    return this.from + this.element.scrollLeft / this.scale;
  } // ms
  get right() {
    return this.left + this.width / this.scale;
  }

  xOf(at) {
    return (at - this.from) * this.scale;
  }
  timeOf(x) {
    return this.from + x / this.scale;
  }
  topOf(index) {
    return this.#tops[index];
  }
  indexOf(code) {
    return this.rows.findIndex((row) => row.code === code);
  }
  laneOf(kind) {
    return lanes()[kind];
  }

  /** rowAt gives the row at a height of the content, pixels below the axis. */
  rowAt(y) {
    let low = 0,
      high = this.rows.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.#tops[middle] <= y) low = middle;
      else high = middle - 1;
    }
    return this.rows[low];
  }

  /** barOf gives the element of a schedule's bar while it is in the page. */
  barOf(id) {
    const s = this.plan.schedules.get(id);
    return s && this.#drawn.get(s.stationCode)?.bars.get(id);
  }

  /** lay sets what is shown: rows, zone, and days of time that fit; at is the moment at the left edge. */
  lay({ rows = this.rows, zone = this.zone, span = this.span, at = this.left }) {
    Object.assign(this, { rows, zone, span });
    const focus = this.element.contains(document.activeElement)
      ? document.activeElement.closest(".slot")?.dataset.id
      : null;
    for (const row of this.#drawn.values()) this.#remove(row);
    this.#drawn.clear();
    this.scale = this.width / span;
    const back = Math.max(7 * day, 2 * span);
    this.from = Math.floor((at - back) / day) * day;
    this.to = Math.ceil((at + span + back) / day) * day;
    this.#shade();
    this.#tops = [];
    const height = rows.reduce((top, row) => {
      this.#tops.push(top);
      return top + (row.code ? lanes().row : heading);
    }, 0);
    this.content.style.width = `${this.namesWidth + this.xOf(this.to)}px`;
    this.content.style.height = `${axis + height}px`;
    this.element.style.setProperty("--whole", `${axis + height + 18}px`); // and a scroll bar
    this.element.style.setProperty("--production-top", `${lanes().production[0]}px`);
    this.element.scrollLeft = this.xOf(at);
    this.redraw();
    if (focus) this.barOf(focus)?.focus({ preventScroll: true }); // its bar is another one now
    this.#settle();
  }

  #relay = () => this.lay({});

  #resized() {
    if (!this.element.clientWidth) return; // it is not shown, as on paper
    if (this.span && Math.abs(this.scale * this.span - this.width) > 1) this.lay({ at: this.left });
    else this.#later();
  }

  // shade makes a background for each pattern; all rows that follow it share it.
  #shade() {
    const patterns = new Map(
      this.rows.filter((row) => row.pattern).map((row) => [`${row.pattern.code}\n${row.zone}`, row]),
    );
    this.shades = new Map(
      [...patterns].map(([key, row]) => [key, shading(row.pattern, this.from, this.to, row.zone, 1 / this.scale)]),
    );
    [...this.shades].forEach(([key, gradient], i) => {
      this.element.style.setProperty(`--shifts-${i}`, gradient);
      this.shades.set(key, `var(--shifts-${i})`);
    });
  }

  /** show scrolls to a moment (at the left edge) or draws anew around it where it is too far. */
  show(at) {
    if (at < this.from + this.span / 2 || at + this.span * 1.5 > this.to) this.lay({ at });
    else
      this.element.scrollTo({
        left: this.xOf(at),
        behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "instant" : "smooth",
      });
  }

  #later() {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#draw();
    });
    clearTimeout(this.#rest);
    this.#rest = setTimeout(() => this.#settle(), 180);
  }

  // settle: the hands rest. Near an end of the time that the content has, it gets more.
  #settle() {
    if (!this.span || !this.element.clientWidth) return;
    const at = this.left,
      edge = this.span / 2;
    if (!this.held && (at < this.from + edge || this.right > this.to - edge)) return this.lay({ at });
    this.dispatchEvent(new Event("view"));
  }

  #changed = (event) => {
    for (const code of event.detail) {
      const row = this.#drawn.get(code);
      if (row) row.stale = true;
    }
    this.#window = "";
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#draw();
    });
  };

  /** tick moves what moves with the clock. */
  tick() {
    for (const row of this.#drawn.values()) row.stale = true;
    this.redraw();
  }

  redraw() {
    this.#window = "";
    this.#draw();
  }

  #draw() {
    if (!this.span) return;
    const { scrollLeft, scrollTop, clientHeight } = this.element,
      step = this.width / 2;
    const part = Math.floor(scrollLeft / step);
    const first = this.rows.indexOf(this.rowAt(scrollTop)),
      last = this.rows.indexOf(this.rowAt(scrollTop + clientHeight));
    const window = `${part} ${Math.floor(first / spare)} ${Math.ceil(last / spare)}`;
    if (window === this.#window) return;
    this.#window = window;
    this.seen = { from: this.timeOf((part - 1) * step), to: this.timeOf((part + 4) * step) };
    const newPart = this.part !== part || this.partFrom !== this.from || this.partScale !== this.scale;
    if (newPart) this.#drawAxis();
    Object.assign(this, { part, partFrom: this.from, partScale: this.scale });
    this.now = present();
    this.nowLine.style.transform = `translateX(${this.xOf(this.now)}px)`;
    const wanted = new Set();
    for (
      let i = Math.max(0, (Math.floor(first / spare) - 1) * spare);
      i < Math.min(this.rows.length, (Math.ceil(last / spare) + 1) * spare);
      i++
    )
      wanted.add(i);
    const kept = [
      this.held,
      this.plan.schedules.get(this.#focus)?.stationCode,
      document.activeElement?.closest?.(".gantt-row")?.dataset.station,
    ]
      .map((code) => (code ? this.indexOf(code) : -1))
      .filter((i) => i >= 0);
    for (const i of kept) wanted.add(i);
    const keys = new Set([...wanted].map((i) => keyOf(this.rows[i])));
    for (const [key, row] of this.#drawn)
      if (!keys.has(key)) {
        this.#remove(row);
        this.#drawn.delete(key);
      }
    for (const i of [...wanted].sort((a, b) => a - b)) this.#drawRow(i, newPart);
  }

  #drawAxis() {
    const { days, marks } = ticks(
      Math.max(this.from, this.seen.from),
      Math.min(this.to, this.seen.to),
      this.scale,
      this.zone,
    );
    const at = (tick, name, text) => {
      const mark = el("span", { class: name }, text);
      mark.style.left = `${this.xOf(tick.at)}px`;
      return mark;
    };
    this.marks.replaceChildren(
      ...days.map((d, i) => {
        const mark = at(
          d,
          day * this.scale > this.width / 3 ? "gantt-day wide" : "gantt-day",
          el("span", null, d.text),
        );
        mark.style.width = `${((days[i + 1]?.at ?? this.to) - d.at) * this.scale}px`;
        return mark;
      }),
      ...marks.map((m) => at(m, "gantt-hour", m.text)),
    );
    this.lines.replaceChildren(...days.map((d) => at(d, "line-day")), ...marks.map((m) => at(m, "line-hour")));
  }

  #drawRow(index, newPart) {
    const row = this.rows[index],
      key = keyOf(row);
    let drawn = this.#drawn.get(key);
    if (!drawn) {
      drawn = { ...this.#makeRow(row), bars: new Map(), stale: true };
      for (const part of [drawn.element, drawn.name]) part.style.top = `${this.#tops[index]}px`;
      this.#drawn.set(key, drawn);
      this.body.append(drawn.element);
      this.column.append(drawn.name);
    }
    if (!row.code || !(drawn.stale || newPart)) return;
    drawn.stale = false;
    const station = live.stations.get(row.code),
      others = this.plan.of(row.code),
      seen = new Set();
    const sequence = String(station?.sequence ?? "");
    if (drawn.element.dataset.sequence !== sequence) drawn.element.dataset.sequence = sequence;
    const about = { now: this.now, names: this.names, zone: row.zone, station, others };
    for (const s of others) {
      const span = spanOf(s, this.now);
      if ((span.from >= this.seen.to || span.to <= this.seen.from) && s.id !== this.#focus) continue;
      seen.add(s.id);
      let bar = drawn.bars.get(s.id);
      if (!bar) {
        bar = makeBar();
        drawn.bars.set(s.id, bar);
        drawn.element.append(bar);
      }
      const x = this.xOf(span.from),
        width = Math.max(3, (span.to - span.from) * this.scale);
      drawBar(bar, s, { x, width }, about);
      const stop = s.id === this.#focus || (!this.#focus && this.#first(bar)) ? 0 : -1;
      if (bar.tabIndex !== stop) bar.tabIndex = stop;
    }
    for (const [id, bar] of drawn.bars)
      if (!seen.has(id)) {
        bar.remove();
        drawn.bars.delete(id);
      }
  }

  #remove({ element, name }) {
    element.remove();
    name.remove();
  }

  #makeRow(row) {
    if (!row.code) {
      const name = el(
        "div",
        { class: "gantt-name gantt-title", role: "heading", "aria-level": "2" },
        el("bdi", null, row.heading),
        row.note ? el("small", null, row.note) : null,
      );
      return { element: el("div", { class: "gantt-row gantt-heading" }), name };
    }
    const name = el(
      "div",
      { class: "gantt-name", title: `${row.name} (${row.code})` },
      el("bdi", null, row.name),
      el("small", null, row.code),
    );
    const element = el("div", { class: "gantt-row", role: "group", "aria-label": row.name, "data-station": row.code });
    for (const part of [element, name]) part.style.height = `${lanes().row}px`;
    if (row.pattern) element.style.backgroundImage = this.shades.get(`${row.pattern.code}\n${row.zone}`);
    return { element, name };
  }

  // Tab leads to one bar of the chart: the one that had the focus last, else the first that is made.
  #first(bar) {
    if (this.firstBar?.isConnected && this.firstBar.tabIndex === 0) return this.firstBar === bar;
    this.firstBar = bar;
    return true;
  }

  #focused(event) {
    const bar = event.target.closest(".slot");
    if (!bar) return;
    for (const other of this.body.querySelectorAll(".slot[tabindex='0']")) if (other !== bar) other.tabIndex = -1;
    this.#focus = bar.dataset.id;
    bar.tabIndex = 0;
  }

  /** reveal scrolls so that a schedule can be seen, and gives its bar. */
  reveal(s) {
    const { from, to } = spanOf(s, present()),
      index = this.indexOf(s.stationCode),
      box = this.element;
    if (index < 0) return null;
    if (from < this.from + this.span / 2 || to > this.to - this.span / 2) this.lay({ at: from - this.span / 4 });
    if (to > this.right || from < this.left)
      box.scrollLeft = this.xOf(
        to > this.right && to - from < this.span ? to - this.span * 0.9 : from - this.span * 0.1,
      );
    const top = this.topOf(index),
      room = box.clientHeight - axis - lanes().row;
    if (top < box.scrollTop || top > box.scrollTop + room) box.scrollTop = top - room / 2;
    this.redraw();
    return this.barOf(s.id);
  }
}

const keyOf = (row) => row.code ?? `\n${row.heading}\n${row.plant}`;
