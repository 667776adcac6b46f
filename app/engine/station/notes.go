package station

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"opsmon/app/account"
	"opsmon/app/account/manifest"
	"opsmon/app/audit"
	"opsmon/app/auth"
	"opsmon/app/errdefs"
	"opsmon/app/instant"
	"opsmon/kv"
)

// noteBucket has the notes by account and station code.
var noteBucket = kv.NewBucket("stationBoard", kv.PairOf(kv.String, kv.String), kv.JSON[Note]())

// Note has the operator at a station and the alert shown there (monitoring.md section 10). Times are Unix ms. It is
// stored as JSON: a changed field needs a migration.
type Note struct {
	OperatorInitials string `json:"operatorInitials,omitempty"` // "": nobody
	OperatorSince    int64  `json:"operatorSince,omitempty"`    // when it was last set
	OperatorBy       string `json:"operatorBy,omitempty"`       // the credential that set it
	AlertMessage     string `json:"alertMessage,omitempty"`     // "": none
	AlertSince       int64  `json:"alertSince,omitempty"`
	AlertExpiresAt   int64  `json:"alertExpiresAt,omitempty"` // 0: does not expire
}

// expired returns the note without its alert if that has expired.
func (n Note) expired(now int64) Note {
	if n.AlertExpiresAt != 0 && n.AlertExpiresAt <= now {
		n.AlertMessage, n.AlertSince, n.AlertExpiresAt = "", 0, 0
	}
	return n
}

// Limits of a note.
const (
	maxAlert     = 280 // characters
	maxAlertTime = 366 * 24 * time.Hour
	saidAgain    = instant.MinuteMs // within this time, the same initials from the same tablet are no change
)

// NotesConfig has the dependencies of Notes.
type NotesConfig struct {
	Store    *kv.Store
	Accounts interface {
		Get(accountID string) (*account.Snapshot, error)
	}
	// Authorize checks in a transaction that the caller's credential is still valid and has the role; nil: no check.
	Authorize func(*kv.Tx, auth.Principal, auth.Role) error
	// Changed is called after the note of a station has changed. It must not block. nil: no call.
	Changed func(accountID, stationCode string)
	Log     *slog.Logger // nil: discard
}

// Notes stores the notes of stations and caches them in memory. It is safe for concurrent use.
type Notes struct {
	cfg     NotesConfig
	writing sync.Mutex // held during a change and the update of the cache, so that both have the same order
	mu      sync.RWMutex
	notes   map[kv.Pair[string, string]]Note
}

// NewNotes reads the stored notes. Errors: the store's.
func NewNotes(cfg NotesConfig) (*Notes, error) {
	if cfg.Authorize == nil {
		cfg.Authorize = func(_ *kv.Tx, p auth.Principal, need auth.Role) error {
			if !p.Role.AtLeast(need) {
				return errdefs.New(errdefs.Forbidden, "this needs the role %s; yours is %s", need, p.Role)
			}
			return nil
		}
	}
	b := &Notes{cfg: cfg, notes: map[kv.Pair[string, string]]Note{}}
	err := cfg.Store.View(func(tx *kv.Tx) error {
		for item, err := range noteBucket.Scan(tx, kv.Range{}) {
			if err != nil {
				return fmt.Errorf("read the notes of stations: %w", err)
			}
			b.notes[item.Key] = item.Value
		}
		return nil
	})
	return b, err
}

// Of returns the note of a station at a moment, ms, without an expired alert.
func (b *Notes) Of(accountID, stationCode string, now int64) Note {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.notes[kv.Pair[string, string]{A: accountID, B: stationCode}].expired(now)
}

// SetOperator sets the operator at a station; nil: nobody. Repeating the same initials sets them again, so that another
// tablet that set them before cannot remove them; from the same tablet, a repetition within a minute has no effect.
// Operators may only set the stations that they are bound to. Errors: Invalid (initials; stationCode of an energy
// meter), Forbidden, NotFound, Conflict for an archived account.
func (b *Notes) SetOperator(p auth.Principal, stationCode string, initials *string) (Note, error) {
	text := ""
	if initials != nil {
		var err error
		if text, err = auth.Initials(*initials, true); err != nil {
			return Note{}, err
		}
	}
	meter, by := error(nil), p.Actor().Credential
	n, err := b.change(p, auth.Operator, stationCode, "station.operator", func(n *Note, now int64) map[string]string {
		if n.OperatorInitials == text && (text == "" || n.OperatorBy == by && now >= n.OperatorSince && now-n.OperatorSince < saidAgain) {
			return nil
		}
		if text != "" {
			if meter = b.staffed(p.AccountID, stationCode); meter != nil {
				return nil
			}
		}
		n.OperatorInitials, n.OperatorSince, n.OperatorBy = text, now, by
		if text == "" {
			n.OperatorBy = ""
		}
		return map[string]string{"initials": text}
	})
	if meter != nil {
		return Note{}, meter
	}
	return n, err
}

