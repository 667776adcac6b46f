package service

import (
	_ "embed"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// User is the account that the service runs as on Linux: a system user and group of that name.
const User = "app"

// Sysusers declares User for systemd-sysusers.
const Sysusers = `u app - "Manufacturing operations monitoring" ` + defaultDataDir + "\n"

// defaultDataDir is the data directory that systemd creates for the service.
const defaultDataDir = "/var/lib/app"

//go:embed app.service.tmpl
var unitTemplate string

// UnitConfig describes a unit. The paths are absolute.
type UnitConfig struct {
	Binary  string
	DataDir string
}

// Unit returns the text of app.service. Paths may hold any character but line ends that a file system takes.
func Unit(cfg UnitConfig) string {
	directory := "StateDirectory=app\nStateDirectoryMode=0700"
	if cfg.DataDir != defaultDataDir {
		directory = "ReadWritePaths=" + quoteUnit(cfg.DataDir)
	}
	return strings.NewReplacer(
		"{binary}", quoteUnit(cfg.Binary), "{argument}", quoteArgument(cfg.DataDir), "{datadir}", quoteUnit(cfg.DataDir),
		"{directory}", directory, "{home}", protectHome(cfg.DataDir),
	).Replace(unitTemplate)
}

// protectHome returns the strictest protection of the users' own directories with which the service reaches paths.
func protectHome(paths ...string) string {
	if slices.ContainsFunc(paths, func(p string) bool { return below(p, "/home") || below(p, "/root") || below(p, "/run/user") }) {
		return "read-only"
	}
	return "yes"
}

func below(p, dir string) bool { return p == dir || strings.HasPrefix(p, dir+"/") }

// FoldersUnit returns a drop-in that lets the service write to folders outside of its data directory, "" for none. A
// missing folder, such as a share that cannot be mounted, does not keep the service from starting.
func FoldersUnit(dataDir string, folders []string) string {
	folders = slices.DeleteFunc(slices.Clone(folders), func(f string) bool { return below(f, dataDir) })
	if len(folders) == 0 {
		return ""
	}
	slices.Sort(folders)
	var b strings.Builder
	b.WriteString("# Made by app install, from the folders that app.yaml names.\n\n[Unit]\n")
	for _, f := range slices.Compact(folders) {
		for dir := f; dir != "/" && dir != "."; dir = path.Dir(dir) {
			fmt.Fprintf(&b, "After=%s.mount\n", escapeUnitPath(dir))
		}
	}
	b.WriteString("\n[Service]\n")
	for _, f := range slices.Compact(folders) {
		fmt.Fprintf(&b, "ReadWritePaths=%s\n", quoteUnit("-"+f))
	}
	fmt.Fprintf(&b, "ProtectHome=%s\n", protectHome(append(folders, dataDir)...))
	return b.String()
}

// escapeUnitPath makes a path a unit's name, as systemd-escape --path does.
func escapeUnitPath(p string) string {
	var b strings.Builder
	for i, c := range []byte(strings.Trim(path.Clean(p), "/")) {
		switch {
		case c == '/':
			b.WriteByte('-')
		case c == '.' && i == 0, c != '.' && c != '_' && c != ':' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z'):
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// quoteArgument quotes s as one word of a command line in a unit file, where variables are expanded as well.
func quoteArgument(s string) string { return strings.ReplaceAll(quoteUnit(s), "$", "$$") }

// quoteUnit makes one word of s for a unit file, in which no specifier is expanded.
func quoteUnit(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '%':
			b.WriteRune(r)
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			b.WriteString(`\x` + string("0123456789abcdef"[r>>4]) + string("0123456789abcdef"[r&15]))
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// execStart returns the command line of a unit's text, drop-ins included, in the words that quoteUnit makes or that
// people write: the last ExecStart counts.
func execStart(text string) []string {
	var argv []string
	for line := range strings.Lines(text) {
		if value, found := strings.CutPrefix(strings.TrimSpace(line), "ExecStart="); found {
			argv = splitUnit(value)
		}
	}
	return argv
}

// splitUnit splits a command line as systemd does: words in single or double quotes, escapes, doubled % and $.
func splitUnit(s string) []string {
	var words []string
	var word strings.Builder
	inWord, quote := false, byte(0)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quote == 0 && (c == ' ' || c == '\t'):
			if inWord {
				words = append(words, word.String())
				word.Reset()
			}
			inWord = false
			continue
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case quote != 0 && c == quote:
			quote = 0
		case c == '\\' && i+3 < len(s) && s[i+1] == 'x':
			if n, err := strconv.ParseUint(s[i+2:i+4], 16, 8); err == nil {
				word.WriteByte(byte(n))
				i += 3
				break
			}
			word.WriteByte(c)
		case c == '\\' && i+1 < len(s):
			i++
			word.WriteByte(s[i])
		case (c == '%' || c == '$') && i+1 < len(s) && s[i+1] == c:
			i++
			word.WriteByte(c)
		default:
			word.WriteByte(c)
		}
		inWord = true
	}
	if inWord {
		words = append(words, word.String())
	}
	return words
}

// dataDirOf finds --data-dir in a command line.
func dataDirOf(argv []string) string {
	for i, arg := range argv {
		if dir, found := strings.CutPrefix(arg, "--data-dir="); found {
			return dir
		}
		if arg == "--data-dir" && i+1 < len(argv) {
			return argv[i+1]
		}
	}
	return ""
}
