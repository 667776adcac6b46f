package account

import (
	"fmt"
	"strings"
	"testing"
)

// TestInstructionsURL checks that links are http or https, and nothing that a browser would run.
func TestInstructionsURL(t *testing.T) {
	for value, good := range map[string]bool{
		`null`: true, `"https://docs.example/a b"`: true, `"HTTP://docs/1"`: true,
		`"javascript:alert(1)"`: false, `"data:text/html,x"`: false, `"docs.example/a"`: false, `"//docs.example"`: false, `""`: false, `" https://x"`: false, `"https://"`: false, `"file:///etc"`: false, `"java\nscript:x"`: false,
	} {
		raw := strings.Replace(string(plantFile), `"instructionsUrl":`, fmt.Sprintf(`"instructionsUrl": %s, "was":`, value), 1)
		problems := fmt.Sprint(Validate([]byte(raw), start))
		if has := strings.Contains(problems, "must be an address that begins with http:// or https://"); has == good {
			t.Errorf("%s: %s", value, problems)
		}
	}
}