// staffed checks that somebody can work at a station. Error: Invalid for an energy meter.
func (b *Notes) staffed(accountID, stationCode string) error {
	snap, err := b.cfg.Accounts.Get(accountID)
	if err != nil {
		return err
	}
	st, err := snap.Resolve(stationCode)
	if err == nil && st.Flags[manifest.EnableMeterOnly.String()].Value == "on" {
		return errdefs.InvalidField("stationCode", "must be a station that somebody works at; %s is an energy meter", stationCode)
	}
	return err
}

// SetAlert sets the alert of a station, until expiresAt or, if that is nil, until it is removed; a nil message removes
// it. Errors: Invalid (message, expiresAt), Forbidden, NotFound, Conflict for an archived account.
func (b *Notes) SetAlert(p auth.Principal, stationCode string, message *string, expiresAt *time.Time) (Note, error) {
	text, until, err := readAlert(message, expiresAt)
	if err != nil {
		return Note{}, err
	}
	var late error
	n, err := b.change(p, auth.Supervisor, stationCode, "station.alert", func(n *Note, now int64) map[string]string {
		late = nil
		switch {
		case until != 0 && until <= now:
			late = inThePast(until)
			return nil
		case until > now+maxAlertTime.Milliseconds():
			late = errdefs.InvalidField("expiresAt", "must lie within 366 days; it is %s", instant.FormatMs(until))
			return nil
		case n.AlertMessage == text && n.AlertExpiresAt == until:
			return nil
		}
		n.AlertMessage, n.AlertExpiresAt, n.AlertSince = text, until, now
		if text == "" {
			n.AlertSince = 0
		}
		detail := map[string]string{"message": text}
		if until != 0 {
			detail["expiresAt"] = instant.FormatMs(until)
		}
		return detail
	})
	if late != nil {
		return Note{}, late
	}
	return n, err
}

// CheckAlert validates an alert. Error: Invalid (message, expiresAt).
func CheckAlert(message *string, expiresAt *time.Time) error {
	_, _, err := readAlert(message, expiresAt)
	return err
}

// readAlert validates an alert and returns its text, "" to remove it, and its expiry, ms, 0 for none.
func readAlert(message *string, expiresAt *time.Time) (text string, until int64, err error) {
	var problems errdefs.Problems
	if message != nil {
		text = *message
		if n := utf8.RuneCountInString(text); n > maxAlert || strings.TrimSpace(text) == "" {
			problems.Add("message", "must be 1 to %d characters that can be seen; it has %d", maxAlert, n)
		} else if issue := lineProblem(text); issue != "" {
			problems.Add("message", "%s", issue)
		}
	}
	if expiresAt != nil {
		until = expiresAt.UnixMilli()
		if message == nil {
			problems.AddGiven("expiresAt", "message", "must not be there without a message")
		} else if until <= 0 {
			_ = problems.Take(inThePast(until)) // it is Invalid
		}
	}
	return text, until, problems.Err("the alert")
}

func inThePast(until int64) error {
	return errdefs.InvalidField("expiresAt", "must lie in the future; it is %s", instant.FormatMs(until))
}

// lineProblem returns the problem of a text that a tablet shows in one line; "" if it is valid.
func lineProblem(text string) string {
	if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		return "must be one line of text without control characters"
	}
	return ""
}

// change stores the note changed by fn, with the audit record that fn returns; an empty record means no change.
func (b *Notes) change(p auth.Principal, role auth.Role, stationCode, action string, fn func(n *Note, now int64) map[string]string) (Note, error) {
	snap, err := b.cfg.Accounts.Get(p.AccountID)
	if err != nil {
		return Note{}, err
	}
	known, err := snap.Stations()
	if err != nil {
		return Note{}, err
	}
	key := kv.Pair[string, string]{A: p.AccountID, B: stationCode}
	b.writing.Lock()
	defer b.writing.Unlock()
	var n Note
	changed := false
	err = b.cfg.Store.Update(func(tx *kv.Tx) error {
		if !known(stationCode) {
			if err := b.cfg.Authorize(tx, p, role); err != nil {
				return err
			}
			return errdefs.New(errdefs.NotFound, "there is no station with this code")
		}
		if err := auth.AuthorizeAt(b.cfg.Authorize, tx, p, role, stationCode); err != nil {
			return err
		}
		if err := snap.Account.Writable(); err != nil {
			return err
		}
		now := tx.Now().UnixMilli()
		n = b.Of(p.AccountID, stationCode, now)
		detail := fn(&n, now)
		if changed = detail != nil; !changed {
			return nil
		}
		if err := noteBucket.Put(tx, key, n); err != nil {
			return err
		}
		return audit.Put(tx, p.AccountID, p.Actor(), action, stationCode, detail)
	})
	if err != nil || !changed {
		return n, err
	}
	b.mu.Lock()
	b.notes[key] = n
	b.mu.Unlock()
	if b.cfg.Changed != nil {
		b.cfg.Changed(p.AccountID, stationCode)
	}
	return n, nil
}
