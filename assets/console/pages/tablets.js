// Tablets of the shop floor: paired by a QR code, bound to stations, revocable.

import { html } from "../../vendor/lit-html/lit-html.js";
import { del, get, post } from "../../shared/api.js";
import { ask } from "../../shared/ask.js";
import { confirm } from "../../shared/dialog.js";
import { ago, time } from "../../shared/format.js";
import { propertyOf, schemas } from "../../shared/schema.js";
import { showSecret } from "../../shared/secret.js";
import { listPage } from "../listpage.js";
import { stationOptions } from "../choices.js";

export async function open(ctx) {
  const all = await schemas();
  const add = async (list) => {
    const made = await list.run(() =>
      ask({
        title: "Pair a tablet",
        action: "Make the QR code",
        values: { role: "operator" },
        send: (values) => post("/tablet", values),
        intro: "The tablet signs in with a name of its own, and acts on the stations that it is given.",
        fields: () => [
          {
            name: "name",
            label: "Name",
            schema: propertyOf(all, "TabletCreate", "name"),
            required: true,
            autofocus: true,
          },
          {
            name: "role",
            label: "Role",
            schema: propertyOf(all, "TabletCreate", "role"),
            required: true,
            options: (propertyOf(all, "TabletCreate", "role").enum ?? ["operator"]).map((value) => ({
              value,
              label: value,
            })),
          },
          {
            name: "stationCodes",
            label: "Stations",
            schema: propertyOf(all, "TabletCreate", "stationCodes"),
            options: stationOptions(ctx.workspace.base),
            required: true,
          },
        ],
      }),
    );
    if (!made) return;
    const { link, expiresAt } = made.result;
    await showSecret({
      title: "Pair the tablet",
      text: link,
      link: true,
      expiresAt,
      intro:
        "Scan this with the tablet's camera, or open the link there. The tablet must trust the appliance's certificate first (page /trust).",
    });
    await list.reload();
  };
  const revoke = (list, tablet) =>
    list.run(async () => {
      if (
        !(await confirm({
          title: `Revoke ${tablet.name}?`,
          text: "It is signed out at once. What was entered on it stays; what it could not send yet waits on it, and goes when it is paired again by the same name.",
          action: "Revoke",
          danger: true,
        }))
      )
        return undefined;
      await del(`/tablet/${encodeURIComponent(tablet.id)}`);
      return true;
    }, "The tablet is revoked.");
  return listPage(ctx, {
    title: "Tablets",
    empty: "No tablet was paired yet.",
    texts: (t) => [t.name, ...t.stationCodes],
    key: (t) => t.id,
    order: { by: "name" },
    every: 10000,
    load: async () => (await get("/tablet")).results,
    head: (list) => html`<button type="button" class="button primary" @click=${() => add(list)}>Pair a tablet</button>`,
    columns: (list) => [
      { name: "name", label: "Tablet", text: (t) => t.name },
      { name: "role", label: "Role", text: (t) => t.role },
      {
        name: "stations",
        label: "Stations",
        text: (t) => t.stationCodes.join(", "),
        cell: (t) => html`<span class="wrap">${t.stationCodes.join(", ")}</span>`,
      },
      {
        name: "pairedAt",
        label: "Paired",
        text: (t) => t.pairedAt ?? "",
        cell: (t) =>
          t.pairedAt
            ? html`<span class="state ok" title=${time(t.pairedAt)}>${ago(t.pairedAt)}</span>`
            : html`<span class="state wait">waits to be paired</span>`,
      },
      { name: "createdAt", label: "Made", text: (t) => t.createdAt, cell: (t) => ago(t.createdAt) },
      {
        name: "actions",
        label: "",
        cell: (t) =>
          html`<button type="button" class="button small" aria-label=${`Revoke ${t.name}`} @click=${() => revoke(list, t)}>Revoke</button>`,
      },
    ],
  });
}
