// Stops: finding them, saying what caused them, and everything else that can be done with them.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { get, query } from "../../shared/api.js";
import { now } from "../../shared/clock.js";
import { turning } from "../../shared/days.js";
import { attempt, sentence } from "../../shared/dialog.js";
import { directory } from "../../shared/directory.js";
import { count, duration, parseDuration, time } from "../../shared/format.js";
import { Followed } from "../../shared/followed.js";
import { live } from "../../shared/live.js";
import { saveTable } from "../../shared/plot.js";
import { scrollTo, visible } from "../../shared/rows.js";
import { addressOf, asked, readScope, scopeBar, spanText } from "../../shared/scope.js";
import { style } from "../../shared/styles.js";
import { spell, ticking } from "../../shared/ticks.js";
import { giveCause, lengthOf, nouns } from "../stops/actions.js";
import { found, none, sums, uncausedOf } from "../stops/data.js";
import { recordManual } from "../stops/manual.js";
import { causeText, one, signs } from "../stops/one.js";
import { Refused } from "../stops/refused.js";

const height = 62; // px of a row

export async function open(ctx) {
  const [names, end] = await Promise.all([directory(), live.follow(), style(new URL("../stops.css", import.meta.url))]);
  const page = new Page(ctx, names);
  const leave = page.begin();
  return {
    title: "Stops",
    render: () => page.render(),
    changed: (next) => page.readAddress(next),
    leave: () => {
      leave();
      end();
    },
  };
}

class Page {
  chosen = new Set();
  single = null; // the stop at the address, where the list does not have it
  reading = false; // it is being read
  unread = null; // the error with which that ended
  #turn = 0;

  constructor(ctx, names) {
    Object.assign(this, { ctx, names });
    this.stops = new Followed("/issue", () => this.update());
    this.refused = new Refused(ctx.update);
  }

  begin() {
    const heard = (event) => {
      this.stops.heard(event.detail);
      if (this.single?.stationCode === event.detail.stationCode) this.readSingle();
    };
    const anew = () => this.stops.query && this.stops.read();
    live.addEventListener("issue", heard);
    live.addEventListener("reset", anew);
    const end = turning(this.names.plants, now, anew); // the list is of other days then
    this.readAddress(this.ctx);
    return () => {
      end();
      this.#turn++;
      clearTimeout(this.typing);
      live.removeEventListener("issue", heard);
      live.removeEventListener("reset", anew);
      this.stops.stop();
    };
  }

  readAddress({ query: q }) {
    const before = this.asks;
    this.scope = readScope(q);
    this.filter = {
      type: q.get("type") ?? "",
      open: q.get("open") ?? "",
      cause: q.get("cause")?.split(",").filter(Boolean) ?? [],
      atleast: parseDuration(q.get("atleast") ?? "") || 0,
      search: q.get("search") ?? "",
      order: q.get("order") ?? "",
    };
    this.id = q.get("issue") ?? "";
    if (q.get("uncaused") === "1") this.filter.cause = [none];
    this.filter.uncaused = this.filter.cause.length === 1 && this.filter.cause[0] === none;
    this.asks = JSON.stringify([this.scope, this.filter.type, this.filter.open, this.filter.uncaused]);
    if (this.asks !== before) {
      this.chosen.clear();
      this.stops.read({
        ...asked(this.scope),
        type: this.filter.type,
        open: this.filter.open,
        uncaused: this.filter.uncaused,
      });
    } else this.update();
    this.readSingle();
  }

