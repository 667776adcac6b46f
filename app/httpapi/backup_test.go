package httpapi

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"opsmon/app/account"
	"opsmon/app/audit"
	"opsmon/app/auth"
	"opsmon/app/errdefs"
	"opsmon/app/host/backup"
	"opsmon/app/httpapi/appliance"
	"opsmon/app/instant"
	"opsmon/app/test/apptest"
	"opsmon/kv"
)

// restorer is a service that notes what it is to restore.
type restorer struct {
	asked []appliance.RestoreInput
	state *appliance.RestoreState
}

func (r *restorer) Restore(_ context.Context, in appliance.RestoreInput) (appliance.RestoreResult, error) {
	r.asked = append(r.asked, in)
	if _, err := backup.Verify(context.Background(), backup.VerifyConfig{Path: in.Path, Passphrase: in.Passphrase}); err != nil {
		return appliance.RestoreResult{}, err
	}
	return appliance.RestoreResult{Previous: "/was/here", Settings: backup.SettingsAbsent}, nil
}

func (r *restorer) Begin(in appliance.RestoreInput) (*appliance.RestoreState, error) {
	if r.state != nil && in.Name == r.state.Name {
		return nil, errdefs.New(errdefs.Conflict, "it is being restored already")
	}
	r.asked = append(r.asked, in)
	r.state = &appliance.RestoreState{Name: in.Name, State: "running", StartedAt: instant.Of(time.Now())}
	return r.state, nil
}

func (r *restorer) State() *appliance.RestoreState { return r.state }

func (s *server) note(by audit.Actor, action, target string, detail map[string]string) {
	s.must(nil, s.store.Update(func(tx *kv.Tx) error {
		ids, err := account.IDs(tx)
		for _, id := range ids {
			if err == nil {
				err = audit.Put(tx, id, by, action, target, detail)
			}
		}
		return err
	}))
}

// madeBackup puts a backup into the folder and returns its name.
func (s *server) madeBackup(passphrase string) string {
	s.t.Helper()
	name := "from-" + s.address() + ".backup"
	_, err := backup.Create(context.Background(), backup.Config{Store: s.store, Version: "test", Passphrase: passphrase, WorkFactor: 10}, filepath.Join(string(s.folder), name))
	s.must(nil, err)
	return name
}

// laterBackup makes a backup in a second of its own: its name has the time.
func laterBackup(s *server, _ caller) ask {
	s.clock.advance(time.Second)
	return ask{path: "/backup"}
}

func someBackup(operation string) func(*server, caller) ask {
	return func(s *server, _ caller) ask { return ask{path: "/backup/" + s.madeBackup("") + operation} }
}

func newBackup(s *server, _ caller) ask {
	name := s.madeBackup("")
	b, err := os.ReadFile(filepath.Join(string(s.folder), name))
	s.must(nil, err)
	return ask{path: "/backup/sent-" + name, body: string(b), header: map[string]string{"Content-Type": "application/octet-stream"}}
}

func restorable(s *server, _ caller) ask {
	name := s.madeBackup("")
	return ask{path: "/backup/" + name + "/restore", body: `{"confirm":"` + name + `"}`}
}

