// The reasons that can be given at stations, as a tree to choose from, those given of late first.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { live } from "../../vendor/lit-html/directives/live.js";
import { get } from "../../shared/api.js";
import { matches } from "../../shared/format.js";
import { live as floor } from "../../shared/live.js";

const stations = new Map();

for (const type of ["account", "reset"]) floor.addEventListener(type, () => stations.clear());

/** stationOf gives a station's configuration as GET /station/CODE does: reasons, flags, taskLists … It is read once. */
export function stationOf(code) {
  if (!stations.has(code)) {
    const coming = get(`/station/${encodeURIComponent(code)}`).then(({ result }) => result);
    coming.catch(() => stations.delete(code));
    stations.set(code, coming);
  }
  return stations.get(code);
}

const forStops = (reason) => !reason.heading && reason.type.includes("downtime");

/** flat lists the reasons below some as {code, name, description, path: names of those above} that can be the cause of a stop. */
export const flat = (reasons, path = []) =>
  reasons.flatMap((r) => [
    ...(forStops(r) ? [{ code: r.code, name: r.name ?? r.code, description: r.description, path }] : []),
    ...flat(r.reasons, [...path, r.name ?? r.code]),
  ]);

/** trees gives the reasons that can be the cause of a stop at all of some stations, as trees in the order of the first one. */
export async function trees(codes) {
  const all = await Promise.all(codes.map(stationOf));
  const elsewhere = all.slice(1).map((s) => new Set(flat(s.reasons).map((r) => r.code)));
  const keep = (reasons) =>
    reasons
      .map((r) => ({
        ...r,
        reasons: keep(r.reasons),
        heading: !forStops(r) || !elsewhere.every((set) => set.has(r.code)),
      }))
      .filter((r) => r.reasons.length || !r.heading);
  return keep(all[0].reasons);
}

/** recent gives the codes that people gave last as causes of stops, of some stations first. */
export function recent(stops, codes, most = 5) {
  const here = new Set(codes),
    given = [];
  for (const own of [true, false]) {
    for (const stop of stops)
      if (here.has(stop.stationCode) === own)
        for (const part of stop.parts)
          if (part.causeFrom === "person" && !given.includes(part.causeCode)) given.push(part.causeCode);
  }
  return given.slice(0, most);
}

/** chooser shows reasons (trees, as trees gives them) to choose one: state {reason, search}, kept by who shows it; changed draws again. */
export function chooser({ reasons, last = [], state, changed }) {
  const all = flat(reasons),
    known = new Map(all.map((r) => [r.code, r]));
  const found = state.search
    ? all.filter((r) => matches(state.search, r.code, r.name, r.description ?? "", ...r.path))
    : null;
  const one = (
    r,
    group,
    more = "",
  ) => html`<label class="reason"><input type="radio" name=${`reason-${group}`} .checked=${live(state.reason === r.code)} @change=${() => {
    state.reason = r.code;
    changed();
  }}>
    <span><span dir="auto">${r.name ?? r.code}${more}</span>${r.description ? html`<small class="muted" dir="auto">${r.description}</small>` : nothing}</span></label>`;
  const branch = (r) =>
    r.reasons.length === 0
      ? one(r, "all")
      : html`<fieldset class="reasons"><legend dir="auto">${r.name ?? r.code}</legend>
    <div class="reason-grid">${forStops(r) ? one(r, "all", ", no more is known") : nothing}${r.reasons.map(branch)}</div></fieldset>`;
  return html`<div class="reason-chooser" role="group" aria-label="Reasons">
    ${
      all.length > 8
        ? html`<input type="search" class="search" aria-label="Search the reasons" placeholder="Search" .value=${state.search ?? ""} @input=${(
            e,
          ) => {
            state.search = e.target.value;
            changed();
          }}>`
        : nothing
    }
    ${
      found
        ? html`<div class="reason-grid">${found.map((r) => one(r, "found"))}</div>${found.length ? nothing : html`<p class="empty">No reason is found.</p>`}`
        : html`
      ${last.some((code) => known.has(code)) ? html`<fieldset class="reasons"><legend>Given of late</legend><div class="reason-grid">${last.filter((code) => known.has(code)).map((code) => one(known.get(code), "last"))}</div></fieldset>` : nothing}
      ${reasons.map(branch)}
      ${all.length ? nothing : html`<p class="empty">No reason is available for this. The configuration says which reasons a station has.</p>`}`
    }
  </div>`;
}
