// The service's clock, as far as a tablet can know it. Tablets' own clocks are wrong by minutes or years, and what people do
// while the network is away is told with its time later. Every answer carries the service's time in whole seconds, which
// bounds how far the clocks are apart; many answers bound it closely.

const second = 1000;
let low = -Infinity, high = Infinity; // ms that the service's clock is ahead of this one, at least and at most

/** heard takes an answer's Date header, with when the request was sent and the answer came, ms by this device's clock. */
export function heard(date, sent, came) {
  const at = Date.parse(date ?? "");
  if (!Number.isFinite(at)) return;
  const [from, to] = [at - came, at + second - sent];
  if (from > high || to < low) [low, high] = [from, to]; // one of the clocks was set
  else [low, high] = [Math.max(low, from), Math.min(high, to)];
  try {
    localStorage.setItem("clock", JSON.stringify([low, high]));
  } catch { /* it is learnt again */ }
}

try {
  const kept = JSON.parse(localStorage.getItem("clock"));
  if (Array.isArray(kept) && kept.every(Number.isFinite)) [low, high] = kept;
} catch { /* nothing was kept */ }

/** now gives the service's time, ms, as well as it is known. */
export const now = () => Date.now() + (Number.isFinite(low) ? Math.round((low + high) / 2) : 0);

/** ahead gives how many ms the service's clock is ahead of this device's; 0 as long as nothing is known. */
export const ahead = () => (Number.isFinite(low) ? Math.round((low + high) / 2) : 0);
