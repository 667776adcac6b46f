package rest

import (
	"bufio"
	"context"
	"strconv"
	"strings"

	"opsmon/app/instant"
)

// Table is an export: its columns, and an iterator over its rows.
type Table struct {
	Header []string
	Each   func(ctx context.Context, row func(cells []string) error) error
}

// WriteCSV writes a row as specified by RFC 4180.
func WriteCSV(b *bufio.Writer, cells []string) error {
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

// TimeText formats a time for a table; nil is empty.
func TimeText(t *instant.Time) string {
	if t == nil {
		return ""
	}
	return instant.Format(t.Time)
}

func Integer(n int64) string { return strconv.FormatInt(n, 10) }

func OrEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// Decimal formats a number with a decimal point and all digits; nil is empty.
func Decimal(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'f', -1, 64)
}

// CSVType is the content type of tables.
const CSVType = "text/csv; charset=utf-8"
