// The first set-up of an empty appliance (decisions.md section 6): the one-time code, the account with its first
// administrator, a plant to start with. Nothing is made before the last step; each step before it asks the service whether
// what stands there can be taken. What was typed is kept for a reload, but for the code.
import { html, render, nothing } from "../vendor/lit-html/lit-html.js";
import { live } from "../vendor/lit-html/directives/live.js";
import { request } from "../shared/api.js";
import { snippet } from "../shared/dom.js";
import { say, text, wait } from "../shared/words.js";
import { clock, currencies, currencyName, hereCurrency, hereTimezone, hereWeekStart, timezones } from "./locale.js";
import { accountId, manifest, place, resize, stationNames } from "./plant.js";

const root = document.getElementById("welcome");
const kept = "welcome"; // in the tab's storage
const weekDays = [
  text("welcome.day.monday"),
  text("welcome.day.tuesday"),
  text("welcome.day.wednesday"),
  text("welcome.day.thursday"),
  text("welcome.day.friday"),
  text("welcome.day.saturday"),
  text("welcome.day.sunday"),
];
const publicDomains =
  /^(gmail|googlemail|outlook|hotmail|live|yahoo|icloud|gmx|web|proton|protonmail|aol|mail|qq|163|126|yandex)\.[a-z.]+$/;
const most = { groups: 50, stations: 500 };

const fresh = () => ({
  step: 0,
  reached: 0,
  email: "",
  domain: "",
  id: "",
  ownDomain: false,
  ownId: false,
  plant: "",
  timezone: hereTimezone(),
  dayStart: 6,
  weekStart: hereWeekStart(),
  currency: hereCurrency(),
  groups: [{ name: text("welcome.group.new", { n: 1 }), stations: resize([], 3).join("\n") }],
});

let form = fresh();
let code = "";
const page = { busy: false, problems: {}, notice: null, until: 0 };

const steps = [
  { name: text("welcome.code.step"), title: text("welcome.code.title"), fields: ["code"], view: codeStep },
  {
    name: text("welcome.account.step"),
    title: text("welcome.account.title"),
    fields: ["email", "domain", "id"],
    view: accountStep,
  },
  {
    name: text("welcome.plant.step"),
    title: text("welcome.plant.title"),
    fields: ["plant", "timezone", "dayStart", "weekStart", "currency"],
    view: plantStep,
  },
  { name: text("welcome.stations.step"), title: text("welcome.stations.title"), fields: [], view: stationStep },
  { name: text("welcome.review.step"), title: text("welcome.review.title"), fields: [], view: reviewStep },
];
const last = steps.length - 1;
const bold = (words) => html`<b>${words}</b>`;

const stepOf = (field) => {
  if (/^(group|stations)-/.test(field)) return 3;
  const at = steps.findIndex((step) => step.fields.includes(field));
  return at < 0 ? last : at;
};

// ---- what is kept

function save() {
  try {
    sessionStorage.setItem(kept, JSON.stringify(form));
  } catch {
    /* a browser that keeps nothing */
  }
}

function load() {
  try {
    const found = JSON.parse(sessionStorage.getItem(kept) ?? "null");
    if (found && Array.isArray(found.groups) && found.groups.length > 0) form = { ...fresh(), ...found };
  } catch {
    /* another version's */
  }
  form.step = 0; // the code is asked for again: it is not kept
}

// ---- what the service says

// body is what is sent. Before a step is reached, what stands in it is not what the person means: something that can be taken
// stands for it.
function body(step) {
  const whole =
    step >= last
      ? form
      : {
          ...form,
          ...(step < 1 && { email: "x@plant.example", domain: "plant.example", id: "plant" }),
          ...(step < 2 && { plant: "x", timezone: "UTC", currency: "", dayStart: 0, weekStart: 0 }),
          ...(step < 3 && { groups: [{ name: "x", stations: "x" }] }),
        };
  return {
    code: code.trim(),
    email: whole.email.trim(),
    domain: whole.domain.trim().toLowerCase(),
    id: whole.id,
    manifest: manifest(whole),
    signIn: true,
  };
}

