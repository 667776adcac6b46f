// What an operator does goes through here: it is kept first, then sent, in the order in which it was done. What the network
// does not take waits, through a reload and a flat battery, and goes when it can. Each action has a key of its own, by which
// the service does it once however often it is sent, and its own time (monitoring.md section 4).

import { ApiError, request } from "../shared/api.js";
import { keep } from "../shared/keep.js";
import { moment, now, remember, sure, whenAt } from "../shared/clock.js";

const patience = 2500; // ms that an action may be on its way before it is said to wait
const limit = 15_000,
  longest = 60_000; // ms for an answer, at first and at most; on bad Wi-Fi none may ever come, or late
const out = 15; // seconds between looks whether who did what waits has signed in again, such as in another tab
const pauses = [1, 2, 4, 8, 15]; // seconds between attempts
const week = 7 * 86400_000; // ms
const most = 200; // ids that are at hand; the browser keeps those of a week
const marked = "mark:queue"; // holds {mark}: the random id of what the browser keeps, which goes when somebody clears it
const faults = 10; // attempts at one action that the service fails at (500), before it is put aside

/**
 * Queue is an EventTarget: "change" when any of these did. waiting and refused are arrays of actions {id, label, station, zone
 * (the station's), at (ms), method, path, body}; refused ones have error {status, code, message, details}; unsure ones were sent
 * with a time that may be wrong, as this device's clock was set after they were done. signedOut tells that nobody takes them until
 * who did them signs in; kept is false where the browser does not keep them, so that closing the page loses what waits; others
 * are actions that wait of somebody else who was signed in in this browser: nobody else sends them.
 */
