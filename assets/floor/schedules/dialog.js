// The dialogs of a schedule: what it is, and the form in which it is planned or changed. While it is filled in, the service is
// asked what would become of it.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { get, post } from "../../shared/api.js";
import { now as present } from "../../shared/clock.js";
import { openDialog, sentence, toast } from "../../shared/dialog.js";
import { draftOf, dropDraft, forms, keepDraft } from "../../shared/draft.js";
import { number, time, units } from "../../shared/format.js";
import { live } from "../../shared/live.js";
import { schemas } from "../../shared/schema.js";
import { say } from "../../shared/words.js";
import { spanText } from "../../shared/zone.js";
import { amountsOf, lookOf, looks, nameOf } from "./bars.js";
import { formOf, rates } from "./form.js";
import { cuts, reasonsOf, stationOf } from "./rules.js";
import { fields, saidOf } from "./writes.js";

const rest = 300; // ms without a key until the service is asked
const step = 5 * 60000; // ms

const moves = {
  create: "Planned",
  change: "Changed",
  start: "Started",
  autoStart: "Started by itself",
  end: "Ended",
  cutShort: "Cut short",
  autoEnd: "Ended by itself",
  quantityReached: "Ended with its quantity",
  replaced: "Ended by another's start",
  stationLeft: "Ended: the station left",
  delete: "Deleted",
  correction: "Taken up again",
  move: "Moved",
  notStarted: "Could not start",
  maximumReached: "Most units reached",
};

/** typeOf names which of quantity and end a schedule has. */
const typeOf = (said) =>
  said.plannedQuantity ? (said.plannedEndAt ? "both" : "quantity") : said.plannedEndAt ? "end" : "continuous";

/** planDialog plans a schedule; stationCode and at (ms) may be null. It gives the schedule, or undefined. */
export async function planDialog(page, { stationCode, at }) {
  const { zone } = page,
    station = stationCode ?? page.chart.rows.find((row) => row.code)?.code ?? "";
  const begin = at ?? Math.ceil(present() / (6 * step)) * 6 * step;
  const said = {
    stationCode: station,
    kind: "production",
    plannedStartAt: new Date(begin).toISOString(),
    autoStart: false,
  };
  const made = await formDialog(page, { title: "Plan a schedule", said, s: null, type: "quantity", zone });
  if (made) page.chart.reveal(made)?.focus({ preventScroll: true });
  return made;
}

/** goOn opens the form again with what was entered when the page went away, unless it stands there still. */
export async function goOn(page) {
  const draft = draftOf(forms.schedule, page.ctx.profile);
  const s = draft?.id ? page.plan.take((await get(`/schedule/${encodeURIComponent(draft.id)}`)).result) : null;
  if (document.querySelector("dialog[open]")) return;
  dropDraft(forms.schedule, page.ctx.profile);
  if (!draft || (s && s.state !== "planned" && s.state !== "running")) return;
  await formDialog(page, {
    title: s ? `Change ${nameOf(s, page.names)}` : "Plan a schedule",
    said: draft.said,
    s,
    type: draft.type,
    rate: draft.rate,
    zone: page.zone,
    entered: true,
  });
}

/** scheduleDialog shows a schedule and, to who may, what can be done with it. */
export async function scheduleDialog(page, s) {
  let asked = false;
  const answer = await openDialog((control) => {
    if (!asked)
      stationOf(s.stationCode).then(
        () => control.element.open && control.update(),
        () => {},
      );
    asked = true;
    const now = page.plan.schedules.get(s.id) ?? s,
      write = page.ctx.can("supervisor"),
      whole = cuts(now);
    const act = (work) => async () => {
      if (await work(now)) control.close();
      else control.update();
    };
    return {
      title: nameOf(now, page.names),
      body: html`${facts(page, now)}${write && whole ? html`<p class="notice">${whole}.</p>` : nothing}`,
      actions: html`${write && now.state === "planned" ? html`<button type="button" class="button danger" @click=${act(page.do.remove)}>Delete …</button>` : nothing}
        ${write && now.state === "planned" ? html`<button type="button" class="button" @click=${act(page.do.start)}>Start now</button>` : nothing}
        ${write && now.state === "running" ? html`<button type="button" class="button" ?disabled=${Boolean(whole)} @click=${act(page.do.end)}>${now.plannedEnd > present() ? "Cut short …" : "End …"}</button>` : nothing}
        ${write && now.state !== "completed" ? html`<button type="button" class="button primary" @click=${() => control.close("edit")}>Change …</button>` : nothing}
        <button type="button" class="button" @click=${() => control.close()}>Close</button>`,
    };
  });
  const now = page.plan.schedules.get(s.id);
  if (answer !== "edit" || !now) return;
  await formDialog(page, {
    title: `Change ${nameOf(now, page.names)}`,
    said: saidOf(now),
    s: now,
    type: typeOf(now),
    zone: page.names.plantOf(now.stationCode).timezone,
  });
}

