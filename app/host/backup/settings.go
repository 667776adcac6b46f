package backup

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// inTheClear returns what may be kept of the settings without encryption, and the secret settings that are left out.
// Where settings cannot be used nobody can say what is a secret: such that mention one, or what one stands in, are not
// kept at all.
func (p *packing) inTheClear(text []byte) (kept []byte, removed []string) {
	for _, secret := range p.cfg.SecretSettings {
		if p.header.UnusableSettings && mentions(text, strings.Split(secret, ".")...) {
			return nil, p.cfg.SecretSettings
		}
	}
	return redact(text, p.cfg.SecretSettings)
}

// mentions reports whether one of some words is in a text, in whatever case.
func mentions(text []byte, words ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return bytes.Contains(bytes.ToLower(text), []byte(strings.ToLower(word))) })
}

// redact takes secrets out of the settings file. secrets are the settings that hold one, as package app names them:
// smtp.password. It gives the text to keep, nil when none can be kept safely, and the secret settings that were there.
// A text without secrets is kept as it is. Otherwise comments go as well, since they like to hold a former secret.
func redact(text []byte, secrets []string) (kept []byte, removed []string) {
	mentioned := false
	for _, secret := range secrets {
		mentioned = mentioned || mentions(text, secret[strings.LastIndexByte(secret, '.')+1:])
	}
	if !mentioned {
		return text, nil
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return []byte{}, nil // comments alone
	} else if err != nil {
		return nil, secrets
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, secrets
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode || !simple(&doc) {
		return nil, secrets
	}
	removed = removeSecrets(doc.Content[0], "", secrets)
	kept, err := yaml.Marshal(&doc)
	if err != nil {
		return nil, secrets
	}
	return kept, removed
}

// simple takes the comments out of a document and tells whether it is without lists and aliases, which no setting has
// and which could put a secret into another place.
func simple(n *yaml.Node) bool {
	n.HeadComment, n.LineComment, n.FootComment = "", "", ""
	if n.Kind == yaml.AliasNode || n.Kind == yaml.SequenceNode || n.Anchor != "" {
		return false
	}
	for _, child := range n.Content {
		if !simple(child) {
			return false
		}
	}
	return true
}

// removeSecrets takes settings out of a mapping. prefix is the name of the setting that the mapping is the value of,
// with a dot after it.
func removeSecrets(mapping *yaml.Node, prefix string, secrets []string) (removed []string) {
	var left []*yaml.Node
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key, value := mapping.Content[i], mapping.Content[i+1]
		name := prefix + key.Value
		if isSecret(name, secrets) {
			if value.Value != "" || value.Kind != yaml.ScalarNode {
				removed = append(removed, name)
			}
			continue
		}
		if value.Kind == yaml.MappingNode {
			removed = append(removed, removeSecrets(value, name+".", secrets)...)
		}
		left = append(left, key, value)
	}
	mapping.Content = left
	return removed
}

// isSecret reports whether a setting holds a secret. Its last name is enough: what it stands in may be misspelt.
func isSecret(name string, secrets []string) bool {
	last := func(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }
	for _, secret := range secrets {
		if strings.EqualFold(last(name), last(secret)) {
			return true
		}
	}
	return false
}
