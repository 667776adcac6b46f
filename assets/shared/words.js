// The texts of pages. They stand in catalogues (assets/words), by key, in ICU MessageFormat. The service puts the texts that a
// page needs into the page.

import { IntlMessageFormat } from "../vendor/intl-messageformat/index.js";

const language = "en";
const syntax = /[{}<'#]/; // a text without these is shown as it stands, which saves parsing most of them

let texts = {};
const messages = new Map(); // by key: parsing costs a hundred times what formatting costs

/** use takes the texts of a catalogue. */
export function use(catalogue) {
  texts = catalogue;
  messages.clear();
}

const catalogue = globalThis.document?.getElementById("words");
if (catalogue) use(JSON.parse(catalogue.textContent));

/**
 * text returns the text of a key. args are its arguments by name; one for a tag is a function from what stands in the tag to
 * what is shown for it. Where an argument is not text, as an html`` template is, the text is a list that templates show.
 * A key without a text is returned itself.
 */
export function text(key, args = undefined) {
  const source = texts[key];
  if (source === undefined) {
    console.error(`The catalogue has no text ${key}.`);
    return key;
  }
  if (!args && !syntax.test(source)) return source;
  if (!messages.has(key)) messages.set(key, new IntlMessageFormat(source, language));
  return messages.get(key).format(args);
}

const name = /^[a-z]+[A-Z]|^\S*[@/]|^\S+\.\S/; // such as of a property, a person or a file, which is written as it is

/** say makes a sentence of what the service gave as a reason. */
export function say(reason) {
  if (!reason) return text("shared.reason.none");
  return (name.test(reason) ? reason : reason[0].toUpperCase() + reason.slice(1)) + (/[.!?…]$/.test(reason) ? "" : ".");
}

/** wait says how long seconds are. */
export function wait(seconds) {
  if (seconds > 0 && seconds < 100) return text("shared.wait.seconds", { seconds });
  return text("shared.wait.minutes", { minutes: seconds > 0 ? Math.ceil(seconds / 60) : 1 });
}
