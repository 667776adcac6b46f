// The dialog of a figure: what it is, its terms, its rule, and what it is summed from.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { openDialog, sentence } from "../dialog.js";
import { directory } from "../directory.js";
import { number, time } from "../format.js";
import { saveTable } from "../plot.js";
import { style } from "../styles.js";
import { evidence } from "./evidence.js";
import { profiles } from "./rules.js";
import { evidenceOf, paretoOf, partOf, rowsOf, scopeOf, single, waysOf } from "./scope.js";
import { addUp, near } from "./terms.js";
import { amount, bare, unitOf } from "./units.js";

const longest = 3600000; // ms of which the signals are shown: of a figure that the minutes do not tell, such as energy
const wayNames = { station: "By station", month: "By month", day: "By day", hour: "By hour", minute: "By minute" };

/** open opens the dialog of a figure, as explain.js has it, and gives a promise that it is closed. */
export async function open(spec) {
  const [names] = await Promise.all([directory(), style(new URL("../explain.css", import.meta.url))]);
  const state = { names, levels: [], loading: true, error: null, turn: 0, cause: spec.row?.causeCode ?? null };
  const closed = openDialog(
    (control) => {
      state.control = control;
      return {
        title: titleOf(state),
        body: bodyOf(state),
        actions: html`<button type="button" class="button" @click=${() => control.close()}>Close</button>`,
      };
    },
    { wide: true },
  );
  begin(state, spec);
  return closed;
}

// begin shows the whole; enter goes into a part of it, and leave back up to a level.
const begin = (state, spec) =>
  during(state, async () => {
    const scope = await scopeOf(spec);
    return [{ ...(await level(scope, "")), shown: shownOf(spec, scope) }];
  });
const enter = (state, scope, label) => during(state, async () => [...state.levels, await level(scope, label)]);
const change = (state, by) =>
  during(state, async () => {
    const { scope, label, shown } = last(state);
    return [...state.levels.slice(0, -1), { ...(await level(scope, label, by)), shown }];
  });
const leave = (state, to) => during(state, () => state.levels.slice(0, to + 1));
const last = (state) => state.levels[state.levels.length - 1];

// shownOf gives the figure as the page had it; undefined where the spec does not tell.
const shownOf = ({ figure, row, value }, { terms }) =>
  value !== undefined
    ? value
    : row && terms.source !== "pareto" && figure.split(".")[0] in row
      ? terms.value(row)
      : undefined;

// during shows the levels that work gives, unless something else was asked for meanwhile.
async function during(state, work) {
  const mine = ++state.turn;
  Object.assign(state, { loading: true, error: null });
  state.control.update();
  try {
    const levels = await work();
    if (mine === state.turn) state.levels = levels;
  } catch (error) {
    if (mine === state.turn) state.error = error;
  }
  if (mine !== state.turn) return;
  state.loading = false;
  state.control.update();
}

// level reads the whole and the parts of a scope at once, and once more where something came in between the two.
async function level(scope, label, by = waysOf(scope)[0] ?? "") {
  for (let again = 0; ; again++) {
    const read = { scope, label, by, whole: null, rows: [], causes: null, minute: null, sum: null };
    if (scope.terms.source === "pareto") return { ...read, causes: await paretoOf(scope) };
    if (scope.from >= scope.to) return read;
    const [[whole], rows, minute] = await Promise.all([
      rowsOf(scope),
      by ? rowsOf(scope, by) : [],
      by || !single(scope) || scope.to - scope.from > longest ? null : evidenceOf(scope),
    ]);
    Object.assign(read, {
      whole: whole ?? null,
      rows,
      minute,
      sum: whole && by ? addUp(scope.terms, scope.profile, whole, rows) : null,
    });
    if (!read.sum || read.sum.adds || again > 0) return read;
  }
}

const zoneOf = (state, scope) =>
  (scope.place.stationcodes
    ? state.names.plantOf([scope.place.stationcodes].flat().join().split(",")[0])
    : state.names.plant(scope.place.plantcode || state.names.plants[0]?.code)
  )?.timezone;

