// What is entered in a form outlives the page, in this tab alone: whoever is signed out meanwhile, or loads the page anew, finds
// it again.

/** forms names what is kept of each form. */
export const forms = { schedule: "schedule-form", correction: "correction-form", task: "task-form", list: "list-form" };

const name = (form, { accountId, email }) => `${form}:${accountId}:${email}`;

// A browser may keep nothing at all.
const tried = (work) => {
  try {
    return work();
  } catch {
    return null;
  }
};

/** keepDraft keeps what a form (one of forms) holds; dropDraft forgets it. */
export const keepDraft = (form, profile, draft) =>
  tried(() => sessionStorage.setItem(name(form, profile), JSON.stringify(draft)));
export const dropDraft = (form, profile) => tried(() => sessionStorage.removeItem(name(form, profile)));

/** draftOf gives what was kept for a person, or null. */
export const draftOf = (form, profile) => tried(() => JSON.parse(sessionStorage.getItem(name(form, profile))));
