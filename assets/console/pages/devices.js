// Devices: what sends signals, when it was last seen, and what is wrong with it.

import { html, nothing } from "../../vendor/lit-html/lit-html.js";
import { del, get, post } from "../../shared/api.js";
import { now } from "../../shared/clock.js";
import { ask } from "../../shared/ask.js";
import { confirm } from "../../shared/dialog.js";
import { ago, count, duration, number, time } from "../../shared/format.js";
import { propertyOf, schemas } from "../../shared/schema.js";
import { secret, showSecret } from "../../shared/secret.js";
import { listPage } from "../listpage.js";
import { stationOptions } from "../choices.js";

/** A device that was silent for so long, in milliseconds, is shown as such: as long as a station takes to be disconnected. */
const silent = 5 * 60000;

export async function open(ctx) {
  const all = await schemas();
  const add = async (list) => {
    const made = await list.run(() =>
      ask({
        title: "Add a device",
        action: "Add",
        send: (values) => post("/device", values),
        intro: "A device may send the signals of its stations, over HTTP and MQTT, and do nothing else.",
        fields: () => [
          {
            name: "name",
            label: "Name",
            schema: propertyOf(all, "DeviceCreate", "name"),
            required: true,
            autofocus: true,
          },
          {
            name: "stationCodes",
            label: "Stations",
            schema: propertyOf(all, "DeviceCreate", "stationCodes"),
            options: stationOptions(ctx.workspace.base),
            required: true,
          },
        ],
      }),
    );
    if (!made) return;
    const { id, token } = made.result ?? made;
    await showSecret({
      title: "The device's token",
      text: token,
      intro: "Over HTTP it goes into the header X-API-KEY. Over MQTT it is the password.",
      more: html`<p>The user name for MQTT:</p>${secret(id, "User name for MQTT")}`,
    });
  };
  const revoke = (list, device) =>
    list.run(async () => {
      if (
        !(await confirm({
          title: `Revoke ${device.name}?`,
          text: "Its connections end at once, and what it sends is refused. What it has sent stays.",
          action: "Revoke",
          danger: true,
        }))
      )
        return undefined;
      await del(`/device/${encodeURIComponent(device.id)}`);
      return true;
    }, "The device is revoked.");
  return listPage(ctx, {
    title: "Devices",
    empty: "No device was added yet.",
    texts: (d) => [d.name, ...d.stationCodes, d.lastIssue],
    key: (d) => d.id,
    order: { by: "name" },
    every: 10000,
    load: async () => (await get("/device")).results,
    head: (list) => html`<button type="button" class="button primary" @click=${() => add(list)}>Add a device</button>`,
    columns: (list) => [
      {
        name: "name",
        label: "Device",
        text: (d) => d.name,
        cell: (d) =>
          html`<bdi class="wrap">${d.name}</bdi><br><span class="muted small">${d.connections ? count(d.connections, "MQTT connection") : ""}</span>`,
      },
      {
        name: "stations",
        label: "Stations",
        text: (d) => d.stationCodes.join(", "),
        cell: (d) =>
          html`<span class="wrap">${d.stationCodes.slice(0, 6).join(", ")}${d.stationCodes.length > 6 ? html` <span title=${d.stationCodes.join(", ")}>and ${d.stationCodes.length - 6} more</span>` : nothing}</span>`,
      },
      {
        name: "lastSeenAt",
        label: "Last seen",
        text: (d) => d.lastSeenAt ?? "",
        cell: (d) =>
          html`<span class=${seen(d)} title=${time(d.lastSeenAt, { seconds: true })}>${ago(d.lastSeenAt)}</span>`,
      },
      {
        name: "rate",
        label: "Signals/s",
        numeric: true,
        text: (d) => d.signalsPerSecond,
        cell: (d) => number(d.signalsPerSecond),
      },
      { name: "accepted", label: "Taken", numeric: true, text: (d) => d.accepted, cell: (d) => number(d.accepted) },
      {
        name: "refused",
        label: "Refused",
        numeric: true,
        text: (d) => d.refused,
        cell: (d) =>
          html`${number(d.refused)}${d.throttled ? html`<br><span class="muted small">${number(d.throttled)} slowed down</span>` : nothing}`,
      },
      {
        name: "clock",
        label: "Clock",
        text: (d) => d.clockAheadMs,
        numeric: true,
        cell: (d) =>
          d.clockAheadMs > 0
            ? html`<span class="state wait" title=${duration(d.clockAheadMs)}>${duration(Math.round(d.clockAheadMs / 1000) * 1000)} ahead</span>`
            : "right",
      },
      {
        name: "issue",
        label: "Last problem",
        text: (d) => d.lastIssue,
        cell: (d) =>
          d.lastIssue
            ? html`<span dir="auto">${d.lastIssue}</span><br><span class="muted small">${ago(d.lastIssueAt)}</span>`
            : "",
      },
      {
        name: "actions",
        label: "",
        cell: (d) =>
          html`<button type="button" class="button small" aria-label=${`Revoke ${d.name}`} @click=${() => revoke(list, d)}>Revoke</button>`,
      },
    ],
  });
}

const seen = (device) =>
  !device.lastSeenAt ? "state" : now() - Date.parse(device.lastSeenAt) < silent ? "state ok" : "state wait";