// missing finds what is not there at all.
function missing(step) {
  const problems = {};
  const need = (at, field, value, problem) => {
    if (step >= at && !String(value).trim()) problems[field] = problem;
  };
  need(0, "code", code, text("welcome.code.missing"));
  need(1, "email", form.email, text("welcome.email.missing"));
  need(1, "domain", form.domain, text("welcome.domain.missing"));
  need(1, "id", form.id, text("welcome.id.missing"));
  need(2, "plant", form.plant, text("welcome.plant.missing"));
  need(2, "timezone", form.timezone, text("welcome.timezone.missing"));
  form.groups.forEach((group, i) => {
    need(3, `group-${i}`, group.name, text("welcome.group.missing"));
    need(3, `stations-${i}`, group.stations, text("welcome.stations.missing"));
  });
  return problems;
}

async function send(step, dry) {
  page.problems = missing(step);
  page.notice = null;
  if (Object.keys(page.problems).length > 0) return (show(), false);
  page.busy = true;
  draw();
  try {
    await request("POST", dry ? "/setup?dryrun=true" : "/setup", { body: body(step), signIn: false });
    return true;
  } catch (error) {
    await refused(error);
    return false;
  } finally {
    page.busy = false;
    draw();
  }
}

async function refused(error) {
  switch (error.status) {
    case 400:
      for (const [field, issue] of error.details.map(place)) {
        if (field) page.problems[field] ??= say(issue);
        else page.notice ??= { kind: "bad", title: text("welcome.invalid"), text: say(issue) };
      }
      if (error.details.length === 0)
        page.notice = { kind: "bad", title: text("welcome.invalid"), text: say(error.message) };
      break;
    case 403:
      page.problems.code = say(error.message);
      break;
    case 409:
      return taken(error);
    case 429:
      page.until = Date.now() + (error.retryAfter || 60) * 1000;
      page.notice = {
        kind: "wait",
        title: text("welcome.tries.title"),
        text: text("welcome.tries.text"),
      };
      break;
    case 0:
      page.notice = {
        kind: "bad",
        title: text("welcome.away.title"),
        text: text("welcome.away.text"),
      };
      break;
    case 503:
      page.notice = {
        kind: "wait",
        title: text("welcome.unready.title"),
        text: text("welcome.unready.text", { reason: say(error.message) }),
      };
      break;
    default:
      page.notice = {
        kind: "bad",
        title: text("welcome.failed.title"),
        text: text("welcome.failed.text", { reason: say(error.message) }),
      };
  }
  show();
}

// taken: the appliance is set up. When the answer to our own request was lost on its way, this browser is signed in.
async function taken(error) {
  try {
    await request("GET", "/auth/profile", { signIn: false });
    finish();
  } catch {
    page.notice = {
      kind: "bad",
      title: text("welcome.done.title"),
      text: html`${say(error.message)} <a href="/signin">${text("welcome.done.signin")}</a>`,
    };
  }
}

// show leads to the first field that has a problem.
function show() {
  const at = Object.keys(page.problems).map(stepOf);
  if (at.length > 0) form.step = Math.min(form.step, ...at);
  draw();
  root.querySelector('[aria-invalid="true"]')?.focus();
}

async function onward(event) {
  event.preventDefault();
  if (page.busy || Date.now() < page.until) return;
  // After a reload the code is typed again; then it goes on where it was.
  const to = form.step === 0 ? Math.max(1, form.reached) : form.step + 1;
  if (form.step === last) {
    if (await send(last, false)) finish();
  } else if (await send(form.step, true)) {
    form.reached = Math.max(form.reached, to);
    turn(to);
  }
}

function finish() {
  try {
    sessionStorage.removeItem(kept);
  } catch {
    /* nothing was kept */
  }
  location.replace("/console");
}

