package namedfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	in := func(name string, size int) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(strings.Repeat("x", size)), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, tt := range []struct {
		path, want string // "" = it is read
	}{
		{in("empty", 0), ""}, {in("most", Max), ""}, {in("much", Max+1), "much: it has more than 1 MiB"}, {dir, "it is no file"},
		{os.DevNull, "it is no file"}, {filepath.Join(dir, "none"), "none: "},
	} {
		data, err := Read(tt.path)
		if tt.want != "" {
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %v, want %q", tt.path, err, tt.want)
			}
			continue
		}
		if info, err2 := os.Stat(tt.path); err != nil || err2 != nil || int64(len(data)) != info.Size() {
			t.Errorf("%s: %d bytes, %v", tt.path, len(data), err)
		}
	}
}
