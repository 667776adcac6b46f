//go:build rig

package access_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"opsmon/app/host/config"
	"opsmon/app/test/browser/webtest"
)

func TestTheApplianceAndTheOverview(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{})
	var facts struct {
		Version, Platform, HostName, DataDir string
		URLs                                 []string
		Listen                               []struct{ Address string }
		Counts                               struct{ Users, Tablets, Devices int }
		Retention                            struct{ SignalDays int }
		Warnings                             []struct{ Message, Action string }
	}
	s.Call("GET", "/appliance", nil, &facts)
	if len(facts.Warnings) == 0 {
		t.Fatal("a service without scheduled backups warns of nothing")
	}
	tab := open(t, s, "admin", "/console/appliance")
	want := append([]string{facts.Version, facts.Platform, facts.HostName, facts.DataDir, facts.Listen[0].Address, fmt.Sprintf("signals %d days", facts.Retention.SignalDays)}, facts.URLs...)
	for _, text := range want {
		if text == "" || !strings.Contains(tab.Text("#main"), text) {
			t.Errorf("the page does not tell %q", text)
		}
	}
	if got := webtest.Eval[string](tab, `[...document.querySelectorAll("#main .tiles > div")].map((e) => e.innerText.replace(/\s+/g, " ").trim()).join()`); got != fmt.Sprintf("%s,%s,%s,%s", tile(1, "Account"), tile(facts.Counts.Users, "User"), tile(facts.Counts.Tablets, "Tablet"), tile(facts.Counts.Devices, "Device")) {
		t.Errorf("it counts %s", got)
	}
	warned := func() {
		t.Helper()
		shown := webtest.Eval[string](tab, `document.querySelector('[aria-label="Warnings"]').textContent`)
		for _, w := range facts.Warnings {
			if !strings.Contains(shown, w.Message) || !strings.Contains(shown, w.Action) {
				t.Errorf("%s does not warn: %s", webtest.Eval[string](tab, "location.pathname"), w.Message)
			}
		}
	}
	warned()
	if got := webtest.Eval[string](tab, `[...document.querySelectorAll('[aria-label="Warnings"] > div')].find((e) => e.innerText.includes("No backups are scheduled")).querySelector("a").pathname`); got != "/console/backups" {
		t.Errorf("a warning of backups leads to %s", got)
	}
	looks(tab, "appliance", true)

	var current struct {
		Version string         `json:"version"`
		Account map[string]any `json:"account"`
	}
	_, manifest := ask(t, s, s.Key, "GET", "/account/manifest", nil)
	if err := json.Unmarshal([]byte(manifest), &current); err != nil {
		t.Fatal(err)
	}
	current.Account["skus"] = append(current.Account["skus"].([]any), map[string]any{"code": "NEW-1", "name": "New", "cycleTime": 2000})
	s.Call("PUT", "/account/manifest", current, nil)
	visit(tab, "/console")
	warned()
	says(tab, "#main .card", "Revision 2")
	if !strings.Contains(tab.Text("#main .plain-list"), webtest.Admin) {
		t.Error("the overview does not tell who changed something lately")
	}
	looks(tab, "overview", true)
	tab.Clean()
}

// tile returns the text of a tile with a count.
func tile(n int, name string) string {
	if n != 1 {
		name += "s"
	}
	return fmt.Sprintf("%s %d", name, n)
}

func TestTheLog(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{})
	tab := open(t, s, "admin", "/console/log")
	tab.Until(row("listening") + `.includes("info")`)
	looks(tab, "log", true)
	for i := range 120 {
		s.Call("PUT", "/appliance/backup-settings", map[string]any{"keepDaily": 1 + i%100}, nil)
	}
	tab.Until(`document.querySelectorAll("#main tbody tr").length === 200`) // automatically
	// The frequent automatic refresh must not overwrite the result of a slow explicit request.
	tab.Before(`{ const every = setInterval, ask = fetch;
		globalThis.setInterval = (what, ms, ...all) => every(what, ms === 5000 ? (globalThis.sped = 100) : ms, ...all);
		globalThis.fetch = async (at, ...all) => { if (String(at).includes("before=")) await new Promise((later) => setTimeout(later, 500)); return ask(at, ...all); }; }`)
	visit(tab, "/console/log")
	tab.Until(`document.querySelectorAll("#main tbody tr").length === 200`)
	tab.Until(`globalThis.sped`) // otherwise the page refreshes with another interval than the shortened one
	button(tab, "#main", "Older")
	tab.Until(`document.querySelectorAll("#main tbody tr").length > 240 && ` + row("listening"))
	if webtest.Eval[bool](tab, `[...document.querySelectorAll("#main > button")].some((b) => b.textContent === "Older")`) {
		t.Error("there are older lines than the first")
	}
	tab.Eval(`document.querySelectorAll(".segmented input")[0].click()`)
	tab.Until(`document.querySelector("#main .empty")`)
	tab.Clean()
}

