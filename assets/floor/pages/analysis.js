// Analysis: OEE, losses, causes of downtime, energy and cycle times of any part of the plant and any time.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { connection } from "../../shared/api.js";
import { sentence, toast } from "../../shared/dialog.js";
import { directory } from "../../shared/directory.js";
import { figureButton } from "../../shared/explain.js";
import { time } from "../../shared/format.js";
import { asked, rangeOf, ranges, scopeBar } from "../../shared/scope.js";
import { style } from "../../shared/styles.js";
import { text } from "../../shared/words.js";
import { hatching } from "../analysis/bars.js";
import { cycleTimes, readCycles } from "../analysis/cycletimes.js";
import { energy, energyBy, readEnergy } from "../analysis/energy.js";
import { loss, readLosses } from "../analysis/losses.js";
import { plantOf, zoneOf } from "../analysis/names.js";
import { oee, readOEE } from "../analysis/oee.js";
import { pareto, readPareto } from "../analysis/pareto.js";
import { Reader } from "../analysis/reader.js";
import { addressFor, dimensions, profiles, readState } from "../analysis/state.js";
import { earlier, sums } from "../analysis/sums.js";

function byText(by) {
  const [one, two] = by.map((name) => text(`floor.analysis.inside.${name}`));
  return two ? text("floor.analysis.by.two", { one, two }) : one;
}

// The views: label of the tab, title, by (what it can be added up by, if by anything), read, show, and whether the sums stand above.
const views = {
  oee: {
    label: text("floor.analysis.ratio.oee"),
    title: ({ by }) => text("floor.analysis.title.oee", { by: byText(by) }),
    by: Object.keys(dimensions),
    read: readOEE,
    show: oee,
    sums: true,
  },
  losses: {
    label: text("floor.analysis.losses"),
    title: ({ by }) => text("floor.analysis.title.losses", { by: byText(by) }),
    by: Object.keys(dimensions),
    read: readLosses,
    show: loss,
    sums: true,
  },
  pareto: {
    label: text("floor.analysis.causes"),
    title: () => text("floor.analysis.title.pareto"),
    read: readPareto,
    show: pareto,
  },
  energy: {
    label: text("floor.analysis.energy"),
    title: ({ by }) => text("floor.analysis.title.energy", { by: byText(energyBy(by)) }),
    by: ["plant", "group", "station", "hour", "day", "week", "month"],
    read: readEnergy,
    show: energy,
  },
  cycletimes: {
    label: text("floor.analysis.cycles"),
    title: () => text("floor.analysis.title.cycles"),
    read: readCycles,
    show: cycleTimes,
  },
};

export async function open(ctx) {
  await style(new URL("../analysis.css", import.meta.url));
  const page = new Page(ctx, await directory());
  page.start();
  return page;
}

class Page {
  title = text("floor.nav.analysis");

  constructor(ctx, names) {
    Object.assign(this, {
      ctx,
      names,
      state: readState(ctx.query, views),
      reader: new Reader(ctx.update),
      all: false,
      printed: Date.now(),
    });
  }

  start() {
    this.back = () => {
      if (connection.up && this.reader.error?.away) this.read();
    };
    this.print = () => {
      this.printed = Date.now();
      this.ctx.update();
    };
    connection.addEventListener("change", this.back);
    addEventListener("beforeprint", this.print);
    this.read();
  }

  leave() {
    this.reader.stop();
    connection.removeEventListener("change", this.back);
    removeEventListener("beforeprint", this.print);
  }

  changed(ctx) {
    const before = addressFor({ ...this.state, sort: "" }),
      view = this.state.view;
    Object.assign(this, { ctx, state: readState(ctx.query, views) });
    if (before === addressFor({ ...this.state, sort: "" })) return; // another order of the same
    if (view !== this.state.view) this.reader.data = null;
    this.read();
  }

  read() {
    const { state } = this,
      view = views[state.view],
      scope = asked(state.scope);
    return this.reader.read(async (ask) => {
      const total = (await ask("/oee", { ...scope, profile: state.profile })).results[0];
      const [data, before] = await Promise.all([
        view.read(ask, { scope, state, total }),
        view.sums ? earlier(ask, { scope, state, total, plant: plantOf(state, this.names) }) : null,
      ]);
      return { state, total, data, before };
    });
  }

