package certs

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"regexp"
	"strings"
	"testing"
)

func TestProfile(t *testing.T) {
	p := newPlant()
	dir := t.TempDir()
	a := p.open(t, dir)
	profile := a.CA().Profile()
	fields := map[string][]string{}
	decoder, key := xml.NewDecoder(bytes.NewReader(profile)), ""
	for {
		token, err := decoder.Token()
		if err != nil {
			if err.Error() != "EOF" {
				t.Fatal(err)
			}
			break
		}
		start, ok := token.(xml.StartElement)
		if !ok || start.Name.Local == "plist" || start.Name.Local == "dict" || start.Name.Local == "array" {
			continue
		}
		var text string
		if err := decoder.DecodeElement(&text, &start); err != nil {
			t.Fatal(err)
		}
		if start.Name.Local == "key" {
			key = text
			continue
		}
		fields[key] = append(fields[key], text)
	}
	der, err := base64.StdEncoding.DecodeString(strings.Join(fields["PayloadContent"], ""))
	if err != nil || !bytes.Equal(der, a.CA().DER()) {
		t.Errorf("it holds another certificate: %v", err)
	}
	if got := fields["PayloadType"]; len(got) != 2 || got[0] != "com.apple.security.root" || got[1] != "Configuration" {
		t.Errorf("its types are %v", got)
	}
	ids := fields["PayloadUUID"]
	form := regexp.MustCompile(`^[0-9A-F]{8}-[0-9A-F]{4}-8[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}$`)
	if len(ids) != 2 || ids[0] == ids[1] || !form.MatchString(ids[0]) || !form.MatchString(ids[1]) {
		t.Errorf("its identifiers are %v", ids)
	}
	read, err := ReadCA(dir)
	if err != nil || !bytes.Equal(read.Profile(), profile) {
		t.Errorf("the profile of the same authority differs: %v", err)
	}
	if other := p.open(t, t.TempDir()).CA().Profile(); strings.Contains(string(other), ids[0]) {
		t.Error("two authorities have one identifier")
	}
}