function turn(to) {
  form.step = to;
  page.problems = {};
  page.notice = null;
  save();
  draw();
  scrollTo(0, 0);
  (root.querySelector("form input, form textarea") ?? root.querySelector(".title")).focus();
}

// ---- fields

const set = (name) => (event) => {
  form[name] = event.target.value;
  delete page.problems[name];
  save();
  draw();
};

function setEmail(event) {
  form.email = event.target.value;
  if (!form.ownDomain) {
    form.domain = form.email.split("@")[1]?.trim().toLowerCase() ?? "";
    if (!form.ownId) form.id = accountId(form.domain);
  }
  for (const name of ["email", "domain", "id"]) delete page.problems[name];
  save();
  draw();
}

function setDomain(event) {
  form.ownDomain = true;
  form.domain = event.target.value;
  if (!form.ownId) form.id = accountId(form.domain);
  delete page.problems.domain;
  save();
  draw();
}

function setId(event) {
  form.ownId = true;
  set("id")(event);
}

function setGroup(i, change) {
  form.groups[i] = { ...form.groups[i], ...change };
  delete page.problems[`group-${i}`];
  delete page.problems[`stations-${i}`];
  save();
  draw();
}

function setCount(i, event) {
  const count = Math.min(Math.max(Math.trunc(Number(event.target.value)) || 1, 1), most.stations);
  setGroup(i, { stations: resize(stationNames(form.groups[i].stations), count, before(i)).join("\n") });
}

// before counts the stations of the groups before one: proposed names are numbered through.
const before = (i) => form.groups.slice(0, i).reduce((sum, group) => sum + stationNames(group.stations).length, 0);

function addGroup() {
  form.groups.push({
    name: text("welcome.group.new", { n: form.groups.length + 1 }),
    stations: resize([], 3, before(form.groups.length)).join("\n"),
  });
  save();
  draw();
  root.querySelector(`#group-${form.groups.length - 1}`).select();
}

function removeGroup(i) {
  form.groups.splice(i, 1);
  page.problems = {};
  save();
  draw();
  root.querySelector(`#group-${Math.min(i, form.groups.length - 1)}`).focus();
}

// field draws a label, a control and what is wrong with it.
function field(name, label, control, hint = nothing) {
  const problem = page.problems[name];
  const described =
    [hint !== nothing && `${name}-hint`, problem && `${name}-problem`].filter(Boolean).join(" ") || nothing;
  return html`<div class="field">
    <label for=${name}>${label}</label>
    ${control({ invalid: problem ? "true" : "false", described })}
    ${problem ? html`<p class="problem" id="${name}-problem">${problem}</p>` : nothing}
    ${hint !== nothing ? html`<p class="hint" id="${name}-hint">${hint}</p>` : nothing}
  </div>`;
}

const textbox =
  (name, { value, input, type = "text", complete = "off", list = nothing } = {}) =>
  ({ invalid, described }) => html`<input
  id=${name} name=${name} type=${type} autocomplete=${complete} autocapitalize="none" spellcheck="false" dir="auto" list=${list}
  .value=${live(value ?? form[name])} aria-invalid=${invalid} aria-describedby=${described} @input=${input ?? set(name)}>`;

const choice =
  (name, options) =>
  ({
    invalid,
    described,
  }) => html`<select id=${name} name=${name} aria-invalid=${invalid} aria-describedby=${described} @change=${set(name)}>
  ${options.map((label, value) => html`<option value=${value} ?selected=${Number(form[name]) === value}>${label}</option>`)}
</select>`;

// ---- steps

const command = snippet("app status", { wrap: true, label: text("welcome.code.copy") });

