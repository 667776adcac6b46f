// What a page is about: a time and a part of the plant, kept in the page's address, so that a link shows the same.

import { html, nothing } from "../vendor/lit-html/lit-html.js";
import { live } from "../vendor/lit-html/directives/live.js";
import { now } from "./clock.js";
import { namedSpan } from "./days.js";
import { openDialog } from "./dialog.js";
import { text } from "./words.js";
import { fromWall, toWall } from "./zone.js";

/** ranges are the times that have a name (rangecode in the API). Any other one is "FROM/TO" in ISO 8601. */
export const ranges = {
  today: text("shared.range.today"),
  yesterday: text("shared.range.yesterday"),
  week: text("shared.range.week"),
  last7d: text("shared.range.last7d"),
  month: text("shared.range.month"),
};

const names = ["range", "plant", "group", "stations"];

/** readScope reads {range, plant, group, stations: []} from a page's query; range is what is given where there is none. */
export function readScope(query, range = "today") {
  const stations = query.get("stations");
  return {
    range: query.get("range") || range,
    plant: query.get("plant") ?? "",
    group: query.get("group") ?? "",
    stations: stations ? stations.split(",") : [],
  };
}

/** asked gives a scope as the query parameters of the API. */
export const asked = (scope) => ({
  rangecode: scope.range,
  plantcode: scope.plant,
  groupcode: scope.group,
  stationcodes: scope.stations,
});

/** addressOf gives the address of a page with a scope and what else it keeps there; what is empty is left out. */
export function addressOf(scope, more = {}, path = location.pathname) {
  const all = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...scope, ...more })) {
    const text = Array.isArray(value) ? value.join(",") : value;
    if (text) all.set(name, text);
  }
  const text = all.toString();
  return text ? `${path}?${text}` : path;
}

/** boundsOf gives [from, to] in ms of a range that has no name, else null. */
export function boundsOf(range) {
  const [from, to] = range.split("/").map((text) => Date.parse(text));
  return Number.isFinite(from) && Number.isFinite(to) ? [from, to] : null;
}

/** rangeOf writes two moments, ms, as a range. */
export const rangeOf = (from, to) => `${new Date(from).toISOString()}/${new Date(to).toISOString()}`;

/** rangeText tells a range to people, in a time zone. */
export function rangeText(range, zone) {
  const bounds = boundsOf(range);
  if (!bounds) return ranges[range] ?? range;
  return new Intl.DateTimeFormat("en-GB", {
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
    timeZone: zone,
    hourCycle: "h23",
  }).formatRange(...bounds);
}

/**
 * spanText writes the time of a scope, as of a moment, on the clock of its plant. Of several plants with days of their own there
 * is no one time that a name stands for: "" then.
 */
export function spanText(scope, directory, at) {
  const plant = scope.stations.length
    ? directory.plantOf(scope.stations[0])
    : (directory.plants.find((p) => p.code === scope.plant) ?? directory.plants[0]);
  if (!plant) return "";
  const alone =
    scope.plant ||
    directory.plants.length === 1 ||
    (scope.stations.length > 0 && scope.stations.every((code) => directory.plantOf(code) === plant));
  const span = boundsOf(scope.range) ?? (alone ? namedSpan(scope.range, plant, at) : null);
  if (!span) return "";
  const text = new Intl.DateTimeFormat("en-GB", {
    weekday: "short",
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    timeZone: plant.timezone,
    hourCycle: "h23",
  }).formatRange(...span);
  return `${text} (${plant.timezone})`;
}

/**
 * scopeBar shows the controls of a scope. directory has the names; change is called with the new scope. parts says which
 * there are, of range, plant, group and stations. What more stands in the bar is given as a template.
 */
export function scopeBar({ scope, directory, change, parts = names, more = nothing }) {
  const plant =
    directory.plants.find((p) => p.code === scope.plant) ??
    (directory.plants.length === 1 ? directory.plants[0] : null);
  const set = (changed) => change({ ...scope, ...changed });
  const choose = (label, value, options, all, to) => html`<label class="scope-part"><span>${label}</span>
    <select @change=${(e) => to(e.target.value)}><option value="" .selected=${value === ""}>${all}</option>${options.map((o) => html`<option value=${o.code} .selected=${o.code === value}>${o.name}</option>`)}</select></label>`;
  return html`<div class="scope" role="group" aria-label=${text("shared.scope")}>
    ${parts.includes("range") ? rangePart(scope, set, plant?.timezone ?? directory.plants[0]?.timezone ?? "UTC") : nothing}
    ${parts.includes("plant") && directory.plants.length > 1 ? choose(text("shared.scope.plant"), scope.plant, directory.plants, text("shared.scope.plant.all"), (code) => set({ plant: code, group: "", stations: [] })) : nothing}
    ${parts.includes("group") && plant ? choose(text("shared.scope.group"), scope.group, plant.groups, text("shared.scope.group.all"), (code) => set({ group: code, stations: [] })) : nothing}
    ${
      parts.includes("stations")
        ? html`<div class="scope-part"><span>${text("shared.scope.stations")}</span><button type="button" class="button" @click=${() => pick(scope, directory).then((stations) => stations && set({ stations }))}>
      ${scope.stations.length === 0 ? text("shared.scope.stations.all") : scope.stations.length === 1 ? directory.station(scope.stations[0]).name : text("shared.scope.stations.count", { n: scope.stations.length })}</button></div>`
        : nothing
    }
    ${more}</div>`;
}

