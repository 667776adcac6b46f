// The threshold tuner: how long a station stands, and what other settings would make of that, before anything is changed.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { live as kept } from "../../vendor/lit-html/directives/live.js";
import { get, post, query } from "../../shared/api.js";
import { attempt, sentence } from "../../shared/dialog.js";
import { directory } from "../../shared/directory.js";
import { field, segmented } from "../../shared/form.js";
import { duration } from "../../shared/format.js";
import { addressOf, rangeText, readScope, scopeBar } from "../../shared/scope.js";
import { style } from "../../shared/styles.js";
import { spell } from "../../shared/ticks.js";
import { text } from "../../shared/words.js";
import { cell, columns } from "../corrections/effects.js";
import { histogram } from "../tuner/histogram.js";
import { handOn, intoDraft } from "../tuner/keep.js";
import { changesOf, fromStep, knobsOf, readKnobs, thresholdsOf, toStep, writeKnobs } from "../tuner/knobs.js";

const pause = 300; // ms that the hands must rest before the effect is computed

export async function open(ctx) {
  const [names] = await Promise.all([
    directory(),
    style(new URL("../corrections.css", import.meta.url)),
    style(new URL("../tuner.css", import.meta.url)),
  ]);
  const page = new Page(ctx, names);
  page.readAddress(ctx);
  return {
    title: text("floor.nav.tuner"),
    render: () => page.render(),
    changed: (next) => page.readAddress(next),
    leave: () => page.leave(),
  };
}

class Page {
  by = "count";
  seen = null; // the station's settings, SKUs and lengths
  values = {};
  tuning = null;
  error = null;
  problems = [];
  busy = false;
  #ask = null;
  #timer = 0;

  constructor(ctx, names) {
    Object.assign(this, { ctx, names });
  }

