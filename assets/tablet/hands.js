// What hands in gloves do to a page, and what it must not do then: nothing is zoomed, pulled, marked or pressed twice.

let until = 0; // ms of performance.now: touches before it mean what was there before

/** rest lets nothing be pressed for a moment, after other controls have come under the finger: a second tap was meant for the first. */
export function rest(ms = 300) {
  until = Math.max(until, performance.now() + ms);
  document.body.toggleAttribute("data-resting", true);
  setTimeout(() => {
    if (performance.now() >= until) document.body.removeAttribute("data-resting");
  }, ms + 10);
}

/** mindHands begins to. */
export function mindHands() {
  const stop = (event) => {
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  addEventListener(
    "click",
    (event) => {
      if (event.detail > 0 && performance.now() < until) stop(event);
    },
    true,
  ); // keys have none
  addEventListener("contextmenu", (event) => {
    if (!event.target.closest?.("input, textarea")) event.preventDefault();
  });
  addEventListener("gesturestart", (event) => event.preventDefault()); // zoom of Safari
  addEventListener("dblclick", (event) => event.preventDefault());
  addEventListener(
    "wheel",
    (event) => {
      if (event.ctrlKey) event.preventDefault();
    },
    { passive: false },
  );
}

/** stayAwake keeps the screen on as long as the page is seen, where the browser lets it. */
export function stayAwake() {
  let lock = null;
  const ask = async () => {
    if (document.visibilityState !== "visible" || (lock && !lock.released)) return;
    try {
      lock = (await navigator.wakeLock?.request("screen")) ?? null;
    } catch {
      /* the battery is low, or it is not allowed here: the screen goes dark as it always does */
    }
  };
  document.addEventListener("visibilitychange", ask);
  addEventListener("pointerdown", ask, { passive: true });
  ask();
}
