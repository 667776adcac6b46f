// What the station's page reads from the service: the timeline at once, and what stands below it when the hands rest.

import { get, query } from "../../shared/api.js";
import { ranges } from "../../shared/scope.js";

const iso = (at) => new Date(at).toISOString();

/** spanOf gives the time of a view as the API is asked for it: a named range by its name. */
export const spanOf = (view) =>
  view.text in ranges ? { rangecode: view.text } : { from: iso(view.from), to: iso(view.to) };

/** timelineOf reads a station's timeline, in at most so many rows. */
export const timelineOf = async (code, view, points, signal) =>
  (await get(`/timeline${query({ stationcode: code, ...spanOf(view), points })}`, { signal })).result;

/**
 * detailsOf reads what stands below the timeline: {oee, energy, issues, issueCount, cycles}. What a role or a flag does not
 * allow is null.
 */
export async function detailsOf(code, span, profile, signal) {
  const ask = (path, more = {}) => get(`${path}${query({ stationcodes: code, ...span, ...more })}`, { signal });
  const unless = (promise) =>
    promise.catch((error) => {
      if (error.status === 403) return null;
      throw error;
    });
  const [oee, energy, issues, cycles] = await Promise.all([
    ask("/oee", { profile }),
    ask("/energy"),
    ask("/issue", { limit: 1000, type: "stop,manual" }),
    unless(ask("/analysis/cycletime")),
  ]);
  return {
    oee: oee.results[0] ?? null,
    energy: energy.results[0] ?? null,
    issues: issues.results,
    issueCount: issues.paging?.totalElements ?? issues.results.length,
    cycles: cycles?.results ?? null,
  };
}

/** messagesOf reads what people left for the next shift: all that is kept of a station, so that none that waits is left out. */
export const messagesOf = async (code) => (await get(`/message${query({ stationcodes: code, limit: 200 })}`)).results;

/** shiftsOf reads the shifts of the last week, in order: [{name, from, to}]; none where the station follows no pattern. */
export async function shiftsOf(code, now) {
  const { results } = await get(
    `/station-window${query({ stationcodes: code, from: iso(now - 7 * 86400000), to: iso(now), resolution: "shift" })}`,
  );
  return results
    .filter((w) => w.shiftMs > 0)
    .map((w) => ({ name: w.shiftName, from: Date.parse(w.windowStartAt), to: Date.parse(w.windowEndAt) }));
}