func TestBackups(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{})
	tab := open(t, s, "admin", "/console/backups")
	tab.Until(`document.querySelector("#main .empty")`)
	brought(t, tab)
	button(tab, ".page-head", "Back up now")
	told(tab, "is made and verified")
	name := made(tab)
	looks(tab, "backups", true)

	button(tab, "#main tbody", "Verify "+name)
	says(tab, "dialog h2", "whole")
	if got := tab.Text("dialog .facts"); !strings.Contains(got, "API keys") || strings.Contains(got, "authUser") {
		t.Errorf("what is in the backup is told as %q", got)
	}
	looks(tab, "backups-verified", false)
	button(tab, "dialog footer", "Close")

	status, body := ask(t, s, s.Key, "GET", "/backup/"+name, nil)
	sum := sha256.Sum256([]byte(body))
	got := webtest.Eval[string](tab, `fetch(document.querySelector('#main a[download="`+name+`"]').href).then((a) => a.arrayBuffer()).then((b) => crypto.subtle.digest("SHA-256", b)).then((d) => [...new Uint8Array(d)].map((n) => n.toString(16).padStart(2, "0")).join(""))`)
	if want := hex.EncodeToString(sum[:]); status != 200 || got != want {
		t.Errorf("what is downloaded has %s, the backup %s (%d)", got, want, status)
	}

	schedule(t, s, tab)
	bring(tab, "rubbish.backup", `new Blob(["this is no backup"])`)
	told(tab, "no backup that can be used")
	bring(tab, "from-elsewhere"+filepath.Ext(name), `await (await fetch("/backup/`+name+`")).blob()`)
	told(tab, "is here")
	tab.Until(row("from-elsewhere") + `.includes("from elsewhere")`)

	button(tab, "#main tbody", "Remove from-elsewhere")
	button(tab, "dialog footer", "Remove")
	told(tab, "removed")
	tab.Until("!" + row("from-elsewhere"))
	restore(t, s, tab, name)
	tab.Clean()
}

// made returns the name of the newest backup of the page.
func made(tab *webtest.Tab) string {
	tab.Until(`document.querySelector("#main tbody a[download]")`)
	return webtest.Eval[string](tab, `document.querySelector("#main tbody a[download]").download`)
}

// brought checks the names of uploaded files: in any script, numbered like browsers do, and when a file with the name
// exists.
func brought(t *testing.T, tab *webtest.Tab) {
	t.Helper()
	for file, want := range map[string]string{
		"north.backup": "north-2.backup", "south.backup": "south.backup", "south (12).backup": "south.backup", "south.backup(1)": "south.backup", "South": "South.backup", "NORTH.BACKUP": "NORTH-2.backup",
		"app-2026-03-01.backup(1)": "brought-app-2026-03-01.backup", "manual-2026-03-01 (2).backup": "brought-manual-2026-03-01.backup", "резерв.backup": "brought-2026-03-01.backup", ".backup": "brought-2026-03-01.backup",
		"Завод north.backup": "north-2.backup", "Évora, 2.backup": "Evora-2.backup", "..backup.backup": "backup.backup", strings.Repeat("n", 200): strings.Repeat("n", 100) + ".backup",
	} {
		if got := webtest.Eval[string](tab, fmt.Sprintf(`import(document.querySelector("script[type=module]").src.replace("main.js", "pages/backups.js")).then((page) => page.nameFor(%q, ["north.backup"], "2026-03-01"))`, file)); got != want {
			t.Errorf("%s is kept as %s, not %s", file, got, want)
		}
	}
}

