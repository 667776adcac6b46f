// What lets the page be without the network: it opens from what the browser keeps, and what it has read last is at hand.

import { get } from "../shared/api.js";
import { keep } from "../shared/keep.js";

const hourly = 3600_000; // ms between looks for a new version

/**
 * install makes the page open without the network, where the browser lets it (under TLS, or on this machine). A new version of
 * the page is taken when idle() says that nobody is in the middle of something; what waits in the queue stays.
 */
export async function install(idle) {
  if (!navigator.serviceWorker) return;
  let controlled = Boolean(navigator.serviceWorker.controller);
  navigator.serviceWorker.addEventListener("controllerchange", () => {
    if (!controlled) {
      controlled = true;
      return;
    } // the first one
    const timer = setInterval(() => {
      if (idle()) {
        clearInterval(timer);
        location.reload();
      }
    }, 1000);
  });
  try {
    const registration = await navigator.serviceWorker.register("/tablet/worker.js", { scope: "/tablet" });
    setInterval(() => registration.update().catch(() => {}), hourly);
    addEventListener("online", () => registration.update().catch(() => {}));
  } catch (error) {
    // such as a certificate that the browser does not trust: all but opening without the network works
    if (navigator.onLine) console.info("The page cannot be kept for use without the network:", error.message);
  }
  navigator.storage?.persist?.(); // so that a full disk does not take what waits
}

/**
 * recall reads from the service, and keeps it under who is asking and what it is (the path, where that is always the same); where
 * the service is away it gives what was read last: {body, at (ms), fresh}. It throws what get throws when there is nothing, or the service refuses.
 */
export async function recall(path, who = "", what = path) {
  const name = `read:${who}:${what}`;
  try {
    const body = await get(path, { signal: AbortSignal.timeout(8000) });
    keep.set(name, { body, at: Date.now() });
    return { body, at: Date.now(), fresh: true };
  } catch (error) {
    if (!error.away && error.name !== "AbortError" && error.name !== "TimeoutError") throw error;
    const kept = await keep.get(name);
    if (!kept) throw error;
    return { ...kept, fresh: false };
  }
}

/** whose gives the profile of whoever is asking. What was read for somebody else before goes. */
export async function whose() {
  const path = "/auth/profile",
    name = `read::${path}`,
    of = ({ body }) => `${body.result.accountId}/${body.result.email}`;
  const before = await keep.get(name),
    answer = await recall(path);
  if (before && of(before) !== of(answer)) {
    await keep.clear("read:");
    await keep.set(name, { body: answer.body, at: answer.at });
  }
  return answer.body.result;
}
