// What is entered in the form of a schedule outlives the page, in this tab alone: whoever is signed out meanwhile, or loads the
// page anew, finds it again.

const name = ({ accountId, email }) => `schedule-form:${accountId}:${email}`;

// A browser may keep nothing at all.
const tried = (work) => {
  try {
    return work();
  } catch {
    return null;
  }
};

/** keepDraft keeps what a form holds, {id, said, type, rate}; dropDraft forgets it. */
export const keepDraft = (profile, draft) => tried(() => sessionStorage.setItem(name(profile), JSON.stringify(draft)));
export const dropDraft = (profile) => tried(() => sessionStorage.removeItem(name(profile)));

/** draftOf gives what was kept for a person, or null. */
export const draftOf = (profile) => tried(() => JSON.parse(sessionStorage.getItem(name(profile))));
