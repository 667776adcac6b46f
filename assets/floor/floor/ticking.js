// Times that go on by themselves, by the service's clock. One timer serves all of a page.

import { now } from "../../shared/clock.js";
import { text } from "../../shared/words.js";

const listeners = new Set();
let timer = 0;

/** everySecond calls a function with the service's time, ms, at once and at each full second; it gives a function that ends it. */
export function everySecond(call) {
  listeners.add(call);
  call(now());
  timer ||= setTimeout(tick, 1000 - (now() % 1000));
  return () => {
    listeners.delete(call);
    if (listeners.size) return;
    clearTimeout(timer);
    timer = 0;
  };
}

function tick() {
  timer = setTimeout(tick, 1000 - (now() % 1000));
  const at = now();
  for (const call of listeners) call(at);
}

/**
 * elapsed writes how long something goes on, short enough to be read from afar, and never like a time of day: "45 s", "12 min",
 * "3 h 12 min", "15 h", "2 d 4 h".
 */
export function elapsed(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000)),
    minutes = Math.floor(seconds / 60),
    hours = Math.floor(minutes / 60);
  if (minutes === 0) return text("floor.floor.elapsed.seconds", { seconds });
  if (hours === 0) return text("floor.floor.elapsed.minutes", { minutes });
  if (hours >= 10 && hours < 24) return text("floor.floor.elapsed.hours", { hours });
  return hours < 24
    ? text("floor.floor.elapsed.hoursAndMinutes", { hours, minutes: minutes % 60 })
    : text("floor.floor.elapsed.days", { days: Math.floor(hours / 24), hours: hours % 24 });
}