function titleOf(state) {
  const scope = state.levels[0]?.scope;
  if (!scope) return "How a figure comes about";
  return scope.terms.source === "pareto"
    ? html`${scope.terms.label}: <bdi>${causeName(state, state.cause)}</bdi>`
    : scope.terms.label;
}

function placeText(state, { place, keep }) {
  const { names } = state,
    codes = [place.stationcodes ?? []].flat().join().split(",").filter(Boolean);
  const where =
    codes.length === 1
      ? names.station(codes[0]).name
      : codes.length
        ? `${codes.length} stations`
        : place.groupcode
          ? names.group(
              place.plantcode || names.plants.find((p) => p.groups.some((g) => g.code === place.groupcode))?.code,
              place.groupcode,
            ).name
          : place.plantcode
            ? names.plant(place.plantcode).name
            : "All plants";
  return [where, keep.skuCode && names.sku(keep.skuCode).name, keep.shiftName]
    .filter(Boolean)
    .map((text, i) => html`${i ? ", " : ""}<bdi>${text}</bdi>`);
}

const span = (from, to, zone) =>
  new Intl.DateTimeFormat("en-GB", {
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    timeZone: zone,
    hourCycle: "h23",
  }).formatRange(from, to);

function bodyOf(state) {
  const now = last(state);
  return html`<div class="explain" aria-busy=${String(state.loading)}>
    ${state.error ? html`<section class="notice bad" role="alert"><strong>This cannot be shown.</strong> ${sentence(state.error)}</section>` : nothing}
    ${now ? levelOf(state, now) : state.loading ? html`<p class="muted" role="status">Loading …</p>` : nothing}</div>`;
}

function levelOf(state, now) {
  const { scope } = now,
    zone = zoneOf(state, scope);
  return html`
    ${path(state)}
    <p class="muted">${placeText(state, scope)} · ${scope.from < scope.to ? span(scope.from, scope.to, zone) : html`nothing yet: the first minute is not over`}${scope.terms.source === "oee" && scope.terms.unit === "ratio" && scope.figure !== "coverage" ? html` · profile <strong>${profiles[scope.profile]}</strong>` : nothing}</p>
    ${now.causes ? causes(state, now) : now.whole ? [equation(state, now), other(state, now), notes(now.whole, scope)] : html`<p>Nothing is known of this time.</p>`}
    <p class="rule"><strong>Rule.</strong> ${scope.terms.rule.text}</p>
    ${now.by || waysOf(scope).length ? parts(state, now, zone) : nothing}
    ${now.minute ? evidence(now.minute, scope, zone, state.names) : nothing}`;
}

const path = (state) =>
  state.levels.length < 2
    ? nothing
    : html`<nav aria-label="Where this part stands"><ol class="explain-path">${state.levels.map((level, i) => html`<li>${i === state.levels.length - 1 ? html`<span aria-current="true" dir="auto">${level.label}</span>` : html`<button type="button" class="link" @click=${() => leave(state, i)}><bdi>${level.label || "The whole"}</bdi></button>`}</li>`)}</ol></nav>`;

// equation shows the figure with its terms: what is divided by what, and of OEE the product of three.
function equation(state, { scope, whole }) {
  const { terms } = scope,
    currency = state.names.currency;
  const term = (column) =>
    html`<span class="term"><span class="amount">${amount(column.of(whole), column.unit, currency)}</span> <span class="muted">${column.label}</span></span>`;
  const fraction = ([a, b]) =>
    html`<span class="fraction">${term(a)}<span class="divide" role="img" aria-label="divided by"></span>${term(b)}</span>`;
  const value = html`<strong class="value">${amount(terms.value(whole), terms.unit, currency)}</strong>`;
  if (scope.figure === "oee") {
    return html`<div class="equation"><span class="part">${value}<span class="muted">OEE</span></span> = ${["availability", "performance", "quality"].map((name, i) => html`${i ? " × " : ""}<span class="factor"><span class="part"><strong>${amount(whole[name].value, "ratio")}</strong><span class="muted">${name}</span></span> = ${fraction(terms.columns.slice(2 * i, 2 * i + 2))}</span>`)}</div>`;
  }
  if (terms.columns.length === 1) return html`<div class="equation">${value}</div>`;
  return html`<div class="equation">${value} = ${terms.sign === "÷" ? fraction(terms.columns) : html`${term(terms.columns[0])} − ${term(terms.columns[1])}`}</div>`;
}

