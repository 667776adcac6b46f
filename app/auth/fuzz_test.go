package auth

import (
	"net/mail"
	"strings"
	"testing"

	"opsmon/app/errdefs"
)

func FuzzParseToken(f *testing.F) {
	raw, _ := newToken(prefixKey)
	for _, s := range []string{"", raw, raw[:43], raw + "a", strings.ToUpper(raw), "ops_" + raw[4:], raw[:43] + "\n", raw[:40] + "1890"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		hash, ok := parseToken(prefixKey, s)
		if !ok {
			return
		}
		data, decoded := decode([tokenLen - prefixLen]byte([]byte(s[prefixLen:])))
		if !decoded || prefixKey+encode(data[:]) != s {
			t.Errorf("%q is not the one way to write its key", s)
		}
		if !isID(publicID(hash)) {
			t.Errorf("id %q", publicID(hash))
		}
	})
}

// TestTokenChecksum checks that every single wrong letter is detected without the store, and that a token is valid
// for one purpose only.
func TestTokenChecksum(t *testing.T) {
	for _, prefix := range []string{prefixKey, prefixSession, prefixLink, prefixWait} {
		raw, made := newToken(prefix)
		hash, ok := parseToken(prefix, raw)
		if !ok || hash != made.hash || publicID(hash) != made.id || len(raw) != tokenLen {
			t.Fatalf("%s is not read back", prefix)
		}
		for i := range raw {
			for c := range 256 {
				changed := raw[:i] + string([]byte{byte(c)}) + raw[i+1:]
				if _, ok := parseToken(prefix, changed); ok && changed != raw {
					t.Fatalf("a wrong letter at %d is not noticed", i)
				}
			}
		}
		for _, wrong := range []string{prefixKey, prefixSession, prefixLink, prefixWait} {
			if _, ok := parseToken(wrong, wrong+raw[prefixLen:]); ok != (wrong == prefix) {
				t.Errorf("a token %s is good for %s", prefix, wrong)
			}
		}
	}
}

func FuzzParseEmail(f *testing.F) {
	for _, s := range []string{"", "a@b", "A.B+c@X.Example", "a@b@c", "a b@c", "a@b..c", ".a@b", "a@-b", "\"a\"@b", "a@b\r\nBcc: c@d", "tablet:x@a.example", "ä@b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		email, err := ParseEmail(s)
		if err != nil {
			if errdefs.KindOf(err) != errdefs.Invalid || len(s) > 0 && len(s) < 200 && strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q", err)
			}
			return
		}
		again, err := ParseEmail(email)
		if err != nil || again != email || email != strings.ToLower(s) || len(email) > maxEmail {
			t.Errorf("%q becomes %q becomes %q, %v", s, email, again, err)
		}
		if strings.Count(email, "@") != 1 || strings.ContainsAny(email, " \t\r\n:\"<>(),;\\[]\x00") || strings.HasPrefix(email, tabletPrefix) {
			t.Errorf("%q", email)
		}
		parsed, err := mail.ParseAddress(email)
		if err != nil || parsed.Address != email {
			t.Errorf("%q: %v, %v", email, parsed, err)
		}
	})
}

func TestParseEmail(t *testing.T) {
	label, local := strings.Repeat("a", 63), strings.Repeat("l", 64)
	long := local + "@" + label + "." + label + "." + strings.Repeat("b", 61)
	for _, good := range []string{"a@b", "x.y+z@sub.example.com", "O'Neil@x.example", local + "@" + label + ".c", long} {
		if got, err := ParseEmail(good); err != nil || got != strings.ToLower(good) {
			t.Errorf("%q: %q, %v", good, got, err)
		}
	}
	if len(long) != maxEmail {
		t.Fatalf("%d", len(long))
	}
	for _, bad := range []string{
		"", "@", "a", "a@", "@b", "a@b@c", "a b@c", " a@b", "a@b ", "a..b@c", ".a@b", "a.@b", "a@b.", "a@.b", "a@b..c", "a@-b", "a@b-",
		"a@b_c", "a@[1.2.3.4]", "\"a b\"@c", "a\x00@b", "a@b\n", "ä@b", "a@ä", "tablet:x@a", "Name <a@b>", "l" + local + "@b", "a@a" + label, long + "b",
	} {
		if got, err := ParseEmail(bad); errdefs.KindOf(err) != errdefs.Invalid || got != "" {
			t.Errorf("%q: %q, %v", bad, got, err)
		}
	}
}
