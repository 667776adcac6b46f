package service

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCommandLine: what is written into a unit is read back as it was, whatever stands in the paths.
func TestCommandLine(t *testing.T) {
	for _, dir := range []string{"/var/lib/app", "/srv/Werk 1/Störung", `/srv/100%/$HOME/"x"/a\b`, "/srv/tab\there", "/srv/it's"} {
		text := "[Service]\nExecStart=/bin/false\nExecStart=" + quoteUnit("/opt/my app/app") + " serve --data-dir " + quoteUnit(dir) + "\n"
		argv := execStart(text)
		if diff := cmp.Diff([]string{"/opt/my app/app", "serve", "--data-dir", dir}, argv); diff != "" {
			t.Errorf("%q: %s", dir, diff)
		}
		if got := dataDirOf(argv); got != dir {
			t.Errorf("the data directory is %q, want %q", got, dir)
		}
	}
	for text, want := range map[string]string{
		"ExecStart=/usr/bin/app serve":                                               "",
		"ExecStart=/usr/bin/app serve --data-dir=/srv/x":                             "/srv/x",
		"ExecStart=/usr/bin/app serve '--data-dir' '/srv/a b'":                       "/srv/a b",
		"ExecStart=/bin/a --data-dir /1\nExecStart=\nExecStart=/bin/b --data-dir /2": "/2",
	} {
		if got := dataDirOf(execStart(text)); got != want {
			t.Errorf("%q: the data directory is %q, want %q", text, got, want)
		}
	}
}
