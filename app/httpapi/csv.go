package httpapi

import (
	"bufio"
	"context"
	"strconv"
	"strings"

	"opsmon/app/instant"
)

// table is an export: its columns, and an iterator over its rows.
type table struct {
	header []string
	each   func(ctx context.Context, row func(cells []string) error) error
}

// writeCSV writes a row as specified by RFC 4180.
func writeCSV(b *bufio.Writer, cells []string) error {
	for i, cell := range cells {
		if i > 0 {
			b.WriteByte(',')
		}
		cell = harmless(cell)
		if !strings.ContainsAny(cell, ",\"\r\n") {
			b.WriteString(cell)
			continue
		}
		b.WriteByte('"')
		b.WriteString(strings.ReplaceAll(cell, `"`, `""`))
		b.WriteByte('"')
	}
	_, err := b.WriteString("\r\n") // the writer keeps earlier errors
	return err
}

// harmless prevents a spreadsheet from interpreting a text as a formula, by an apostrophe in front of it, which
// spreadsheets do not show. A number may begin with a minus sign.
func harmless(cell string) string {
	if cell == "" || !strings.ContainsRune("=+-@\t\r\n", rune(cell[0])) {
		return cell
	}
	if _, err := strconv.ParseFloat(cell, 64); err == nil && cell[0] == '-' {
		return cell
	}
	return "'" + cell
}

// timeText formats a time for a table; nil is empty.
func timeText(t *instant.Time) string {
	if t == nil {
		return ""
	}
	return instant.Format(t.Time)
}

func whole(n int64) string { return strconv.FormatInt(n, 10) }

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// decimal formats a number with a decimal point and all digits; nil is empty.
func decimal(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'f', -1, 64)
}

// csvType is the content type of tables.
const csvType = "text/csv; charset=utf-8"