function facts(page, s) {
  const { names } = page,
    zone = names.plantOf(s.stationCode).timezone,
    look = looks[lookOf(s, present(), page.plan.of(s.stationCode))];
  const station = live.stations.get(s.stationCode),
    counts = amountsOf(s, station),
    at = (text) => (text ? time(text, { zone }) : "");
  const line = (label, value) => (value ? html`<dt>${label}</dt><dd dir="auto">${value}</dd>` : nothing);
  return html`<dl class="facts" data-station=${s.stationCode} data-sequence=${station?.sequence ?? ""}>
    ${line("State", `${look.sign} ${look.word}`)}${line("Station", names.station(s.stationCode).name)}${line(s.kind === "production" ? "SKU" : "Reason", `${nameOf(s, names)} (${s.skuCode ?? s.reasonCode})`)}
    ${line("Work order", s.workOrderReference)}${line("Planned", spanText(s.plannedStart, s.plannedEnd, zone))}
    ${s.actualStart ? line("Ran", s.actualEnd ? spanText(s.actualStart, s.actualEnd, zone) : `since ${at(s.actualStartAt)}`) : nothing}
    ${s.state !== "completed" ? line("Expected end", at(s.expectedEndAt) || "not known: neither end nor quantity is given") : nothing}
    ${
      s.kind === "production"
        ? html`${line("Quantity", counts.quantity === null ? "" : html`<span data-value="planned">${units(counts.quantity)}</span> units${s.plannedQuantity ? "" : ", as end and rate imply"}`)}
      ${line("Good", counts.good === null ? "" : html`<span data-value="good">${units(counts.good)}</span>${s.badCount ? html`; bad ${units(s.badCount)}` : nothing}`)}
      ${line("Rate", s.rate.unitsPerMinute ? `${number(Math.round(s.rate.unitsPerMinute * 1000) / 1000)} per minute, from ${s.rate.from === "implied" ? "quantity and end" : `the ${s.rate.from === "sku" ? "SKU" : s.rate.from}`}` : "")}`
        : nothing
    }
    ${line("By itself", [s.autoStart && "starts at its planned start", s.autoEnd && "ends at its end", s.autoEndOnQuantityComplete && "ends with its quantity", s.extendShift && "its time is shift time"].filter(Boolean).join("; "))}
    ${line("Note", s.note)}</dl>
    <details><summary>What happened</summary><ul class="plain-list">${s.events.map((e) => html`<li><b>${moves[e.move] ?? e.move}</b> ${time(e.at, { zone })}, <bdi>${e.initials ?? e.by}</bdi>${e.note ? html` <span class="muted" dir="auto">${e.note}</span>` : nothing}</li>`)}</ul></details>`;
}

// formDialog asks what a schedule is to be, and writes it.
async function formDialog(
  page,
  { title, said, s, type, zone, rate = rates.find((name) => said[name]) ?? "", entered = false },
) {
  const all = await schemas();
  const state = {
    said: { ...said },
    type,
    zone,
    rate,
    problems: new Map(),
    refused: "",
    view: null,
    busy: false,
    station: null,
    turn: 0,
  };
  const first = JSON.stringify(bodyOf(state, s)),
    { profile } = page.ctx;
  let done = null;
  await openDialog(
    (control) => {
      state.update = control.update;
      state.change = (more) => {
        Object.assign(state.said, more);
        keepDraft(forms.schedule, profile, { id: s?.id, said: state.said, type: state.type, rate: state.rate });
        examine(page, state, s);
      };
      if (state.at !== state.said.stationCode) turnTo(page, state, s);
      return {
        title,
        body: html`${formOf({ page, state, all, s })}${outcome(state)}`,
        actions: html`<button type="button" class="button" @click=${() => control.close()}>Cancel</button>
        <button type="button" class="button primary" ?disabled=${state.busy} @click=${async () => {
          done = await save(page, state, s);
          if (done) control.close(true);
        }}>${s ? "Save" : "Plan"}</button>`,
      };
    },
    { wide: true, entered: () => entered || JSON.stringify(bodyOf(state, s)) !== first },
  );
  clearTimeout(state.timer);
  dropDraft(forms.schedule, profile);
  return done;
}

