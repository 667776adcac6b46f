// The first set-up of an empty appliance (decisions.md section 6): the one-time code, the account with its first
// administrator, a plant to start with. Nothing is made before the last step; each step before it asks the service whether
// what stands there can be taken. What was typed is kept for a reload, but for the code.
import { html, render, nothing } from "../vendor/lit-html/lit-html.js";
import { live } from "../vendor/lit-html/directives/live.js";
import { request } from "../shared/api.js";
import { snippet } from "../shared/dom.js";
import { say, wait } from "../shared/words.js";
import { clock, currencies, currencyName, hereCurrency, hereTimezone, hereWeekStart, timezones } from "./locale.js";
import { accountId, manifest, place, resize, stationNames } from "./plant.js";

const root = document.getElementById("welcome");
const kept = "welcome"; // in the tab's storage
const weekDays = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
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
  groups: [{ name: "Line 1", stations: resize([], 3).join("\n") }],
});

let form = fresh();
let code = "";
const page = { busy: false, problems: {}, notice: null, until: 0 };

const steps = [
  { name: "Code", title: "Set up your plant", fields: ["code"], view: codeStep },
  { name: "Account", title: "You and your account", fields: ["email", "domain", "id"], view: accountStep },
  {
    name: "Plant",
    title: "Your plant",
    fields: ["plant", "timezone", "dayStart", "weekStart", "currency"],
    view: plantStep,
  },
  { name: "Stations", title: "Groups and stations", fields: [], view: stationStep },
  { name: "Review", title: "Look it over", fields: [], view: reviewStep },
];
const last = steps.length - 1;

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
          ...(step < 2 && { plant: "Plant", timezone: "UTC", currency: "", dayStart: 0, weekStart: 0 }),
          ...(step < 3 && { groups: [{ name: "Group", stations: "Station" }] }),
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
  const need = (at, field, value, text) => {
    if (step >= at && !String(value).trim()) problems[field] = text;
  };
  need(0, "code", code, "Type the code that the PC shows.");
  need(1, "email", form.email, "Type your e-mail address.");
  need(1, "domain", form.domain, "Type the domain of your e-mail addresses.");
  need(1, "id", form.id, "Give the account a short name.");
  need(2, "plant", form.plant, "Give the plant a name.");
  need(2, "timezone", form.timezone, "Choose the plant’s time zone.");
  form.groups.forEach((group, i) => {
    need(3, `group-${i}`, group.name, "Give the group a name.");
    need(3, `stations-${i}`, group.stations, "Name at least one station.");
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
      for (const [field, text] of error.details.map(place)) {
        if (field) page.problems[field] ??= say(text);
        else page.notice ??= { kind: "bad", title: "This cannot be taken", text: say(text) };
      }
      if (error.details.length === 0)
        page.notice = { kind: "bad", title: "This cannot be taken", text: say(error.message) };
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
        title: "Too many wrong codes",
        text: "They came from this device’s address. Wait, then type the code as the PC shows it.",
      };
      break;
    case 0:
      page.notice = {
        kind: "bad",
        title: "The service does not answer",
        text: "Nothing was made. Check the network and the PC, then press the button again: what you typed is kept.",
      };
      break;
    case 503:
      page.notice = {
        kind: "wait",
        title: "The service is not ready",
        text: `${say(error.message)} Nothing was made. Press the button again in a moment.`,
      };
      break;
    default:
      page.notice = {
        kind: "bad",
        title: "Something went wrong",
        text: `${say(error.message)} Nothing was made. Press the button again; if it stays so, the service’s log says more.`,
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
      title: "This appliance is set up already",
      text: html`${say(error.message)} <a href="/signin">Sign in</a>`,
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
    name: `Line ${form.groups.length + 1}`,
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

const text =
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

const command = snippet("app status", { wrap: true, label: "Copy the command" });

function codeStep() {
  const ways = html`
    <p><b>The service runs in a window?</b> The code stands there, in the line “This appliance is not set up yet”.</p>
    <div><b>It runs in the background?</b> On the PC, as its administrator, type in a command window: ${command}</div>
    <p class="hint">Each start of the service makes a new code, until the set-up is done.</p>`;
  return html`
    <p class="lead">This appliance is empty. Whoever sets it up must be able to see the screen of the PC that it runs on.</p>
    ${field(
      "code",
      "One-time code",
      text("code", {
        value: code,
        input: (event) => {
          code = event.target.value;
          delete page.problems.code;
          draw();
        },
      }),
      "Twelve letters and digits, such as k7qm-2dxa-9fpe.",
    )}
    <div class="how">${ways}</div>`;
}

function accountStep() {
  const domain = form.domain.trim().toLowerCase();
  return html`
    <p class="lead">You become its first administrator. Others are added later.</p>
    ${field("email", "Your e-mail address", text("email", { type: "email", complete: "email", input: setEmail }))}
    ${field(
      "domain",
      "E-mail domain of your company",
      text("domain", { input: setDomain }),
      publicDomains.test(domain)
        ? html`<b>Anybody can have an address at ${domain}.</b> Everybody with one could ask to sign in and read. Give a domain of your own, such as the company’s, even when your address is not on it.`
        : html`Everybody with an address on it can sign in and read. What else they may do, you decide.`,
    )}
    ${field("id", "Short name of the account", text("id", { input: setId }), "Lower-case letters, digits and hyphens, such as acme. It stands in topics and file names and stays as it is.")}`;
}

function plantStep() {
  const now = clock(form.timezone.trim());
  const currency = form.currency.trim().toUpperCase();
  return html`
    ${field("plant", "Name of the plant", text("plant"))}
    ${field("timezone", "Time zone", text("timezone", { list: "zones" }), now ? `It is ${now} there now.` : "A name such as Europe/London: type a city to search.")}
    <datalist id="zones">${timezones().map((zone) => html`<option value=${zone}></option>`)}</datalist>
    <div class="pair">
      ${field(
        "dayStart",
        "The production day starts at",
        choice(
          "dayStart",
          Array.from({ length: 24 }, (_, h) => `${String(h).padStart(2, "0")}:00`),
        ),
        "Often when the first shift starts.",
      )}
      ${field("weekStart", "The week starts on", choice("weekStart", weekDays))}
    </div>
    ${field("currency", "Currency", text("currency", { list: "currencies" }), currency ? currencyName(currency) || "Three letters, such as EUR." : "For costs, such as EUR. It may be left empty.")}
    <datalist id="currencies">${currencies.map((code) => html`<option value=${code}>${currencyName(code)}</option>`)}</datalist>`;
}

function stationStep() {
  return html`
    <p class="lead">A group is a line or an area; stations are its machines. Names can be changed at any time, and more added.</p>
    ${form.groups.map(groupFields)}
    ${form.groups.length < most.groups ? html`<div class="actions"><button type="button" class="button" id="add-group" @click=${addGroup}>Add a group</button></div>` : nothing}`;
}

function groupFields(group, i) {
  const names = stationNames(group.stations);
  return html`<fieldset class="group">
    <legend><span dir="auto">Group ${i + 1}</span>${form.groups.length > 1 ? html`<button type="button" class="linklike" @click=${() => removeGroup(i)} aria-label="Remove group ${i + 1}">Remove</button>` : nothing}</legend>
    <div class="top">
      ${field(`group-${i}`, "Name", text(`group-${i}`, { value: group.name, input: (event) => setGroup(i, { name: event.target.value }) }))}
      ${field(`count-${i}`, "Stations", () => html`<input id="count-${i}" type="number" min="1" max=${most.stations} inputmode="numeric" .value=${live(String(names.length))} @change=${(event) => setCount(i, event)}>`)}
    </div>
    ${field(
      `stations-${i}`,
      "Names of the stations, one in a line",
      ({
        invalid,
        described,
      }) => html`<textarea id="stations-${i}" rows=${Math.min(Math.max(names.length + 1, 3), 10)} dir="auto"
      autocapitalize="none" spellcheck="false" aria-invalid=${invalid} aria-describedby=${described} .value=${live(group.stations)} @input=${(event) => setGroup(i, { stations: event.target.value })}></textarea>`,
      "A list can be pasted from a table.",
    )}
  </fieldset>`;
}

function reviewStep() {
  const plant = manifest(form).account.plants[0];
  const row = (label, value) => html`<div><dt>${label}</dt><dd dir="auto">${value}</dd></div>`;
  return html`
    <p class="lead">Codes are how machines name their stations. A station’s code cannot be changed once it is made.</p>
    <dl class="summary">
      ${row("Administrator", form.email.trim())}
      ${row("Account", html`${form.id}, for everybody at ${form.domain.trim().toLowerCase()}`)}
      ${row("Plant", html`${plant.name} <code class="muted">${plant.code}</code>`)}
      ${row("Time zone", plant.timezone)}
      ${row("Day and week", `the day from ${String(plant.dayStartHour).padStart(2, "0")}:00, the week from ${weekDays[plant.weekStartDay]}`)}
      ${row("Currency", form.currency.trim().toUpperCase() || "none")}
      ${plant.stationGroups.map((group) =>
        row(
          group.name,
          html`${group.stations.length === 1 ? "1 station" : `${group.stations.length} stations`}
        <ul class="codes">${group.stations.slice(0, 24).map((station) => html`<li title=${station.name}><span dir="auto">${station.name}</span> <code>${station.code}</code></li>`)}
        ${group.stations.length > 24 ? html`<li>and ${group.stations.length - 24} more</li>` : nothing}</ul>`,
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
      ? `Try again in ${wait(blocked)}`
      : page.busy
        ? form.step === last
          ? "Making it …"
          : "Checking …"
        : form.step === last
          ? "Make the plant"
          : "Continue";
  render(
    html`
    <ol class="way" aria-label="Steps">${steps.map(({ name }, i) => html`<li aria-current=${i === form.step ? "step" : nothing} ?data-done=${i < form.step}><span>${name}</span></li>`)}</ol>
    <h1 class="title" tabindex="-1" id="title">${step.title}</h1>
    ${page.notice ? html`<div class="notice ${page.notice.kind}" role="alert"><strong>${page.notice.title}</strong>${page.notice.text}</div>` : nothing}
    <form novalidate aria-labelledby="title" @submit=${onward}>
      ${step.view()}
      <div class="actions">
        ${form.step > 0 ? html`<button type="button" class="button big" id="back" @click=${() => turn(form.step - 1)}>Back</button>` : nothing}
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
      title: "What you typed is kept",
      text: "Type the code again to go on. It is never kept.",
    };
  root.querySelector("#code").focus();
  try {
    const { body: ready } = await request("GET", "/ready", { signIn: false });
    if (!ready.result?.needsSetUp) return location.replace("/signin");
  } catch (error) {
    page.notice = {
      kind: error.status ? "wait" : "bad",
      title: error.status ? "The service is not ready" : "The service does not answer",
      text: `${say(error.message)} Try again in a moment.`,
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
