package backup

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// inTheClear returns the part of the settings that may be stored without encryption, and the names of the secret
// settings that are left out. If the settings cannot be used, it is unknown which values are secret: then settings that
// mention a secret, or its group, are left out as a whole.
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

// redact removes secrets from the settings file. secrets are the names of secret settings, such as smtp.password. It
// returns the remaining text, nil if nothing can be stored safely, and the names of the secret settings that were
// removed. A text without secrets stays unchanged. Otherwise comments are removed as well, since they often contain a
// former secret.
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
		return []byte{}, nil // only comments
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

// simple removes the comments from a document and reports whether it is free of lists and aliases, which no setting
// uses and which could hide a secret.
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

// isSecret reports whether a setting holds a secret. It compares the last part of the name, since its group may be
// misspelt.
func isSecret(name string, secrets []string) bool {
	last := func(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }
	for _, secret := range secrets {
		if strings.EqualFold(last(name), last(secret)) {
			return true
		}
	}
	return false
}
