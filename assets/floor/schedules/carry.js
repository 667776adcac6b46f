// A schedule in the hand, of a mouse, a finger or the keyboard: where it would lie is shown, with what speaks against it, and
// nothing is written until it is put down. What is refused glides back and says why.

import { now as present } from "../../shared/clock.js";
import { el } from "../../shared/dom.js";
import { sentence, toast } from "../../shared/dialog.js";
import { number } from "../../shared/format.js";
import { spanText } from "../../shared/zone.js";
import { nameOf } from "./bars.js";
import { spanOf } from "./plan.js";
import { isKnown, problemOf, stationOf } from "./rules.js";

const rest = 220; // ms without a change until the service is asked
const calm = matchMedia("(prefers-reduced-motion: reduce)");

export class Carry {
  now = null; // what is carried
  marked = []; // bars that are in its way

  /** chart and plan; writes; names; say(text) tells those who do not see it. */
  constructor({ chart, plan, writes, names, say }) {
    Object.assign(this, { chart, plan, writes, names, say });
    this.box = el("i", { class: "ghost-box" });
    this.words = el("b", { class: "ghost-name" });
    this.when = el("span", null);
    this.why = el("span", { class: "ghost-why" });
    this.tip = el("div", { class: "ghost-tip" }, this.words, this.when, this.why);
    this.ghost = el("div", { class: "ghost", hidden: true, "aria-hidden": "true" }, this.box, this.tip);
    chart.over.append(this.ghost);
  }

  /** can tells why a schedule may not be carried in a mode, "move" or "resize"; "" where it may. */
  can(s, mode) {
    if (s.state === "completed") return "It has ended and cannot be changed any more";
    if (s.state === "running" && mode === "move") return "It runs: its end can be changed, and not where it begins";
    return "";
  }

  /** begin takes a schedule up. */
  begin(s, mode) {
    this.cancel();
    const span = spanOf(s, present());
    const place = { code: s.stationCode, from: span.from, to: span.to, known: span.known };
    this.now = { s, mode, origin: place, place, problem: "", turn: 0 };
    stationOf(s.stationCode).catch(() => {});
    this.chart.held = s.stationCode;
    this.chart.barOf(s.id)?.classList.add("carried");
    this.chart.element.classList.add("carrying", `carry-${mode}`);
    this.words.textContent = nameOf(s, this.names);
    this.ghost.className = `ghost ${s.kind}`;
    this.ghost.hidden = false;
    this.draw();
  }

  /** to proposes a place: {from, to, code}. */
  to(place) {
    const { now } = this;
    if (!now || (now.place.from === place.from && now.place.to === place.to && now.place.code === place.code)) return;
    now.place = { ...place, known: now.mode === "resize" ? true : now.origin.known };
    now.view = null;
    now.refused = "";
    this.look();
  }

  // look says what the page itself can tell, and asks the service when the hand rests.
  look() {
    const { now } = this,
      { s, place } = now;
    now.problem = problemOf(s, place, { plan: this.plan, names: this.names, now: present() });
    this.mark(
      this.plan.clashes(
        { id: s.id, kind: s.kind, from: place.from, to: place.known ? place.to : place.from + 1 },
        place.code,
      ),
    );
    this.draw();
    clearTimeout(this.timer);
    this.asking?.abort();
    if (!isKnown(place.code))
      stationOf(place.code).then(
        () => this.now === now && now.place === place && this.look(),
        () => {},
      );
    this.timer = setTimeout(() => this.ask(now), rest);
  }

  // mark shows which bars are in the way.
  mark(clashes) {
    const bars = clashes.map((o) => this.chart.barOf(o.id)).filter(Boolean);
    for (const bar of this.marked) if (!bars.includes(bar)) bar.classList.remove("clash");
    for (const bar of bars) bar.classList.add("clash");
    this.marked = bars;
  }

  async ask(now) {
    const { place } = now;
    if (this.now !== now || now.problem || same(now)) return;
    this.asking = new AbortController();
    try {
      const view = await this.writes.try(now.s, place, now.mode, this.asking.signal);
      if (this.now !== now || now.place !== place) return;
      now.view = view;
      if (now.mode === "move" && view.expectedEndAt) now.place.to = Date.parse(view.expectedEndAt); // by the shifts there
    } catch (error) {
      if (error.name === "AbortError" || this.now !== now || now.place !== place) return;
      now.refused = sentence(error);
    }
    this.draw();
  }

