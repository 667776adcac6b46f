// Writes that the service does once. One whose answer was lost keeps its key, so that it is the same write when it is tried again.

import { request } from "./api.js";

const long = 600_000; // ms after its answer was given up, after which the same is meant anew

/** patience is how long the answer to a write may take, ms: on bad Wi-Fi none may ever come. */
export const patience = 20_000;

/** newKey gives a key for one write. */
export const newKey = () =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

let last = null; // {what, key, at}: the write that nobody answered yet, and when that was last known

/**
 * once sends a write and gives the body of its answer, for which it waits as long as limit says (ms). What follows a lost answer is the same write when all of it is the
 * same; any other one in between makes an end of that.
 */
export async function once(method, path, body = undefined, { limit = patience } = {}) {
  const what = JSON.stringify([method, path, body]),
    now = Date.now();
  const mine = (last = { what, key: last?.what === what && now - last.at < long ? last.key : newKey(), at: now });
  const answered = () => {
    if (last === mine) last = null;
  };
  try {
    const answer = await request(method, path, {
      body,
      signal: AbortSignal.timeout(limit),
      headers: { "Idempotency-Key": mine.key },
    });
    answered();
    return answer.body;
  } catch (error) {
    mine.at = Date.now(); // however long the answer was waited for
    if (error.status > 0 && error.status < 500) answered();
    throw error;
  }
}
