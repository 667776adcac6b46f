// The initials of a person, by the same rule as the service's: 3 to 8 letters or digits of any script, a letter with its marks.

export const rule = "3 to 8 letters or digits";

/** fit tells whether a text is initials, whatever blanks stand around it. */
export function fit(text) {
  const initials = text.trim(),
    length = Array.from(initials).length;
  return length >= 3 && length <= 8 && /^[\p{L}\p{Nd}][\p{L}\p{Nd}\p{M}]*$/u.test(initials);
}
