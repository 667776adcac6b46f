// What may be done with a schedule, as far as a page can tell; the service has the last word.

import { get } from "../../shared/api.js";
import { now as present } from "../../shared/clock.js";
import { live } from "../../shared/live.js";
import { labelOf } from "../../shared/terms.js";
import { spanText } from "../../shared/zone.js";
import { nameOf } from "./bars.js";

const dragging = "enableDragBetweenStationsOnGantt",
  flexible = "enableScheduleStationFlexibility";
const back = 86400000; // ms that a start may lie back

const coming = new Map(),
  known = new Map();
live.addEventListener("account", () => {
  coming.clear();
  known.clear();
});
live.addEventListener("reset", () => {
  // they may be other by now; what was known does until then
  coming.clear();
  for (const code of known.keys()) stationOf(code).catch(() => {});
});

/** stationOf gives what holds at a station, as GET /station/{code} does; asked once for each. */
export function stationOf(code) {
  if (!coming.has(code)) {
    coming.set(
      code,
      get(`/station/${encodeURIComponent(code)}`).then(
        ({ result }) => {
          known.set(code, result);
          return result;
        },
        (error) => {
          coming.delete(code);
          throw error;
        },
      ),
    );
  }
  return coming.get(code);
}

/** isKnown tells whether stationOf has an answer already. */
export const isKnown = (code) => known.has(code);

/** decided says that a flag is off, and which level decided so. */
export const decided = (flag, name) =>
  `“${labelOf(name)}” (${name}) is off: ${flag.from === "default" ? "no level switches it on" : `the ${flag.from} decides so`}`;

/** cuts gives the sentence why a running schedule may not be ended before its planned end; "" where it may, or where that is not known yet. */
export function cuts(s) {
  const flag = known.get(s.stationCode)?.flags.enableScheduleCutShort;
  return s.state === "running" && s.plannedEnd > present() && flag && flag.value !== "on"
    ? `It cannot be cut short: ${decided(flag, "enableScheduleCutShort")}`
    : "";
}

/** reasonsOf gives the reasons of a station that a non-production schedule can have: [{code, name, above}]. */
export const reasonsOf = (station) =>
  flat(station.reasons ?? []).filter((r) => !r.heading && (r.type ?? []).includes("non_production"));
const flat = (list, above = "") => list.flatMap((r) => [{ ...r, above }, ...flat(r.reasons ?? [], r.name ?? r.code)]);

/** runs gives the sentence why a station cannot take what a schedule is for; "" where it can, or where that is not known yet. */
export function runs(s, code, names) {
  const station = known.get(code);
  if (!station) return "";
  const can =
    s.kind === "production"
      ? station.skus.some((sku) => sku.code === s.skuCode)
      : reasonsOf(station).some((r) => r.code === s.reasonCode);
  return can
    ? ""
    : `${names.station(code).name} ${s.kind === "production" ? `may not run ${nameOf(s, names)}` : `has no reason ${nameOf(s, names)} for non-production`}`;
}

/** changes gives the sentence why a schedule may not go from its station to another; "" where it may, or where that is not known yet. */
export function changes(s, code, names) {
  const from = known.get(s.stationCode),
    to = known.get(code);
  if (code === s.stationCode || !from || !to || to.flags[dragging]?.value === "on") return "";
  const drag = decided(to.flags[dragging], dragging);
  if (from.plant.code !== to.plant.code || from.group.code !== to.group.code)
    return `It may not go to another station: ${drag}`;
  const stiff = [to, from].find((station) => station.flags[flexible]?.value !== "on");
  return stiff
    ? `It may not go to another station: ${drag}; and ${decided(stiff.flags[flexible], flexible)} at ${names.station(stiff.code).name}`
    : "";
}

/** problemOf gives why a schedule may not lie at a place, {code, from, to}; "" where nothing speaks against it. */
export function problemOf(s, place, { plan, names, now }) {
  const zone = names.plantOf(place.code).timezone;
  if (s.state === "planned" && place.from !== s.plannedStart) {
    if (place.from < now - back) return "A start may lie at most 24 hours back";
    if (s.autoStart && place.from < now) return "It starts by itself, so its start must be still to come";
  }
  if (s.state === "running" && place.to <= now)
    return "The end of what runs must be still to come; use End to end it now";
  const station = changes(s, place.code, names) || runs(s, place.code, names);
  if (station) return station;
  const clash = plan.clashes(
    { id: s.id, kind: s.kind, from: place.from, to: place.known === false ? place.from + 1 : place.to },
    place.code,
  )[0];
  if (!clash) return "";
  return `${nameOf(clash, names)}${clash.workOrderReference ? ` (${clash.workOrderReference})` : ""} is ${clash.state} there: ${spanText(clash.actualStart ?? clash.plannedStart, clash.expectedEnd ?? clash.plannedEnd, zone)}`;
}
