package kill_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"opsmon/app/test/apptest"
)

// ledger has the clients' knowledge of their writes. Each client records its own part; the lock is for the last answers
// at the end of a round.
type ledger struct {
	mu        sync.Mutex
	made      map[string]bool   // keys whose creation was answered; true once their revocation was requested
	revoked   map[string]bool   // keys whose revocation was answered
	fields    map[string]int    // last answered value by field
	revisions map[string]uint64 // numbers of answered manifests by note
	refused   map[string]int    // writes answered 503 by operation; nil: none allowed
}

func newLedger(keys ...string) *ledger {
	l := &ledger{made: map[string]bool{}, revoked: map[string]bool{}, fields: map[string]int{}, revisions: map[string]uint64{}}
	for _, key := range keys {
		l.made[key] = false
	}
	return l
}

// failed records a write that was answered with an error.
func (l *ledger) failed(t *testing.T, operation string, status int) {
	l.note(func() {
		if status != http.StatusServiceUnavailable || l.refused == nil {
			t.Errorf("%s: %d", operation, status)
			return
		}
		l.refused[operation]++
	})
}

func (l *ledger) note(fn func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fn()
}

// TestKilled kills the real binary at random moments under load, repeatedly on the same store. After each restart every
// answered write is present, and no part of an unanswered one.
func TestKilled(t *testing.T) {
	for store := range durabilityStores { // a new one from time to time, because every round reads all of it
		t.Run(fmt.Sprint(store), killedUnderLoad)
	}
}

