package app

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"opsmon/app/errdefs"
	"opsmon/kv"
)

// settings is the bucket of what the appliance knows of itself, by name. What an operator chooses is in app.yaml.
var settings = kv.NewBucket("setting", kv.String, kv.JSON[identity]())

// applianceSetting is the name of the appliance's own record.
const applianceSetting = "appliance"

// identity identifies a store through copies, moves and upgrades. It is stored: a changed field needs a migration.
type identity struct {
	ID        string    `json:"id"` // random, made with the store
	CreatedAt time.Time `json:"createdAt"`
	Version   string    `json:"version"` // of the binary that last opened the store
}

// identify reads the appliance's record, makes it in a new store, and notes a change of version. It writes only then.
func identify(store *kv.Store, version string, log *slog.Logger) error {
	var was identity
	err := store.View(func(tx *kv.Tx) (err error) {
		was, err = settings.Get(tx, applianceSetting)
		return err
	})
	if err != nil && !errors.Is(err, kv.ErrNotFound) {
		return fmt.Errorf("read the appliance's settings: %w", err)
	}
	if was.Version == version {
		return nil
	}
	if was.ID != "" {
		log.Info("the store was last used by another version", slog.String("store", was.ID), slog.String("then", was.Version), slog.String("now", version))
	}
	err = store.Update(func(tx *kv.Tx) error {
		is := was
		if is.Version = version; is.ID == "" {
			is.ID, is.CreatedAt = strings.ToLower(rand.Text()), tx.Now()
		}
		return settings.Put(tx, applianceSetting, is)
	})
	if err != nil && was.ID != "" && errdefs.KindOf(err) == errdefs.Unavailable {
		log.Warn("the version could not be noted in the store", slog.Any("error", err))
		return nil // a full disk does not keep the service from reading
	}
	if err != nil {
		return fmt.Errorf("write the appliance's settings: %w", err)
	}
	return nil
}
