package main

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"strings"
)

// The SBOM, in CycloneDX 1.6 (ECMA-424) as JSON.
type (
	sbom struct {
		Schema       string       `json:"$schema"`
		Format       string       `json:"bomFormat"`
		Spec         string       `json:"specVersion"`
		Serial       string       `json:"serialNumber"`
		Version      int          `json:"version"`
		Metadata     sbomMetadata `json:"metadata"`
		Components   []component  `json:"components"`
		Dependencies []dependency `json:"dependencies"`
	}
	sbomMetadata struct {
		Timestamp string    `json:"timestamp"`
		Tools     sbomTools `json:"tools"`
		Component component `json:"component"`
	}
	sbomTools struct {
		Components []component `json:"components"`
	}
	component struct {
		Type       string     `json:"type"`
		Ref        string     `json:"bom-ref,omitempty"`
		Name       string     `json:"name"`
		Version    string     `json:"version"`
		Scope      string     `json:"scope,omitempty"`
		Hashes     []hashed   `json:"hashes,omitempty"`
		Licences   []licence  `json:"licenses,omitempty"`
		PURL       string     `json:"purl,omitempty"`
		Properties []property `json:"properties,omitempty"`
	}
	hashed struct {
		Algorithm string `json:"alg"`
		Content   string `json:"content"`
	}
	licence struct {
		Expression string `json:"expression"`
	}
	property struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	dependency struct {
		Ref       string   `json:"ref"`
		DependsOn []string `json:"dependsOn"`
	}
)

// writeSBOM writes the SBOM of the binary.
func (p *product) writeSBOM() error {
	b, err := os.ReadFile(p.binary)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(p.sbom(b), "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(p.file("app_"+p.Version+"_"+p.OS+"_"+p.Arch+".cdx.json"), append(text, '\n'), 0o644)
}

func (p *product) sbom(binary []byte) sbom {
	sum := sha256.Sum256(binary)
	digest := hex.EncodeToString(sum[:])
	s := sbom{
		Schema: "http://cyclonedx.org/schema/bom-1.6.schema.json", Format: "CycloneDX", Spec: "1.6", Version: 1,
		Serial: "urn:uuid:" + uuid("sbom:"+digest),
	}
	s.Metadata.Timestamp = p.Time.Format("2006-01-02T15:04:05Z")
	s.Metadata.Tools.Components = []component{{Type: "application", Name: ownModule + "/packaging/build", Version: p.Version}}
	for i, m := range p.modules {
		c := component{
			Type: "library", Ref: m.ref(), Name: m.Path, Version: m.Version, Scope: "required",
			Licences: []licence{{m.Licence}}, PURL: m.ref(),
		}
		if m.Sum != "" { // the hash of a directory, which CycloneDX cannot represent
			c.Properties = []property{{"go.sum", m.Sum}}
		}
		uses := []string{}
		for _, path := range m.Uses {
			for _, used := range p.modules {
				if used.Path == path {
					uses = append(uses, used.ref())
				}
			}
		}
		s.Dependencies = append(s.Dependencies, dependency{m.ref(), uses})
		if i == 0 {
			c.Type, c.Name, c.Scope = "application", "app", ""
			c.Hashes = []hashed{{"SHA-256", digest}}
			c.Properties = []property{{"GOOS", p.OS}, {"GOARCH", p.Arch}, {"commit", p.Commit}}
			s.Metadata.Component = c
			continue
		}
		s.Components = append(s.Components, c)
	}
	return s
}

// ref returns a module's package URL, which also identifies it within the SBOM.
func (m module) ref() string {
	if m.NPM {
		return "pkg:npm/" + strings.Replace(m.Path, "@", "%40", 1) + "@" + url.QueryEscape(m.Version)
	}
	return "pkg:golang/" + strings.ToLower(m.Path) + "@" + url.QueryEscape(m.Version)
}

// uuid returns a deterministic identifier for a name (RFC 9562, version 5, in our own namespace).
func uuid(name string) string {
	h := sha1.Sum([]byte("\x3f\x0b\x9e\x61\x52\x7c\x5d\x0e\x9a\x44\x1c\xd8\x6a\x2f\xb7\x13" + name))
	h[6] = h[6]&0x0f | 0x50
	h[8] = h[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", h[0:4], h[4:6], h[6:8], h[8:10], h[10:16])
}
