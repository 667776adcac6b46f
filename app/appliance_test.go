package app

import (
	"crypto/tls"
	"encoding/json"
	"net/http"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"opsmon/app/httpapi/appliance"
	"opsmon/app/test/apptest"
	"opsmon/kv"
)

// appliance asks for how the appliance is, as an administrator does.
func (r *running) appliance(t *testing.T, client *http.Client) (out appliance.Overview) {
	t.Helper()
	req, err := http.NewRequest("GET", r.url+"/appliance", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-API-KEY", r.key)
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&struct {
		Result any `json:"result"`
	}{&out}); err != nil || resp.StatusCode != 200 {
		t.Fatal(resp.Status, err)
	}
	return out
}

func codesOf(list []appliance.Warning) (codes []string) {
	for _, w := range list {
		if w.Message == "" || w.Action == "" || w.Severity != appliance.SeverityProblem && w.Severity != appliance.SeverityWarning {
			return append(codes, "not whole: "+w.Code)
		}
		codes = append(codes, w.Code)
	}
	return codes
}

// TestAppliance: an administrator is told what runs, and what needs a person.
func TestAppliance(t *testing.T) {
	cfg := testConfig(t)
	r := serve(t, cfg)
	a := r.appliance(t, http.DefaultClient)
	host, _ := os.Hostname()
	if a.Version != BuildInfo().Version || a.Platform != runtime.GOOS+"/"+runtime.GOARCH || a.HostName != host || a.DataDir != cfg.DataDir || a.TLS != "off" || a.Name != nil || a.Certificate != nil {
		t.Errorf("%+v", a)
	}
	if at, err := time.Parse(time.RFC3339, *a.StartedAt); err != nil || time.Since(at) > time.Minute {
		t.Errorf("started at %s, %v", *a.StartedAt, err)
	}
	if len(a.Listen) != 1 || a.Listen[0].Setting != "listen" || "http://"+a.Listen[0].Address != r.url || a.Listen[0].TLS {
		t.Errorf("it listens on %+v, and is at %s", a.Listen, r.url)
	}
	if a.Store.Bytes == 0 || a.Disk.Total < a.Disk.Free || a.Disk.Free == 0 || a.Counts != (appliance.ApplianceCounts{Accounts: 1, Users: 1}) || !a.Clock.Believed {
		t.Errorf("store %+v, disk %+v, counts %+v, clock %+v", a.Store, a.Disk, a.Counts, a.Clock)
	}
	b := a.Backup
	if b.Settings != (appliance.BackupSettings{At: "01:30", Every: 1, KeepDaily: 7, KeepWeekly: 4, KeepMonthly: 6}) || b.LastAt != nil || b.NextAt == nil || b.Folder != cfg.BackupDir() || b.Encrypted {
		t.Errorf("backup %+v", b)
	}
	if a.Retention != (appliance.Retention{SignalDays: 400, WindowDays: 3653, AuditDays: 400}) {
		t.Errorf("%+v", a.Retention)
	}
	if slices.Contains(codesOf(a.Warnings), "backup") {
		t.Errorf("no backup is overdue yet: %+v", a.Warnings)
	}
	if err := r.store.Update(func(tx *kv.Tx) error {
		return clocks.Put(tx, clockKey, clockRecord{At: tx.Now(), Doubt: 7})
	}); err != nil {
		t.Fatal(err)
	}
	if status := r.request(t, "POST", "/backup", r.key, ""); status != 200 {
		t.Fatal(status)
	}
	if a = r.appliance(t, http.DefaultClient); a.Clock.Believed || !slices.Contains(codesOf(a.Warnings), "clockDoubted") || a.Backup.LastName == "" || a.Backup.LastBytes == 0 {
		t.Errorf("%+v", a)
	}
}

// TestApplianceWarns: of a certificate that is about to end, and of backups that nobody makes.
func TestApplianceWarns(t *testing.T) {
	cert, key, pool := apptest.Certificate(t) // for an hour
	cfg := testConfig(t)
	cfg.TLS, cfg.Backup.Every = cert+","+key, 0
	r := serve(t, cfg)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	defer transport.CloseIdleConnections()
	a := r.appliance(t, &http.Client{Transport: transport})
	if a.TLS != "files" || a.Certificate == nil || a.Certificate.DaysLeft != 0 || a.Certificate.Authority != nil || !a.Listen[0].TLS {
		t.Errorf("%+v, %+v", a.TLS, a.Certificate)
	}
	if codes := codesOf(a.Warnings); !slices.Contains(codes, "certificate") || !slices.Contains(codes, "noSchedule") {
		t.Errorf("warnings %+v", a.Warnings)
	}
	if a.Backup.NextAt != nil {
		t.Errorf("none is scheduled, and the next is at %s", *a.Backup.NextAt)
	}
}

// results reads a list.
func (r *running) results(t *testing.T, path string, into any) {
	t.Helper()
	req, err := http.NewRequest("GET", r.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-API-KEY", r.key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&struct {
		Results any `json:"results"`
	}{into}); err != nil || resp.StatusCode != 200 {
		t.Fatal(resp.Status, err)
	}
}