// bring uploads a file; blob is an expression with its content.
func bring(tab *webtest.Tab, name, blob string) {
	tab.Eval(`(async () => { const files = new DataTransfer(), input = document.querySelector("#main input[type=file]");
		files.items.add(new File([` + blob + `], "` + name + `")); input.files = files.files; input.dispatchEvent(new Event("change")); })()`)
}

func schedule(t *testing.T, s *webtest.Service, tab *webtest.Tab) {
	t.Helper()
	button(tab, "#main .card", "Change")
	tab.Type("#f-ask-at", "25:00"+kb.Tab)
	tab.Type("#f-ask-keepWeekly", "9")
	button(tab, "dialog footer", "Save")
	tab.Until(`document.querySelector('dialog .field[data-field="at"].bad .problem')?.textContent`)
	looks(tab, "backups-schedule", false)
	tab.Type("#f-ask-at", "03:45")
	tab.Type("#f-ask-every", "2")
	button(tab, "dialog footer", "Save")
	told(tab, "changed")
	says(tab, "#main .card", "every 2 days at 03:45")
	written, err := os.ReadFile(filepath.Join(s.DataDir, config.File))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"03:45", "every: 2", "keepWeekly: 9"} {
		if !strings.Contains(string(written), line) {
			t.Errorf("%s has no %q:\n%s", config.File, line, written)
		}
	}
}

// restore restores a backup: a user added since then is gone, and everybody is signed out.
func restore(t *testing.T, s *webtest.Service, tab *webtest.Tab, name string) {
	t.Helper()
	s.Call("POST", "/user", map[string]string{"email": "later@demo.example", "role": "member"}, nil)
	button(tab, "#main tbody", "Restore "+name)
	says(tab, "dialog .notice.bad", "Everybody is signed out")
	tab.Type("#f-ask-confirm", "another")
	button(tab, "dialog footer", "Restore")
	tab.Until(`document.querySelector('dialog .field[data-field="confirm"].bad .problem')?.textContent.includes("name of the backup")`)
	looks(tab, "backups-restore", false)
	tab.Type("#f-ask-confirm", name)
	button(tab, "dialog footer", "Restore")
	tab.Until(`location.pathname === "/signin" && new URL(location).searchParams.get("next") === "/console/backups"`)
	tab.Until(`document.querySelector("#email")`)
	var users []struct{ Email string }
	s.Call("GET", "/user", nil, &users)
	if len(users) != 1 {
		t.Errorf("after the restore there are %v", users)
	}
	s.SignIn(tab, "admin")
	visit(tab, "/console/backups")
	says(tab, "#main .notice.ok", name+" was restored")
	looks(tab, "backups-restored", false)
}

