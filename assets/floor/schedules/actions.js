// What is done with a schedule beside moving it: start, end, cut short, delete, each asked where it is hard to take back.

import { ApiError } from "../../shared/api.js";
import { now as present } from "../../shared/clock.js";
import { attempt, confirm, sentence, toast } from "../../shared/dialog.js";
import { nameOf } from "./bars.js";

/** actions gives what is done with schedules: {start(s), end(s), remove(s)}; each gives whether it was done. */
export function actions(writes, names) {
  const told = (s) =>
    `${nameOf(s, names)}${s.workOrderReference ? ` (${s.workOrderReference})` : ""} at ${names.station(s.stationCode).name}`;

  async function start(s) {
    try {
      await writes.start(s, false);
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 409 || !/is running since/.test(error.message)) {
        toast(sentence(error), "bad");
        return false;
      }
      if (
        !(await confirm({
          title: "Another schedule is running",
          text: `${sentence(error)} End that one now, and start this one?`,
          action: "End and start",
        }))
      )
        return false;
      if (
        (await attempt(async () => {
          await writes.start(s, true);
          return true;
        })) !== true
      )
        return false;
    }
    toast(`Started: ${told(s)}.`);
    return true;
  }

  async function end(s) {
    const short = s.plannedEnd !== null && s.plannedEnd > present();
    if (
      !(await confirm({
        title: short ? "Cut the schedule short?" : "End the schedule?",
        text: `${told(s)} ends now.${short ? " That is before its planned end." : ""} What it has made stays counted.`,
        action: short ? "Cut short" : "End now",
      }))
    )
      return false;
    if (
      (await attempt(async () => {
        await writes.end(s);
        return true;
      })) !== true
    )
      return false;
    toast(`Ended: ${told(s)}.`);
    return true;
  }

  async function remove(s) {
    if (s.state !== "planned") {
      toast(
        s.state === "running" ? "What runs cannot be deleted: end it instead." : "What has ended cannot be deleted.",
      );
      return false;
    }
    if (
      !(await confirm({
        title: "Delete the schedule?",
        text: `${told(s)} goes from the plan.`,
        action: "Delete",
        danger: true,
      }))
    )
      return false;
    if (
      (await attempt(async () => {
        await writes.remove(s);
        return true;
      })) !== true
    )
      return false;
    toast(`Deleted: ${told(s)}.`);
    return true;
  }

  return { start, end, remove };
}