function codeStep() {
  const ways = html`
    <p>${text("welcome.code.window", { b: bold })}</p>
    <div>${text("welcome.code.background", { b: bold })} ${command}</div>
    <p class="hint">${text("welcome.code.new")}</p>`;
  return html`
    <p class="lead">${text("welcome.code.lead")}</p>
    ${field(
      "code",
      text("welcome.code.label"),
      textbox("code", {
        value: code,
        input: (event) => {
          code = event.target.value;
          delete page.problems.code;
          draw();
        },
      }),
      text("welcome.code.hint"),
    )}
    <div class="how">${ways}</div>`;
}

function accountStep() {
  const domain = form.domain.trim().toLowerCase();
  return html`
    <p class="lead">${text("welcome.account.lead")}</p>
    ${field("email", text("welcome.email"), textbox("email", { type: "email", complete: "email", input: setEmail }))}
    ${field(
      "domain",
      text("welcome.domain"),
      textbox("domain", { input: setDomain }),
      publicDomains.test(domain) ? text("welcome.domain.public", { domain, b: bold }) : text("welcome.domain.hint"),
    )}
    ${field("id", text("welcome.id"), textbox("id", { input: setId }), text("welcome.id.hint"))}`;
}

function plantStep() {
  const now = clock(form.timezone.trim());
  const currency = form.currency.trim().toUpperCase();
  return html`
    ${field("plant", text("welcome.plant"), textbox("plant"))}
    ${field("timezone", text("welcome.timezone"), textbox("timezone", { list: "zones" }), now ? text("welcome.timezone.now", { now }) : text("welcome.timezone.hint"))}
    <datalist id="zones">${timezones().map((zone) => html`<option value=${zone}></option>`)}</datalist>
    <div class="pair">
      ${field(
        "dayStart",
        text("welcome.dayStart"),
        choice(
          "dayStart",
          Array.from({ length: 24 }, (_, h) => `${String(h).padStart(2, "0")}:00`),
        ),
        text("welcome.dayStart.hint"),
      )}
      ${field("weekStart", text("welcome.weekStart"), choice("weekStart", weekDays))}
    </div>
    ${field("currency", text("welcome.currency"), textbox("currency", { list: "currencies" }), currency ? currencyName(currency) || text("welcome.currency.invalid") : text("welcome.currency.hint"))}
    <datalist id="currencies">${currencies.map((code) => html`<option value=${code}>${currencyName(code)}</option>`)}</datalist>`;
}

function stationStep() {
  return html`
    <p class="lead">${text("welcome.stations.lead")}</p>
    ${form.groups.map(groupFields)}
    ${form.groups.length < most.groups ? html`<div class="actions"><button type="button" class="button" id="add-group" @click=${addGroup}>${text("welcome.group.add")}</button></div>` : nothing}`;
}

function groupFields(group, i) {
  const names = stationNames(group.stations);
  return html`<fieldset class="group">
    <legend><span dir="auto">${text("welcome.group", { n: i + 1 })}</span>${form.groups.length > 1 ? html`<button type="button" class="linklike" @click=${() => removeGroup(i)} aria-label=${text("welcome.group.remove.label", { n: i + 1 })}>${text("welcome.group.remove")}</button>` : nothing}</legend>
    <div class="top">
      ${field(`group-${i}`, text("welcome.group.name"), textbox(`group-${i}`, { value: group.name, input: (event) => setGroup(i, { name: event.target.value }) }))}
      ${field(`count-${i}`, text("welcome.group.stations"), () => html`<input id="count-${i}" type="number" min="1" max=${most.stations} inputmode="numeric" .value=${live(String(names.length))} @change=${(event) => setCount(i, event)}>`)}
    </div>
    ${field(
      `stations-${i}`,
      text("welcome.stations.names"),
      ({
        invalid,
        described,
      }) => html`<textarea id="stations-${i}" rows=${Math.min(Math.max(names.length + 1, 3), 10)} dir="auto"
      autocapitalize="none" spellcheck="false" aria-invalid=${invalid} aria-describedby=${described} .value=${live(group.stations)} @input=${(event) => setGroup(i, { stations: event.target.value })}></textarea>`,
      text("welcome.stations.names.hint"),
    )}
  </fieldset>`;
}

