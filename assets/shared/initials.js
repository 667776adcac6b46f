// The initials of a person, by the same rule as the service's: 3 to 8 letters or digits of any script, a letter with its marks.

import { text } from "./words.js";

/** rule says what initials are. */
export const rule = () => text("shared.initials");

/** fit tells whether a text is initials, whatever blanks stand around it. */
export function fit(typed) {
  const initials = typed.trim(),
    length = Array.from(initials).length;
  return length >= 3 && length <= 8 && /^[\p{L}\p{Nd}][\p{L}\p{Nd}\p{M}]*$/u.test(initials);
}
