// Signing in: an e-mail address, then five digits until somebody opens the link or lets this browser in (decisions.md
// section 4). What waits is kept in this browser, like the cookie that lets it in: a reload, another tab and a restart of
// the service change nothing.
import { html, render, nothing } from "../vendor/lit-html/lit-html.js";
import { request } from "../shared/api.js";
import { snippet } from "../shared/dom.js";
import { nextPage } from "../shared/next.js";
import { say, text, wait } from "../shared/words.js";

const root = document.getElementById("signin");
const key = "signin"; // in the browser's storage: {email, code, ends}
const address = new URL(location.href);
const target = nextPage(address.searchParams.get("next"));
const demo = "demo" in root.dataset;

const state = {
  step: "ask", // ask | wait | over
  email: "",
  problem: "",
  notice: null, // notice: {kind, title, text}
  busy: false,
  until: 0, // until: when asking again makes sense, ms
  code: "",
  ends: 0,
  mail: false,
  away: "",
};

// ---- what is kept

function kept() {
  try {
    const found = JSON.parse(localStorage.getItem(key) ?? "null");
    return found && found.ends > Date.now() && /^[0-9]{5}$/.test(found.code) ? found : null;
  } catch {
    return null;
  }
}

function keep(value) {
  try {
    if (value) localStorage.setItem(key, JSON.stringify(value));
    else localStorage.removeItem(key);
  } catch {
    /* a browser that keeps nothing: the page works for as long as it is open */
  }
}

// ---- asking

async function ask(event) {
  event?.preventDefault();
  if (state.busy || Date.now() < state.until) return;
  const email = (root.querySelector("#email")?.value ?? state.email).trim();
  Object.assign(state, { email, problem: "", notice: null });
  if (!email) return complain(text("signin.email.missing"));
  state.busy = true;
  draw();
  try {
    const { body, headers } = await request("POST", "/auth/login", { body: { destination: email }, signIn: false });
    const lasts = Date.parse(body.result.exp) - Date.parse(headers.get("Date") ?? "") - 1000; // the header's second has begun
    const ends = Date.now() + (lasts > 0 ? lasts : 15 * 60_000); // by this device's own clock, whatever it shows
    keep({ email: body.result.email, code: body.code, ends });
    state.busy = false;
    begin({ email: body.result.email, code: body.code, ends });
  } catch (error) {
    state.busy = false;
    refused(error);
  }
}

function refused(error) {
  switch (error.status) {
    case 400:
      return complain(
        say(error.details[0] ? text("signin.email.wrong", { issue: error.details[0].issue }) : error.message),
      );
    case 403:
      return complain(text("signin.email.unknown"));
    case 429:
      state.until = Date.now() + (error.retryAfter || 60) * 1000;
      state.notice = {
        kind: "wait",
        title: text("signin.often.title"),
        text: text("signin.often"),
      };
      break;
    case 503:
      state.notice = {
        kind: "wait",
        title: text("signin.busy.title"),
        text: text("signin.busy", { reason: say(error.message) }),
      };
      break;
    case 0:
      state.notice = {
        kind: "bad",
        title: text("signin.away.title"),
        text: text("signin.away"),
      };
      break;
    default:
      state.notice = {
        kind: "bad",
        title: text("signin.failed.title"),
        text: text("signin.failed", { reason: say(error.message) }),
      };
  }
  draw();
}

function complain(text) {
  state.problem = text;
  draw();
  root.querySelector("#email").focus();
}

// ---- waiting

let timer = 0;
let pace = 0;
const slowest = 5000; // ms between two looks

function begin({ email, code, ends }) {
  Object.assign(state, { step: "wait", email, code, ends, away: "", notice: null, problem: "" });
  draw();
  root.querySelector(".title").focus();
  pace = 1500;
  later(pace);
}

function later(ms) {
  clearTimeout(timer);
  timer = setTimeout(claim, ms);
}

async function claim() {
  if (state.step !== "wait") return;
  pace = Math.min(pace * 1.15, slowest);
  try {
    await request("POST", "/auth/claim", { signIn: false });
    return enter();
  } catch (error) {
    state.away = error.away ? say(error.message) : "";
    if (error.status === 403 || error.status === 400) return settle();
    later(Math.max(error.away ? slowest : document.hidden ? 3 * slowest : pace, error.retryAfter * 1000));
  }
  draw();
}

// settle finds out what became of a request that is over: the link was opened in this very browser, or it has ended.
async function settle() {
  if (await signedIn()) return enter();
  keep(null);
  Object.assign(state, { step: "over", away: "" });
  draw();
  root.querySelector(".title").focus();
}

async function signedIn() {
  try {
    await request("GET", "/auth/profile", { signIn: false });
    return true;
  } catch {
    return false;
  }
}

function enter() {
  keep(null);
  clearTimeout(timer);
  state.step = "in";
  draw();
  location.replace(target);
}

function restart() {
  keep(null);
  clearTimeout(timer);
  Object.assign(state, { step: "ask", notice: null, problem: "" });
  draw();
  root.querySelector("#email").focus();
}

// ---- what is shown

function draw() {
  render(views[state.step](), root);
}

const notice = () =>
  state.notice
    ? html`<div class="notice ${state.notice.kind}" role="alert"><strong>${state.notice.title}</strong>${state.notice.text}</div>`
    : nothing;

const left = () => {
  const s = Math.max(0, Math.ceil((state.ends - Date.now()) / 1000));
  return s < 60
    ? text("signin.left.seconds", { s })
    : text("signin.left.minutes", { min: Math.floor(s / 60), s: s % 60 });
};

