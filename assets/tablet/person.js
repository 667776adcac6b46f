// Who works here, and at which stations: what this tablet remembers.

import { post } from "../shared/api.js";
import { now } from "../shared/clock.js";
import { fit } from "../shared/initials.js";
import { askInitials } from "./sheets.js";

const longest = 14 * 3600_000; // ms that initials hold where no shift says when it ends
const lately = 6; // initials and reasons that are offered again

const read = (name) => {
  try {
    return JSON.parse(localStorage.getItem(name)) ?? null;
  } catch {
    return null; // nothing is kept in this browser, or what is kept is of somebody else's making
  }
};

const write = (name, value) => {
  try {
    localStorage.setItem(name, JSON.stringify(value));
  } catch {
    /* it holds until the page is closed */
  }
  memory.set(name, value);
};

const memory = new Map(); // what is remembered where the browser keeps nothing
const remembered = (name) => (memory.has(name) ? memory.get(name) : read(name));

/** addTo puts a text at the front of a short list that is remembered. */
function addTo(name, text) {
  write(name, [text, ...(remembered(name) ?? []).filter((other) => other !== text)].slice(0, lately));
}

// over tells whether the shift is over in which somebody said who works at a station.
function over({ at, until }, station) {
  const shift = station.now?.shift;
  return (until && now() > until) || now() > at + longest || (shift && Date.parse(shift.startAt) > at);
}

/** Person remembers who works at which of the stations; who is whose the tablet is. */
export class Person {
  #telling = null; // a promise, while what somebody said is on its way
  #leaving = false;

  constructor(who) {
    this.who = who;
  }

  #name(what, code) {
    return `tablet:${this.who}:${what}:${code}`;
  }

  /** stations gives {codes, current} that were chosen. */
  get stations() {
    return remembered(this.#name("stations", "")) ?? { codes: [], current: "" };
  }

  set stations(chosen) {
    write(this.#name("stations", ""), chosen);
  }

  /** initials gives those of who works at a station (station.js) in the shift that goes on; "" for nobody. */
  initials(station) {
    const kept = remembered(this.#name("initials", station.code));
    return kept?.initials && fit(kept.initials) && !over(kept, station) ? kept.initials : "";
  }

  /** expire takes the initials down of who worked at a station in a shift that is over. */
  expire(station) {
    const kept = remembered(this.#name("initials", station.code));
    if (kept?.initials && over(kept, station)) this.#forget(station, kept);
    else if (kept?.leaves) this.#takeDown(station, kept);
  }

  /** ask asks who works at a station, and tells all. It gives the initials, or "" where nobody said. */
  async ask(station) {
    const known = [
      ...new Set(
        [station.now?.currentOperatorInitials, ...(remembered(this.#name("known", "")) ?? [])].filter(
          (known) => known && fit(known),
        ),
      ),
    ].slice(0, lately);
    const initials = await askInitials({ known, current: this.initials(station) });
    if (!initials) return "";
    const until = station.now?.shift?.endAt;
    write(this.#name("initials", station.code), { initials, at: now(), until: until ? Date.parse(until) : 0 });
    addTo(this.#name("known", ""), initials);
    this.tell(station, true);
    return initials;
  }

  /** working gives the initials of who works at a station, and asks where nobody said yet. */
  async working(station) {
    return this.initials(station) || this.ask(station);
  }

  /**
   * tell puts up at the station who works there, for all to see: anew, or where it is not up and nobody has said since, on another
   * tablet, that they work there. It is no entry that must not be lost: what is entered has the initials in it, and it is told
   * again when the network is back.
   */
  async tell(station, anew = false) {
    const name = this.#name("initials", station.code),
      initials = this.initials(station);
    if (!initials) return;
    const { since } = remembered(name),
      { currentOperatorInitials: is, currentOperatorSince: said } = station.now ?? {};
    if (!anew && since && (is === initials || said > since)) return;
    this.#telling = this.#putUp(station, initials)
      .then(({ result }) => {
        const kept = remembered(name);
        if ((kept?.initials ?? kept?.leaves) === initials) write(name, { ...kept, since: result.currentOperatorSince });
      })
      .catch(() => {}); // it is told again
    await this.#telling;
  }

  #putUp({ code }, initials) {
    return post(
      `/station/${encodeURIComponent(code)}/operator`,
      { initials },
      { signIn: false, headers: { "X-For": encodeURI(this.who) } },
    );
  }

  /** leave forgets who works at a station. */
  leave(station) {
    return this.#forget(station, remembered(this.#name("initials", station.code)));
  }

  #forget(station, kept) {
    const left = kept?.initials ? { leaves: kept.initials, since: kept.since } : null;
    write(this.#name("initials", station.code), left);
    return this.#takeDown(station, left);
  }

  // takeDown takes initials down at the station, as long as nobody has said since this tablet put them up that they work there, on
  // another tablet; what this one has put up may be newer than what it was told of the station. Where no answer said when it put
  // them up, they are its own when they are up. Without the network it is done when that is back (expire).
  async #takeDown(station, left) {
    if (this.#leaving || !left || !station.followed) return;
    const name = this.#name("initials", station.code),
      waits = () => remembered(name)?.leaves === left.leaves; // nobody said meanwhile who works here
    this.#leaving = true;
    try {
      await this.#telling;
      const { since } = remembered(name) ?? {},
        { currentOperatorInitials: is, currentOperatorSince: said } = station.now ?? {};
      if (waits() && (since ? !(said > since) : is === left.leaves)) await this.#putUp(station, null);
    } catch (error) {
      if (error.away || error.other || error.status === 401 || error.status === 429) return;
    } finally {
      this.#leaving = false;
    }
    if (waits()) write(name, null);
  }

  /** reasons gives the codes of reasons that were given lately at a station, the last one first. */
  reasons(code) {
    return remembered(this.#name("reasons", code)) ?? [];
  }

  /** gave remembers a reason. */
  gave(code, reason) {
    addTo(this.#name("reasons", code), reason);
  }
}
