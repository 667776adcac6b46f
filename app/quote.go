package app

import (
	"runtime"
	"strings"
	"unicode"
)

// Quote makes one word of s for the shell that people use on this system.
func Quote(s string) string {
	plain := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("/._-:+,@%", r) || r == '\\' && runtime.GOOS == "windows"
	}
	switch {
	case strings.TrimFunc(s, plain) == "":
		return s
	case runtime.GOOS == "windows":
		return `"` + s + `"`
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
