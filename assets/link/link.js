// The page behind a one-time link: BASE/link#TOKEN. The token is in the fragment, which no server and no referrer
// sees, and it is used only when a person presses a button: scanners open links and even run scripts.
import { el } from "../shared/dom.js";
import { home } from "../shared/next.js";
import { say, text, wait } from "../shared/words.js";

const byId = (id) => document.getElementById(id);
const message = byId("message");
const choices = byId("choices");
const here = byId("here");
const other = byId("other");
const code = byId("code");
const hint = byId("code-hint");

let token = "";
let busy = false;

// take reads the token and removes it from the address bar, so that it is in no history and on no screenshot. The
// fragment alone changes when a second link is opened in the same tab: no page is loaded then.
function take() {
  const found = location.hash.slice(1);
  if (!found) return;
  token = found;
  history.replaceState(null, "", location.pathname);
  reset();
}

function reset() {
  message.replaceChildren();
  choices.hidden = false;
  byId("lead").hidden = false;
  byId("onward").hidden = true;
  hint.textContent = "";
  code.removeAttribute("aria-invalid");
  enable(true);
}

function enable(on) {
  for (const control of [here, other, code]) control.disabled = !on;
}

function tell(kind, title, body) {
  message.replaceChildren(el("div", { class: `notice ${kind}` }, el("strong", null, title), body));
}

// finish ends the page's work: the link cannot be used any more.
function finish(kind, title, body, onward) {
  token = "";
  choices.hidden = true;
  byId("lead").hidden = true;
  byId("onward").hidden = !onward;
  tell(kind, title, body);
  byId("title").focus();
}

// failed explains an answer that is not a success. The link lives on after those that are about something else.
async function failed(answer, approving) {
  const body = await answer.json().catch(() => ({}));
  const reason = body.errorMessage ?? "";
  switch (answer.status) {
    case 400:
      if (!approving) return finish("bad", text("link.incomplete.title"), text("link.askAgain"));
      return complain(
        body.details?.find((d) => d.field === "code")
          ? text("link.code.wrong", { issue: body.details[0].issue })
          : say(reason),
      );
    case 403:
      if (!approving) return finish("bad", text("link.invalid.title"), text("link.invalid"));
      return complain(text("link.code.limit", { reason: say(reason) }));
    case 409:
      if (!approving) return finish("bad", text("link.used.title"), text("link.askAgain"));
      return tell("bad", text("link.other.refused.title"), say(reason));
    case 429:
      return tell(
        "wait",
        text("link.often.title"),
        text("link.often", { time: wait(Number.parseInt(answer.headers.get("Retry-After") ?? "", 10)) }),
      );
    case 503:
      return tell("wait", text("link.busy.title"), text("link.busy"));
    default:
      return tell("bad", text("link.failed.title"), text("link.failed", { reason: say(reason) }));
  }
}

function complain(problem) {
  hint.textContent = problem;
  code.setAttribute("aria-invalid", "true");
  code.focus();
  code.select();
}

// use sends the token once; a second press while the first one is under way does nothing.
async function use(request, approving, done) {
  if (busy || !token) return;
  busy = true;
  enable(false);
  message.replaceChildren();
  hint.textContent = "";
  code.removeAttribute("aria-invalid");
  try {
    const answer = await request();
    enable(true);
    if (answer.ok) done();
    else await failed(answer, approving);
  } catch {
    enable(true);
    tell("bad", text("link.away.title"), text("link.away"));
  } finally {
    busy = false;
  }
}

here.addEventListener("click", () =>
  use(
    () => fetch(`/auth/callback?token=${encodeURIComponent(token)}`, { cache: "no-store" }),
    false,
    () => {
      finish("ok", text("link.here.done.title"), text("link.here.done"), true);
      home().then((page) => {
        document.querySelector("#onward a").href = page;
        location.replace(page); // the link stays in no history
      });
    },
  ),
);

byId("approve").addEventListener("submit", (event) => {
  event.preventDefault();
  const digits = code.value.replace(/\s/g, "");
  if (!/^[0-9]{5}$/.test(digits)) return complain(text("link.code.missing"));
  use(
    () =>
      fetch("/auth/approve", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ token, code: digits }),
      }),
    true,
    () => finish("ok", text("link.other.done.title"), text("link.other.done")),
  );
});

addEventListener("hashchange", take);
take();
if (!token) finish("bad", text("link.none.title"), text("link.none"));
