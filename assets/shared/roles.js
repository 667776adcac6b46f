// What roles may do, as pages offer it; the service judges.

const roles = ["readonly", "operator", "supervisor", "member", "admin"];

/** atLeast tells whether a role may do what another one may. */
export const atLeast = (role, needed) => roles.indexOf(role) >= roles.indexOf(needed);

/**
 * actsAt tells whether somebody (a profile) acts at a station, or at any where none is named: an operator at those that the
 * tablet is bound to, a supervisor and above at all.
 */
export function actsAt({ role, stationCodes = [] }, stationCode) {
  if (!atLeast(role, "operator")) return false;
  return atLeast(role, "supervisor") || (stationCode ? stationCodes.includes(stationCode) : stationCodes.length > 0);
}
