// Schedules: what is planned, what runs and what was made, as a chart of stations over time.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { now as present } from "../../shared/clock.js";
import { attempt, sentence, toast } from "../../shared/dialog.js";
import { directory, renamed } from "../../shared/directory.js";
import { draftOf, forms } from "../../shared/draft.js";
import { segmented } from "../../shared/form.js";
import { live } from "../../shared/live.js";
import { addressOf, readScope, scopeBar } from "../../shared/scope.js";
import { style } from "../../shared/styles.js";
import { addDays, dayOf, fromWall, momentOf, toWall, wallOf } from "../../shared/zone.js";
import { actions } from "../schedules/actions.js";
import { Carry } from "../schedules/carry.js";
import { Chart } from "../schedules/chart.js";
import { keys } from "../schedules/keys.js";
import { listing } from "../schedules/listing.js";
import { legend } from "../schedules/legend.js";
import { Plan } from "../schedules/plan.js";
import { dragging } from "../schedules/pointer.js";
import { Writes } from "../schedules/writes.js";

const hour = 3600000; // ms

/** zooms are the lengths of time that fit into the chart. */
const zooms = {
  hour: { label: "Hours", span: 8 * hour },
  day: { label: "Day", span: 24 * hour },
  week: { label: "Week", span: 7 * 24 * hour },
};

export async function open(ctx) {
  const [names, end] = await Promise.all([
    directory(),
    live.follow(),
    style(new URL("../schedules.css", import.meta.url)),
  ]);
  const page = new Page(ctx, names);
  return {
    title: "Schedules",
    render: () => page.render(),
    leave: () => {
      page.leave();
      end();
    },
    changed: (next) => page.changed(next),
  };
}

class Page {
  told = "";
  listing = false; // whether the table is open

  constructor(ctx, names) {
    Object.assign(this, { ctx, names });
    this.plan = new Plan();
    this.chart = new Chart(this.plan, names);
    this.writes = new Writes(this.plan, names, () => ctx.update());
    this.carry = new Carry({
      chart: this.chart,
      plan: this.plan,
      writes: this.writes,
      names,
      say: (text) => this.say(text),
    });
    this.do = actions(this.writes, names);
    const allowed = () => this.ctx.can("supervisor");
    const hands = {
      allowed,
      open: (s) => this.open(s),
      plan: (code, at) => this.make(code, at),
      remove: (s) => this.do.remove(s),
      say: (text) => this.say(text),
    };
    this.letGo = dragging(this.chart, this.carry, hands);
    keys(this.chart, this.carry, hands);
    this.chart.addEventListener("view", () => this.viewed());
    live.addEventListener("schedule", this.event);
    live.addEventListener("stations", this.counted);
    live.addEventListener("reset", this.reset);
    live.addEventListener("account", this.reset);
    renamed.addEventListener("change", this.named);
    addEventListener("keydown", this.key);
    addEventListener("beforeprint", this.print);
    this.plan.addEventListener("change", () => {
      if (this.listing || this.count !== this.plan.schedules.size) ctx.update();
    });
    this.read(ctx.query);
    queueMicrotask(() => requestAnimationFrame(() => this.lay()));
    if (draftOf(forms.schedule, ctx.profile) && ctx.can("supervisor")) this.goOn();
  }

  leave() {
    this.letGo();
    this.chart.leave();
    this.plan.leave();
    live.removeEventListener("schedule", this.event);
    live.removeEventListener("stations", this.counted);
    live.removeEventListener("reset", this.reset);
    live.removeEventListener("account", this.reset);
    renamed.removeEventListener("change", this.named);
    removeEventListener("keydown", this.key);
    removeEventListener("beforeprint", this.print);
    clearTimeout(this.timer);
  }

  read(query) {
    this.scope = { ...readScope(query), range: "" };
    this.zoom = query.get("zoom") in zooms ? query.get("zoom") : "day";
    this.zone = (this.names.plants.find((p) => p.code === this.scope.plant) ?? this.names.plants[0])?.timezone ?? "UTC";
    const at = Date.parse(query.get("at") ?? "");
    this.at = Number.isFinite(at) ? at : this.begin(present());
    this.plan.about(this.scope);
  }

  // begin gives the left edge at which a moment stands well: now with some of what was, a week from its first day on.
  begin(at) {
    const { span } = zooms[this.zoom];
    if (this.zoom !== "week") return at - span / 4;
    const plant = this.names.plants.find((p) => p.timezone === this.zone) ?? this.names.plants[0],
      day = dayOf(wallOf(at, this.zone));
    const behind = (((Math.floor(day / (24 * hour)) + 3) % 7) - Number(plant?.weekStartDay ?? 0) + 7) % 7;
    return momentOf(day - behind * 24 * hour, this.zone);
  }

  changed(ctx) {
    this.ctx = ctx;
    this.read(ctx.query);
    this.carry.cancel();
    this.lay();
  }

  lay() {
    this.laid = true;
    this.chart.lay({ rows: this.rows(), zone: this.zone, span: zooms[this.zoom].span, at: this.at });
  }

  rows() {
    const { scope, names } = this,
      patterns = new Map(names.shiftPatterns.map((p) => [p.code, p]));
    const rows = [];
    for (const plant of names.plants.filter((p) => !scope.plant || p.code === scope.plant)) {
      for (const group of plant.groups.filter((g) => !scope.group || g.code === scope.group)) {
        const stations = group.stations.filter(
          (s) => live.stations.has(s.code) && (!scope.stations.length || scope.stations.includes(s.code)),
        );
        if (!stations.length) continue;
        const note = [
          names.plants.length > 1 ? plant.name : "",
          plant.timezone === this.zone ? "" : `clock of ${plant.timezone}`,
        ]
          .filter(Boolean)
          .join(", ");
        rows.push({ heading: group.name, note, plant: plant.code });
        for (const s of stations)
          rows.push({
            code: s.code,
            name: s.name,
            zone: plant.timezone,
            pattern: patterns.get(s.shiftPatternCode) ?? null,
          });
      }
    }
    return rows;
  }

