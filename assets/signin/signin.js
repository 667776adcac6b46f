// Signing in: an e-mail address, then five digits until somebody opens the link or lets this browser in (decisions.md
// section 4). What waits is kept in this browser, like the cookie that lets it in: a reload, another tab and a restart of
// the service change nothing.
import { html, render, nothing } from "../vendor/lit-html/lit-html.js";
import { request } from "../shared/api.js";
import { snippet } from "../shared/dom.js";
import { nextPage } from "../shared/next.js";
import { say, wait } from "../shared/words.js";

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
  if (!email) return complain("Type your e-mail address.");
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
      return complain(say(error.details[0] ? `The address ${error.details[0].issue}` : error.message));
    case 403:
      return complain(
        "This address cannot sign in here. Check how it is written, or ask an administrator to add it under Users.",
      );
    case 429:
      state.until = Date.now() + (error.retryAfter || 60) * 1000;
      state.notice = {
        kind: "wait",
        title: "Too many requests to sign in",
        text: "Links were asked for too often. Use the one you have, or wait.",
      };
      break;
    case 503:
      state.notice = {
        kind: "wait",
        title: "The service is not ready",
        text: `${say(error.message)} Try again in a moment.`,
      };
      break;
    case 0:
      state.notice = {
        kind: "bad",
        title: "The service does not answer",
        text: "Check this device’s network, and that the PC that runs the service is on. Then try again.",
      };
      break;
    default:
      state.notice = {
        kind: "bad",
        title: "Something went wrong",
        text: `${say(error.message)} Try again; if it stays so, the service’s log says more.`,
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
  return s < 60 ? `${s} s` : `${Math.floor(s / 60)} min ${s % 60} s`;
};

// A command with its copy button, made once: what a press shows must outlive the next look at the service.
const commands = new Map();
function command(text) {
  if (!commands.has(text)) commands.set(text, snippet(text, { wrap: true, label: "Copy the command" }));
  return commands.get(text);
}

// The demo's own heading is the page's first.
const heading = (text) =>
  demo ? html`<h2 class="title" tabindex="-1">${text}</h2>` : html`<h1 class="title" tabindex="-1">${text}</h1>`;

const views = {
  ask: () => {
    const blocked = Math.max(0, Math.ceil((state.until - Date.now()) / 1000));
    return html`
      ${heading(demo ? "Or sign in as somebody else" : "Sign in")}
      <p class="lead">No password: you get a link that works once.</p>
      ${notice()}
      <form novalidate @submit=${ask}>
        <div class="field">
          <label for="email">E-mail address</label>
          <input id="email" name="email" type="email" autocomplete="email" autocapitalize="none" spellcheck="false" required dir="auto"
            .value=${state.email} aria-invalid=${state.problem ? "true" : "false"} aria-describedby=${state.problem ? "email-problem" : nothing}>
          ${state.problem ? html`<p class="problem" id="email-problem">${state.problem}</p>` : nothing}
        </div>
        <button class=${demo ? "button big" : "button primary big"} ?disabled=${state.busy || blocked > 0}>${blocked > 0 ? `Try again in ${wait(blocked)}` : state.busy ? "Asking …" : "Continue"}</button>
      </form>`;
  },

  wait: () => html`
    ${heading(state.mail ? "Check your mail" : "Ask to be let in")}
    <p class="lead">${state.mail ? html`A link is on its way to <b dir="auto">${state.email}</b>.` : html`You asked to sign in as <b dir="auto">${state.email}</b>.`}</p>
    <div class="digits">
      <span class="label" id="digits-label">Your five digits</span>
      <output id="code" aria-labelledby="digits-label">${state.code}</output>
      <span class="left" role="timer">good for <span id="left">${left()}</span></span>
    </div>
    ${state.mail ? mailed() : unmailed()}
    <p class="waiting" role="status">${
      state.away
        ? html`<span class="pulse" aria-hidden="true"></span><span>${state.away} This page tries again by itself.</span>`
        : html`<span class="pulse" aria-hidden="true"></span><span>Waiting. This page goes on by itself.</span>`
    }</p>
    <div class="actions"><button type="button" class="linklike" id="other" @click=${restart}>Use another address</button></div>`,

  over: () => html`
    ${heading("The time is over")}
    <p class="lead">Nobody let this browser in with these digits in time. Links work once, and for 15 minutes.</p>
    ${notice()}
    <form novalidate @submit=${ask}>
      <button class="button primary big" ?disabled=${state.busy || Date.now() < state.until}>Ask again for ${state.email}</button>
    </form>
    <div class="actions"><button type="button" class="linklike" id="other" @click=${restart}>Use another address</button></div>`,

  in: () => html`${heading("You are signed in")}<p class="lead">Going on …</p>`,
};

const mailed = () => html`
  <ol class="steps">
    <li>Open the mail “Your link to sign in”. Check that it has the same five digits.</li>
    <li>Open its link, on this device or on your phone. On another device, type the five digits there.</li>
  </ol>
  <details>
    <summary>No mail came?</summary>
    <p class="hint">Look among the spam. An administrator can also let you in: in the console under <b>Pending sign-ins</b>, by the five digits.</p>
  </details>`;

const unmailed = () => html`
  <ol class="steps">
    <li id="command"><span>Tell an administrator the five digits. In the console, <b>Pending sign-ins</b> gives them your link. So does, in a command window on the PC that runs the service:</span>
      ${command(`app login-link --code ${state.code}`)}</li>
    <li><span>Open the link in this browser. On another device, type the five digits there, under <b>In the browser that asked</b>.</span></li>
  </ol>`;

// ---- the beginning

async function start() {
  const waiting = kept();
  if (address.searchParams.has("out")) {
    state.notice = { kind: "ok", title: "You are signed out", text: "This browser has no access any more." };
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
        title: error.status ? "The service is not ready" : "The service does not answer",
        text: error.status
          ? `${say(error.message)} This page tries again by itself.`
          : "It may be starting, or the network is gone. This page tries again by itself.",
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
