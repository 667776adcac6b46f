// Package schedule plans the production and non-production schedules of stations, starts and ends them by hand or
// automatically, and records the entries of operators (monitoring.md section 4).
//
// # From a plan to the machine
//
// A schedule is planned, running, completed or deleted. Each move between these states is an event in its record, with
// the moment at which it took effect, when it was recorded and by whom. A start, a change and an end are also recorded
// as inputs of the station (package floor), in the same transaction: the figures are calculated from those inputs. An
// automatic move is recorded once, with the moment known at that time; late signals do not change it.
//
// # Rules where the specification leaves a choice
//
//   - A schedule without a known end (continuous, or a quantity without a rate) occupies one moment of the plan. It may
//     begin where no other of its kind is planned, and ends when the next one starts.
//   - A schedule that starts automatically ends the running one of its kind. If another one was started after its
//     planned time, it stays planned and no longer starts automatically.
//   - An end before the planned end is a cut short, no matter who ends it. An operator who may start schedules may also
//     end the running one by starting another (endrunning=true), but needs enableScheduleCutShort for that, too.
//   - A schedule's autoEndOnQuantityComplete overrides the account's enableAutoEndOnQuantityComplete. Only a quantity
//     that was entered ends a schedule, not one calculated from its end.
//   - An entry made while the schedule is paused belongs to it, and counts at the moment before the pause.
//   - A counter-entry reverses an entry as if it had never been made: the source of the count is undecided again. Both
//     entries stay in the log.
//   - An automatic end is placed after the entries that operators made for the schedule, even if late signals show that
//     the quantity was reached before them.
//   - An entry is checked when it is made. If later facts leave no room for it, package monitor decides how much of it
//     counts. Entries show the part that does not count, and schedules the number of such entries. Undoing an entry
//     removes the part that counts.
//
// Sweep deletes schedules that ended before the retention period of figures.
//
// The bucket tree:
//
//	schedule       (account, id) -> Schedule
//	scheduleAt     (account, (station, (kind, (start ms, id)))) -> state and end, of all schedules, for lists
//	scheduleOpen   (account, (station, id)) -> state, end and begin of planned and running schedules
//	schedulePlan   (account, (station, (SKU, planned start ms))) -> id of each production schedule that is not deleted
//	production     (account, id) -> Entry
//	productionAt   (account, (station, (at ms, id))) -> the id of its schedule
package schedule
