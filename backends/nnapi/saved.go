package nnapi

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"io"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
)

// A saved program is what it was made of, as drivers need not have caches: magic, the length and bytes of the options
// as JSON, the graph as package graph writes it, and a CRC-32C of all that. Integers are uint64, little-endian.
const savedMagic = "ANPUNNA1"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Save implements device.Program.
func (p *program) Save(w io.Writer) error {
	if p.options.Unsaved {
		return fault.New(fault.Unsupported, "device %s: the program was compiled not to be saved", p.dev.info.ID)
	}
	options, err := json.Marshal(p.options)
	if err != nil {
		return fault.As(fault.Internal, err, "save a program")
	}
	out := bytes.NewBufferString(savedMagic)
	out.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(options))))
	out.Write(options)
	if err := graph.Encode(out, p.unit.Graph, graph.EncodeOptions{}); err != nil {
		return err
	}
	out.Write(binary.LittleEndian.AppendUint32(nil, crc32.Checksum(out.Bytes(), castagnoli)))
	_, err = w.Write(out.Bytes())
	return fault.As(fault.File, err, "save a program")
}

// Load implements device.Device: it compiles again what Save has written.
func (d *Device) Load(ctx context.Context, data []byte) (device.Program, error) {
	if err := d.alive(); err != nil {
		return nil, err
	}
	const fixed = len(savedMagic) + 8
	if len(data) < fixed+4 || string(data[:len(savedMagic)]) != savedMagic {
		return nil, fault.New(fault.File, "%d bytes that are no saved program of device %s", len(data), d.info.ID)
	}
	body, tail := data[fixed:len(data)-4], data[len(data)-4:]
	if crc32.Checksum(data[:len(data)-4], castagnoli) != binary.LittleEndian.Uint32(tail) {
		return nil, fault.New(fault.File, "a saved program of device %s is damaged: its checksum is wrong", d.info.ID)
	}
	n := binary.LittleEndian.Uint64(data[len(savedMagic):])
	if n > uint64(len(body)) {
		return nil, fault.New(fault.File, "a saved program of device %s is cut short", d.info.ID)
	}
	var o device.Options
	if err := json.Unmarshal(body[:n], &o); err != nil {
		return nil, fault.As(fault.File, err, "the options of a saved program")
	}
	g, err := graph.Decode(bytes.Clone(body[n:]), graph.DecodeOptions{})
	if err != nil {
		return nil, err
	}
	return d.Compile(ctx, device.Unit{Graph: g}, o)
}
