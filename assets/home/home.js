import { wireCopy } from "../shared/dom.js";

const every = 10_000; // ms between two looks at the service

const box = document.getElementById("status");
const line = document.getElementById("status-text");

// What is announced is announced once: the text is only set when it changes.
function show(state, text) {
  box.dataset.state = state;
  if (line.textContent !== text) line.textContent = text;
}

async function look() {
  try {
    const answer = await fetch("/ready", { cache: "no-store" });
    if (answer.ok) return show("ok", "Running and ready");
    const body = await answer.json().catch(() => ({}));
    show("bad", body.errorMessage ? `Running, ${body.errorMessage}` : "Running, not ready");
  } catch {
    show("bad", "The service does not answer");
  }
}

for (const button of document.querySelectorAll("[data-copy]")) {
  wireCopy(button, () => document.getElementById(button.dataset.copy));
}

look();
setInterval(() => { if (!document.hidden) look(); }, every);
document.addEventListener("visibilitychange", () => { if (!document.hidden) look(); });