func killedUnderLoad(t *testing.T) {
	dir := t.TempDir()
	admin := apptest.Initialise(t, dir, "--domain", "northgate.example")
	// The manifests have their own account: on the other one they would always conflict with the fields.
	other := secondAccount(t, dir)
	l := newLedger(admin, other)
	answered := 0
	for round := range durabilityRounds {
		p := apptest.StartService(t, dir)
		end := load(t, p, l, admin, other, round*10_000)
		time.Sleep(time.Duration(100+rand.IntN(500)) * time.Millisecond)
		p.Kill()
		end()
		p = apptest.StartService(t, dir)
		answered = verify(t, p, l, admin, other)
		if out, stderr, status := apptest.Command(t, "check", "--data-dir", dir); status != 0 {
			t.Errorf("round %d: check: %s%s", round, out, stderr)
		}
		if status := p.End(t, apptest.Terminate); status != 0 {
			t.Errorf("round %d: exit status %d: %s", round, status, p.Stderr)
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	t.Logf("%d rounds, %d answered writes", durabilityRounds, answered)
}

// secondAccount creates another account and returns its administrator's key.
func secondAccount(t *testing.T, dir string) string {
	t.Helper()
	out, stderr, status := apptest.Command(t, "account", "create", "--json", "--data-dir", dir, "--domain", "southmill.example", "--email", "it@southmill.example")
	var made struct {
		APIKey string `json:"apiKey"`
	}
	if err := json.Unmarshal([]byte(out), &made); status != 0 || err != nil {
		t.Fatalf("account create: status %d, %v, %s", status, err, stderr)
	}
	return made.APIKey
}

// load lets 16 clients write until end is called or the service stops answering. Their writes are numbered from first
// on.
func load(t *testing.T, p *apptest.Process, l *ledger, admin, other string, first int) (end func()) {
	stop := make(chan struct{})
	var clients sync.WaitGroup
	for i := range 16 {
		clients.Go(func() {
			for n := first + 1; ; n++ {
				select {
				case <-stop:
					return
				default:
					if !write(t, p, l, admin, other, i, n) {
						return
					}
				}
			}
		})
	}
	return func() { close(stop); clients.Wait() }
}

// write makes one write of a client and records its answer; false if the service stops answering.
func write(t *testing.T, p *apptest.Process, l *ledger, admin, other string, client, n int) bool {
	switch field := []string{"maxProductionCountPerSchedule", "electricalPricePerKwh", "electricalCo2PerKwh"}; {
	case client < len(field):
		return writeField(t, p, l, admin, field[client], n)
	case client < 6:
		return writeManifest(t, p, l, other, fmt.Sprintf("client %d write %d", client, n))
	}
	return writeKey(t, p, l, admin, n)
}

func writeField(t *testing.T, p *apptest.Process, l *ledger, admin, field string, value int) bool {
	literal := fmt.Sprint(value)
	if field != "maxProductionCountPerSchedule" {
		literal = fmt.Sprintf("%d.%03d", value/1000, value%1000)
	}
	switch status := p.Status(http.MethodPost, "/account", admin, fmt.Sprintf(`{%q:%s}`, field, literal)); status {
	case 0:
		return false
	case http.StatusOK:
		l.note(func() { l.fields[field] = value })
	default:
		l.failed(t, "POST /account", status)
	}
	return true
}

// writeManifest changes one station's description in the current manifest.
func writeManifest(t *testing.T, p *apptest.Process, l *ledger, admin, note string) bool {
	req, err := http.NewRequest(http.MethodGet, p.URL+"/account/manifest", nil)
	if err != nil {
		t.Error(err)
		return false
	}
	req.Header.Set("X-API-KEY", admin)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	var doc map[string]any
	err = json.NewDecoder(resp.Body).Decode(&doc)
	resp.Body.Close()
	if err != nil {
		return false
	}
	groups := doc["account"].(map[string]any)["plants"].([]any)[0].(map[string]any)["stationGroups"].([]any)
	groups[0].(map[string]any)["stations"].([]any)[0].(map[string]any)["description"] = note
	body, err := json.Marshal(doc)
	if err != nil {
		t.Error(err)
		return false
	}
	put, err := http.NewRequest(http.MethodPut, p.URL+"/account/manifest?note="+strings.ReplaceAll(note, " ", "+"), strings.NewReader(string(body)))
	if err != nil {
		t.Error(err)
		return false
	}
	put.Header.Set("X-API-KEY", admin)
	put.Header.Set("Content-Type", "application/json")
	put.Header.Set("If-Match", resp.Header.Get("ETag"))
	if resp, err = http.DefaultClient.Do(put); err != nil {
		return false
	}
	defer resp.Body.Close()
	var out struct {
		Result struct {
			Revision uint64 `json:"revision"`
		} `json:"result"`
	}
	switch resp.StatusCode {
	case http.StatusConflict: // another client was faster
	case http.StatusOK:
		if err := json.NewDecoder(resp.Body).Decode(&out); err == nil { // otherwise the answer was interrupted
			l.note(func() { l.revisions[note] = out.Result.Revision })
		}
	default:
		l.failed(t, "PUT /account/manifest", resp.StatusCode)
	}
	return true
}

// writeKey creates a key, and revokes every other one.
func writeKey(t *testing.T, p *apptest.Process, l *ledger, admin string, n int) bool {
	var out struct {
		Result struct {
			Key string `json:"key"`
		} `json:"result"`
	}
	resp, err := p.Do(http.MethodPost, "/key", admin, "", &out)
	if err != nil {
		return false
	}
	key := out.Result.Key
	if resp.StatusCode != http.StatusOK || key == "" {
		l.failed(t, "POST /key", resp.StatusCode)
		return true
	}
	l.note(func() { l.made[key] = n%2 == 0 })
	if n%2 != 0 {
		return true
	}
	switch status := p.Status(http.MethodDelete, "/key/"+key, admin, ""); status {
	case 0:
		return false
	case http.StatusNoContent:
		l.note(func() { l.revoked[key] = true })
	default:
		l.failed(t, "DELETE /key", status)
	}
	return true
}

// verify compares the store with the ledger and returns the number of verified writes.
func verify(t *testing.T, p *apptest.Process, l *ledger, admin, other string) int {
	t.Helper()
	for key, begun := range l.made {
		status := p.Status(http.MethodGet, "/auth/profile", key, "")
		switch {
		// there are many such keys
		case l.revoked[key] && status != http.StatusUnauthorized && status != http.StatusTooManyRequests:
			t.Errorf("a key whose revocation was answered gets %d", status)
		case !begun && status != http.StatusOK:
			t.Errorf("a key whose making was answered gets %d", status)
		}
	}
	var account struct {
		Result map[string]any `json:"result"`
	}
	if _, err := p.Do(http.MethodGet, "/account", admin, "", &account); err != nil {
		t.Fatal(err)
	}
	for field, least := range l.fields {
		scale := 1000.0
		if field == "maxProductionCountPerSchedule" {
			scale = 1
		}
		got, _ := account.Result[field].(float64)
		if got*scale < float64(least)-0.5 {
			t.Errorf("%s is %v, and %v was answered", field, got, float64(least)/scale)
		}
	}
	numbers := map[string]uint64{}
	for _, r := range page(t, p, other, "/account/manifest/revisions?") {
		numbers[r["note"].(string)] = uint64(r["revision"].(float64))
	}
	for note, number := range l.revisions {
		if numbers[note] != number {
			t.Errorf("the revision %q is %d, and %d was answered", note, numbers[note], number)
		}
	}
	for _, key := range []string{admin, other} {
		agree(t, p, key)
	}
	answered := len(l.made) + len(l.revoked) + len(l.revisions)
	if answered < 20 || len(l.fields) < 3 || len(l.revisions) == 0 {
		t.Errorf("too few writes were answered to tell anything: %d, fields %v, %d manifests", answered, l.fields, len(l.revisions))
	}
	return answered
}

// agree compares an account's audit log with its records: each change has its audit record, and vice versa.
func agree(t *testing.T, p *apptest.Process, key string) {
	t.Helper()
	var keys struct {
		Results []map[string]any `json:"results"`
	}
	if _, err := p.Do(http.MethodGet, "/key", key, "", &keys); err != nil {
		t.Fatal(err)
	}
	count := func(action string) int { return len(page(t, p, key, "/audit?action="+action+"&")) }
	if records := count("key.create") - count("key.revoke"); records != len(keys.Results) {
		t.Errorf("by the audit %d keys live, and %d are listed", records, len(keys.Results))
	}
	revisions := page(t, p, key, "/account/manifest/revisions?")
	if records := count("account.create") + count("account.update") + count("manifest.apply"); records != len(revisions) {
		t.Errorf("the audit has %d changes of the configuration, and there are %d revisions", records, len(revisions))
	}
}

// page reads a whole list.
func page(t *testing.T, p *apptest.Process, key, path string) (all []map[string]any) {
	t.Helper()
	for {
		var out struct {
			Results []map[string]any `json:"results"`
			Paging  struct {
				TotalElements int `json:"totalElements"`
			} `json:"paging"`
		}
		if resp, err := p.Do(http.MethodGet, fmt.Sprintf("%slimit=1000&skip=%d", path, len(all)), key, "", &out); err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %v %v", path, resp, err)
		}
		all = append(all, out.Results...)
		if len(out.Results) == 0 || len(all) == out.Paging.TotalElements {
			return all
		}
	}
}