// turnTo asks what the station can run.
async function turnTo(page, state, s) {
  const code = (state.at = state.said.stationCode);
  state.zone = page.names.plantOf(code).timezone;
  state.station = null;
  try {
    const station = code ? await stationOf(code) : null;
    if (state.at !== code) return;
    state.station = station && { skus: station.skus, reasons: reasonsOf(station), flags: station.flags };
  } catch (error) {
    state.refused = sentence(error);
  }
  examine(page, state, s);
}

/** bodyOf gives what a form says, as POST /schedule takes it: all that is set, or what differs from s. */
export function bodyOf(state, s) {
  const said = { ...state.said },
    drop = (...names) => {
      for (const name of names) said[name] = null;
    };
  if (state.type === "quantity" || state.type === "continuous") drop("plannedEndAt");
  if (state.type === "end" || state.type === "continuous") drop("plannedQuantity");
  if (said.kind === "nonProduction")
    drop(
      "skuCode",
      "plannedQuantity",
      "cycleTime",
      "unitsPerMinute",
      "unitsPerHour",
      "lineSpeedTarget",
      "partsPerCycle",
      "autoEndOnQuantityComplete",
    );
  else drop("reasonCode");
  if (!said.plannedQuantity) drop("autoEndOnQuantityComplete");
  if (!said.plannedEndAt && !said.plannedQuantity) said.autoEnd = false;
  for (const name of rates) if (name !== state.rate) drop(name);
  const may = s?.state === "running" ? ["plannedQuantity", "plannedEndAt", "note"] : fields;
  const same = (name) =>
    name === "autoEndOnQuantityComplete"
      ? (said[name] ?? null) === (s?.[name] ?? null)
      : (said[name] || null) === (s?.[name] || null) ||
        (said[name] && s?.[name] && /At$/.test(name) && Date.parse(said[name]) === Date.parse(s[name]));
  return Object.fromEntries(
    may
      .filter((name) => (s ? !same(name) : said[name] !== null && said[name] !== undefined && said[name] !== ""))
      .map((name) => [name, said[name] === undefined ? null : said[name]]),
  );
}

// A form that is not filled in is not held against it.
const lacks = ({ said }) =>
  !said.stationCode || !said.plannedStartAt || !(said.kind === "nonProduction" ? said.reasonCode : said.skuCode);

function examine(page, state, s) {
  const turn = ++state.turn;
  clearTimeout(state.timer);
  Object.assign(state, { view: null, refused: "", problems: new Map() });
  state.update();
  const body = bodyOf(state, s);
  if (lacks(state) || (s && Object.keys(body).length === 0)) return;
  state.timer = setTimeout(async () => {
    try {
      const { result } = await post("/schedule?dryrun=true", s ? { id: s.id, ...body } : body);
      if (turn === state.turn) state.view = result;
    } catch (error) {
      if (turn === state.turn) told(state, error);
    }
    if (turn === state.turn) state.update();
  }, rest);
}

function told(state, error) {
  state.problems = new Map((error.details ?? []).map(({ field, issue }) => [field, say(issue)]));
  state.refused = state.problems.size ? "" : sentence(error);
}

function outcome({ view, refused, zone, problems }) {
  const text = !view
    ? ""
    : `It would run ${spanText(Date.parse(view.plannedStartAt), view.expectedEndAt ? Date.parse(view.expectedEndAt) : null, zone)}${view.expectedQuantity ? `, ${number(Math.round(view.expectedQuantity))} units` : ""}${view.rate.unitsPerMinute ? ` at ${number(Math.round(view.rate.unitsPerMinute * 1000) / 1000)} per minute` : ""}.`;
  return html`<div aria-live="polite">${refused ? html`<p class="notice bad"><strong>That is not possible.</strong> ${refused}</p>` : problems.size ? html`<p class="notice bad">Look at the fields that are marked.</p>` : text ? html`<p class="notice ok">${text}</p>` : nothing}</div>`;
}

async function save(page, state, s) {
  if (lacks(state)) {
    state.problems = new Map([[state.said.kind === "nonProduction" ? "reasonCode" : "skuCode", "Choose one."]]);
    state.update();
    return null;
  }
  const body = bodyOf(state, s);
  if (s && Object.keys(body).length === 0) return s;
  Object.assign(state, { busy: true });
  state.update();
  try {
    const made = await page.writes.save(s, body);
    toast(s ? "Changed." : "Planned.");
    return made;
  } catch (error) {
    told(state, error);
    return null;
  } finally {
    state.busy = false;
    state.update();
  }
}