func TestBackups(t *testing.T) {
	apptest.Long(t)
	s := newServer(t, options{})
	key := s.roleKey(auth.Admin)
	call := func(method, path, body string) *answer {
		t.Helper()
		return s.do(ask{method: method, path: path, body: body, key: key})
	}
	if a := call("GET", "/backup", "").want(t, 200); len(a.at("result", "backups").([]any)) != 0 || a.text("result", "folder") != string(s.folder) {
		t.Errorf("%s", a.body)
	}
	made := call("POST", "/backup", "").want(t, 200)
	name := made.text("result", "name")
	if made.header.Get("Location") != "/backup/"+name || !strings.HasPrefix(name, "manual-") {
		t.Errorf("%s", made.body)
	}
	if again := call("POST", "/backup", "").want(t, 200).text("result", "name"); again == name { // in the same second, mostly
		t.Errorf("two are called %s", name)
	}
	call("DELETE", "/backup/"+call("POST", "/backup", "").want(t, 200).text("result", "name"), "").want(t, 204)
	if a := call("GET", "/audit?action=backup.create", "").want(t, 200); a.text("results", "2", "target") != name {
		t.Errorf("%s", a.body)
	}
	if a := s.do(ask{method: "GET", path: "/audit?action=backup.create", key: s.key("bolt", "admin@bolt.example")}).want(t, 200); a.text("results", "2", "target") != name {
		t.Errorf("the other account: %s", a.body)
	}

	// The file comes as it is and goes as it is.
	file, err := os.ReadFile(filepath.Join(string(s.folder), name))
	s.must(nil, err)
	if a := call("GET", "/backup/"+name, "").want(t, 200); string(a.body) != string(file) || !strings.Contains(a.header.Get("Content-Disposition"), name) {
		t.Errorf("%d bytes of %d came: %v", len(a.body), len(file), a.header)
	}
	call("HEAD", "/backup/"+name, "").want(t, 200)
	send := func(path, kind, body string) *answer {
		t.Helper()
		return s.do(ask{method: "PUT", path: path, body: body, key: key, header: map[string]string{"Content-Type": kind}})
	}
	send("/backup/old-pc.backup", "application/octet-stream", string(file)).want(t, 200)
	send("/backup/old-pc.backup", "application/octet-stream", string(file)).want(t, 409)
	send("/backup/other.backup", "application/json", string(file)).want(t, 400)
	send("/backup/cut.backup", "application/octet-stream", string(file[:len(file)-9])).want(t, 400)
	send("/backup/flipped.backup", "application/octet-stream", string(file[:len(file)/2])+"x"+string(file[len(file)/2+1:])).want(t, 400)
	for _, bad := range []string{"app-20261120T013000Z.backup", "x", "..%2Fapp.backup", "%C3%A4.backup", ".x.backup"} {
		send("/backup/"+bad, "application/octet-stream", string(file)).want(t, 400)
	}
	if all, err := s.folder.All(); err != nil || len(all) != 3 {
		t.Errorf("%+v, %v", all, err)
	}

	// Verified, and what is in it.
	if a := call("POST", "/backup/old-pc.backup/verify", "").want(t, 200); a.at("result", "counts", "account") != 2.0 || a.text("result", "app") != "test" {
		t.Errorf("%s", a.body)
	}
	secret := s.hide("correct horse battery")
	sealed := s.madeBackup(secret)
	call("POST", "/backup/"+sealed+"/verify", "").wantDetail(t, "passphrase", "encrypted")
	call("POST", "/backup/"+sealed+"/verify", `{"passphrase":"wrong"}`).wantDetail(t, "passphrase", "does not fit")
	call("POST", "/backup/"+sealed+"/verify", `{"passphrase":"`+secret+`"}`).want(t, 200)
	damaged := filepath.Join(string(s.folder), "old-pc.backup")
	file[len(file)/2] ^= 1
	s.must(nil, os.WriteFile(damaged, file, 0o600))
	if a := call("POST", "/backup/old-pc.backup/verify", "").want(t, 409); !strings.Contains(a.text("errorMessage"), "damaged") {
		t.Errorf("%s", a.body)
	}

	// Restored only when its name is typed, and not twice at once.
	path := "/backup/" + sealed + "/restore"
	call("POST", path, `{}`).wantDetail(t, "confirm", "")
	call("POST", path, `{"confirm":"yes","passphrase":"`+secret+`"}`).wantDetail(t, "confirm", sealed)
	call("POST", path, `{"confirm":"`+sealed+`"}`).wantDetail(t, "passphrase", "")
	if call("POST", path, `{"confirm":"`+sealed+`","passphrase":"`+secret+`"}`).want(t, 200); len(s.restorer.asked) != 1 ||
		s.restorer.asked[0].Passphrase != secret || s.restorer.asked[0].Path != filepath.Join(string(s.folder), sealed) || s.restorer.asked[0].By.Email != mailOf(auth.Admin) {
		t.Errorf("%+v", s.restorer.asked)
	}
	call("POST", path, `{"confirm":"`+sealed+`","passphrase":"`+secret+`"}`).want(t, 409)
	if a := call("GET", "/backup", "").want(t, 200); a.text("result", "restore", "state") != "running" || len(a.at("result", "backups").([]any)) != 4 {
		t.Errorf("%s", a.body)
	}

	// Removed, but for the newest that the service itself has made.
	if err := os.Rename(filepath.Join(string(s.folder), name), filepath.Join(string(s.folder), "app-20261120T013000Z.backup")); err != nil {
		t.Fatal(err)
	}
	call("DELETE", "/backup/app-20261120T013000Z.backup", "").want(t, 409)
	call("DELETE", "/backup/old-pc.backup", "").want(t, 204)
	for _, unknown := range []string{"old-pc.backup", name, "x", "..%2Fstore.db"} {
		for _, method := range []string{"GET", "DELETE"} {
			call(method, "/backup/"+unknown, "").want(t, 404)
		}
		call("POST", "/backup/"+unknown+"/verify", "").want(t, 404)
		call("POST", "/backup/"+unknown+"/restore", `{"confirm":"x"}`).want(t, 404)
	}
	s.must(nil, os.RemoveAll(string(s.folder)))
	call("POST", "/backup", "").want(t, 503)
	call("GET", "/backup", "").want(t, 200)
}
