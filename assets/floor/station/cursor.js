// One cursor for the ribbon and all charts: where the pointer is on one of them, all show the moment.

/** Cursor joins charts and a line over the ribbon. told(at) is called with the moment in ms, or null, once per frame. */
export class Cursor {
  #charts = new Set();
  #busy = false;
  #frame = 0;
  at = null;

  /** line shows the cursor over the ribbon (stage.js); null: there is none yet. */
  line = null;

  constructor(told) {
    this.told = told;
  }

  /** hooks are what a chart needs to take part (plot.js's options.hooks). */
  hooks = {
    ready: [
      (chart) => {
        this.#charts.add(chart);
      },
    ],
    destroy: [
      (chart) => {
        this.#charts.delete(chart);
      },
    ],
    setCursor: [
      (chart) => {
        if (this.#busy) return;
        const { left } = chart.cursor;
        this.#move(left === undefined || left < 0 ? null : chart.posToVal(left, "x"), chart);
      },
    ],
  };

  /** move puts the cursor at a moment; null takes it away. */
  move(at) {
    this.#move(at, null);
  }

  #move(at, from) {
    if (at === this.at) return;
    this.at = at;
    this.from = from;
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#busy = true;
      for (const chart of this.#charts)
        if (chart !== this.from)
          chart.setCursor(
            { left: this.at === null ? -10 : chart.valToPos(this.at, "x"), top: this.at === null ? -10 : 5 },
            false,
          );
      this.#busy = false;
      this.line?.(this.at);
      this.told(this.at);
    });
  }
}
