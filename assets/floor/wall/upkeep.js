// What keeps a screen going that nobody looks after: it is kept awake, takes a new version of the service, and begins anew
// before it has no memory left.

import { live } from "../../shared/live.js";

const look = 60_000; // ms between looks
const room = 4; // times the memory that it had when it was warm, and
const least = 256 << 20; // bytes, that it may grow to
const warm = 10; // looks until it is warm

/** version is the address of the assets that this page was loaded with. */
const version = /^.*\/assets\/[^/]+\//.exec(new URL(import.meta.url).pathname)[0];

/** grown tells whether memory has grown too much: used in bytes now, first when the page was warm, 0 = not known. */
export const grown = (used, first) => first > 0 && used > Math.max(least, room * first);

/** keepUp begins; it gives a function that ends it. reload begins anew: location.reload. */
export function keepUp(reload = () => location.reload()) {
  let looks = 0,
    first = 0,
    ended = false,
    lock = null;

  async function check() {
    const used = performance.memory?.usedJSHeapSize ?? 0; // of Chromium alone
    if (++looks === warm) first = used;
    try {
      const answer = await fetch(location.pathname, { cache: "no-cache" });
      const page = answer.ok ? await answer.text() : version; // a page that cannot be loaded is no reason to leave this one
      if (!ended && (!page.includes(version) || grown(used, first))) reload();
    } catch {
      /* the service is away: what is shown stays */
    }
  }

  async function awake() {
    // a browser gives it where the page is seen and came over TLS
    if (document.visibilityState !== "visible" || !navigator.wakeLock) return;
    try {
      lock = await navigator.wakeLock.request("screen");
      if (ended) lock.release();
    } catch {
      /* the browser saves power */
    }
  }

  const timer = setInterval(check, look);
  live.addEventListener("reset", check); // the service was away, maybe for a new version
  document.addEventListener("visibilitychange", awake);
  awake();
  return () => {
    ended = true;
    clearInterval(timer);
    live.removeEventListener("reset", check);
    document.removeEventListener("visibilitychange", awake);
    lock?.release();
  };
}