func TestEncryptedBackups(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "passphrase")
	if err := os.WriteFile(secret, []byte("correct horse battery staple\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := webtest.Serve(t, webtest.Options{Adjust: func(c *config.Settings) { c.Backup.PassphraseFile = secret }})
	if err := os.WriteFile(filepath.Join(s.DataDir, config.File), fmt.Appendf(nil, "backup:\n  passphraseFile: %q\n", secret), 0o600); err != nil {
		t.Fatal(err)
	}
	tab := open(t, s, "admin", "/console/backups")
	button(tab, ".page-head", "Back up now")
	told(tab, "is made and verified")
	name := made(tab)
	tab.Until(row(name) + `.includes("encrypted")`)
	button(tab, "#main tbody", "Verify "+name)
	tab.Type("#f-ask-passphrase", "another passphrase, as long")
	button(tab, "dialog footer", "Verify")
	tab.Until(`document.querySelector('dialog .field[data-field="passphrase"].bad .problem')?.textContent.includes("does not fit")`)
	looks(tab, "backups-passphrase", false)
	tab.Type("#f-ask-passphrase", "correct horse battery staple")
	button(tab, "dialog footer", "Verify")
	says(tab, "dialog h2", "whole")
	button(tab, "dialog footer", "Close")
	// A restore whose page was left is reported when it is done, and does not reveal keys.
	tab.Eval(`(() => { const real = fetch; window.fetch = async (path, options) => { if (path.endsWith("/verify")) await new Promise((go) => { window.go = go; }); return real(path, options); }; })()`)
	button(tab, "#main tbody", "Verify "+name)
	tab.Type("#f-ask-passphrase", "correct horse battery staple")
	button(tab, "dialog footer", "Verify")
	tab.Until(`window.go`)
	button(tab, "dialog footer", "Leave it running")
	tab.Until(`!document.querySelector("dialog")`)
	tab.Eval(`window.go()`)
	told(tab, name+" is whole")
	if webtest.Eval[bool](tab, `document.querySelector("dialog") !== null`) {
		t.Error("a dialog opens by itself")
	}
	tab.Clean()
	_, body := ask(t, s, s.Key, "GET", "/backup/"+name, nil)
	if err := os.Remove(secret); err != nil {
		t.Fatal(err)
	}
	restoreElsewhere(t, s, name, body, secret)
}

// restoreElsewhere restores an encrypted backup on another service, which does not know its passphrase and lacks a file
// that its settings name, until the file is uploaded.
func restoreElsewhere(t *testing.T, from *webtest.Service, name, body, missing string) {
	t.Helper()
	s := webtest.Serve(t, webtest.Options{})
	s.Call("POST", "/user", map[string]string{"email": "later@demo.example", "role": "member"}, nil)
	tab := open(t, s, "admin", "/console/backups")
	bring(tab, strings.Replace(name, ".", " (1).", 1), `Uint8Array.from(atob("`+base64.StdEncoding.EncodeToString([]byte(body))+`"), (c) => c.charCodeAt(0))`)
	told(tab, "is here")
	name = made(tab)
	button(tab, "#main tbody", "Restore "+name)
	tab.Type("#f-ask-confirm", name)
	if kind := webtest.Eval[string](tab, `document.querySelector("#f-ask-passphrase").type`); kind != "password" {
		t.Errorf("the passphrase is typed into a field of the type %s", kind)
	}
	refused := func(passphrase, sentence string) {
		t.Helper()
		tab.Type("#f-ask-passphrase", passphrase)
		button(tab, "dialog footer", "Restore")
		tab.Until(fmt.Sprintf(`document.querySelector('dialog .field[data-field="passphrase"].bad .problem')?.textContent.includes(%q)`, sentence))
	}
	refused("", "is encrypted")
	refused("another passphrase, as long", "does not fit")
	looks(tab, "backups-restore-encrypted", false)
	tab.Type("#f-ask-passphrase", "correct horse battery staple")
	button(tab, "dialog footer", "Restore")
	tab.Until(`location.pathname === "/signin" && document.querySelector("#email")`)
	s.Key = from.Key // everything is as on the first service
	s.SignIn(tab, "admin")
	visit(tab, "/console/backups")
	says(tab, "#main .notice.ok", name+" was restored")
	says(tab, "#main .notice.ok li", "instead of "+missing)
	var users []struct{ Email string }
	if s.Call("GET", "/user", nil, &users); len(users) != 1 {
		t.Errorf("after the restore there are %v", users)
	}
	tab.Clean()
}

// TestUnusableSettings: the list marks a backup with unusable settings, its restore is refused with the line, and without the
// settings it is restored.
func TestUnusableSettings(t *testing.T) {
	s := webtest.Serve(t, webtest.Options{})
	if err := os.WriteFile(filepath.Join(s.DataDir, config.File), []byte("liste: \":8080\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tab := open(t, s, "admin", "/console/backups")
	button(tab, ".page-head", "Back up now")
	told(tab, "is made and verified")
	name := made(tab)
	tab.Until(row(name) + `.includes("settings could not be used")`)
	visit(tab, "/console/appliance")
	says(tab, `[aria-label="Warnings"]`, "unknown key liste")
	visit(tab, "/console/backups")
	button(tab, "#main tbody", "Restore "+name)
	tab.Type("#f-ask-confirm", name)
	button(tab, "dialog footer", "Restore")
	says(tab, "#main .notice.bad", "line 1: unknown key liste")
	says(tab, "#main .notice.bad", "nothing was changed")
	looks(tab, "backups-unusable", false)
	button(tab, "#main tbody", "Restore "+name)
	tab.Type("#f-ask-confirm", name)
	tab.Click("#f-ask-withoutSettings")
	button(tab, "dialog footer", "Restore")
	tab.Until(`location.pathname === "/signin" && document.querySelector("#email")`)
	s.SignIn(tab, "admin")
	visit(tab, "/console/backups")
	says(tab, "#main .notice.ok", "those of this computer apply")
	tab.Clean()
}
