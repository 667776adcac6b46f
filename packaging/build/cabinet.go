package main

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"time"
)

// cabinetBlock is the maximum size of a cabinet's block, and the range of its compression, in bytes.
const cabinetBlock = 32 << 10

// cabinet returns a cabinet, the archive within an MSI, of files with at most 2 GiB in total: one folder, compressed
// with MSZIP, as specified in [MS-CAB].
func cabinet(files []entry, at time.Time) ([]byte, error) {
	var content []byte
	for _, f := range files {
		content = append(content, f.content...)
	}
	blocks := (len(content) + cabinetBlock - 1) / cabinetBlock
	if blocks > 1<<16-1 {
		return nil, fmt.Errorf("a cabinet holds at most 2 GiB; these are %d bytes", len(content))
	}
	var list bytes.Buffer
	offset := 0
	for _, f := range files {
		list.Write(little(uint32(len(f.content)), uint32(offset), uint16(0), dosDate(at), dosTime(at), uint16(0x20)))
		list.WriteString(f.name + "\x00")
		offset += len(f.content)
	}
	const header, folder = 36, 8
	var data bytes.Buffer
	for from := 0; from < len(content); from += cabinetBlock {
		block := content[from:min(from+cabinetBlock, len(content))]
		packed := bytes.NewBufferString("CK")
		w, err := flate.NewWriterDict(packed, flate.BestCompression, content[max(0, from-cabinetBlock):from])
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(block); err != nil {
			return nil, err
		}
		if err := w.Close(); err != nil {
			return nil, err
		}
		sizes := little(uint16(packed.Len()), uint16(len(block)))
		data.Write(little(cabinetSum(sizes, cabinetSum(packed.Bytes(), 0))))
		data.Write(sizes)
		data.Write(packed.Bytes())
	}
	start := header + folder + list.Len()
	var b bytes.Buffer
	b.WriteString("MSCF")
	b.Write(little(uint32(0), uint32(start+data.Len()), uint32(0), uint32(header+folder), uint32(0),
		byte(3), byte(1), uint16(1), uint16(len(files)), uint16(0), uint16(0), uint16(0)))
	b.Write(little(uint32(start), uint16(blocks), uint16(1)))
	b.Write(list.Bytes())
	b.Write(data.Bytes())
	return b.Bytes(), nil
}

// cabinetSum returns the checksum of a part of a cabinet.
func cabinetSum(b []byte, sum uint32) uint32 {
	for ; len(b) >= 4; b = b[4:] {
		sum ^= binary.LittleEndian.Uint32(b)
	}
	var rest uint32
	for _, c := range b {
		rest = rest<<8 | uint32(c)
	}
	return sum ^ rest
}

func dosDate(t time.Time) uint16 {
	return uint16((max(t.Year(), 1980)-1980)<<9 | int(t.Month())<<5 | t.Day())
}

func dosTime(t time.Time) uint16 { return uint16(t.Hour()<<11 | t.Minute()<<5 | t.Second()/2) }

// little returns numbers in little-endian order.
func little(values ...any) []byte {
	var b []byte
	for _, v := range values {
		switch v := v.(type) {
		case byte:
			b = append(b, v)
		case uint16:
			b = binary.LittleEndian.AppendUint16(b, v)
		case uint32:
			b = binary.LittleEndian.AppendUint32(b, v)
		default:
			panic(fmt.Sprintf("%T is no number of a fixed size", v))
		}
	}
	return b
}
