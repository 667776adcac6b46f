// Reads that may take long: one at a time, ended when something else is asked for.

import { get, query } from "../../shared/api.js";

const slow = 400; // ms after which it is said what is being done

/** Reader holds what was read last: data, error, and since when (ms) the next is being read (0: nothing is). changed is called at each change. */
export class Reader {
  data = null;
  error = null;
  since = 0;
  #changed;
  #abort = null;
  #timer = 0;

  constructor(changed) {
    this.#changed = changed;
  }

  /** told says that reading takes so long that people are to be told. */
  get told() {
    return this.since > 0 && Date.now() - this.since >= slow;
  }

  /** read calls work with ask(path, values), which gives an answer of the API; whatever was being read before is cancelled. */
  async read(work) {
    this.stop();
    const abort = (this.#abort = new AbortController());
    Object.assign(this, { since: Date.now(), error: null });
    this.#timer = setInterval(this.#changed, slow);
    this.#changed();
    const ask = (path, values) => get(path + query(values), { signal: abort.signal });
    try {
      const data = await work(ask);
      if (this.#abort === abort) this.data = data;
    } catch (error) {
      if (this.#abort === abort) Object.assign(this, { error, data: null });
    }
    abort.abort(); // what else was asked for is not wanted any more
    if (this.#abort === abort) this.#end();
  }

  /** stop cancels what is being read; what was read before stays. */
  stop() {
    this.#abort?.abort();
    if (this.#abort) this.#end();
  }

  #end() {
    clearInterval(this.#timer);
    Object.assign(this, { since: 0 });
    this.#abort = null;
    this.#changed();
  }
}
