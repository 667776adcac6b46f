// The pages of the console, in the order of the menu (shared/shell.js says what a page is). ctx has the workspace, too: the draft
// of the manifest.

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
  {
    hidden: true,
    pages: [{ path: "sessions", module: "sessions", label: "Where you are signed in", role: "readonly" }],
  }, // in the menu of the person
];