function reviewStep() {
  const plant = manifest(form).account.plants[0];
  const row = (label, value) => html`<div><dt>${label}</dt><dd dir="auto">${value}</dd></div>`;
  return html`
    <p class="lead">${text("welcome.review.lead")}</p>
    <dl class="summary">
      ${row(text("welcome.review.administrator"), form.email.trim())}
      ${row(text("welcome.account.step"), text("welcome.review.account", { id: form.id, domain: form.domain.trim().toLowerCase() }))}
      ${row(text("welcome.plant.step"), html`${plant.name} <code class="muted">${plant.code}</code>`)}
      ${row(text("welcome.timezone"), plant.timezone)}
      ${row(text("welcome.review.days"), text("welcome.review.days.text", { time: `${String(plant.dayStartHour).padStart(2, "0")}:00`, day: weekDays[plant.weekStartDay] }))}
      ${row(text("welcome.currency"), form.currency.trim().toUpperCase() || text("welcome.review.currency.none"))}
      ${plant.stationGroups.map((group) =>
        row(
          group.name,
          html`${text("welcome.review.stations", { n: group.stations.length })}
        <ul class="codes">${group.stations.slice(0, 24).map((station) => html`<li title=${station.name}><span dir="auto">${station.name}</span> <code>${station.code}</code></li>`)}
        ${group.stations.length > 24 ? html`<li>${text("welcome.review.more", { n: group.stations.length - 24 })}</li>` : nothing}</ul>`,
        ),
      )}
    </dl>`;
}

// ---- the page

function draw() {
  const step = steps[form.step];
  const blocked = Math.max(0, Math.ceil((page.until - Date.now()) / 1000));
  const next =
    blocked > 0
      ? text("welcome.next.wait", { time: wait(blocked) })
      : page.busy
        ? form.step === last
          ? text("welcome.next.creating")
          : text("welcome.next.checking")
        : form.step === last
          ? text("welcome.next.create")
          : text("welcome.next");
  render(
    html`
    <ol class="way" aria-label=${text("welcome.steps")}>${steps.map(({ name }, i) => html`<li aria-current=${i === form.step ? "step" : nothing} ?data-done=${i < form.step}><span>${name}</span></li>`)}</ol>
    <h1 class="title" tabindex="-1" id="title">${step.title}</h1>
    ${page.notice ? html`<div class="notice ${page.notice.kind}" role="alert"><strong>${page.notice.title}</strong>${page.notice.text}</div>` : nothing}
    <form novalidate aria-labelledby="title" @submit=${onward}>
      ${step.view()}
      <div class="actions">
        ${form.step > 0 ? html`<button type="button" class="button big" id="back" @click=${() => turn(form.step - 1)}>${text("welcome.back")}</button>` : nothing}
        <button class="button primary big" id="next" ?disabled=${page.busy || blocked > 0}>${next}</button>
      </div>
    </form>`,
    root,
  );
}

async function start() {
  load();
  draw();
  if (form.reached > 0)
    page.notice = {
      kind: "ok",
      title: text("welcome.kept.title"),
      text: text("welcome.kept.text"),
    };
  root.querySelector("#code").focus();
  try {
    const { body: ready } = await request("GET", "/ready", { signIn: false });
    if (!ready.result?.needsSetUp) return location.replace("/signin");
  } catch (error) {
    page.notice = {
      kind: error.status ? "wait" : "bad",
      title: text(error.status ? "welcome.unready.title" : "welcome.away.title"),
      text: text("welcome.start.text", { reason: say(error.message) }),
    };
  }
  draw();
}

setInterval(() => {
  if (!page.until) return;
  if (Date.now() >= page.until) Object.assign(page, { until: 0, notice: null });
  draw();
}, 1000);

start();