const rangePart = (
  scope,
  set,
  zone,
) => html`<label class="scope-part"><span>${text("shared.scope.time")}</span><select @change=${async (e) => {
  const select = e.target;
  if (select.value !== "other") return set({ range: select.value });
  const range = await askRange(scope.range, zone);
  select.value = scope.range; // until the page has taken another one
  if (range) set({ range });
}}>${Object.entries(ranges).map(([code, label]) => html`<option value=${code} .selected=${live(code === scope.range)}>${label}</option>`)}
  ${scope.range in ranges ? nothing : html`<option value=${scope.range} .selected=${live(true)}>${rangeText(scope.range, zone)}</option>`}<option value="other">${text("shared.scope.time.other")}</option></select></label>`;

// askRange asks for times on the clock of a zone, that of the plant.
function askRange(range, zone) {
  const [from, to] = boundsOf(range) ?? [now() - 8 * 3600000, now()];
  const state = { from: toWall(from, zone, { seconds: false }), to: toWall(to, zone, { seconds: false }), problem: "" };
  return openDialog(({ close, update }) => ({
    title: text("shared.scope.range"),
    body: html`<div class="fields">${["from", "to"].map(
      (
        name,
      ) => html`<div class="field"><label for=${`range-${name}`}>${name === "from" ? text("shared.scope.range.from") : text("shared.scope.range.to")}</label>
      <input id=${`range-${name}`} type="datetime-local" .value=${state[name]} @input=${(e) => {
        state[name] = e.target.value;
      }}></div>`,
    )}</div>
      <p class="muted">${text("shared.scope.range.zone", { zone })}</p>
      <p class="problem bad" role="alert">${state.problem}</p>`,
    actions: html`<button type="button" class="button" @click=${() => close()}>${text("shared.cancel")}</button><button type="button" class="button primary" @click=${() => {
      const [a, b] = [fromWall(state.from, zone), fromWall(state.to, zone)];
      if (!(a < b)) {
        state.problem = text("shared.scope.range.problem");
        return update();
      }
      close(rangeOf(a, b));
    }}>${text("shared.scope.show")}</button>`,
  }));
}

// pick asks for some of the stations in the scope's part of the plant.
function pick(scope, directory) {
  const chosen = new Set(scope.stations);
  const groups = directory.plants
    .filter((p) => !scope.plant || p.code === scope.plant)
    .flatMap((p) => p.groups.map((g) => ({ ...g, plant: p })))
    .filter((g) => !scope.group || g.code === scope.group);
  const tick = (codes, on, update) => {
    for (const code of codes)
      if (on) chosen.add(code);
      else chosen.delete(code);
    update();
  };
  return openDialog(({ close, update }) => ({
    title: text("shared.scope.stations"),
    body: html`${groups.map(
      (
        g,
      ) => html`<fieldset class="pick"><legend><label class="check"><input type="checkbox" .checked=${g.stations.length > 0 && g.stations.every((s) => chosen.has(s.code))} @change=${(
        e,
      ) =>
        tick(
          g.stations.map((s) => s.code),
          e.target.checked,
          update,
        )}><span dir="auto">${g.name}</span></label></legend>
      ${g.stations.map((s) => html`<label class="check"><input type="checkbox" .checked=${chosen.has(s.code)} @change=${(e) => tick([s.code], e.target.checked, update)}><span dir="auto">${s.name}</span></label>`)}</fieldset>`,
    )}`,
    actions: html`<button type="button" class="button" @click=${() => close([])}>${text("shared.scope.stations.all")}</button><button type="button" class="button primary" @click=${() => close([...chosen])}>${chosen.size === 0 ? text("shared.scope.show.all") : text("shared.scope.show.some", { n: chosen.size })}</button>`,
  }));
}