// other tells that the figure is not the one that was asked about: the page has read it earlier.
function other({ names }, { scope: { terms }, whole, shown }) {
  if (shown === undefined || near(shown, terms.value(whole))) return nothing;
  return html`<p class="notice wait" data-other>The page shows ${amount(shown, terms.unit, names.currency)}: something has come in since it was read. What stands here is of now.</p>`;
}

function notes(whole, scope) {
  const figure = whole[scope.figure === "energyCoverage" ? "coverage" : scope.figure] ?? {};
  const why = {
    rateTooLow: "It is above 100 %: more was made than the rate has as due. The rate is most likely too low.",
    negativeCount: "It is above 100 %: corrections or rejects made a count negative.",
    readingFromBefore: "It is above 100 %: a meter's first reading tells of time before as well.",
  }[figure.cause];
  const unknown =
    scope.terms.value(whole) === null
      ? "It is not known: what it would be divided by is empty, or there is no rate, no price or no reading."
      : "";
  const partial =
    whole.coverage?.value !== null && whole.coverage?.value < 1 && scope.figure !== "coverage"
      ? `${amount(whole.coverage.value, "ratio")} of ${scope.terms.source === "energy" ? "the time" : "the scheduled production"} is known; the rest is in no figure.`
      : "";
  const money =
    scope.figure.endsWith(".money") && whole.losses?.[scope.figure.split(".")[1]]?.moneyPartial
      ? "It is the price of a part: something else that was lost has no price."
      : "";
  return [why, unknown, partial, money].filter(Boolean).map((text) => html`<p class="notice wait">${text}</p>`);
}

const labelOf = (state, row, by, zone) =>
  by === "station"
    ? state.names.station(row.stationCode).name
    : by === "day" || by === "month"
      ? new Intl.DateTimeFormat("en-GB", {
          timeZone: zone,
          month: "short",
          year: "numeric",
          ...(by === "day" && { day: "numeric", weekday: "short" }),
        }).format(Date.parse(row.startAt) + 43200000)
      : time(row.startAt, { zone, date: by === "hour" });

function parts(state, now, zone) {
  const { scope, by, rows } = now,
    { terms } = scope,
    currency = state.names.currency,
    ways = waysOf(scope);
  const several = terms.columns.length > 1; // of one column alone the figure is its sum
  const columns = [
    { label: by === "station" ? "Station" : "From", text: (row) => labelOf(state, row, by, zone) },
    ...[...terms.columns, ...(several ? [{ label: terms.label, unit: terms.unit, of: terms.value }] : [])].map(
      (column) => ({ label: column.label, unit: unitOf(column.unit, currency), numeric: true, text: column.of }),
    ),
  ];
  const figureCell = (text) => (several ? html`<td class="numeric strong">${text}</td>` : nothing);
  const go = (row) => enter(state, partOf(scope, row, by), labelOf(state, row, by, zone));
  return html`<section class="stack" aria-label="What it is summed from">
    <div class="spread"><h3>What it is summed from</h3><span class="row">${ways.length > 1 ? html`<span class="segmented" role="group" aria-label="Taken apart">${ways.map((way) => html`<label><input type="radio" name="explain-by" .checked=${way === by} @change=${() => change(state, way)}><span>${wayNames[way]}</span></label>`)}</span>` : nothing}
      <button type="button" class="button small" @click=${() => saveTable(`${scope.figure}-${by}`, columns, rows)}>CSV</button></span></div>
    ${
      rows.length === 0
        ? html`<p class="muted">Nothing is known of this time.</p>`
        : html`<div class="table-wrap parts" tabindex="0" role="region" aria-label=${`${terms.label} ${wayNames[by].toLowerCase()}`}><table class="table">
      <thead><tr>${columns.map((column) => html`<th scope="col" class=${column.numeric ? "numeric" : ""}>${column.label}${column.unit ? html` <span class="unit">${column.unit}</span>` : nothing}</th>`)}</tr></thead>
      <tbody>${rows.map((row) => html`<tr><th scope="row"><button type="button" class="link" @click=${() => go(row)}><bdi>${labelOf(state, row, by, zone)}</bdi></button></th>${terms.columns.map((column) => html`<td class="numeric">${bare(column.of(row), column.unit)}</td>`)}${figureCell(bare(terms.value(row), terms.unit))}</tr>`)}</tbody>
      ${now.sum ? html`<tfoot><tr><th scope="row">Sum</th>${now.sum.sums.map((sum, i) => html`<td class="numeric">${bare(sum, terms.columns[i].unit)}</td>`)}${figureCell(bare(now.sum.value, terms.unit))}</tr></tfoot>` : nothing}</table></div>
      ${verdict(now, currency)}`
    }</section>`;
}

