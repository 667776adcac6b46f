package auth

import (
	"strings"
	"testing"

	"opsmon/app/errdefs"
	"opsmon/kv"
)

func TestInitials(t *testing.T) {
	for text, want := range map[string]string{
		"ABC": "ABC", "a1b2c3d4": "a1b2c3d4", "  ABC\t": "ABC", "\u00a0ÄÖÜ\n": "ÄÖÜ", "李小龙": "李小龙", "अनिल": "अनिल", "٠١٢": "٠١٢", "123": "123",
		"": "", "AB": "", "ABCDEFGHI": "", "   ": "", "\t\n ": "", "a\nb": "", "A B C": "", "A-BC": "", "A\u200bBC": "", "A\x00BC": "", "ABC!": "", "\u0301ABC": "", "\xffABC": "", "½½½": "",
	} {
		got, err := Initials(text, true)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", text, got, err)
		}
		if err != nil && (errdefs.KindOf(err) != errdefs.Invalid || !strings.HasPrefix(err.Error(), "initials must be ")) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if got, err := Initials("", false); got != "" || err != nil {
		t.Errorf("left out: %q, %v", got, err)
	}
	if _, err := Initials("  ", false); err == nil {
		t.Error("blanks stand for none")
	}
}

func TestAuthorizeAt(t *testing.T) {
	authorize := func(_ *kv.Tx, p Principal, need Role) error {
		if !p.Role.AtLeast(need) {
			return errdefs.New(errdefs.Forbidden, "this needs the role %s", need)
		}
		return nil
	}
	for _, tt := range []struct {
		role     Role
		stations []string
		need     Role
		code     string
		may      bool
	}{
		{Operator, nil, Operator, "A", false}, {Operator, []string{}, Operator, "A", false}, {Operator, []string{"A", "B"}, Operator, "B", true},
		{Operator, []string{"A"}, Operator, "C", false}, {Operator, []string{"A"}, Supervisor, "A", false}, {Readonly, []string{"A"}, Operator, "A", false},
		{Supervisor, nil, Operator, "A", true}, {Supervisor, []string{"A"}, Operator, "C", true}, {Supervisor, []string{"A"}, Supervisor, "C", true}, {Admin, nil, Operator, "A", true},
	} {
		err := AuthorizeAt(authorize, nil, Principal{Role: tt.role, StationCodes: tt.stations}, tt.need, tt.code)
		if (err == nil) != tt.may || err != nil && errdefs.KindOf(err) != errdefs.Forbidden {
			t.Errorf("%s of %q, which needs %s, at %s: %v", tt.role, tt.stations, tt.need, tt.code, err)
		}
	}
}
