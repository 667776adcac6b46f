// Lengths of time that go on: they are written anew each second, and nothing else of the page is drawn for it.

import { AsyncDirective } from "../vendor/lit-html/async-directive.js";
import { directive } from "../vendor/lit-html/directive.js";
import { now } from "./clock.js";
import { duration } from "./format.js";

/** spell writes a length for a list: seconds below an hour, minutes above. */
export const spell = (ms) => duration(ms < 3600000 ? Math.floor(ms / 1000) * 1000 : Math.floor(ms / 60000) * 60000);

const running = new Set();
let timer = 0;

function tick() {
  for (const one of running) one.show();
}

class Ticking extends AsyncDirective {
  render(write) {
    this.write = write;
    if (this.isConnected) this.begin();
    return write(now());
  }

  begin() {
    running.add(this);
    timer ||= setInterval(tick, 1000);
  }

  show() {
    this.setValue(this.write(now()));
  }

  disconnected() {
    running.delete(this);
    if (running.size) return;
    clearInterval(timer);
    timer = 0;
  }

  reconnected() {
    this.begin();
  }
}

/** ticking shows what write(now) gives, each second anew; now is the service's time, ms. */
export const ticking = directive(Ticking);
