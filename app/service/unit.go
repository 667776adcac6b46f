package service

import (
	"strconv"
	"strings"
)

// quoteUnit makes one word of s for a unit file: specifiers and variables in it are not expanded.
func quoteUnit(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '%' || r == '$':
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

// execStart gives the command line of a unit's text, drop-ins included, in the words that quoteUnit makes or that
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

// splitUnit is what systemd does to a command line: words in single or double quotes, escapes, doubled % and $.
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