// A command with its copy button, made once: what a press shows must outlive the next look at the service.
const commands = new Map();
function command(line) {
  if (!commands.has(line)) commands.set(line, snippet(line, { wrap: true, label: text("signin.copy") }));
  return commands.get(line);
}

// The demo's own heading is the page's first.
const heading = (text) =>
  demo ? html`<h2 class="title" tabindex="-1">${text}</h2>` : html`<h1 class="title" tabindex="-1">${text}</h1>`;

const views = {
  ask: () => {
    const blocked = Math.max(0, Math.ceil((state.until - Date.now()) / 1000));
    return html`
      ${heading(text(demo ? "signin.title.demo" : "signin.title"))}
      <p class="lead">${text("signin.lead")}</p>
      ${notice()}
      <form novalidate @submit=${ask}>
        <div class="field">
          <label for="email">${text("signin.email")}</label>
          <input id="email" name="email" type="email" autocomplete="email" autocapitalize="none" spellcheck="false" required dir="auto"
            .value=${state.email} aria-invalid=${state.problem ? "true" : "false"} aria-describedby=${state.problem ? "email-problem" : nothing}>
          ${state.problem ? html`<p class="problem" id="email-problem">${state.problem}</p>` : nothing}
        </div>
        <button class=${demo ? "button big" : "button primary big"} ?disabled=${state.busy || blocked > 0}>${blocked > 0 ? text("signin.blocked", { time: wait(blocked) }) : text(state.busy ? "signin.asking" : "signin.continue")}</button>
      </form>`;
  },

  wait: () => html`
    ${heading(text(state.mail ? "signin.wait.mail.title" : "signin.wait.title"))}
    <p class="lead">${text(state.mail ? "signin.wait.mail" : "signin.wait", { email: html`<b dir="auto">${state.email}</b>` })}</p>
    <div class="digits">
      <span class="label" id="digits-label">${text("signin.digits")}</span>
      <output id="code" aria-labelledby="digits-label">${state.code}</output>
      <span class="left" role="timer">${text("signin.left", { time: html`<span id="left">${left()}</span>` })}</span>
    </div>
    ${state.mail ? mailed() : unmailed()}
    <p class="waiting" role="status">${
      state.away
        ? html`<span class="pulse" aria-hidden="true"></span><span>${text("signin.waiting.away", { reason: state.away })}</span>`
        : html`<span class="pulse" aria-hidden="true"></span><span>${text("signin.waiting")}</span>`
    }</p>
    <div class="actions"><button type="button" class="linklike" id="other" @click=${restart}>${text("signin.other")}</button></div>`,

  over: () => html`
    ${heading(text("signin.over.title"))}
    <p class="lead">${text("signin.over")}</p>
    ${notice()}
    <form novalidate @submit=${ask}>
      <button class="button primary big" ?disabled=${state.busy || Date.now() < state.until}>${text("signin.again", { email: state.email })}</button>
    </form>
    <div class="actions"><button type="button" class="linklike" id="other" @click=${restart}>${text("signin.other")}</button></div>`,

  in: () => html`${heading(text("signin.in.title"))}<p class="lead">${text("signin.in")}</p>`,
};

const bold = (inside) => html`<b>${inside}</b>`;

const mailed = () => html`
  <ol class="steps">
    <li>${text("signin.mail.open")}</li>
    <li>${text("signin.mail.link")}</li>
  </ol>
  <details>
    <summary>${text("signin.mail.none.title")}</summary>
    <p class="hint">${text("signin.mail.none", { b: bold })}</p>
  </details>`;

const unmailed = () => html`
  <ol class="steps">
    <li id="command"><span>${text("signin.tell", { b: bold })}</span>
      ${command(`app login-link --code ${state.code}`)}</li>
    <li><span>${text("signin.open", { b: bold })}</span></li>
  </ol>`;

// ---- the beginning

async function start() {
  const waiting = kept();
  if (address.searchParams.has("out")) {
    state.notice = { kind: "ok", title: text("signin.out.title"), text: text("signin.out") };
    history.replaceState(null, "", address.pathname);
  }
  if (waiting) begin(waiting);
  else {
    keep(null);
    draw();
  }
  await look();
}

// look asks what the service is ready for, and again while it is away.
async function look() {
  try {
    const { body } = await request("GET", "/ready", { signIn: false });
    if (body.result?.needsSetUp) return location.replace("/welcome");
    state.mail = body.result?.mail === true;
    if (state.notice?.looking) state.notice = null;
  } catch (error) {
    if (state.step === "ask") {
      state.notice = {
        looking: true,
        kind: error.status ? "wait" : "bad",
        title: text(error.status ? "signin.busy.title" : "signin.away.title"),
        text: error.status ? text("signin.waiting.away", { reason: say(error.message) }) : text("signin.starting"),
      };
      draw();
    }
    setTimeout(look, Math.max(slowest, (error.retryAfter ?? 0) * 1000));
    return;
  }
  draw();
  if (state.step !== "wait" && (await signedIn())) enter();
}

setInterval(() => {
  if (state.until && Date.now() >= state.until) Object.assign(state, { until: 0, notice: null });
  else if (!state.until && state.step !== "wait") return;
  draw();
}, 1000);

document.addEventListener("visibilitychange", () => {
  if (!document.hidden && state.step === "wait") later(200);
});
addEventListener("storage", (event) => {
  if (event.key !== key) return;
  const waiting = kept();
  if (waiting) begin(waiting);
  else if (state.step === "wait") later(200); // another tab was let in, or gave up
});

start();