  // readSingle gets the stop of the address from the service when the list does not have it: its id tells where and when.
  // An answer that comes after another stop was asked for is not wanted any more.
  async readSingle() {
    const turn = ++this.#turn,
      { id } = this,
      [, stationcodes, , at] = /^(.+)\.(stop|slow|manual)-(\d+)$/.exec(id) ?? [];
    if (this.single?.id !== id) this.single = null;
    Object.assign(this, { reading: false, unread: null });
    if (!at || this.stops.all.some((s) => s.id === id)) return;
    this.reading = true;
    const from = new Date(Number(at)).toISOString(),
      to = new Date(Number(at) + 60000).toISOString();
    try {
      const { results } = await get(`/issue${query({ stationcodes, from, to, archived: "true" })}`);
      if (turn === this.#turn) this.single = results.find((s) => s.id === id) ?? null;
    } catch (error) {
      if (turn === this.#turn) this.unread = error;
    }
    if (turn !== this.#turn) return;
    this.reading = false;
    this.ctx.update();
  }

  update() {
    this.found = found(this.stops.all, this.filter ?? {}, this.names);
    this.ctx.update();
  }

  go(changed, { replace = true } = {}) {
    const { atleast, uncaused, ...rest } = this.filter;
    const more = { ...rest, atleast: atleast ? duration(atleast).replaceAll(" ", "") : "", issue: this.id, ...changed };
    this.ctx.navigate(addressOf(changed.scope ?? this.scope, { ...more, scope: "" }), { replace });
  }

  hrefOf(stop) {
    const all = new URLSearchParams(location.search);
    all.set("issue", stop.id);
    return `${location.pathname}?${all}`;
  }

  taken(stops) {
    if (!stops.length) return;
    this.stops.take(stops);
    if (this.single) this.single = stops.find((s) => s.id === this.single.id) ?? this.single;
    this.update();
  }

  render() {
    const stop = this.id ? (this.stops.all.find((s) => s.id === this.id) ?? this.single) : null;
    return html`<div class="page-head"><h1>Stops</h1><div class="row">
        ${this.ctx.acts() ? html`<button type="button" class="button" @click=${() => this.manual()}>Manual downtime</button>` : nothing}
        <button type="button" class="button" ?disabled=${!this.found.length} @click=${() => this.save()}>CSV</button></div></div>
      ${scopeBar({ scope: this.scope, directory: this.names, change: (scope) => this.go({ scope }), more: this.filters() })}
      <p class="muted span">${spanText(this.scope, this.names, now())}</p>
      ${this.stops.error ? html`<p class="notice bad" role="alert"><strong>The stops could not be read.</strong> ${(this.stops.error.details ?? []).map((d) => sentence(`${d.field === "rangecode" ? "the time" : d.field} ${d.issue}`)).join(" ") || sentence(this.stops.error)} <button type="button" class="button small" @click=${() => this.stops.read()}>Try again</button></p>` : nothing}
      <div class=${stop ? "stops with-one" : "stops"}>
        <section class="stops-list" aria-label="List of stops">${this.summary()}${this.list()}</section>
        ${stop ? one({ stop, all: this.stops.all, names: this.names, may: this.ctx.can, mine: this.ctx.acts(stop.stationCode), taken: (stops) => this.taken(stops), close: () => this.go({ issue: "" }) }) : nothing}
        ${this.id && !stop && !this.stops.loading ? this.noStop() : nothing}
      </div>
      ${this.ctx.can("supervisor") ? this.refused.show(this.names.plants[0]?.timezone) : nothing}`;
  }

  // noStop stands where the stop of the address would be.
  noStop() {
    const close = html`<button type="button" class="button" @click=${() => this.go({ issue: "" })}>Close</button>`;
    return html`<aside class="card stop-one" aria-label="Stop" aria-busy=${String(this.reading)}>${
      this.reading
        ? html`<p class="muted loading">Loading …</p>`
        : this.unread
          ? html`<p class="notice bad" role="alert"><strong>The stop could not be read.</strong> ${sentence(this.unread)} <button type="button" class="button small" @click=${() => {
              this.readSingle();
              this.ctx.update();
            }}>Try again</button></p>`
          : html`<p>There is no stop ${this.id}.</p>`
    }${close}</aside>`;
  }

  filters() {
    const f = this.filter,
      set = (changed) => this.go(changed),
      part = (label, control) => html`<label class="scope-part"><span>${label}</span>${control}</label>`;
    const choose = (value, options, to) =>
      html`<select @change=${(e) => to(options[e.target.selectedIndex][0])}>${options.map(([v, label]) => html`<option .selected=${v === value}>${label}</option>`)}</select>`;
    const reasons = this.names.reasons,
      depth = (r) => (r.parent ? 1 + depth(this.names.reason(r.parent)) : 0);
    const causes = [
      ["", "Any"],
      [none, "Without a cause"],
      ...reasons.map((r) => [r.code, `${"\u2003".repeat(depth(r))}${this.names.reason(r.code).name}`]),
    ];
    const cause = f.cause.join(",");
    if (!causes.some(([code]) => code === cause))
      causes.push([cause, f.cause.length > 1 ? count(f.cause.length, "cause") : cause]);
    return html`${part(
      "Search",
      html`<input type="search" dir="auto" .value=${f.search} @input=${(e) => {
        clearTimeout(this.typing);
        this.typing = setTimeout(() => set({ search: e.target.value }), 250);
      }}>`,
    )}
      ${part(
        "Type",
        choose(
          f.type,
          [
            ["", "All"],
            ["stop", "Stops"],
            ["slow", "Slow periods"],
            ["manual", "Manual downtime"],
          ],
          (type) => set({ type }),
        ),
      )}
      ${part(
        "State",
        choose(
          f.open,
          [
            ["", "All"],
            ["true", "Going on"],
            ["false", "Ended"],
          ],
          (open) => set({ open }),
        ),
      )}
      ${part(
        "Cause",
        choose(cause, causes, (to) => set({ cause: to })),
      )}
      ${part(
        "At least",
        html`<input type="text" size="8" placeholder="any length" .value=${f.atleast ? duration(f.atleast) : ""} @change=${(
          e,
        ) => {
          const ms = parseDuration(e.target.value);
          e.target.setCustomValidity(Number.isNaN(ms) ? "Enter a length of time, such as 5 min or 1:30" : "");
          if (e.target.reportValidity()) set({ atleast: ms ? duration(ms).replaceAll(" ", "") : "" });
        }}>`,
      )}
      ${part(
        "Order",
        choose(
          f.order,
          [
            ["", "Latest first"],
            ["length", "Longest first"],
          ],
          (order) => set({ order }),
        ),
      )}`;
  }

  summary() {
    const chosen = this.found.filter((s) => this.chosen.has(s.id)),
      some = chosen.length > 0;
    const text = (at) => {
      const s = sums(some ? chosen : this.found, at);
      return html`<strong>${some ? `${count(s.count, "stop")} chosen` : count(s.count, "stop")}</strong>, ${spell(s.ms)}${s.uncausedMs > 0 ? html`, of which <strong class="uncaused-sum">${spell(s.uncausedMs)} without a cause</strong>` : nothing}`;
    };
    const left = this.stops.total - this.stops.all.length;
    return html`<div class="spread stops-sum"><p role="status">${this.stops.loading && !this.stops.all.length ? "Loading …" : this.found.some((s) => !s.endAt) ? ticking(text) : text(now())}</p>
      <div class="row">${this.stops.loading && this.stops.all.length ? html`<span class="muted">${count(this.stops.all.length, "stop")} of ${this.stops.total} read …</span>` : nothing}
      ${!this.stops.loading && left > 0 ? html`<span class="muted">${count(left, "earlier stop")} not read</span> <button type="button" class="button small" @click=${() => this.stops.more()}>Read more</button>` : nothing}
      ${
        some
          ? html`<button type="button" class="button small primary" @click=${async () => {
              this.taken((await giveCause({ stops: chosen, all: this.stops.all, names: this.names })) ?? []);
              this.chosen.clear();
              this.update();
            }}>Give the cause of ${count(chosen.length, "stop")}</button>
        <button type="button" class="button small" @click=${() => {
          this.chosen.clear();
          this.update();
        }}>Choose none</button>`
          : nothing
      }</div></div>`;
  }

  list() {
    const rows = this.found;
    if (!rows.length && this.stops.error) return nothing;
    if (!rows.length)
      return this.stops.loading
        ? html`<p class="muted loading">Loading …</p>`
        : html`<p class="empty">${this.stops.all.length ? "No stop is left by these filters." : "There are no stops in this time."}</p>`;
    const may = this.ctx.acts(),
      own = rows.filter((s) => this.ctx.acts(s.stationCode)),
      all = own.length > 0 && own.every((s) => this.chosen.has(s.id));
    return html`<div class="stops-table ${may ? "" : "readonly"}" role="table" aria-label="Stops" aria-rowcount=${rows.length + 1}>
      <div class="stop-row stops-head" role="row" aria-rowindex="1">
        ${
          may
            ? html`<span role="columnheader" class="tick"><input type="checkbox" aria-label="Choose all" .checked=${all} @change=${() => {
                this.chosen = new Set(all ? [] : own.map((s) => s.id));
                this.update();
              }}></span>`
            : nothing
        }
        <span role="columnheader">Station</span><span role="columnheader">Begin</span><span role="columnheader" class="numeric">Length</span><span role="columnheader">Cause</span><span role="columnheader">Said</span></div>
      <div class="rows stops-rows" role="rowgroup" @keydown=${(e) => this.keys(e)}>${visible({ count: rows.length, height, key: (i) => rows[i].id, row: (i) => this.row(rows[i], i, may) })}</div></div>`;
  }

  row(stop, i, may) {
    const zone = this.names.plantOf(stop.stationCode)?.timezone,
      name = this.names.station(stop.stationCode).name;
    const tick = (e) => {
      if (e.target.checked) this.chosen.add(stop.id);
      else this.chosen.delete(stop.id);
      this.update();
    };
    const cause = causeText(stop, this.names),
      last = stop.events.at(-1);
    return html`<div class=${`stop-row ${stop.id === this.id ? "chosen" : ""} ${stop.excluded || stop.orphaned ? "faded" : ""}`} role="row" aria-rowindex=${i + 2} data-issue=${stop.id} data-row=${i}>
      ${may ? html`<span role="cell" class="tick"><input type="checkbox" aria-label=${`Choose ${name}, ${time(stop.startAt, { zone, date: false })}`} .checked=${this.chosen.has(stop.id)} ?disabled=${!this.ctx.acts(stop.stationCode)} @change=${tick}></span>` : nothing}
      <span role="cell"><a href=${this.hrefOf(stop)} class="stop-link" aria-current=${stop.id === this.id ? "true" : nothing}><span class="status ${stop.type === "slow" ? "slow" : "stop"}" title=${nouns[stop.type]}><span aria-hidden="true">${signs[stop.type]}</span><span class="visually-hidden">${nouns[stop.type]}</span></span> <span dir="auto" title=${name}>${name}</span></a>
        <small class="muted" dir="auto">${stop.skuCode ? this.names.sku(stop.skuCode).name : nouns[stop.type]}</small></span>
      <span role="cell"><time datetime=${stop.startAt}>${time(stop.startAt, { zone }).replace(/ \d{4},/, ",")}</time><small class="muted">${stop.endAt ? `to ${time(stop.endAt, { zone, date: false })}` : "goes on"}</small></span>
      <span role="cell" class="numeric stop-length">${stop.endAt ? spell(lengthOf(stop)) : html`<strong>${ticking((t) => spell(lengthOf(stop, t)))}</strong>`}</span>
      <span role="cell"><span dir="auto" class=${stop.parts.every((p) => !p.causeCode) ? "no-cause" : ""} title=${cause}>${cause}</span>
        ${stop.parts.length > 1 ? html`<small class="muted">${count(stop.parts.length, "part")}${uncausedOf(stop) ? html`, ${spell(uncausedOf(stop))} without` : nothing}</small>` : stop.note ? html`<small class="muted" dir="auto" title=${stop.note}>${stop.note}</small>` : nothing}</span>
      <span role="cell"><span>${marks(stop, zone)}</span>${last ? html`<small class="muted" dir="auto">${last.initials ?? last.by}, ${time(last.at, { zone, date: false })}</small>` : nothing}</span></div>`;
  }

  keys(event) {
    // the arrows go from stop to stop
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key],
      from = event.target.closest?.("[data-row]");
    if (!by || !from) return;
    event.preventDefault();
    const to = Number(from.dataset.row) + by,
      box = event.currentTarget;
    if (to < 0 || to >= this.found.length) return;
    scrollTo(box, to, height);
    const focus = () => box.querySelector(`[data-row="${to}"] a`)?.focus({ preventScroll: true });
    if (box.querySelector(`[data-row="${to}"]`)) focus();
    else requestAnimationFrame(focus);
  }

  async manual() {
    const made = await recordManual({
      names: this.names,
      profile: this.ctx.profile,
      stationCode: this.scope.stations.length === 1 ? this.scope.stations[0] : undefined,
      all: this.stops.all,
    });
    if (made?.id) {
      this.stops.heard(made);
      this.go({ issue: made.id });
    }
  }

  save() {
    const zone = (s) => this.names.plantOf(s.stationCode)?.timezone;
    attempt(async () =>
      saveTable(
        "stops",
        [
          { label: "Stop", text: (s) => s.id },
          { label: "Type", text: (s) => nouns[s.type] },
          { label: "Station", text: (s) => s.stationCode },
          { label: "Name", text: (s) => this.names.station(s.stationCode).name },
          { label: "Begin", text: (s) => time(s.startAt, { zone: zone(s), seconds: true }) },
          { label: "End", text: (s) => time(s.endAt, { zone: zone(s), seconds: true }) },
          { label: "Minutes", text: (s) => (lengthOf(s) / 60000).toFixed(3) },
          { label: "Cause", text: (s) => causeText(s, this.names) },
          { label: "Minutes without a cause", text: (s) => (uncausedOf(s) / 60000).toFixed(3) },
          { label: "SKU", text: (s) => s.skuCode },
          { label: "Schedule", text: (s) => s.scheduleId },
          { label: "Note", text: (s) => s.note },
        ],
        this.found,
      ),
    );
  }
}

function marks(stop, zone) {
  const all = [];
  if (stop.acknowledged) all.push(html`<span class="mark ok" title="Acknowledged">✓ seen</span>`);
  if (stop.escalation) all.push(html`<span class="mark bad" title="Escalated">▲ level ${stop.escalation.level}</span>`);
  if (stop.estimate && !stop.endAt)
    all.push(
      html`<span class="mark" title="Expected end">until ${time(stop.estimate.expectedEndAt, { zone, date: false })}</span>`,
    );
  if (stop.excluded) all.push(html`<span class="mark" title="Out of the figures">∅ not counted</span>`);
  if (stop.orphaned) all.push(html`<span class="mark wait">gone</span>`);
  return all;
}
