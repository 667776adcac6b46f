// What a figure is of: a place, a time, and where it says so a SKU or a shift; and how it is asked for, whole and in parts.

import { get, query as queryOf } from "../api.js";
import { termsOf } from "./terms.js";

const hour = 3600000,
  day = 24 * hour;
const ms = (text) => Date.parse(text);
const iso = (at) => new Date(at).toISOString();
const kinds = { sku: "skuCode", shift: "shiftName" };

/**
 * scopeOf reads a spec: {figure, profile, terms, place (of a query), from, to (ms), keep: {skuCode, shiftName}, rangecode}.
 * The time of a row is cut to what was asked for: its bucket is whole. A rangecode is kept where it is another time for each of
 * several plants, whose days differ: it is asked for by it then, and from the first begin to the last end is no such time.
 */
export async function scopeOf({ figure, profile = "default", query = {}, row = {} }) {
  const terms = termsOf(figure, profile);
  const { from, to, rangecode, ...given } = query;
  const place = placeOf(given, row);
  const scope = { figure, profile: terms.profile ?? profile, terms, place, keep: {}, rangecode: "" };
  if (terms.source === "oee")
    for (const name of Object.values(kinds))
      if (row[name] !== undefined && row[name] !== null) scope.keep[name] = row[name];
  const {
    results: [whole],
  } = await get(`/oee${queryOf({ ...place, from, to, rangecode })}`); // its time is the one that was asked for
  const asked = [ms(whole.startAt), ms(whole.endAt)],
    of = row.startAt && row.endAt ? [ms(row.startAt), ms(row.endAt)] : asked;
  const bucket = of[0] !== asked[0] || of[1] !== asked[1];
  const [first, last] = scope.keep.shiftName && bucket ? await shiftsOf(scope, ...of) : of;
  const unlike = rangecode && !bucket && !single(scope) && (await daysDiffer({ ...place, rangecode }, whole));
  return Object.assign(scope, {
    from: Math.max(asked[0], first),
    to: Math.min(asked[1], last),
    rangecode: unlike ? rangecode : "",
  });
}

// daysDiffer tells whether a named range is not the same time for all plants.
async function daysDiffer(query, whole) {
  const { results } = await get(`/oee${queryOf({ ...query, by: "plant" })}`);
  return results.some((row) => row.startAt !== whole.startAt || row.endAt !== whole.endAt);
}

// shiftsOf gives the time of the shifts of a name that start within a day, a week or a month: the last may go on beyond it.
async function shiftsOf({ place, keep }, start, end) {
  const { results } = await get(
    `/station-window${queryOf({ ...place, from: iso(start), to: iso(end + day), resolution: "shift" })}`,
  );
  const shifts = results.filter(
    (w) => w.shiftName === keep.shiftName && ms(w.windowStartAt) >= start && ms(w.windowStartAt) < end,
  );
  return shifts.length
    ? [Math.min(...shifts.map((w) => ms(w.windowStartAt))), Math.max(...shifts.map((w) => ms(w.windowEndAt)))]
    : [start, end];
}

const placeOf = (query, row) => {
  if (row.stationCode) return { stationcodes: row.stationCode, archived: query.archived };
  return {
    ...query,
    ...(row.plantCode && { plantcode: row.plantCode }),
    ...(row.groupCode && { groupcode: row.groupCode }),
  };
};

/** single tells whether a scope is of one station. */
export const single = (scope) =>
  Boolean(scope.place.stationcodes) && [scope.place.stationcodes].flat().join().split(",").length === 1;

/** stationOf gives the code of a scope's one station. */
export const stationOf = (scope) => [scope.place.stationcodes].flat().join();

/**
 * waysOf gives by what a figure can be taken apart, the best first: "station" where there are several, and a time. Energy may
 * be that of meters which stand for many stations, so it is taken apart by time alone. The minutes are those of one station.
 */
export function waysOf(scope) {
  const length = scope.to - scope.from,
    kept = Object.keys(scope.keep).length,
    source = scope.terms.source;
  if (source === "pareto") return [];
  const ways = [];
  if (scope.rangecode) return kept < 2 && source === "oee" ? ["station"] : [];
  if (!single(scope) && source === "oee" && kept < 2) ways.push("station");
  const unit = length > 62 * day ? "month" : length > 2 * day ? "day" : length > hour ? "hour" : "minute";
  if (kept < 2 && length > 60000 && (unit !== "minute" || (single(scope) && source === "oee"))) ways.push(unit);
  return ways;
}

/** rowsOf asks for the rows that a scope consists of, by the ways that are given; without one, for the whole. */
export async function rowsOf(scope, by = "") {
  const kept = Object.keys(kinds).filter((kind) => scope.keep[kinds[kind]] !== undefined);
  const path = scope.terms.source === "energy" ? "/energy" : "/oee";
  const { results } = await get(
    path +
      queryOf({
        ...scope.place,
        ...spanOf(scope),
        by: [by, ...kept].filter(Boolean),
        profile: path === "/oee" ? scope.profile : "",
      }),
  );
  return results.filter((row) => kept.every((kind) => row[kinds[kind]] === scope.keep[kinds[kind]]));
}

const spanOf = ({ rangecode, from, to }) => (rangecode ? { rangecode } : { from: iso(from), to: iso(to) });

/** partOf gives the scope of one of the rows of a scope. */
export function partOf(scope, row, by) {
  if (by === "station")
    return {
      ...scope,
      place: placeOf(scope.place, row),
      ...(scope.rangecode && { rangecode: "", from: ms(row.startAt), to: ms(row.endAt) }),
    };
  return { ...scope, from: Math.max(scope.from, ms(row.startAt)), to: Math.min(scope.to, ms(row.endAt)) };
}

/** paretoOf asks for the downtime of a scope by its causes. */
export const paretoOf = async (scope) => (await get(`/pareto${queryOf({ ...scope.place, ...spanOf(scope) })}`)).results;

/** evidenceOf asks for what a minute of a station was made of: the stretches of its classes, and the signals in it and just before. */
export async function evidenceOf(scope, before = 5 * 60000) {
  const stationcode = stationOf(scope);
  const [timeline, signals] = await Promise.all([
    get(`/timeline${queryOf({ stationcode, from: iso(scope.from), to: iso(scope.to) })}`),
    get(`/signal${queryOf({ stationcode, from: iso(scope.from - before), to: iso(scope.to) })}`),
  ]);
  return {
    runs: timeline.result.runs ?? [],
    signals: signals.results,
    total: signals.paging?.totalElements ?? signals.results.length,
  };
}
