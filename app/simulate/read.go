package simulate

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"opsmon/app/instant"
	"opsmon/schema/strictjson"
)

// Format is the format of a signal log.
type Format uint8

// The formats.
const (
	NDJSON Format = iota // one object per line, as in POST /signal
	CSV                  // the first line has the names of the properties; an empty cell is an absent value
)

// entry is one signal of a log.
type entry struct {
	line   int
	object map[string]any // as decoded by strictjson
	raw    []byte         // the object as written
	at     int64          // 0: no time
	issue  string         // why it is not a valid signal; "" if it may be
}

// appendObject appends the signal to send, with its time shifted.
func (e *entry) appendObject(b []byte, shift int64) []byte {
	if shift == 0 || e.at == 0 {
		return append(b, e.raw...)
	}
	e.object["at"] = instant.FormatMs(e.at + shift)
	moved, _ := json.Marshal(e.object) // cannot fail: it was decoded from JSON
	return append(b, moved...)
}

// lineLimit is the largest length of a line, in bytes.
const lineLimit = 64 << 10

// reader reads the signals of a log. next returns io.EOF at the end.
type reader interface{ next() (entry, error) }

func newReader(cfg ReplayConfig) (reader, error) {
	if _, err := cfg.Log.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("read the log: %w", err)
	}
	b := bufio.NewReaderSize(cfg.Log, lineLimit)
	if mark, err := b.Peek(3); err == nil && string(mark) == "\ufeff" { // byte order mark, which some programs write
		_, _ = b.Discard(3)
	}
	if cfg.Format == CSV {
		return newTable(b)
	}
	return &lines{b: b}, nil
}

// lines reads NDJSON.
type lines struct {
	b    *bufio.Reader
	line int
}

func (l *lines) next() (entry, error) {
	text, issue, err := l.text()
	if err != nil || issue != "" {
		return entry{line: l.line, issue: issue}, err
	}
	return readObject(l.line, text), nil
}

// text returns the next line that is not empty, or why it cannot be read.
func (l *lines) text() (text []byte, issue string, err error) {
	for {
		text, err := l.b.ReadSlice('\n')
		tooLong := errors.Is(err, bufio.ErrBufferFull)
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = l.b.ReadSlice('\n')
		}
		if err != nil && (!errors.Is(err, io.EOF) || len(text) == 0) {
			if !errors.Is(err, io.EOF) {
				err = fmt.Errorf("read the log: %w", err)
			}
			return nil, "", err
		}
		l.line++
		if tooLong {
			return nil, fmt.Sprintf("must be %d bytes or fewer", lineLimit), nil
		}
		if text = bytes.TrimSpace(text); len(text) > 0 {
			return bytes.Clone(text), "", nil
		}
	}
}

// readObject decodes one object. It finds errors that would make a whole request invalid, so that they only affect
// their own line.
func readObject(line int, raw []byte) entry {
	e := entry{line: line, raw: raw}
	v, err := strictjson.Decode(raw)
	if wrong := (*strictjson.Error)(nil); errors.As(err, &wrong) {
		e.issue = fmt.Sprintf("column %d: %s", wrong.Column, wrong.Issue)
		return e
	}
	object, ok := v.(map[string]any)
	if !ok {
		e.issue = "must be an object"
		return e
	}
	for name, value := range object {
		switch value.(type) {
		case map[string]any, []any:
			e.issue = fmt.Sprintf("%s must not be an object or an array", name)
			return e
		}
	}
	e.object = object
	if text, ok := object["at"].(string); ok {
		if t, err := instant.Parse(text); err == nil { // otherwise the service reports the error
			e.at = t.UnixMilli()
		}
	}
	return e
}

// texts are the properties of POST /signal that are strings.
var texts = []string{"stationCode", "at", "id", "errorCode"}

// table reads CSV. A cell cannot contain a line break, so a surplus quotation mark only affects its own line.
type table struct {
	lines
	columns []string
	comma   rune // separator of cells; with a semicolon, a comma may be the decimal separator
}

func newTable(b *bufio.Reader) (*table, error) {
	t := &table{lines: lines{b: b}, comma: ','}
	head, issue, err := t.text()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("read the log: it is empty; the first line must name the columns")
	}
	if err == nil && issue != "" {
		err = fmt.Errorf("read the log: line 1 %s", issue)
	}
	if err != nil {
		return nil, err
	}
	if bytes.ContainsRune(head, ';') && !bytes.ContainsRune(head, ',') {
		t.comma = ';'
	}
	columns, err := t.split(head)
	if err != nil {
		return nil, fmt.Errorf("read the log: the line that names the columns: %w", err)
	}
	known := append(slices.Clone(texts), append(names[:], "electricalKwhInterval")...)
	for i, name := range columns {
		name = strings.TrimSpace(name)
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("read the log: column %d is named %s; columns are the properties of a signal: %s", i+1, strictjson.Quote(name), strings.Join(known, ", "))
		}
		if slices.Contains(t.columns, name) {
			return nil, fmt.Errorf("read the log: two columns are named %s", name)
		}
		t.columns = append(t.columns, name)
	}
	return t, nil
}

// split returns the cells of a line.
func (t *table) split(line []byte) ([]string, error) {
	c := csv.NewReader(bytes.NewReader(line))
	c.Comma, c.TrimLeadingSpace = t.comma, true
	cells, err := c.Read()
	if wrong := (*csv.ParseError)(nil); errors.As(err, &wrong) {
		err = wrong.Err
	}
	return cells, err
}

func (t *table) next() (entry, error) {
	text, issue, err := t.text()
	if err != nil || issue != "" {
		return entry{line: t.line, issue: issue}, err
	}
	line := t.line
	if !utf8.Valid(text) {
		return entry{line: line, issue: "must be text in UTF-8"}, nil
	}
	record, err := t.split(text)
	if err != nil {
		return entry{line: line, issue: err.Error()}, nil
	}
	if len(record) > len(t.columns) {
		return entry{line: line, issue: fmt.Sprintf("must have %d cells or fewer; it has %d", len(t.columns), len(record))}, nil
	}
	raw := []byte{'{'}
	for i, cell := range record {
		cell = strings.TrimSpace(cell)
		if cell == "" {
			continue
		}
		if len(raw) > 1 {
			raw = append(raw, ',')
		}
		raw = append(raw, `"`+t.columns[i]+`":`...)
		raw = append(raw, t.value(t.columns[i], cell)...)
	}
	return readObject(line, append(raw, '}')), nil
}

// value converts a cell to JSON. Anything except a number, true and false becomes a string, so that the service reports
// the error.
func (t *table) value(column, cell string) []byte {
	if !slices.Contains(texts, column) {
		if t.comma == ';' {
			cell = strings.Replace(cell, ",", ".", 1)
		}
		if lower := strings.ToLower(cell); lower == "true" || lower == "false" {
			return []byte(lower)
		}
		var n json.Number
		if json.Unmarshal([]byte(cell), &n) == nil && cell[0] != '"' && cell != "null" {
			return []byte(cell)
		}
	}
	b, _ := json.Marshal(cell) // cannot fail for a string
	return b
}