  go(changes, replace = false) {
    this.ctx.navigate(addressFor({ ...this.state, ...changes }), { replace });
  }

  render() {
    const { state, names, reader } = this;
    return html`<div class="analysis stack">
      <div class="page-head"><h1>${text("floor.nav.analysis")}</h1><div class="row"><button type="button" class="button small" @click=${() => this.copy()}>${text("floor.analysis.link")}</button><button type="button" class="button small" @click=${() => print()}>${text("floor.analysis.print")}</button></div></div>
      ${this.printHead()}
      <nav class="tabs" aria-label=${text("floor.analysis.views")}>${Object.entries(views).map(([view, { label }]) => html`<a href=${addressFor({ ...state, view, sort: "", down: false })} aria-current=${view === state.view ? "page" : nothing}>${label}</a>`)}</nav>
      ${scopeBar({ scope: state.scope, directory: names, change: (scope) => this.go({ scope }), more: this.more() })}
      ${this.progress()}
      <div class="stack results" aria-busy=${String(reader.since > 0)}>${reader.error ? this.problem() : reader.data ? this.results() : nothing}</div>
      ${hatching}</div>`;
  }

  results() {
    const { state, total, data, before } = this.reader.data,
      view = views[state.view];
    const page = {
      state: { ...state, sort: this.state.sort, down: this.state.down },
      total,
      data,
      before,
      names: this.names,
      zone: zoneOf(state, this.names),
      profile: this.ctx.profile,
      title: view.title(state),
      go: (changes) => this.go(changes),
      ask: (figure, shown, row) => this.ask(figure, shown, row),
      file: (name) => this.file(name),
    };
    const order = { by: page.state.sort, down: page.state.down };
    Object.assign(page, { order, sort: () => this.go({ sort: order.by, down: order.down }, true) });
    return html`<p class="muted span">${this.rangeText()}</p>${view.sums ? sums(page) : nothing}${view.show(page)}`;
  }

  // A figure that can be asked how it came about, of the very time that is shown; where plants' days differ, of the one that is named.
  ask(figure, shown, row) {
    const { total, state } = this.reader.data,
      { rangecode, ...where } = asked(state.scope);
    return figureButton(shown, {
      figure,
      profile: state.profile,
      row,
      query:
        this.names.plants.length === 1 ? { ...where, from: total.startAt, to: total.endAt } : { ...where, rangecode },
    });
  }

  more() {
    const { state } = this,
      { by } = views[state.view];
    return html`${by ? this.bySelects(by) : nothing}<label class="scope-part"><span>${text("floor.analysis.profile")}</span><select name="profile" @change=${(e) => this.go({ profile: e.target.value })}>${Object.entries(profiles).map(([code, { name }]) => html`<option value=${code} .selected=${code === state.profile}>${name}</option>`)}</select></label>`;
  }

  bySelects(allowed) {
    const [one, two = ""] = this.state.view === "energy" ? energyBy(this.state.by) : this.state.by;
    const second = allowed.filter((name) => name !== one && !(dimensions[name].time && dimensions[one].time));
    const option = (name, chosen) =>
      html`<option value=${name} .selected=${name === chosen}>${dimensions[name].label}</option>`;
    const set = (by) => this.go({ by, sort: "", down: false });
    return html`<label class="scope-part"><span>${text("floor.analysis.by")}</span><select name="by" @change=${(e) => set([e.target.value])}>${allowed.map((name) => option(name, one))}</select></label>
      <label class="scope-part"><span>${text("floor.analysis.by.and")}</span><select name="and" @change=${(e) => set(e.target.value ? [one, e.target.value] : [one])}><option value="" .selected=${two === ""}>${text("floor.analysis.by.none")}</option>${second.map((name) => option(name, two))}</select></label>`;
  }