  viewed() {
    this.at = Math.round(this.chart.left);
    const address = addressOf(this.scope, { zoom: this.zoom, at: new Date(this.at).toISOString() });
    if (location.pathname + location.search !== address) history.replaceState(history.state, "", address);
    this.ctx.update();
    this.load();
  }

  async load() {
    const { left, right } = this.chart,
      beside = (right - left) / 2;
    try {
      await this.plan.ensure(left - beside, right + beside);
      this.problem = null;
    } catch (error) {
      this.problem = error;
    }
    this.ctx.update();
  }

  counted = () => {
    // bars follow by themselves, and the table once a second: it may be long
    if (this.listing)
      this.timer ||= setTimeout(() => {
        this.timer = 0;
        this.ctx.update();
      }, 1000);
  };
  event = (event) => this.plan.heard(event.detail);
  reset = () => {
    this.plan.again();
    this.lay();
  };
  named = () => this.lay();
  key = (event) => {
    if (
      event.key !== "z" ||
      !(event.ctrlKey || event.metaKey) ||
      event.target.closest?.("input, textarea, select, dialog") ||
      !(this.writes.last || this.writes.under)
    )
      return;
    event.preventDefault();
    this.undo();
  };

  print = () => {
    // on paper it is a table
    this.listing = true;
    this.ctx.update();
  };

  say(text) {
    this.told = this.told === text ? `${text}\u00a0` : text;
    this.ctx.update();
  }

  undo = () =>
    attempt(async () => {
      const done = await this.writes.undo();
      if (!done) return;
      const { text, s } = done;
      toast(`Taken back: ${text}.`);
      if (s && s.state !== "deleted") this.chart.reveal(s)?.focus({ preventScroll: true });
    });

  async open(s) {
    const { scheduleDialog } = await import("../schedules/dialog.js");
    scheduleDialog(this, s).catch((error) => toast(sentence(error), "bad"));
  }

  async goOn() {
    const { goOn } = await import("../schedules/dialog.js");
    goOn(this).catch((error) => toast(sentence(error), "bad"));
  }

  async make(code, at) {
    const { planDialog } = await import("../schedules/dialog.js");
    planDialog(this, { stationCode: code, at }).catch((error) => toast(sentence(error), "bad"));
  }

  table(what) {
    return attempt(async () => (await import("../schedules/importing.js"))[what](this));
  }

  set(zoom) {
    const middle = this.chart.left + zooms[this.zoom].span / 2;
    this.zoom = zoom;
    this.at = zoom === "week" ? this.begin(middle) : middle - zooms[zoom].span / 2;
    this.lay();
  }

  go(by) {
    this.chart.show(
      this.zoom === "hour"
        ? this.chart.left + by * zooms.hour.span
        : addDays(this.chart.left, by * (this.zoom === "week" ? 7 : 1), this.zone),
    );
  }

  render() {
    const { names, scope, zone } = this,
      write = this.ctx.can("supervisor");
    this.count = this.plan.schedules.size;
    return html`<div class="page-head"><h1>Schedules</h1>
        <div class="row">${
          write
            ? html`<button type="button" class="button primary" @click=${() => this.make(null, null)}>Plan …</button>
          <button type="button" class="button" @click=${() => this.table("importSchedules")}>Import CSV …</button>
          <button type="button" class="button" ?disabled=${!this.writes.last} title=${this.writes.last ? `Takes back: ${this.writes.last.text}` : "Nothing to take back"} @click=${this.undo}>Undo</button>`
            : nothing
        }<button type="button" class="button" @click=${() => this.table("exportSchedules")}>Export CSV</button></div></div>
      <div class="gantt-tools">
        ${segmented({ name: "zoom", label: "Zoom", value: this.zoom, options: Object.entries(zooms).map(([value, { label }]) => ({ value, label })), change: (zoom) => this.set(zoom) })}
        <div class="row steps"><button type="button" class="button" aria-label="Earlier" @click=${() => this.go(-1)}>‹</button>
          <button type="button" class="button" @click=${() => this.chart.show(this.begin(present()))}>Now</button>
          <button type="button" class="button" aria-label="Later" @click=${() => this.go(1)}>›</button>
          <input type="datetime-local" aria-label=${`Go to, on the clock of ${zone}`} .value=${toWall(this.at, zone, { seconds: false })} @change=${(
            e,
          ) => {
            const at = fromWall(e.target.value, zone);
            if (Number.isFinite(at)) this.chart.show(at);
          }}></div>
        ${scopeBar({ scope, directory: names, parts: ["plant", "group", "stations"], change: (next) => this.ctx.navigate(addressOf({ ...next, range: "" }, { zoom: this.zoom, at: new Date(this.at).toISOString() })) })}
      </div>
      ${this.problem ? html`<section class="notice bad" role="alert"><strong>Not all schedules could be read.</strong> ${sentence(this.problem)} <button type="button" class="button small" @click=${() => this.load()}>Try again</button></section>` : nothing}
      ${this.chart.element}
      ${this.chart.rows.length || !this.laid ? nothing : html`<p class="empty">No stations are here. Choose another group, or all stations.</p>`}
      <p class="visually-hidden" role="status" aria-live="polite">${this.told}</p>
      ${listing(this)}
      ${legend({ zone, write, loading: this.plan.loading })}`;
  }
}
