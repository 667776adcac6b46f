// The service's clock, as far as a browser can know it. Tablets' own clocks are wrong by minutes or years, and what people do
// while the network is away is told with its time later. Each answer tells the service's time, which lies between when the
// request was sent and when the answer came; many answers bound closely how far the clocks are apart.

const store = "clock";
let low = -Infinity, high = Infinity; // ms that the service's clock is ahead of this one, at least and at most
let heardNow = false, kept = NaN;

/** heard takes an answer's X-Time header, with when the request was sent and the answer came, ms by this device's clock. */
export function heard(time, sent, came) {
  const at = Number(time ?? NaN);
  if (!Number.isFinite(at) || at === 0 || came < sent) return;
  const [from, to] = [at - came, at - sent];
  if (from > high || to < low) [low, high] = [from, to]; // one of the clocks was set, or runs faster
  else [low, high] = [Math.max(low, from), Math.min(high, to)];
  heardNow = true;
  if (Math.abs(ahead() - kept) < 100) return;
  kept = ahead();
  try {
    localStorage.setItem(store, JSON.stringify([low, high]));
  } catch { /* it is learnt again */ }
}

try {
  const before = JSON.parse(localStorage.getItem(store));
  if (Array.isArray(before) && before.every(Number.isFinite)) [low, high] = before;
} catch { /* nothing was kept */ }

/** ahead gives how many ms the service's clock is ahead of this device's; 0 as long as nothing is known. */
export const ahead = () => (Number.isFinite(low) ? Math.round((low + high) / 2) : 0);

/** now gives the service's time, ms, as well as it is known. */
export const now = () => Date.now() + ahead();

/** sure tells whether the service was heard since the page was opened: what is known from before may be of a clock that was set since. */
export const sure = () => heardNow;
