package driver

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

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Write writes a saved program of a device. It holds the source of the program, because drivers need not have caches:
// the device's magic of 8 bytes, the length and bytes of the options as JSON, the graph as package graph writes it, and
// a CRC-32C of all that. Integers are uint64, little-endian.
func (p *GraphProgram) Write(w io.Writer, magic, id string) error {
	if p.Options.Unsaved {
		return fault.New(fault.Unsupported, "device %s: the program was compiled not to be saved", id)
	}
	options, err := json.Marshal(p.Options)
	if err != nil {
		return fault.As(fault.Internal, err, "save a program")
	}
	out := bytes.NewBufferString(magic)
	out.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(options))))
	out.Write(options)
	if err := graph.Encode(out, p.Unit.Graph, graph.EncodeOptions{}); err != nil {
		return err
	}
	out.Write(binary.LittleEndian.AppendUint32(nil, crc32.Checksum(out.Bytes(), castagnoli)))
	_, err = w.Write(out.Bytes())
	return fault.As(fault.File, err, "save a program")
}

// Load is Load of a device that takes graphs: it compiles again what Write has written. Kind fault.File for anything
// else.
func Load(ctx context.Context, d interface {
	device.Device
	Alive() error
}, magic string, data []byte) (device.Program, error) {
	if err := d.Alive(); err != nil {
		return nil, err
	}
	u, o, err := read(data, magic, d.Info().ID)
	if err != nil {
		return nil, err
	}
	return d.Compile(ctx, u, o)
}

// read reads what Write has written. Kind fault.File for anything else.
func read(data []byte, magic, id string) (u device.Unit, o device.Options, err error) {
	fixed := len(magic) + 8
	if len(data) < fixed+4 || string(data[:len(magic)]) != magic {
		return u, o, fault.New(fault.File, "%d bytes that are no saved program of device %s", len(data), id)
	}
	body, tail := data[fixed:len(data)-4], data[len(data)-4:]
	if crc32.Checksum(data[:len(data)-4], castagnoli) != binary.LittleEndian.Uint32(tail) {
		return u, o, fault.New(fault.File, "a saved program of device %s is damaged: its checksum is wrong", id)
	}
	n := binary.LittleEndian.Uint64(data[len(magic):])
	if n > uint64(len(body)) {
		return u, o, fault.New(fault.File, "a saved program of device %s is cut short", id)
	}
	if err := json.Unmarshal(body[:n], &o); err != nil {
		return u, o, fault.As(fault.File, err, "the options of a saved program")
	}
	u.Graph, err = graph.Decode(bytes.Clone(body[n:]), graph.DecodeOptions{})
	return u, o, err
}
