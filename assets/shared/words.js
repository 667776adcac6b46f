// What the service says, as people read it.

const name = /^[a-z]+[A-Z]|^\S*[@/]|^\S+\.\S/; // such as of a property, a person or a file, which is written as it is

/** say makes a sentence of what the service gave as a reason. */
export function say(text) {
  if (!text) return "The service gave no reason.";
  return (name.test(text) ? text : text[0].toUpperCase() + text.slice(1)) + (/[.!?…]$/.test(text) ? "" : ".");
}

/** wait says how long seconds are. */
export function wait(seconds) {
  if (!(seconds > 0)) return "a minute";
  if (seconds < 100) return `${seconds} ${seconds === 1 ? "second" : "seconds"}`;
  return `${Math.ceil(seconds / 60)} minutes`;
}
