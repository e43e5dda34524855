package nnapi

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash"
	"math"
	"sync"

	"github.com/anynpu/anynpu/capi/boundary"
	"github.com/anynpu/anynpu/core/cache"
	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/spec/nnapi"
)

// A cache is an index file and a data file, what compile.Program.Save writes, in the program's directory. Both are
// named after the token. The index tells of which model, with which settings and for which devices the program was
// compiled: what differs, and what is damaged, is a miss. No trouble with a cache fails a compilation. All numbers are
// little-endian.
//
//	8 bytes   magic
//	uint64    format version
//	32 bytes  key of the compilation
//	uint64    size of the data file
//	32 bytes  SHA-256 of the data file
const (
	cacheMagic   = "ANPUNNAP"
	cacheVersion = 1
	cacheIndex   = 8 + 8 + sha256.Size + 8 + sha256.Size
)

// kept is the cache of one compilation; nil when the program wants none.
type kept struct {
	dir, index, data string
	key              [sha256.Size]byte
}

// cache returns the compilation's cache.
func (c *Compilation) cache() *kept {
	if c.cacheDir == "" {
		return nil
	}
	stem := "nnapi-" + hex.EncodeToString(c.token[:])
	return &kept{dir: c.cacheDir, index: stem + ".index", data: stem + ".program", key: c.key()}
}

// share lets devices keep what they make in the cache's directory too, by the context of a compilation. A directory
// that is a link, or that everybody may write to, is for this library's own files alone, whose content it can tell.
func (k *kept) share(ctx context.Context, token [tokenSize]byte) context.Context {
	if k == nil {
		return ctx
	}
	if err := cache.Private(k.dir); err != nil {
		boundary.Log(boundary.LevelInfo, "nnapi", "drivers keep nothing in the cache", "directory", k.dir, "reason", err)
		return ctx
	}
	return device.WithCache(ctx, device.Cache{Dir: k.dir, Token: token})
}

// load returns the program of the cache, nil for a miss, of which a warning tells unless there is no cache at all.
func (k *kept) load(ctx context.Context, g *graph.Graph, devices []device.Device) *compile.Program {
	if k == nil {
		return nil
	}
	program, err := k.read(ctx, g, devices)
	switch {
	case err == nil:
		boundary.Log(boundary.LevelInfo, "nnapi", "program taken from the cache", "directory", k.dir, "index", k.index)
	case !errors.Is(err, cache.ErrNone):
		warn("cache not used [nnapi-cache-used]", "directory", k.dir, "reason", err)
	}
	return program
}

// read returns the program of the cache. Its error says why there is none, cache.ErrNone that there is no cache.
func (k *kept) read(ctx context.Context, g *graph.Graph, devices []device.Device) (*compile.Program, error) {
	var sum [sha256.Size]byte
	var size uint64
	files, err := cache.Read(k.dir, k.index, func(index []byte) (cache.Voucher, error) {
		if len(index) != cacheIndex || string(index[:8]) != cacheMagic {
			return cache.Voucher{}, fault.New(fault.File, "it is no cache of this library [nnapi-no-cache-library]")
		}
		if v := binary.LittleEndian.Uint64(index[8:]); v != cacheVersion {
			return cache.Voucher{}, fault.New(fault.File, "it has format %d: this library reads format %d "+
				"[nnapi-format-library-reads]", v, cacheVersion)
		}
		rest := index[16:]
		if !bytes.Equal(rest[:sha256.Size], k.key[:]) {
			return cache.Voucher{}, fault.New(fault.File, "it was made of another model, with other settings, for other "+
				"devices or by another build of the library [nnapi-made-another-model]")
		}
		rest = rest[sha256.Size:]
		size = binary.LittleEndian.Uint64(rest)
		copy(sum[:], rest[8:])
		return cache.Voucher{Names: []string{k.data},
			Fits: func(_ int, _ []byte, n int64) bool { return uint64(n) == size },
			Good: func(_ int, b []byte) bool { return sha256.Sum256(b) == sum }}, nil
	})
	if err != nil {
		return nil, err
	}
	program, err := compile.Load(ctx, files[0], devices)
	if err != nil {
		return nil, err
	}
	if err := k.samePorts(program, g); err != nil {
		program.Release()
		return nil, err
	}
	return program, nil
}

