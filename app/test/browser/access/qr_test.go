//go:build rig

package access_test

import (
	"strings"
	"testing"

	"rsc.io/qr/coding"

	"opsmon/app/test/browser/webtest"
)

// scan reads the QR code in a dialog like a camera, from its black and white modules.
func scan(t *testing.T, tab *webtest.Tab) string {
	t.Helper()
	tab.Until(`document.querySelector("dialog svg.qr")?.getBoundingClientRect().width > 150`)
	// The picture is drawn, and sampled at the centres of the modules; its margin of four modules is white.
	rows := webtest.Eval[[]string](tab, `new Promise((done, failed) => {
		const svg = document.querySelector("dialog svg.qr"), size = svg.viewBox.baseVal.width, image = new Image();
		const copy = svg.cloneNode(true);
		copy.setAttribute("width", size * 4);
		copy.setAttribute("height", size * 4);
		image.onerror = failed;
		image.onload = () => {
			const canvas = new OffscreenCanvas(size * 4, size * 4), to = canvas.getContext("2d");
			to.drawImage(image, 0, 0);
			const { data } = to.getImageData(0, 0, size * 4, size * 4);
			const dark = (x, y) => (data[((y * 4 + 2) * size * 4 + x * 4 + 2) * 4] < 128 ? "1" : "0");
			done(Array.from({ length: size - 8 }, (_, y) => Array.from({ length: size - 8 }, (_, x) => dark(x + 4, y + 4)).join("")));
		};
		image.src = "data:image/svg+xml," + encodeURIComponent(new XMLSerializer().serializeToString(copy));
	})`)
	return decode(t, rows)
}

// decode returns the text of a QR code of level M with bytes; rows has its modules, "1" is dark.
func decode(t *testing.T, rows []string) string {
	t.Helper()
	version := coding.Version((len(rows) - 17) / 4)
	for mask := range coding.Mask(8) {
		plan, err := coding.NewPlan(version, coding.M, mask)
		if err != nil {
			t.Fatal(err)
		}
		if bits, fits := read(plan, rows); fits {
			return text(t, bits, version)
		}
	}
	t.Fatalf("no QR code of level M:\n%s", strings.Join(rows, "\n"))
	return ""
}

// read returns the bits of a code, data first, if its format and fixed modules match the plan.
func read(plan *coding.Plan, rows []string) (bits []bool, fits bool) {
	bits = make([]bool, (plan.DataBytes+plan.CheckBytes)*8)
	for y, row := range plan.Pixel {
		for x, pixel := range row {
			dark := rows[y][x] == '1'
			switch pixel.Role() {
			case coding.Data, coding.Check:
				bits[pixel.Offset()] = dark != (pixel&coding.Black != 0)
			case coding.Extra:
			default:
				if dark != (pixel&coding.Black != 0) {
					return nil, false
				}
			}
		}
	}
	return bits, true
}

func text(t *testing.T, bits []bool, version coding.Version) string {
	t.Helper()
	at := 0
	next := func(n int) (value int) {
		for range n {
			value <<= 1
			if bits[at] {
				value++
			}
			at++
		}
		return value
	}
	if mode := next(4); mode != 4 {
		t.Fatalf("the code holds mode %d, not bytes", mode)
	}
	length := 8 // bits of the byte count
	if version > 9 {
		length = 16
	}
	b := make([]byte, next(length))
	for i := range b {
		b[i] = byte(next(8))
	}
	return string(b)
}
