package strictjson

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	maxShared = 32   // longest text, in bytes, that is looked up among recent ones
	blockSize = 4096 // bytes; also the maximum that one retained text can pin
)

// hash returns the slot of a short text. A collision only costs a copy.
func hash(raw []byte) uint8 {
	n := len(raw)
	return uint8(n) ^ raw[0] ^ raw[n/2]<<2 ^ raw[n-1]<<4 ^ raw[n-1]>>4
}

// text copies some bytes of the input. Short texts share blocks: this saves allocations, and a text that outlives the
// document retains only its block.
func (d *decoder) text(raw []byte) string {
	if len(raw) > blockSize/8 {
		return string(raw)
	}
	if d.block.Cap()-d.block.Len() < len(raw) {
		d.block = strings.Builder{}
		d.block.Grow(blockSize)
	}
	d.block.Write(raw)
	return d.block.String()[d.block.Len()-len(raw):]
}

// key decodes the property name at pos.
func (d *decoder) key() (string, error) {
	start := d.pos + 1
	end, plain, err := d.scanString()
	if err != nil {
		return "", err
	}
	if !plain {
		return d.unescape(start, end)
	}
	raw := d.in[start:end]
	if len(raw) == 0 {
		return "", nil
	}
	if len(raw) > maxShared {
		return d.text(raw), nil
	}
	slot := &d.keys[hash(raw)]
	if *slot != string(raw) {
		*slot = d.text(raw)
	}
	return *slot, nil
}

// stringValue decodes the string at pos, boxed.
func (d *decoder) stringValue() (any, error) {
	start := d.pos + 1
	end, plain, err := d.scanString()
	if err != nil {
		return nil, err
	}
	if !plain {
		s, err := d.unescape(start, end)
		return s, err
	}
	raw := d.in[start:end]
	if len(raw) == 0 {
		return "", nil
	}
	if len(raw) > maxShared {
		return d.text(raw), nil
	}
	slot := &d.texts[hash(raw)]
	if known, ok := (*slot).(string); ok && known == string(raw) {
		return *slot, nil
	}
	var v any = d.text(raw)
	*slot = v
	return v, nil
}

// scanString skips the string at pos and returns the end of its text (the closing quote), and whether it is plain:
// without escapes. It also checks the UTF-8.
func (d *decoder) scanString() (end int, plain bool, err error) {
	open := d.pos
	in := d.in
	plain = true
	for i := open + 1; i < len(in); {
		c := in[i]
		switch {
		case c == '"':
			d.pos = i + 1
			return i, plain, nil
		case c == '\\':
			plain = false
			i++
			if i < len(in) && (in[i] == '"' || in[i] == '\\') {
				i++ // does not end the string or begin an escape; unescape checks the others
			}
		case c < ' ':
			return 0, false, d.fail(i, "a control character (0x%02x) must be written as an escape inside a string", c)
		case c < utf8.RuneSelf:
			i++
		default:
			r, n := utf8.DecodeRune(in[i:])
			if r == utf8.RuneError && n == 1 {
				return 0, false, d.fail(i, "the byte 0x%02x is not valid UTF-8: save the text as UTF-8", c)
			}
			i += n
		}
	}
	return 0, false, d.fail(open, "the string that begins here has no closing quotation mark")
}

// unescape returns the text in[from:to], which has escapes.
func (d *decoder) unescape(from, to int) (string, error) {
	out := d.buf[:0]
	for i := from; i < to; {
		c := d.in[i]
		if c != '\\' {
			out = append(out, c)
			i++
			continue
		}
		switch e := d.in[i+1]; e {
		case '"', '\\', '/':
			out = append(out, e)
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r := d.hex4(i + 2)
			if r < 0 {
				return "", d.fail(i, `\u must be followed by four hexadecimal digits`)
			}
			if utf16.IsSurrogate(r) {
				low := rune(-1)
				if i+7 < to && d.in[i+6] == '\\' && d.in[i+7] == 'u' {
					low = d.hex4(i + 8)
				}
				if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
					return "", d.fail(i, "%s is half of a character (a lone surrogate)", d.in[i:i+6])
				}
				i += 6
			}
			out = utf8.AppendRune(out, r)
			i += 4
		default:
			return "", d.fail(i, `\ must be followed by one of " \ / b f n r t u, not %s`, d.found(i+1))
		}
		i += 2
	}
	d.buf = out
	return string(out), nil
}

// hex4 parses four hexadecimal digits at i; -1 if they are missing.
func (d *decoder) hex4(i int) rune {
	if i+4 > len(d.in) {
		return -1
	}
	var r rune
	for _, c := range d.in[i : i+4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}
