// The service's clock, as far as a browser can know it. Tablets' own clocks are wrong by minutes or years, and what people do
// while the network is away is told with its time later. Each answer tells the service's time, which lies between when the
// request was sent and when the answer came; many answers bound closely how far the clocks are apart.

const store = "clock";
let low = -Infinity,
  high = Infinity; // ms that the service's clock is ahead of this one, at least and at most
let heardAt = NaN,
  kept = NaN; // heardAt: of skew() when the service was last heard
let mark = -Infinity; // the latest that this device's clock has shown since the service was heard, ms

let remembered = false;

/**
 * remember keeps what is known of the service's clock in the browser, for a page that is opened without the network, and what
 * this device's clock has shown last: one that shows less then was set back.
 */
export function remember() {
  if (!remembered) setInterval(write, minute);
  remembered = true;
}

const minute = 60_000;

function write() {
  if (!remembered || !Number.isFinite(low)) return;
  if (Date.now() < mark - near) {
    // it was set back, and nothing is known until the service is heard
    [low, high] = [-Infinity, Infinity];
    return;
  }
  mark = Math.max(mark, Date.now());
  try {
    localStorage.setItem(store, JSON.stringify([low, high, mark]));
  } catch {
    /* it is learnt again */
  }
}

// skew is constant as long as the device neither sleeps nor has its clock set, ms.
const skew = () => Date.now() - performance.now();

/** heard takes an answer's X-Time header, with when the request was sent and the answer came, ms by this device's clock. */
export function heard(time, sent, came) {
  const at = Number(time ?? NaN);
  if (!Number.isFinite(at) || at === 0 || came < sent) return;
  const [from, to] = [at - came, at - sent];
  if (from > high || to < low)
    [low, high] = [from, to]; // one of the clocks was set, or runs faster
  else [low, high] = [Math.max(low, from), Math.min(high, to)];
  [heardAt, mark] = [skew(), came];
  if (!remembered || Math.abs(ahead() - kept) < 100) return;
  kept = ahead();
  write();
}

const near = 5000; // ms: as long as a clock goes wrong by itself, and an answer may take

try {
  const before = JSON.parse(localStorage.getItem(store));
  if (Array.isArray(before) && before.every(Number.isFinite) && !(Date.now() < before[2] - near))
    [low, high, mark] = before;
} catch {
  /* nothing was kept */
}

/** ahead gives how many ms the service's clock is ahead of this device's; 0 as long as nothing is known. */
export const ahead = () => (Number.isFinite(low) ? Math.round((low + high) / 2) : 0);

/** now gives the service's time, ms, as well as it is known. */
export const now = () => Date.now() + ahead();

/** sure tells whether the service was heard since the device's clock was last set, as far as a page can tell. */
export const sure = () => Math.abs(skew() - heardAt) < 2000;

/** moment notes when something is done, for whenAt to tell when that was by the service's clock, which nobody may know yet. */
export function moment() {
  write();
  return { device: Date.now(), ran: performance.now(), life, ahead: Number.isFinite(low) ? ahead() : null };
}

const life = performance.timeOrigin,
  day = 86400_000;

/**
 * whenAt gives the service's time of a moment, once the service was heard: {at (ms), sure}. Three ways lead to it: this device's
 * clock with what was known then of the service's (first); the same clock with what is known now (second); and how long the page
 * has run since (counted), which nobody can set, but which does not go on everywhere while the device sleeps, so that it may be
 * too late, never too early, and which is not known after a reload. What any two agree on is sure, however long ago that is. Else
 * the clock was set meanwhile, and at is what is likely: what the device's clock tells of the last day, or the latest it can be.
 */
export function whenAt({ device, ran, life: then, ahead: before = null }) {
  const counted = then === life ? now() - (performance.now() - ran) : NaN,
    latest = Number.isNaN(counted) ? now() : counted;
  const [first, second] = [before === null ? NaN : device + before, device + ahead()].map((at) =>
    at <= latest + near ? at : NaN,
  );
  const agree = (a, b) => Math.abs(a - b) < near; // never with what is not known, or cannot be
  for (const [at, other] of [
    [second, counted],
    [first, counted],
    [second, first],
  ])
    if (agree(at, other)) return { at, sure: true };
  return { at: [first, second].find((at) => at > now() - day) ?? latest, sure: false };
}
