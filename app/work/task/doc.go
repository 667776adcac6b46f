// Package task makes the Tasks of stations fall due, and lets operators complete them (monitoring.md section 5; http-api.md
// sections 2.3 and 3).
//
// # From a Task to what an operator sees
//
// A manifest's Task is an instruction. What an operator sees is an Instance of it: one for each Task and list each time
// it falls due at a station. The list's trigger says when, or the Task's own where the list has none:
//
//   - schedule: pending from the start of a production schedule, missed at its end;
//   - cron: pending from availableBeforeDeadlineMinutes before a fire of the pattern, in the zone of the station's plant
//     (without them from the fire before), missed at the fire;
//   - on_demand: pending when an operator starts the list; never missed.
//
// A Task that has no trigger, in a list that has none either, is on demand. The Tasks that a SKU names fall due with each
// schedule of that SKU, whatever their own triggers say, unless a list has them fall due with it already; they are in no
// list.
//
// # Time and configuration
//
// What holds is what the manifest said at the moment itself: at the start of a schedule, at a fire. An Instance keeps the
// words with which it was made. A pending one is withdrawn when the manifest no longer asks for it: the list is not
// available at the station any more, the Task is not in it, its trigger is of another type, or its pattern does not fire at
// that deadline. It is then as if it had never been; what was completed or missed stays.
//
// While enableTasks is off nothing falls due and nothing can be completed. What began before, with a schedule or by hand,
// stays pending: it can be done again when the flag is on again, and the end of its schedule misses it. A fire that comes
// while the flag is off is none, and its Task is withdrawn; that comes back when the flag is on again before the fire.
//
// After a pause of the service its fires are gone through with the manifests of their time, and what nobody could see is
// missed. That goes back 31 days at most, and is the newest 1,000 fires of a pattern, the newest 5,000 Instances of a
// station and the newest 20 revisions of the manifest at most; an audit record tells when something was left out.
//
// Of a schedule that a correction takes up again the Tasks that its end had missed are pending again, as far as the manifest
// still asks for them: that end never was. Else missed is final, but for a completion that comes late. A list on demand is
// not started again while Tasks of an earlier start are pending.
//
// # What is kept
//
// An Instance that is not pending is kept for 400 days, and of a station's the newest 10,000: minute by minute that is a
// week of one Task, with ten Tasks in each of three shifts it is eleven months. At most 1,000 Tasks of lists count at one
// station.
//
// The bucket tree:
//
//	task         (account, (station, (available from, ms, number))) -> Instance
//	taskCurrent  the same key: those that are pending, or whose deadline is to come -> ""
//	taskText     (account, SHA-256 cut to 16 bytes) -> what a Task and its list say
//	taskStation  (account, station) -> up to which moment its fires were gone through, and how many Instances it has
package task
