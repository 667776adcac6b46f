// The page behind a one-time link: BASE/link#TOKEN. The token is in the fragment, which no server and no referrer
// sees, and it is used only when a person presses a button: scanners open links and even run scripts.
import { el } from "../shared/dom.js";
import { home } from "../shared/next.js";
import { say, wait } from "../shared/words.js";

const byId = (id) => document.getElementById(id);
const message = byId("message");
const choices = byId("choices");
const here = byId("here");
const other = byId("other");
const code = byId("code");
const hint = byId("code-hint");

let token = "";
let busy = false;

const askAgain = "Ask for a new link where you signed in, or ask your administrator for one.";

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

function tell(kind, title, text) {
  message.replaceChildren(el("div", { class: `notice ${kind}` }, el("strong", null, title), text));
}

// finish ends the page's work: the link cannot be used any more.
function finish(kind, title, text, onward) {
  token = "";
  choices.hidden = true;
  byId("lead").hidden = true;
  byId("onward").hidden = !onward;
  tell(kind, title, text);
  byId("title").focus();
}

// failed explains an answer that is not a success. The link lives on after those that are about something else.
async function failed(answer, approving) {
  const body = await answer.json().catch(() => ({}));
  const reason = body.errorMessage ?? "";
  switch (answer.status) {
    case 400:
      if (!approving) return finish("bad", "This link is not complete", askAgain);
      return complain(
        body.details?.find((d) => d.field === "code") ? `The code ${body.details[0].issue}.` : say(reason),
      );
    case 403:
      if (!approving)
        return finish("bad", "This link is not valid any more", `Links work once and for 15 minutes. ${askAgain}`);
      return complain(`${say(reason)} After five wrong codes the link stops working.`);
    case 409:
      if (!approving) return finish("bad", "This link was used before", askAgain);
      return tell("bad", "The other browser was not let in", say(reason));
    case 429:
      return tell(
        "wait",
        "Too many attempts",
        `Wait ${wait(Number.parseInt(answer.headers.get("Retry-After") ?? "", 10))}, then try again.`,
      );
    case 503:
      return tell("wait", "The service is busy", "Your link was not used. Try again in a moment.");
    default:
      return tell("bad", "Something went wrong", `${say(reason)} Your link may still be good: try once more.`);
  }
}

function complain(text) {
  hint.textContent = text;
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
    tell("bad", "The service does not answer", "Check the network. Your link may still be good: try again.");
  } finally {
    busy = false;
  }
}

here.addEventListener("click", () =>
  use(
    () => fetch(`/auth/callback?token=${encodeURIComponent(token)}`, { cache: "no-store" }),
    false,
    () => {
      finish("ok", "You are signed in", "This browser is ready to use.", true);
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
  if (!/^[0-9]{5}$/.test(digits)) return complain("Type the five digits that the other browser shows.");
  use(
    () =>
      fetch("/auth/approve", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ token, code: digits }),
      }),
    true,
    () => finish("ok", "The other browser is let in", "It goes on by itself in a moment. You can close this page."),
  );
});

addEventListener("hashchange", take);
take();
if (!token) finish("bad", "There is no link here", `Open the whole link again, as you got it. ${askAgain}`);
