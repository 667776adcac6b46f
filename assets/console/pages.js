// The pages of the console, in the order of the menu. Each is a module in pages/, loaded when it is first shown, that exports
//
//   open(ctx)  -> {title, render(), leave?(), changed?()}, or a promise of it
//
// render gives a template and is called again after ctx.update(). leave is called when another page takes over; changed when
// the path or the query changed and the page is the same. ctx: {profile, can(role), workspace, path (array of what follows the
// page's name, decoded), query (URLSearchParams), navigate(href, {replace}), update()}.

export const sections = [
  { pages: [{ path: "", module: "overview", label: "Overview", role: "readonly" }] },
  {
    label: "Plant",
    pages: [
      { path: "plants", module: "plants", label: "Plants and stations", role: "readonly" },
      { path: "skus", module: "skus", label: "SKUs", role: "readonly" },
      { path: "shifts", module: "shifts", label: "Shift patterns", role: "readonly" },
      { path: "reasons", module: "reasons", label: "Reasons", role: "readonly" },
      { path: "tasks", module: "tasks", label: "Tasks", role: "readonly" },
      { path: "account", module: "account", label: "Account", role: "readonly" },
    ],
  },
  {
    label: "Configuration",
    pages: [
      { path: "manifest", module: "manifest", label: "Manifest", role: "readonly" },
      { path: "revisions", module: "revisions", label: "Revisions", role: "readonly" },
    ],
  },
  {
    label: "Access",
    pages: [
      { path: "users", module: "users", label: "Users", role: "admin" },
      { path: "signins", module: "signins", label: "Pending sign-ins", role: "admin" },
      { path: "tablets", module: "tablets", label: "Tablets", role: "admin" },
      { path: "devices", module: "devices", label: "Devices", role: "admin" },
      { path: "keys", module: "keys", label: "API keys", role: "readonly" },
    ],
  },
  {
    label: "Appliance",
    pages: [
      { path: "appliance", module: "appliance", label: "Appliance", role: "admin" },
      { path: "backups", module: "backups", label: "Backups", role: "admin" },
      { path: "log", module: "log", label: "Log", role: "admin" },
      { path: "audit", module: "audit", label: "Audit", role: "admin" },
    ],
  },
  { hidden: true, pages: [{ path: "sessions", module: "sessions", label: "Where you are signed in", role: "readonly" }] }, // in the menu of the person
];

const roles = ["readonly", "operator", "supervisor", "member", "admin"];

/** atLeast tells whether a role may do what another one may. */
export const atLeast = (role, needed) => roles.indexOf(role) >= roles.indexOf(needed);

/** pageAt finds the page of a path below /console, and what of the path follows its name. */
export function pageAt(pathname) {
  let parts;
  try {
    parts = pathname.split("/").map(decodeURIComponent);
  } catch {
    return null; // no text at all, such as %FF
  }
  const [, , name = "", ...rest] = parts;
  const found = sections.flatMap((s) => s.pages).find((p) => p.path === name);
  return found ? { page: found, path: rest.filter(Boolean) } : null;
}
