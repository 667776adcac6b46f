// Package task makes the Tasks of stations due and lets operators complete them (monitoring.md section 5; http-api.md
// sections 2.3 and 3).
//
// # Tasks and Instances
//
// A Task of the manifest is an instruction. Each time it becomes due at a station, for each list that contains it, an
// Instance is made, which operators see. The list's trigger decides when, or the Task's own if the list has none:
//
//   - schedule: pending from the start of a production schedule, missed at its end;
//   - cron: pending from availableBeforeDeadlineMinutes before a fire of the pattern, in the zone of the station's
//     plant (without that setting, from the previous fire), missed at the fire;
//   - on_demand: pending when an operator starts the list; never missed.
//
// A Task without a trigger in a list without one is on demand. The Tasks that a SKU names become due with each schedule
// of that SKU, whatever their own triggers, unless a list makes them due with the schedule anyway. They belong to no
// list.
//
// # Time and configuration
//
// The manifest in force at the moment itself applies: at the start of a schedule, or at a fire. An Instance keeps the
// texts that it was made with. A pending Instance is withdrawn when the manifest no longer requires it: the list is no
// longer available at the station, the Task is no longer in the list, its trigger has another type, or its pattern does
// not fire at that deadline. A withdrawn Instance is deleted; completed and missed ones remain.
//
// While enableTasks is off, no Task becomes due and none can be completed. An Instance made before, by a schedule or by
// hand, stays pending: it can be completed when the flag is on again, and is missed at the end of its schedule. A fire
// while the flag is off is ignored, and its pending Instance is withdrawn. It is made again if the flag is on again
// before the fire.
//
// After a pause of the service, the fires meanwhile are made up with the manifests in force at their times, and Tasks
// that nobody could see are missed. This is limited to 31 days, the newest 1,000 fires of a pattern, the newest 5,000
// Instances of a station and the newest 20 revisions of the manifest. An audit record reports when something was left
// out.
//
// When a correction reopens a schedule, the Tasks missed at its end are pending again if the manifest still requires
// them. Otherwise a missed Task stays missed, except after a completion that arrives late. A list on demand cannot be
// started again while Tasks of an earlier start are pending.
//
// # Retention
//
// An Instance that is not pending is stored for 400 days, up to the newest 10,000 of a station. With one Task every
// minute that is a week; with ten Tasks in each of three shifts it is eleven months. At most 1,000 Tasks of lists are
// used at one station.
//
// The bucket tree:
//
//	task         (account, (station, (available from, ms, number))) -> Instance
//	taskCurrent  the same key, for Instances that are pending or whose deadline is in the future -> ""
//	taskText     (account, SHA-256 cut to 16 bytes) -> the texts of a Task and its list
//	taskStation  (account, station) -> the time up to which fires were processed, and the number of Instances
package task
