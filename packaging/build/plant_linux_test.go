//go:build rig

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"opsmon/app/host/service/boottest"
)

// fenced are the blocks of commands of a page, each with its heading.
var fenced = regexp.MustCompile("(?ms)^## ([^\n]+)$|^```sh\n(.*?)^```$")

// TestPlantPage runs every command of the page for plants, in order, as root on booted machines.
func TestPlantPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(moduleOf(t), filepath.FromSlash(plantPage)))
	if err != nil {
		t.Fatal(err)
	}
	old, next := releaseOf(t, "1.0.0"), releaseOf(t, "1.1.0")
	equip := func() *boottest.Machine {
		m := boottest.Boot(t)
		for _, file := range []string{old.file(t, "_SHA256SUMS"), old.file(t, ".tar.gz"), next.file(t, ".tar.gz")} {
			put(t, m, file, "/root/"+filepath.Base(file))
		}
		m.Put(t, "/root/passphrase", []byte("seven cups of cold tea\n"), 0o600)
		m.Must(t, "mkdir", "-p", "/mnt/usb")
		return m
	}
	first := equip()
	run := func(m *boottest.Machine, commands string) string {
		t.Helper()
		out, ok := both(t, m, "sh", "-e", "-c", "cd /root\n"+commands)
		if !ok {
			t.Fatalf("%s\nfails: %s", commands, out)
		}
		return out
	}
	run(first, "mkdir -p /mnt/usb")

	// The expected results of each recipe, by heading and number of the block.
	var second *boottest.Machine
	after := map[string]func(out string){
		"Install 1": func(out string) {
			says(t, out, "app_1.0.0_linux_amd64.tar.gz: OK", "https://", "opk_")
			if state := unitProperty(t, first, "UnitFileState"); state != "enabled" {
				t.Errorf("the service is %s", state)
			}
		},
		"Trust 1": func(out string) {
			if pairs := regexp.MustCompile(`\b[0-9A-F]{2}:[0-9A-F]{2}:[0-9A-F]{2}:[0-9A-F]{2}\b`).FindAllString(out, -1); len(pairs) != 8 || !strings.Contains(out, "/trust") {
				t.Errorf("no fingerprint, or no address of the page: %s", out)
			}
		},
		"Back up 1": func(out string) {
			says(t, out, "/mnt/usb/plant.backup")
			run(first, "app user add late@northgate.example --role member")
		},
		"Restore 1": func(string) {
			if users := run(first, "app user list"); strings.Contains(users, "late@") || !strings.Contains(users, "it@") {
				t.Errorf("after the restore the users are: %s", users)
			}
			run(first, "app user add late@northgate.example --role member")
		},
		"Restore 2": func(out string) {
			says(t, out, "The settings were left in the backup")
			run(first, "cmp /root/app.yaml /var/lib/app/app.yaml")
			if users := run(first, "app user list"); strings.Contains(users, "late@") || !strings.Contains(users, "it@") {
				t.Errorf("after the restore without settings the users are: %s", users)
			}
		},
		"Upgrade, and go back 1": func(out string) { says(t, out, "1.1.0"); says(t, run(first, "app user list"), "it@northgate.example") },
		"Upgrade, and go back 2": func(out string) { says(t, out, "1.0.0"); says(t, run(first, "app user list"), "it@northgate.example") },
		"Move to another PC 1": func(string) {
			second = equip()
			put(t, second, filepath.Join(first.Root, "mnt/usb/move.backup"), "/mnt/usb/move.backup")
		},
		"Move to another PC 2": func(string) {
			says(t, run(second, "app user list"), "it@northgate.example")
			if a, b := run(first, "app start >/dev/null && app trust --pem"), run(second, "app trust --pem"); a != b {
				t.Error("the certificate authority was not moved")
			}
			run(first, "sed -i 's/^tls: auto/tls: perhaps/' /var/lib/app/app.yaml; app restart 2>/dev/null || true")
		},
		"When it does not start 1": func(out string) {
			says(t, out, "tls must be", "perhaps")
			run(first, "sed -i 's/^tls: perhaps/tls: auto/' /var/lib/app/app.yaml")
		},
		"When it does not start 2": func(string) { says(t, run(first, "app user list"), "it@northgate.example") },
	}
	heading, number := "", 0
	for _, found := range fenced.FindAllStringSubmatch(string(page), -1) {
		if found[1] != "" {
			heading, number = found[1], 0
			continue
		}
		number++
		m := first
		if strings.HasPrefix(found[2], "# on the new PC\n") {
			m = second
		}
		recipe := heading + " " + string(rune('0'+number))
		look := after[recipe]
		if look == nil {
			t.Errorf("nothing is looked at after the block %s", recipe)
			continue
		}
		out := run(m, found[2])
		t.Logf("%s:\n%s%s", recipe, found[2], out)
		look(out)
		delete(after, recipe)
	}
	for recipe := range after {
		t.Errorf("the page has no block %s", recipe)
	}
}