  // The range that was read, in the plant's own zone.
  rangeText() {
    const { total, state } = this.reader.data,
      zone = zoneOf(state, this.names);
    const span = new Intl.DateTimeFormat("en-GB", {
      weekday: "short",
      day: "numeric",
      month: "short",
      year: "numeric",
      hour: "2-digit",
      minute: "2-digit",
      timeZone: zone,
      hourCycle: "h23",
    }).formatRange(new Date(total.startAt), new Date(total.endAt));
    const named = ranges[state.scope.range];
    return `${named ? `${named}: ` : ""}${span} (${zone})`;
  }

  scopeText() {
    const { scope } = this.state,
      { names } = this;
    if (scope.stations.length)
      return scope.stations.length > 6
        ? text("floor.analysis.stations", { n: scope.stations.length })
        : scope.stations.map((code) => names.station(code).name).join(", ");
    return [
      scope.plant || names.plants.length === 1
        ? names.plant(scope.plant || names.plants[0].code).name
        : text("floor.analysis.plants"),
      scope.group ? names.group(scope.plant || names.plants[0].code, scope.group).name : "",
    ]
      .filter(Boolean)
      .join(", ");
  }

  printHead() {
    const { state } = this;
    return html`<header class="print-head"><p class="print-title">${views[state.view].title(state)}</p>
      <p><bdi>${this.ctx.profile.accountId}</bdi> · <bdi>${this.scopeText()}</bdi>${this.reader.data ? html` · ${this.rangeText()}` : nothing}</p>
      <p>${text("floor.analysis.printed", { profile: profiles[state.profile].name, time: time(this.printed, { zone: zoneOf(state, this.names) }) })}</p></header>`;
  }

  progress() {
    const { reader } = this;
    return html`<div role="status" class="progress">${
      reader.told
        ? html`<span>${text("floor.analysis.reading", { n: this.stations() })}</span> <span aria-hidden="true">${Math.round((Date.now() - reader.since) / 1000)} s</span>
      <button type="button" class="button small" @click=${() => reader.stop()}>${text("floor.analysis.stop")}</button>`
        : nothing
    }</div>
      ${!reader.since && !reader.data && !reader.error ? html`<p class="empty">${text("floor.analysis.stopped")} <button type="button" class="button small" @click=${() => this.read()}>${text("floor.analysis.readAgain")}</button></p>` : nothing}`;
  }

  stations() {
    const { plant, group, stations } = this.state.scope;
    return (
      stations.length ||
      this.names.stations().filter((s) => (!plant || s.plant.code === plant) && (!group || s.group.code === group))
        .length
    );
  }

  problem() {
    const { error } = this.reader;
    const advice =
      error.away || error.status === 429
        ? text("floor.analysis.failed.later")
        : error.status === 400
          ? text("floor.analysis.failed.change")
          : "";
    return html`<section class="notice bad" role="alert"><strong>${text("floor.analysis.failed")}</strong>${sentence(error)} ${advice}
      <p class="row"><button type="button" class="button small" @click=${() => this.read()}>${text("floor.analysis.again")}</button> <a class="button small" href=${addressFor(readState(new URLSearchParams({ view: this.state.view }), views))}>${text("floor.analysis.anew")}</a></p></section>`;
  }

  // Files are named by what they hold and the days that it is of.
  file(name) {
    const { total, state } = this.reader.data,
      day = (at) => new Intl.DateTimeFormat("sv-SE", { timeZone: zoneOf(state, this.names) }).format(new Date(at));
    return `${name}_${day(total.startAt)}_${day(Date.parse(total.endAt) - 1)}`;
  }

  // A link has the time that is shown, whatever "today" is when it is opened; with several plants, whose days differ, it has the name.
  async copy() {
    const { total } = this.reader.data ?? {};
    const range =
      total && this.names.plants.length === 1
        ? rangeOf(Date.parse(total.startAt), Date.parse(total.endAt))
        : this.state.scope.range;
    const link = location.origin + addressFor({ ...this.state, scope: { ...this.state.scope, range } });
    try {
      await navigator.clipboard.writeText(link);
      toast(text("floor.analysis.link.done"));
    } catch {
      // there is no clipboard on pages without HTTPS
      history.replaceState(null, "", link);
      toast(text("floor.analysis.link.there"));
    }
  }
}