// samePorts refuses a program whose inputs and outputs are not those of the model, however its key was made.
func (*kept) samePorts(p *compile.Program, g *graph.Graph) error {
	in, out := p.Ports()
	for _, side := range []struct {
		ports  []device.Port
		values []graph.Value
	}{{in, g.In}, {out, g.Out}} {
		if len(side.ports) != len(side.values) {
			return fault.New(fault.File, "its program has %d inputs and %d outputs "+
				"[nnapi-program-inputs-outputs]", len(in), len(out))
		}
		for i, v := range side.values {
			want, have := g.Fact(v).Type, side.ports[i].Type
			if _, fits := want.Shape.Merge(have.Shape); want.DType != have.DType || !fits {
				return fault.New(fault.File, "its program has %v in the place of %v [nnapi-program-place]", have, want)
			}
		}
	}
	return nil
}

// saveTold has the directories of which a warning has said that they cannot be written.
var saveTold sync.Map

// save writes the program in the place of the old file.
func (k *kept) save(p *compile.Program) {
	if k == nil {
		return
	}
	var data bytes.Buffer
	err := p.Save(&data)
	if err == nil {
		sum := sha256.Sum256(data.Bytes())
		index := append([]byte(cacheMagic), make([]byte, 8)...)
		binary.LittleEndian.PutUint64(index[8:], cacheVersion)
		index = append(index, k.key[:]...)
		index = binary.LittleEndian.AppendUint64(index, uint64(data.Len()))
		index = append(index, sum[:]...)
		err = cache.Write(k.dir, cache.File{Name: k.index, Data: index}, []cache.File{{Name: k.data, Data: data.Bytes()}})
	}
	if err == nil {
		return
	}
	if _, told := saveTold.LoadOrStore(k.dir, true); !told {
		warn("program compiled and not cached [nnapi-program-compiled-cached]", "directory", k.dir, "reason", err)
	}
}

// key hashes everything that the program depends on.
func (c *Compilation) key() (key [sha256.Size]byte) {
	h := hasher{sha256.New(), map[*nnapi.Model]uint64{}}
	o := c.options()
	h.num(uint64(o.Performance), uint64(o.Priority))
	h.num(uint64(len(c.devices)))
	for _, d := range c.devices {
		info := d.Info()
		h.text(info.ID)
		h.text(info.BuildHash)
		h.num(uint64(len(d.guise.Operators)))
		for _, name := range d.guise.Operators {
			h.text(name)
		}
	}
	h.model(&c.model.spec)
	h.Sum(key[:0])
	return key
}

// hasher hashes models in a form that differs wherever they do. A model that is in several places is hashed once.
type hasher struct {
	hash.Hash
	seen map[*nnapi.Model]uint64
}

func (h hasher) num(values ...uint64) {
	var b [8]byte
	for _, v := range values {
		binary.LittleEndian.PutUint64(b[:], v)
		h.Write(b[:])
	}
}

func (h hasher) text(s string) {
	h.num(uint64(len(s)))
	h.Write([]byte(s))
}

func (h hasher) list(values []uint32) {
	h.num(uint64(len(values)))
	for _, v := range values {
		h.num(uint64(v))
	}
}

func (h hasher) model(m *nnapi.Model) {
	at, known := h.seen[m]
	if !known {
		at = uint64(len(h.seen))
		h.seen[m] = at
	}
	if h.num(at); known {
		return
	}
	relaxed := uint64(0)
	if m.Relaxed {
		relaxed = 1
	}
	h.num(relaxed, uint64(len(m.Operands)), uint64(len(m.Operations)))
	for i := range m.Operands {
		o := &m.Operands[i]
		h.num(uint64(o.Type), uint64(math.Float32bits(o.Scale)), uint64(o.ZeroPoint), uint64(o.Lifetime))
		h.list(o.Dims)
		if o.Channel != nil {
			h.num(1, uint64(o.Channel.Dim), uint64(len(o.Channel.Scales)))
			for _, s := range o.Channel.Scales {
				h.num(uint64(math.Float32bits(s)))
			}
		} else {
			h.num(0)
		}
		h.text(string(o.Extension))
		h.num(uint64(len(o.Data)))
		h.Write(o.Data)
		if o.Sub != nil {
			h.model(o.Sub)
		}
	}
	for _, op := range m.Operations {
		h.num(uint64(op.Code))
		h.list(op.Inputs)
		h.list(op.Outputs)
	}
	h.list(m.Inputs)
	h.list(m.Outputs)
}
