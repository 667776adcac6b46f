// Package schedule plans what stations are to make and moves the plans on: production and non-production schedules, their
// states, the moves that people make and those that time and counts make, and what operators enter by hand
// (monitoring.md section 4).
//
// # From a plan to the machine
//
// A schedule is planned, running, completed or deleted. Each move is an event in its record, with the moment at which it
// took effect, when it was recorded and by whom. A start, a change and an end are recorded at the station too (package
// floor), in the same transaction: those are the inputs that the figures are computed from. An automatic move is
// recorded once, with the moment that was known then; signals that come late do not move it.
//
// # Rules where the specification leaves a choice
//
//   - A schedule without a known end (continuous, or a quantity without a rate) lies in the plan as a moment: it may begin
//     where no other of its kind is planned, and gives way to the next that starts.
//   - A schedule that starts by itself ends the one of its kind that runs: it was planned so. Where another was started
//     after its time, it stays planned and does not start by itself any more.
//   - An end before the planned end is a cut short, whoever makes it. Who may run the floor may also end what runs by
//     starting another (endrunning=true); an operator needs enableScheduleCutShort for that as well.
//   - autoEndOnQuantityComplete of a schedule wins over the account's enableAutoEndOnQuantityComplete, which is what holds
//     where the schedule says nothing. Only a quantity that was given ends a schedule, not one that follows from its end.
//   - What an operator enters while the schedule is paused belongs to it, and is put at the moment before the pause.
//   - A counter-entry takes the effect of an entry back as if it had never been: the count's source is open again. Both
//     stay in the log of entries.
//   - An end that comes by itself lies behind what operators entered for the schedule in good faith, though late signals say
//     that its quantity was reached before.
//   - An entry is checked when it is made; what becomes of it when later facts leave no room for it is package monitor's
//     rule. Entries show what of them does not count, and schedules how many such entries they have; taking one back takes
//     back what counts of it.
//
// Sweep removes what was over longer ago than figures are kept.
//
// The bucket tree:
//
//	schedule       (account, id) -> Schedule
//	scheduleAt     (account, (station, (kind, (start ms, id)))) -> state and end, of all schedules, for lists
//	scheduleOpen   (account, (station, id)) -> state, end and begin: those planned or running
//	schedulePlan   (account, (station, (SKU, planned start ms))) -> id: of production schedules that are not deleted
//	production     (account, id) -> Entry
//	productionAt   (account, (station, (at ms, id))) -> the id of its schedule
package schedule
