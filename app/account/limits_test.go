package account

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"opsmon/app/audit"
	"opsmon/app/auth"
	"opsmon/app/errdefs"
	"opsmon/kv"
	"opsmon/kv/kvtest"
	"opsmon/schema/strictjson"
)

// dashboard returns an object of exactly n bytes of JSON.
func dashboard(n int) string { return `{"a":"` + strings.Repeat("x", n-8) + `"}` }

func TestDashboardLimit(t *testing.T) {
	for n, want := range map[int]bool{maxDashboard: true, maxDashboard + 1: false} {
		_, issue := readObject(dashboard(n))
		if (issue == "") != want {
			t.Errorf("%d bytes in POST /account: %q", n, issue)
		}
		doc := `{"version":"v1","account":{"id":"acme","domain":"acme.example","dashboardConfig":` + dashboard(n) +
			`,"plants":[{"code":"p-1","name":"P","timezone":"UTC","dayStartHour":0,"weekStartDay":0,"stationGroups":[{"code":"g","name":"G","stations":[{"code":"S","name":"S"}]}]}]}}`
		r := Validate([]byte(doc), time.Now())
		if r.Valid != want || !want && r.Details[0].Field != "account.dashboardConfig" {
			t.Errorf("%d bytes in a manifest: %+v", n, r)
		}
	}
}

// TestDashboardGrows checks an object with line separators, which take six bytes instead of three when stored. The
// stored form must be valid in a manifest.
func TestDashboardGrows(t *testing.T) {
	text := `{"a":"` + strings.Repeat("\u2028", maxDashboard/4) + `"}`
	if _, issue := readObject(text); issue == "" {
		t.Errorf("%d bytes are accepted, which are kept as more than %d", len(text), maxDashboard)
	}
}

// TestRightIsCheckedInTheTransaction checks that a change is refused if its permission was revoked after it had
// begun, for every kind of change and principal.
func TestRightIsCheckedInTheTransaction(t *testing.T) {
	store := kvtest.New(t, func(c *kv.Config) { c.Buckets = append(Buckets(), audit.Buckets()...) })
	revoked := false
	s, err := New(Config{Store: store, Authorize: func(_ *kv.Tx, p auth.Principal, need auth.Role) error {
		if revoked {
			return errdefs.New(errdefs.Unauthorized, "revoked")
		}
		if !p.Role.AtLeast(need) {
			return errdefs.New(errdefs.Forbidden, "not enough")
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	draft, err := s.Draft(CreateInput{Domain: "acme.example"})
	if err != nil {
		t.Fatal(err)
	}
	var done func()
	if err := store.Update(func(tx *kv.Tx) (err error) {
		done, err = s.CreateTx(tx, draft, true, auth.Local(""))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	done()
	p := auth.Principal{Type: auth.TypeAPIKey, Email: "m@acme.example", AccountID: "acme", Role: auth.Member}
	body, err := strictjson.Decode([]byte(`{"currency":"EUR"}`))
	if err != nil {
		t.Fatal(err)
	}
	snap, err := s.Get("acme")
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(snap.Document().Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	doc["account"].(map[string]any)["currency"] = "USD"
	changed, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	writes := map[string]func() error{
		"update":  func() error { _, err := s.Update(p, body, nil); return err },
		"apply":   func() error { _, err := s.Apply(p, ApplyInput{Raw: changed}); return err },
		"restore": func() error { _, err := s.Restore(p, 1, "", nil); return err },
	}
	if err := writes["update"](); err != nil {
		t.Fatal(err)
	}
	revoked = true
	for name, write := range writes {
		if err := write(); errdefs.KindOf(err) != errdefs.Unauthorized {
			t.Errorf("%s: %v, want Unauthorized", name, err)
		}
	}
	if snap, err = s.Get("acme"); err != nil || snap.Account.Revision != 2 {
		t.Errorf("revision %d, %v", snap.Account.Revision, err)
	}
}

func TestNoteIsOneLine(t *testing.T) {
	s := &Service{}
	for _, note := range []string{"a\nb", "\x1b[2J", "\xff"} {
		_, err := s.Apply(auth.Local("acme"), ApplyInput{Note: note})
		if errdefs.KindOf(err) != errdefs.Invalid {
			t.Errorf("note %q: %v", note, err)
		}
	}
}