  leave() {
    clearTimeout(this.#timer);
    this.#ask?.abort();
    this.at = "";
  }

  readAddress({ query: q }) {
    this.scope = readScope(q, "last7d");
    this.code = q.get("station") || this.scope.stations[0] || "";
    const at = JSON.stringify([this.code, this.scope.range]);
    this.asked = q;
    if (at === this.at) return;
    this.at = at;
    this.load(at);
  }

  async load(at) {
    this.leave();
    Object.assign(this, { at, seen: null, tuning: null, error: null, problems: [], loading: Boolean(this.code) });
    this.ctx.update();
    if (!this.code) return;
    try {
      const range = { rangecode: this.scope.range },
        code = encodeURIComponent(this.code);
      const [{ result: station }, { result: stood }, { results: made }, { account }] = await Promise.all([
        get(`/station/${code}`),
        get(`/analysis/standstill${query({ ...range, stationcode: this.code, limit: 1 })}`),
        get(`/oee${query({ ...range, stationcodes: this.code, by: "sku" })}`),
        get("/account/manifest"),
      ]);
      if (at !== this.at) return;
      const ran = new Set(made.map((row) => row.skuCode)),
        skus = (account.skus ?? []).filter((sku) => ran.has(sku.code));
      this.seen = { station, stood, skus, knobs: knobsOf(station.settings, skus) };
      this.values = readKnobs(this.seen.knobs, this.asked);
      this.tune(0);
    } catch (error) {
      if (at === this.at) this.error = error;
    }
    if (at !== this.at) return;
    this.loading = false;
    this.ctx.update();
  }

  get turnedKnobs() {
    return this.seen.knobs.filter((k) => this.values[k.name] !== k.now || k.differ);
  }

  get differs() {
    return this.turnedKnobs.length > 0;
  }

  // What was turned; where nothing was, all as it is, so that the figures of now are seen.
  get changes() {
    return changesOf(this.differs ? this.turnedKnobs : this.seen.knobs, this.values, this.seen.skus);
  }

  set(name, value) {
    if (!Number.isFinite(value)) return;
    this.values = { ...this.values, [name]: value };
    this.turned = true; // from now on the address tells it
    this.tune(pause);
  }

  // tune computes the effect when the hands rest; what was asked before is given up.
  tune(after) {
    clearTimeout(this.#timer);
    this.#ask?.abort();
    const changes = this.changes;
    this.busy = Object.keys(changes).length > 0;
    this.ctx.update();
    if (this.busy) this.#timer = setTimeout(() => this.compute(changes), after);
  }

  async compute(changes) {
    const ask = (this.#ask = new AbortController()),
      { from, to } = this.span();
    if (this.turned) history.replaceState(null, "", this.address());
    try {
      const { result } = await post(
        "/analysis/tuning",
        { stationCodes: [this.code], from, to, changes },
        { signal: ask.signal },
      );
      Object.assign(this, { tuning: result, tuned: JSON.stringify(changes), error: null, problems: [], busy: false });
    } catch (error) {
      if (ask.signal.aborted) return;
      Object.assign(this, { error, problems: error.details ?? [], busy: false });
    }
    this.ctx.update();
  }

  // The time that was seen, in whole minutes.
  span() {
    const minute = (at) => new Date(Math.floor(Date.parse(at) / 60000) * 60000).toISOString();
    return { from: minute(this.seen.stood.from), to: minute(this.seen.stood.to) };
  }

  address(changed = {}) {
    const { station = this.code, range = this.scope.range } = changed;
    return addressOf(
      { range },
      { station, ...(this.seen && station === this.code ? writeKnobs(this.seen.knobs, this.values) : {}) },
    );
  }

  render() {
    return html`<div class="page-head"><h1>${text("floor.nav.tuner")}</h1><p>${text("floor.tuner.lead")}</p></div>
      ${scopeBar({
        scope: this.scope,
        directory: this.names,
        parts: ["range"],
        change: ({ range }) => this.ctx.navigate(this.address({ range }), { replace: true }),
        more: html`
        <label class="scope-part"><span>${text("floor.tuner.station")}</span><select class="tuner-station" @change=${(e) => this.ctx.navigate(this.address({ station: e.target.value }), { replace: true })}><option value="" .selected=${!this.code}>${text("floor.tuner.station.choose")}</option>
          ${this.names.plants.map((plant) => plant.groups.map((group) => html`<optgroup label=${group.name}>${group.stations.map((s) => html`<option value=${s.code} .selected=${s.code === this.code}>${s.name}</option>`)}</optgroup>`))}</select></label>`,
      })}
      ${this.error && !this.problems.length ? html`<p class="notice bad" role="alert">${sentence(this.error)} <button type="button" class="button small" @click=${() => this.load(this.at)}>${text("floor.tuner.again")}</button></p>` : nothing}
      ${this.problems.length ? html`<div class="notice bad" role="alert"><ul>${this.problems.map((d) => html`<li>${sentence(`${d.field} ${d.issue}`)}</li>`)}</ul></div>` : nothing}
      ${this.loading ? html`<p class="muted loading" role="status">${text("floor.tuner.loading")}</p>` : !this.code ? html`<p class="empty">${text("floor.tuner.station.none")}</p>` : this.seen ? this.found() : nothing}`;
  }

  found() {
    const { stood, knobs, station } = this.seen,
      zone = station.plant?.timezone ?? this.names.plantOf(this.code)?.timezone;
    const marks = this.marks();
    const sum = html`<p class="muted">${text("floor.tuner.stood", { station: html`<bdi>${this.names.station(this.code)?.name ?? this.code}</bdi>`, range: rangeText(`${stood.from}/${stood.to}`, zone), n: stood.lengths.count, time: spell(stood.lengths.totalMs) })}</p>`;
    return html`<div class="tuner-parts">${histogram({
      lengths: stood.lengths,
      by: this.by,
      marks,
      name: `standstill-${this.code}`,
      switched: html`${sum}${segmented({
        name: "by",
        label: text("floor.tuner.by"),
        value: this.by,
        options: [
          { value: "count", label: text("floor.tuner.by.count") },
          { value: "totalMs", label: text("floor.tuner.by.time") },
        ],
        change: (by) => {
          this.by = by;
          this.ctx.update();
        },
      })}`,
    })}
      ${
        knobs.length
          ? html`<div class="stack"><section class="card stack" aria-label=${text("floor.tuner.settings")}><h2>${text("floor.tuner.settings")}</h2>${knobs.map((k) => this.knob(k))}
          <button type="button" class="button small" ?disabled=${!this.differs} @click=${() => {
            this.values = Object.fromEntries(knobs.map((k) => [k.name, k.now]));
            this.turned = true;
            this.tune(0);
          }}>${text("floor.tuner.reset")}</button></section>
        <section class="card stack" aria-label=${text("floor.tuner.effect")} aria-busy=${String(this.busy)}><h2>${text("floor.tuner.effect")}</h2>${this.effect()}</section></div>`
          : html`<p class="empty">${text("floor.tuner.off")}</p>`
      }</div>`;
  }

  marks() {
    const { knobs, skus } = this.seen,
      now = Object.fromEntries(knobs.filter((k) => !k.differ).map((k) => [k.name, k.now]));
    const written = (ms) => duration(Math.round(ms / 100) * 100);
    const of = (kind, values) =>
      thresholdsOf(knobs, values, skus).map((ms, i, all) => ({
        ms,
        kind,
        label: i
          ? ""
          : text(`floor.tuner.mark.${kind}`, { n: all.length, from: written(all[0]), to: written(all.at(-1)) }),
      }));
    const marks = of("was", now);
    if (this.differs) marks.push(...of("new", this.values));
    return marks;
  }

  knob(k) {
    const value = this.values[k.name],
      shown = (v) => (k.name === "multiplier" ? text("floor.tuner.times", { n: v }) : duration(v));
    return html`<div class="knob" data-knob=${k.name}>
      ${field({ name: k.field, id: `knob-${k.name}`, label: k.label, kind: k.name === "multiplier" ? "number" : "duration", schema: {}, hint: html`${k.hint} ${k.differ ? nothing : text("floor.tuner.now", { value: shown(k.now) })}`, value, refuse: (v) => (v > k.most ? text("floor.tuner.most", { value: shown(k.most) }) : v <= 0 && k.name === "multiplier" ? text("floor.tuner.moreThanZero") : ""), change: (v) => this.set(k.name, v ?? k.now) })}
      <input type="range" min="0" max="1000" step="1" aria-label=${k.label} aria-valuetext=${shown(value)} .value=${kept(String(toStep(k, value)))} @input=${(e) => this.set(k.name, fromStep(k, Number(e.target.value)))}></div>`;
  }

  effect() {
    const t = this.tuning;
    if (!t) return html`<p role="status">${this.busy ? text("floor.tuner.computing") : nothing}</p>`;
    const asked = { stationcodes: this.code, ...this.span() },
      known = this.busy || this.tuned === JSON.stringify(this.changes); // not known: what was computed last is of other settings
    const { before } = t,
      after = known ? t.after : null,
      then = (write, value) => (known ? write(value) : "–");
    const line = (label, a, b, write, change) =>
      html`<tr><th scope="row">${label}</th><td class="numeric">${write(a)}</td><td class="numeric"><strong>${then(write, b)}</strong></td><td class="numeric">${a === b || !known ? "" : change(b - a)}</td></tr>`;
    const signed = (write) => (d) => `${d > 0 ? "+" : "−"}${write(Math.abs(d))}`;
    const shown = columns.filter((c) => ["oee", "availability", "performance", "quality"].includes(c.name));
    return html`<p role="status" class="tuner-status">${this.busy ? text("floor.tuner.computing") : !known ? text("floor.tuner.effect.unknown") : this.differs ? text("floor.tuner.effect.known") : text("floor.tuner.effect.none")}</p>
      <div class=${this.busy ? "table-wrap old" : "table-wrap"}><table class="table tuned"><thead><tr><th scope="col"><span class="visually-hidden">${text("floor.tuner.figure")}</span></th><th scope="col" class="numeric">${text("floor.tuner.before")}</th><th scope="col" class="numeric">${text("floor.tuner.after")}</th><th scope="col" class="numeric">${text("floor.tuner.difference")}</th></tr></thead><tbody>
        ${line(text("floor.tuner.stops"), before.stops.count, after?.stops.count, String, signed(String))}
        ${line(text("floor.tuner.stopped"), before.stops.totalMs, after?.stops.totalMs, spell, signed(spell))}
        ${shown.map((c) => {
          const a = before.figures[c.name],
            b = after?.figures[c.name] ?? null;
          return html`<tr data-figure=${c.name}><th scope="row">${c.label}</th><td class="numeric">${cell(c, before.figures, before.figures, asked)}</td><td class="numeric"><strong>${then(c.write, b)}</strong></td><td class="numeric">${a === b || a === null || b === null ? "" : c.change(b - a)}</td></tr>`;
        })}
      </tbody></table></div>
      <div class="row">${this.keeps()}</div>`;
  }

  keeps() {
    const may = this.ctx.can("member"),
      changes = this.changes,
      off = !this.differs || this.busy;
    const past = `/floor/corrections?${new URLSearchParams({ new: "1", stations: this.code, ...this.span(), ...(changes.station && { station: JSON.stringify(changes.station) }), ...(changes.skus && { skus: JSON.stringify(Object.fromEntries(changes.skus.map(({ code, ...rest }) => [code, rest]))) }) })}`;
    const station = this.names.station(this.code);
    return html`${
      may
        ? html`<button type="button" class="button primary" ?disabled=${off} @click=${() => attempt(() => intoDraft({ changes, station, profile: this.ctx.profile }))}>${text("floor.tuner.draft")}</button>`
        : html`<button type="button" class="button primary" ?disabled=${off} @click=${() => handOn(changes, this.code)}>${text("floor.tuner.handOn")}</button>`
    }
      ${this.ctx.can("admin") && !off ? html`<a class="button" href=${past}>${text("floor.tuner.correct")}</a>` : nothing}`;
  }
}
