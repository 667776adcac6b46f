package app

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"opsmon/app/account"
	"opsmon/app/audit"
	"opsmon/app/auth"
	"opsmon/app/engine/floor"
	"opsmon/app/engine/history"
	"opsmon/app/engine/ledger"
	"opsmon/app/engine/station"
	"opsmon/app/idempotency"
	"opsmon/app/ingest/signal"
	"opsmon/app/work/issue"
	"opsmon/app/work/message"
	"opsmon/app/work/schedule"
	"opsmon/app/work/task"
	"opsmon/kv"
)

// Check looks the whole store over: its structure, every record, every manifest, and that what names something else
// agrees with it. Each problem is reported; the error is for when the check itself could not be made.
func (a *App) Check(report func(problem string)) error {
	if err := a.store.Check(report); err != nil {
		return err
	}
	return checkRecords(a.store, a.cfg.Clock(), report)
}

func checkRecords(store *kv.Store, now time.Time, report func(string)) error {
	return store.View(func(tx *kv.Tx) error {
		for item, err := range settings.Scan(tx, kv.Range{}) {
			switch {
			case err != nil:
				report(fmt.Sprintf("setting: %v", err))
			case item.Key == applianceSetting && item.Value.ID == "":
				report("the appliance's own record has no id")
			}
		}
		for _, err := range pulse.Scan(tx, kv.Range{}) {
			if err != nil {
				report(fmt.Sprintf("the last sign of life: %v", err))
			}
		}
		for _, err := range clocks.Scan(tx, kv.Range{}) {
			if err != nil {
				report(fmt.Sprintf("what is known of the clock: %v", err))
			}
		}
		known := account.Check(tx, now, report)
		auth.Check(tx, known, report)
		audit.Check(tx, known, report)
		signal.Check(tx, known, report)
		issue.Check(tx, known, report)
		history.Check(tx, known, report)
		station.Check(tx, known, report)
		ledger.Check(tx, known, report)
		floor.Check(tx, known, report)
		idempotency.Check(tx, known, report)
		schedule.Check(tx, known, report)
		task.Check(tx, known, report)
		message.Check(tx, known, report)
		return nil
	})
}

// CheckDamaged looks over the store of a data directory that cannot be opened, and reports all that can be found; when
// that is nothing, why it cannot be opened. It changes nothing. The error is for when the check itself could not be made.
func CheckDamaged(dataDir string, why error, report func(problem string)) error {
	path, found := filepath.Join(dataDir, StoreFile), false
	note := func(problem string) {
		found = true
		report(problem)
	}
	if err := kv.Report(path, note); err != nil {
		return err
	}
	store, err := kv.Open(kv.Config{Path: path, ReadOnly: true, Migrations: migrations})
	switch {
	case err == nil:
		err = errors.Join(checkRecords(store, time.Now(), note), store.Close())
	case errors.Is(err, kv.ErrDamaged), errors.Is(err, kv.ErrOlder):
		err = nil // nobody can look at the records
	}
	if !found {
		report(why.Error())
	}
	return err
}