class Queue extends EventTarget {
  waiting = [];
  refused = [];
  unsure = [];
  signedOut = false;
  others = [];
  #who = "";
  #opened = null; // called when it is known whose actions these are
  #known = new Promise((done) => {
    this.#opened = done;
  });
  #loaded = false; // what was left is known
  #mark = ""; // of what the browser keeps, as this page has seen it last
  #last = 0;
  #attempt = 0;
  #late = 0; // attempts at one action that no answer came to in time
  #stop = new AbortController(); // ends what is under way
  #timer = 0;
  #running = null;
  #wanted = false;
  #promises = new Map(); // by id: what act promised
  #made = new Map(); // by id of an action that was sent from here: id of what the service made of it

  /** kept tells whether the browser keeps what waits. */
  get kept() {
    return this.waiting.every((action) => action.kept);
  }

  /** open takes up what was left, of the person or tablet that a profile is of. */
  async open(profile) {
    if (!this.#who) addEventListener("online", () => this.sendAnew());
    this.#who = whoIs(profile);
    remember();
    this.signedOut = this.#loaded = false;
    await this.#load();
    this.#opened(); // what is done from here on comes after what was left, whatever this device's clock shows
    this.#changed();
    await this.#forget();
    this.send();
  }

  // forget lets go of what was made long ago: a page may stay open for months.
  async #forget() {
    for (const id of [...this.#made.keys()].slice(0, -most / 2)) this.#made.delete(id);
    for (const { id } of (await keep.list("made:")) ?? [])
      if (parseInt(id, 10) < Date.now() - week) keep.remove(`made:${id}`);
  }

  /**
   * act does something: it gives a promise of {state: "sent", answer} (the body of the answer), {state: "waiting"} when that
   * takes long, or {state: "refused", error}. stamp is the name of the field that the time goes into, "" for none.
   * In a path @ID is what an action of that id makes, which has no id of the service's own before it is sent.
   */
  async act({ method = "POST", path, body = {}, label, station, zone, stamp = "at" }) {
    const at = now(),
      done = moment();
    await this.#known;
    this.#last = Math.max(Date.now(), this.#last + 1);
    const id = `${String(this.#last).padStart(15, "0")}-${random(6)}`;
    const action = {
      id,
      key: random(20),
      who: this.#who,
      method,
      path,
      body,
      label,
      station,
      zone,
      at,
      moment: done,
      stamp: stamp in body ? "" : stamp,
      faults: 0,
      kept: true,
    };
    if (sure()) stampIt(action, at);
    await this.#keep("queue", action);
    this.waiting.push(action);
    const settled = new Promise((done) => this.#promises.set(id, done));
    this.#changed();
    this.send();
    return Promise.race([
      settled,
      new Promise((done) => {
        setTimeout(() => done({ state: "waiting" }), patience);
      }),
    ]);
  }

  /** signOut says that nobody is signed in any more. */
  signOut() {
    if (this.signedOut) return;
    this.signedOut = true;
    this.#later(out);
  }

  /** dismiss takes an action off the lists of what was refused and what is unsure. */
  async dismiss(id) {
    for (const list of ["refused", "unsure"]) {
      await keep.remove(`${list}:${id}`);
      this[list] = this[list].filter((action) => action.id !== id);
    }
    this.#changed();
  }

  /** drop gives up actions of somebody else. */
  async drop(actions) {
    for (const { id } of actions) await keep.remove(`queue:${id}`);
    const gone = new Set(actions.map(({ id }) => id));
    this.others = this.others.filter(({ id }) => !gone.has(id));
    this.#changed();
  }

  /** send tries now to send what waits; it is called by itself whenever that may help. */
  send() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.#wanted = true;
    return (this.#running ??= this.#run());
  }

  /**
   * sendAnew is send for when somebody asks for it, or the network is back: it ends what is under way, as no answer may ever come to
   * that on a network that was away. Its key keeps it from being done twice.
   */
  sendAnew() {
    this.#stop.abort();
    this.#stop = new AbortController();
    return this.send();
  }

  async #run() {
    try {
      while (this.#wanted) {
        // what is done while others are on their way is in the next round
        this.#wanted = false;
        await this.#locked();
      }
    } catch {
      // a fault of the browser's: what waits is tried again
      this.#later();
    } finally {
      this.#running = null;
    }
  }

  // Of several tabs one sends at a time, so that the order holds. Without TLS browsers have no locks: then the keys keep an
  // action from being done twice.
  #locked() {
    const all = async () => {
      await this.#load(); // another tab may have sent some
      await this.#drain();
    };
    return navigator.locks ? navigator.locks.request("tablet-queue", all) : all();
  }

  // load takes up what the browser keeps. What is known here alone stays when the browser did not take it, when it was added
  // meanwhile, and when the browser's storage was cleared, even if another tab keeps things there since; else another tab has seen to it.
  async #load() {
    const here = () => [[...this.waiting, ...this.others], this.refused, this.unsure],
      ids = (list) => new Set(list.map(({ id }) => id));
    const before = here().map(ids);
    const kept = await Promise.all(["queue:", "refused:", "unsure:", marked].map(keep.list)); // the mark last: it is of what was read, or newer
    if (kept.includes(null)) {
      // the browser cannot tell, or not yet: what is known here goes on
      if (!this.#loaded) this.#later();
      return;
    }
    this.#loaded = true;
    const mark = kept[3][0]?.mark ?? "",
      cleared = this.#mark ? mark !== this.#mark : !mark;
    const [queued, refused, unsure] = here().map((list, i) => {
      const known = ids(kept[i]),
        only = list.filter(({ id, kept }) => !known.has(id) && (cleared || !kept || !before[i].has(id)));
      for (const action of kept[i]) action.kept = true;
      return [...kept[i], ...only].sort((a, b) => (a.id < b.id ? -1 : 1)); // as they were done
    });
    const mine = (action) => action.who === this.#who,
      left = ids(queued);
    for (const { id } of this.waiting) if (!left.has(id)) this.#settle(id, { state: "sent", answer: null }); // by another tab
    [this.waiting, this.refused, this.unsure] = [queued, refused, unsure].map((list) => list.filter(mine));
    this.others = queued.filter((action) => !mine(action));
    this.#last = queued.reduce((last, action) => Math.max(last, parseInt(action.id, 10)), this.#last); // this device's clock may have been set back
    if (cleared) await this.#keepAgain({ queue: queued, refused, unsure }, mark);
    else this.#mark = mark;
  }

  // keepAgain keeps everything in a browser that kept nothing yet, or has thrown away what it kept, such as when somebody cleared
  // it. What another tab has sent meanwhile is sent again: its key keeps it from being done twice.
  async #keepAgain(lists, mark) {
    for (const [list, actions] of Object.entries(lists)) for (const action of actions) await this.#keep(list, action);
    this.#mark = mark || random(8);
    if (!mark) await keep.setSurely(marked, { mark: this.#mark });
  }

  async #keep(list, action) {
    action.kept = (await keep.setSurely(`${list}:${action.id}`, action)) !== undefined;
  }

  async #drain() {
    for (let mine = false; this.waiting.length > 0 || this.signedOut; ) {
      const action = this.waiting[0];
      let answer,
        asked = false;
      try {
        mine ||= await this.#isMe();
        if (!mine) return this.#later(out);
        if (!action) return; // nothing waits but for whether they are back
        asked = true;
        answer = await this.#ask(action);
      } catch (error) {
        if (error.status === 401 || error.other) {
          // such as when another one has signed in since isMe
          this.signedOut = true;
          return this.#later(out);
        }
        if (!asked || !(await this.#isRefused(action, error))) return this.#later(error.retryAfter);
        await this.#done(action, { state: "refused", error });
        continue;
      }
      await this.#done(action, { state: "sent", answer });
    }
  }

  // request is request of api.js; it ends what takes too long, and waits longer each time that an answer did not come in time, as on
  // a slow line every one may take so long. What fails at once tells nothing of that.
  async #request(method, path, options = {}) {
    const late = AbortSignal.timeout(Math.min(longest, limit * (1 + this.#late)));
    try {
      return await request(method, path, {
        ...options,
        signIn: false,
        signal: AbortSignal.any([late, this.#stop.signal]),
      });
    } catch (error) {
      if (late.aborted) this.#late++;
      throw error;
    }
  }

  // isMe tells whether the service takes what is sent for that of whose it is: somebody else may have signed in beside.
  async #isMe() {
    const { body } = await this.#request("GET", "/auth/profile");
    const me = whoIs(body.result) === this.#who;
    if (me !== !this.signedOut) {
      this.signedOut = !me;
      this.#changed();
    }
    return me;
  }

  async #ask(action) {
    if (action.stamp) {
      // it was done when nothing was heard of the service's clock yet
      if (!sure()) await this.#request("GET", "/health");
      const when = whenAt(action.moment);
      stampIt(action, when.at);
      action.unsure = !when.sure;
      await keep.setSurely(`queue:${action.id}`, action); // what is sent again must be the same
    }
    const path = await this.#path(action);
    const { headers, body: answer } = await this.#request(action.method, path, {
      body: action.body,
      headers: { "Idempotency-Key": action.key, "X-For": encodeURI(action.who) },
    });
    if (!headers.get("X-Time")) throw new ApiError(0, "unreachable", "somebody else answers in the service's place"); // such as a guest network's page
    return answer;
  }

  // isRefused tells whether an error is the last word on an action. A fault of the service is not, until it came often; nor is
  // anything that others say, such as a guest network's page or a proxy.
  async #isRefused(action, error) {
    if (!(error instanceof ApiError) || error.away || [408, 429, 504].includes(error.status)) return false;
    if (error.status < 500) return true;
    action.faults++;
    await keep.setSurely(`queue:${action.id}`, action);
    return action.faults >= faults;
  }

  async #done(action, result) {
    this.#attempt = this.#late = 0;
    const made = result.answer?.result?.id;
    if (made) this.#made.set(action.id, made);
    if (made) await keep.setSurely(`made:${action.id}`, { id: action.id, made });
    if (this.#made.size > most) await this.#forget();
    if (result.state === "refused") await this.#tell("refused", { ...action, error: plain(result.error) });
    else if (action.unsure) await this.#tell("unsure", { ...action });
    this.waiting = this.waiting.filter((other) => other.id !== action.id);
    await keep.remove(`queue:${action.id}`);
    this.#settle(action.id, result);
    this.#changed();
  }

  // tell puts an action on the list of what was refused or what is unsure, until somebody has read it.
  async #tell(list, action) {
    await this.#keep(list, action);
    this[list].push(action);
  }

  // path fills in the id of what an action before has made: @ID in the path of one that belongs to it. An action that is sent
  // again, as its answer came to nobody, has the same answer.
  async #path({ path }) {
    const [, of] = /@(\d+-[0-9a-f]+)/.exec(path) ?? [];
    if (!of) return path;
    const made = this.#made.get(of) ?? (await keep.get(`made:${of}`))?.made;
    if (!made) throw new ApiError(409, "conflict", "what this belongs to was not done");
    return path.replace(`@${of}`, encodeURIComponent(made));
  }

  #settle(id, result) {
    this.#promises.get(id)?.(result);
    this.#promises.delete(id);
  }

  #later(seconds) {
    clearTimeout(this.#timer);
    const pause = seconds || pauses[Math.min(this.#attempt++, pauses.length - 1)];
    this.#timer = setTimeout(() => this.send(), pause * 1000);
    this.#changed();
  }

  #changed() {
    this.dispatchEvent(new Event("change"));
  }
}

// stampIt writes the time into an action, once.
function stampIt(action, at) {
  if (action.stamp) action.body = { ...action.body, [action.stamp]: new Date(at).toISOString() };
  Object.assign(action, { at, stamp: "" });
}

const whoIs = (profile) => `${profile.accountId}/${profile.email}`;

const plain = ({ status, code, message, details }) => ({ status, code, message, details });

// random gives that many random bytes as text. (crypto.randomUUID is missing where there is no TLS.)
const random = (bytes) =>
  Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (b) => b.toString(16).padStart(2, "0")).join("");

export const queue = new Queue();