function verdict({ scope, sum, whole, rows }, currency) {
  if (!sum) return nothing;
  const { terms } = scope,
    shown = amount(terms.value(whole), terms.unit, currency);
  return sum.adds
    ? html`<p class="adds" data-adds="true"><span aria-hidden="true">✓</span> The columns of these ${number(rows.length)} rows add up to ${terms.sign || scope.figure === "oee" ? "the terms" : "the figure"} above: ${shown}.</p>`
    : html`<p class="adds bad" data-adds="false" role="alert">These rows do not add up to ${shown}: something has come in meanwhile. Open the figure again.</p>`;
}

const causeName = (state, code) => (code ? state.names.reason(code).name : "No cause yet");

// causes shows the downtime by cause: the share of one is its part of the sum.
function causes(state, { scope, causes }) {
  const total = causes.reduce((sum, line) => sum + line.downtimeMs, 0),
    mine = causes.find((line) => line.causeCode === state.cause);
  const term = (ms, label) =>
    html`<span class="term"><span class="amount">${amount(ms, "ms")}</span> <span class="muted">${label}</span></span>`;
  return html`${mine ? html`<div class="equation"><strong class="value">${scope.terms.unit === "ratio" ? amount(mine.share, "ratio") : amount(mine.downtimeMs, "ms")}</strong>${scope.terms.unit === "ratio" ? html` = <span class="fraction">${term(mine.downtimeMs, "Downtime of this cause")}<span class="divide" role="img" aria-label="divided by"></span>${term(total, "All downtime")}</span>` : nothing}</div>` : html`<p>There is no downtime of this cause in this time any more.</p>`}
    <div class="table-wrap parts" tabindex="0" role="region" aria-label="Downtime by cause"><table class="table"><thead><tr><th scope="col">Cause</th><th scope="col" class="numeric">Stops</th><th scope="col" class="numeric">Downtime</th><th scope="col" class="numeric">Share</th></tr></thead>
    <tbody>${causes.map((line) => html`<tr class=${line === mine ? "mine" : ""}><th scope="row" dir="auto">${causeName(state, line.causeCode)}</th><td class="numeric">${number(line.count)}</td><td class="numeric">${amount(line.downtimeMs, "ms")}</td><td class="numeric">${amount(line.share, "ratio")}</td></tr>`)}</tbody>
    <tfoot><tr><th scope="row">Sum</th><td class="numeric">${number(causes.reduce((sum, line) => sum + line.count, 0))}</td><td class="numeric">${amount(total, "ms")}</td><td class="numeric">${amount(causes.length ? causes.reduce((sum, line) => sum + line.share, 0) : null, "ratio")}</td></tr></tfoot></table></div>
    <p class="adds" data-adds="true"><span aria-hidden="true">✓</span> A cause's share is its downtime ÷ ${amount(total, "ms")}, the sum of all.</p>
    <p><a href=${`/floor/stops?${new URLSearchParams({ range: `${new Date(scope.from).toISOString()}/${new Date(scope.to).toISOString()}`, ...(scope.place.plantcode && { plant: scope.place.plantcode }), ...(scope.place.groupcode && { group: scope.place.groupcode }), ...(scope.place.stationcodes && { stations: [scope.place.stationcodes].flat().join() }), ...(state.cause ? { cause: state.cause } : { uncaused: "1" }) })}`}>The stops of this cause</a></p>`;
}