  /** draw shows what is carried: by transforms alone. */
  draw() {
    const { chart, now } = this,
      { s, place } = now,
      [top, height] = chart.laneOf(s.kind),
      row = chart.indexOf(place.code);
    const x = chart.xOf(place.from),
      y = chart.topOf(row) + top,
      width = Math.max(4, (place.to - place.from) * chart.scale);
    const why = now.problem || now.refused;
    this.box.style.transform = `translate(${x}px, ${y}px) scale(${width / 100}, ${height / 100})`;
    const tipX = Math.min(Math.max(x, chart.element.scrollLeft + 4), chart.element.scrollLeft + chart.width - 250);
    this.tip.style.transform =
      y - chart.element.scrollTop > 90
        ? `translate(${tipX}px, ${y}px) translateY(-100%) translateY(-6px)`
        : `translate(${tipX}px, ${y + height + 6}px)`;
    const zone = this.names.plantOf(place.code).timezone;
    const units =
      now.mode === "resize" && s.plannedQuantity && !s.plannedEnd
        ? `, ${now.place.quantity ? number(now.place.quantity) : `about ${number(this.writes.guess(s, place))}`} units`
        : "";
    const text = `${spanText(place.from, place.known ? place.to : null, zone)}${units}${place.code === s.stationCode ? "" : `, ${this.names.station(place.code).name}`}`;
    if (this.when.textContent !== text) this.when.textContent = text;
    const verdict = why ? `✕ ${why}` : now.view ? "✓ Free" : "";
    if (this.why.textContent !== verdict) this.why.textContent = verdict;
    this.ghost.classList.toggle("refused", Boolean(why));
    this.ghost.classList.toggle("fine", Boolean(now.view) && !why);
    this.told = `${text}. ${why ? `Not possible: ${why}.` : now.view ? "Free." : ""}`;
  }

  /** drop puts it down: it is written, or glides back. */
  async drop() {
    const { now } = this;
    if (!now || now.dropping) return null;
    if (same(now)) return this.cancel();
    clearTimeout(this.timer);
    this.asking?.abort();
    now.dropping = true;
    if (now.problem) return this.refuse(`${now.problem}.`);
    this.ghost.classList.add("placing");
    try {
      const s = await this.writes.place(now.s, now.place, now.mode);
      if (this.now === now) this.end();
      this.say(
        `${nameOf(s, this.names)} is planned ${spanText(s.actualStart ?? s.plannedStart, s.expectedEnd ?? s.plannedEnd, this.names.plantOf(s.stationCode).timezone)}.`,
      );
      return s;
    } catch (error) {
      if (this.now === now) this.refuse(sentence(error));
      return null;
    }
  }

  /** refuse lets it glide back and tells why. */
  refuse(why) {
    const { now, chart } = this,
      [top, height] = chart.laneOf(now.s.kind),
      { origin } = now;
    toast(why, "bad");
    this.tip.hidden = true;
    const width = Math.max(4, (origin.to - origin.from) * chart.scale);
    const target = `translate(${chart.xOf(origin.from)}px, ${chart.topOf(chart.indexOf(origin.code)) + top}px) scale(${width / 100}, ${height / 100})`;
    const glide = this.box.animate([{ transform: this.box.style.transform }, { transform: target }], {
      duration: calm.matches ? 0 : 280,
      easing: "cubic-bezier(.3, .8, .4, 1)",
    });
    this.box.style.transform = target;
    glide.finished
      .catch(() => {})
      .then(() => {
        if (this.now === now) this.end();
      });
    return null;
  }

  /** cancel puts it back where it was. */
  cancel() {
    if (this.now) this.end();
    return null;
  }

  end() {
    const { now, chart } = this;
    clearTimeout(this.timer);
    this.asking?.abort();
    this.now = null;
    this.mark([]);
    this.ghost.hidden = true;
    this.tip.hidden = false;
    chart.held = null;
    chart.element.classList.remove("carrying", "carry-move", "carry-resize");
    for (const bar of chart.body.querySelectorAll(".carried")) bar.classList.remove("carried");
    chart.redraw();
    return now;
  }
}

const same = ({ origin, place }) => origin.from === place.from && origin.to === place.to && origin.code === place.code;
