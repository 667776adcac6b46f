package backup

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"opsmon/kv"
)

// keeper makes a Keeper of a new store, with the time of a synctest bubble, which starts at midnight.
func keeper(t *testing.T, folder string, policy Policy) (*Keeper, *kv.Store) {
	t.Helper()
	s := openStore(t, t.TempDir())
	fill(t, s, 0, 50)
	return NewKeeper(KeeperConfig{
		Folder: folder, Schedule: Schedule{Hour: 2}, Policy: policy, Log: slog.New(slog.DiscardHandler),
		Backup: Config{Store: s, Version: "1"},
	}), s
}

// TestKeeper makes one backup at once and then one every night, and keeps seven.
func TestKeeper(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		folder := t.TempDir()
		k, _ := keeper(t, folder, Policy{Daily: 7})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan bool)
		go func() { k.Run(ctx); close(ended) }()
		time.Sleep(time.Minute)
		if s := k.Status(); s.Newest.Name != "app-20000101T000000Z.backup" || !s.Next.Equal(day("2000-01-01 02:00")) || !s.Healthy() || s.Running {
			t.Errorf("%+v", s)
		}
		time.Sleep(10*24*time.Hour + 3*time.Hour)
		list, err := List(folder)
		if err != nil || len(list) != 7 || list[0].Name != "app-20000111T020000Z.backup" || list[6].Name != "app-20000105T020000Z.backup" {
			t.Errorf("%v, %v", names(list), err)
		}
		if s := k.Status(); s.Newest != list[0] || !s.Next.Equal(day("2000-01-12 02:00")) || !s.Healthy() {
			t.Errorf("%+v", s)
		}
		if _, err := Verify(t.Context(), VerifyConfig{Path: filepath.Join(folder, list[0].Name)}); err != nil {
			t.Error(err)
		}
		cancel()
		<-ended
		if s := k.Status(); s.Error != "" {
			t.Errorf("the end is no failure: %+v", s)
		}
	})
}

// TestKeeperFails tells of a folder that is not there, tries again every hour, and goes on when it is back.
func TestKeeperFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		folder := filepath.Join(t.TempDir(), "share")
		k, _ := keeper(t, folder, usual)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go k.Run(ctx)
		time.Sleep(time.Minute)
		s := k.Status()
		if s.Healthy() || s.Overdue || !strings.Contains(s.Error, folder) || !s.FailedAt.Equal(day("2000-01-01 00:00")) || !s.Next.Equal(day("2000-01-01 01:00")) {
			t.Errorf("%+v", s)
		}
		time.Sleep(6 * time.Hour)
		if s := k.Status(); !s.Overdue || !s.FailedAt.Equal(day("2000-01-01 06:00")) {
			t.Errorf("%+v", s)
		}
		if _, err := k.Make(ctx); !errors.Is(err, ErrNotReady) || !errors.Is(err, os.ErrNotExist) {
			t.Errorf("got %v", err)
		}
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2*time.Hour + 30*time.Minute) // not at the moment of a try
		synctest.Wait()
		if s := k.Status(); !s.Healthy() || s.Newest.Name == "" || !s.FailedAt.IsZero() {
			t.Errorf("%+v", s)
		}
		// The share goes away: what was there is remembered until one is due.
		if err := os.Rename(folder, folder+"2"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if s := k.Status(); !s.Healthy() || s.Newest.Name == "" {
			t.Errorf("%+v", s)
		}
		time.Sleep(48 * time.Hour)
		synctest.Wait()
		if s := k.Status(); s.Error == "" || !s.Overdue {
			t.Errorf("%+v", s)
		}
	})
}

// TestKeeperFolder is not led astray by what others put into the folder: a backup from a time when the clock was wrong, and
// what killed processes left.
func TestKeeperFolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		folder := t.TempDir()
		writeFile(t, filepath.Join(folder, "app-20300101T000000Z.backup"), "")
		yesterday := time.Now().Add(-25 * time.Hour)
		for _, of := range []string{"app-19990101T020000Z.backup", "manual-19990101T020000Z.backup", "old-PC.backup"} {
			left := filepath.Join(folder, of+partial+"1")
			writeFile(t, left, "")
			if err := os.Chtimes(left, yesterday, yesterday); err != nil {
				t.Fatal(err)
			}
		}
		k, _ := keeper(t, folder, usual)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go k.Run(ctx)
		time.Sleep(time.Minute)
		if s := k.Status(); s.Newest.Name != "app-20000101T000000Z.backup" || !s.Healthy() {
			t.Errorf("%+v", s)
		}
		expectOnly(t, folder, "app-20000101T000000Z.backup", "app-20300101T000000Z.backup")
	})
}

// TestKeeperByHand makes one by hand between the scheduled ones.
func TestKeeperByHand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, s := keeper(t, t.TempDir(), usual)
		fill(t, s, 50, 1)
		r, err := k.Make(t.Context())
		if err != nil || r.Manifest.Entries[0].Counts["record"] != 51 {
			t.Fatalf("%+v, %v", r, err)
		}
		if got := k.Status(); got.Newest.Name != filepath.Base(r.File) || got.Newest.Bytes != r.Bytes {
			t.Errorf("%+v", got)
		}
	})
}

// TestKeeperPlan: a plan that is changed while the Keeper runs holds from then on.
func TestKeeperPlan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		folder := t.TempDir()
		k, _ := keeper(t, folder, usual)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		k.Plan(Schedule{Off: true}, usual)
		go k.Run(ctx)
		time.Sleep(30 * time.Hour)
		if s := k.Status(); s.Newest.Name != "" || !s.Next.IsZero() || s.Overdue {
			t.Errorf("none are to be made: %+v", s)
		}
		k.Plan(Schedule{Hour: 7}, usual) // it is 06:00 of the second day
		if s := k.Status(); s.Overdue {
			t.Errorf("overdue at once: %+v", s)
		}
		time.Sleep(time.Minute)
		if s := k.Status(); !s.Newest.MadeAt.Equal(day("2000-01-02 06:00")) || !s.Next.Equal(day("2000-01-02 07:00")) {
			t.Errorf("one was due: %+v", s)
		}
		k.Plan(Schedule{Hour: 9, Days: 3}, usual)
		if s := k.Status(); !s.Next.Equal(day("2000-01-04 09:00")) {
			t.Errorf("%+v", s)
		}
		k.Plan(Schedule{Hour: 7}, Policy{Daily: 1})
		time.Sleep(49 * time.Hour)
		if list, err := List(folder); err != nil || len(list) != 1 {
			t.Errorf("%v, %v", names(list), err)
		}
	})
}
