package nnapi

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"unsafe"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

const setCaching = "ANeuralNetworksCompilation_setCaching"

// cached is where the driver may keep what it compiles.
type cached struct {
	dir   []byte // with the 0 behind it
	token [sha256.Size]byte
}

// cachedAt is where the driver may keep what it compiles of a graph; nil: nowhere.
func (d *Device) cachedAt(ctx context.Context, g *graph.Graph, o device.Options) (*cached, error) {
	given, ok := device.CacheOf(ctx)
	if !ok || !d.driver.Has(setCaching) {
		return nil, nil
	}
	token, err := d.token(given.Token, g, o)
	if err != nil {
		return nil, err
	}
	return &cached{append([]byte(given.Dir), 0), token}, nil
}

// token tells caches apart by all that the driver's result depends on, so that none is ever met that was made of
// something else, also by a driver that looks at tokens alone: the program's own token, the device, the driver's file,
// the options, and the graph with the sums of its constants.
func (d *Device) token(own [32]byte, g *graph.Graph, o device.Options) (token [sha256.Size]byte, err error) {
	o.Unsaved = false
	options, err := json.Marshal(o)
	if err != nil {
		return token, fault.As(fault.Internal, err, "the token of a cache")
	}
	h, info := sha256.New(), d.Info()
	for _, part := range [][]byte{[]byte(savedMagic), own[:], []byte(info.ID), []byte(info.BuildHash), options} {
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(part))))
		h.Write(part)
	}
	sums := graph.EncodeOptions{External: func(tensor.Hash, []byte) bool { return true }}
	if err := graph.Encode(h, g, sums); err != nil {
		return token, err
	}
	h.Sum(token[:0])
	return token, nil
}

// keep has the driver keep a compilation. One that refuses compiles without: nothing depends on it.
func (d *Device) keep(at uintptr, c *cached) error {
	if c == nil {
		return nil
	}
	code, err := d.driver.CompilationSetCaching(at, unsafe.Pointer(&c.dir[0]), unsafe.Pointer(&c.token[0]))
	if err = call(setCaching, code, err); errors.Is(err, device.ErrDied) {
		return err
	}
	return nil
}
