package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"opsmon/app/errdefs"
	"opsmon/app/host/datadir"
	"opsmon/kv/file"
)

// FixedBy returns where a setting was given if app.yaml cannot change it; "" otherwise.
func (c Settings) FixedBy(name string) string {
	origin := c.origins[name]
	if strings.HasPrefix(origin, filepath.Join(c.DataDir, File)+" ") {
		return ""
	}
	return origin
}

// errHandEdit means that the file was changed by hand during an edit.
var errHandEdit = errors.New("the file was changed meanwhile")

// Edit changes settings in app.yaml in the data directory, by their names. It keeps comments and order, but not all
// blank lines. Concurrent changes by hand are kept. The file is replaced as a whole, or not at all. Errors: Conflict
// for a file that cannot be used, Unavailable for one that cannot be written.
func Edit(dataDir string, values map[string]string) error {
	path := filepath.Join(dataDir, File)
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // a link stays one
	}
	for try := 0; ; try++ {
		err := editFile(dataDir, path, values)
		switch {
		case errors.Is(err, errHandEdit) && try < 5:
			continue
		case err == nil || errdefs.KindOf(err) == errdefs.Conflict:
			return err
		}
		return &errdefs.Error{Kind: errdefs.Unavailable, Message: fmt.Sprintf("%s cannot be changed: %v; let the user that runs app write it, or change it by hand", path, err), Err: err}
	}
}

func editFile(dataDir, path string, values map[string]string) error {
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	was, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	text, err := EditText(path, was, values)
	if err != nil {
		return errdefs.New(errdefs.Conflict, "app.yaml cannot be changed as it is: %v; mend it by hand first", err)
	}
	if bytes.Equal(text, was) {
		return nil
	}
	return file.Replace(path, bytes.NewReader(text), file.Options{Mode: mode, Ready: func(temp string) error {
		if err := datadir.HandOver(dataDir, temp); err != nil {
			return err
		}
		return still(path, was)
	}})
}

// still makes sure that a file has the content that it had. Error: errHandEdit.
func still(path string, was []byte) error {
	now, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !bytes.Equal(now, was) {
		return errHandEdit
	}
	return nil
}

// EditText returns the text of a file of settings with new values, and makes sure that it says the same otherwise.
func EditText(path string, text []byte, values map[string]string) ([]byte, error) {
	before := Defaults()
	if err := before.fromFile(path, text); err != nil {
		return nil, err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	if doc.Kind == 0 { // empty, or only comments
		doc = yaml.Node{Kind: yaml.DocumentNode, HeadComment: strings.TrimSpace(string(text)), Content: []*yaml.Node{{Kind: yaml.MappingNode}}}
	}
	want := Defaults()
	if err := want.fromFile(path, text); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if err := want.Set(name, values[name], path); err != nil {
			return nil, err
		}
		if err := setNode(doc.Content[0], strings.Split(name, "."), values[name]); err != nil {
			return nil, fmt.Errorf("%s %w", name, err)
		}
	}
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := errors.Join(enc.Encode(&doc), enc.Close()); err != nil {
		return nil, err
	}
	after := Defaults()
	if err := after.fromFile(path, b.Bytes()); err != nil {
		return nil, err
	}
	for name, field := range want.settings() {
		if now := after.settings()[name]; !now.Equal(field) {
			return nil, fmt.Errorf("%s would say something else", name)
		}
	}
	return b.Bytes(), nil
}

// setNode sets a scalar in a mapping, by the names that lead to it.
func setNode(in *yaml.Node, names []string, value string) error {
	if in.Kind != yaml.MappingNode {
		return errors.New("stands in something that holds no settings of its own")
	}
	var at *yaml.Node
	for i := 0; i < len(in.Content); i += 2 {
		if in.Content[i].Value == names[0] {
			at = in.Content[i+1]
		}
	}
	if at == nil {
		at = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"}
		in.Content = append(in.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: names[0]}, at)
	}
	if at.Kind == yaml.AliasNode {
		return errors.New("is an alias")
	}
	if len(names) > 1 {
		if at.Kind == yaml.ScalarNode && at.Tag == "!!null" {
			at.Kind, at.Tag, at.Value = yaml.MappingNode, "", ""
		}
		return setNode(at, names[1:], value)
	}
	at.Tag, at.Value = "!!str", value
	if _, err := strconv.Atoi(value); err == nil {
		at.Tag, at.Style = "!!int", 0
	} else if at.Style == 0 {
		at.Style = yaml.DoubleQuotedStyle
	}
	return nil
}
