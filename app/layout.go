package app

import (
	"opsmon/app/engine/station"
	"opsmon/app/ingest/signal"
	"opsmon/app/services"
	"opsmon/kv"
)

// The store's file, app.db in the data directory, holds these buckets (each room's package comment says what
// is in its own; none is nested, composite keys do that work):
//
//	setting, pulse, clock                                          this package
//	account, document, rendered, revision, gone                    package account
//	audit                                                          package audit
//	authUser, authKey, authKeyUse, authSession, authTablet,        package auth
//	authDevice, authLink, authCode, authWait, authLastAccount
//	signalTail, signal, signalOpen, signalId, signalIdRun,         package signal
//	signalSettled, signalLate, signalSender, signalCrowd, signalSwept
//	issue, issueReach, issueOpen                                   package issue
//	historyDetail, historyIssue, historyHour, historyDay,          package history
//	historyState, historyFormat, historyLost
//	stationBoard, correction, revisionEffect, ruleChange,          package station
//	skuChange, tariffChange, ruleParts
//	ledger, ledgerLate, ledgerLink                                 package ledger
//	ledgerAgain                                                    package floor
//	once, onceAge, refused, refusedAge                             package idempotency
//	schedule, scheduleAt, scheduleOpen, schedulePlan,              package schedule
//	production, productionAt
//	task, taskCurrent, taskText, taskStation                       package task
//	message                                                        package message
//
// A changed field of a stored struct, or a changed key, needs a migration at the end of the list below, and
// that migration a test of its own with a store as it was before.
func buckets() []string {
	return append([]string{settings.Name(), pulse.Name(), clocks.Name()}, services.Buckets()...)
}

// migrations bring a store of an older version up to this one, in order. An older binary refuses a store with
// more of them than it knows.
var migrations = []kv.Migration{
	{Name: "first layout", Run: func(*kv.Tx) error { return nil }},
	{Name: "ids of signals in runs", Run: signal.MigrateIDs},
	{Name: "what each revision changed", Run: station.MigrateEffects},
}
