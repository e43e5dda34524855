package ohnn

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"math"
	"slices"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	spec "github.com/anynpu/anynpu/core/spec/ohnn"
)

// The stored form of a compiled model: what ExportCacheToBuffer writes, ImportCacheFromBuffer and offline models read,
// and data file 0 of a cache holds. All numbers little-endian.
//
//	8 bytes   magic
//	uint32    format version
//	uint32    0
//	uint64    size of all
//	32 bytes  key: hash of the model and of the settings it was compiled with
//	5 x       uint64 length and bytes: device name, inputs, outputs, defect, program
//	32 bytes  SHA-256 of everything before
const (
	storedMagic   = "ANPUOHNN"
	storedVersion = 1
	storedHead    = 8 + 4 + 4 + 8 + sha256.Size
)

// number is the key as the cache's info file holds it.
func (k modelKey) number() uint64 { return binary.LittleEndian.Uint64(k[:]) }

// key hashes the model's tensors, operations, inputs and outputs, and the settings o.
func (m *Model) key(o device.Options) (modelKey, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := sha256.New()
	num := func(v ...int) {
		var b []byte
		for _, x := range v {
			b = binary.LittleEndian.AppendUint64(b, uint64(x))
		}
		h.Write(b)
	}
	list := func(v []uint32) {
		num(len(v))
		for _, x := range v {
			num(int(x))
		}
	}
	num(len(m.tensors))
	for _, t := range m.tensors {
		num(int(t.dataType), int(t.tensorType), len(t.shape), len(t.quant.scales), len(t.data))
		for _, d := range t.shape {
			num(int(d))
		}
		for i, s := range t.quant.scales {
			num(int(math.Float64bits(s)), int(t.quant.zeros[i]))
		}
		h.Write(t.data)
	}
	num(len(m.ops))
	for _, op := range m.ops {
		num(int(op.Op))
		list(op.inputs)
		list(op.outputs)
		for _, name := range slices.Sorted(maps.Keys(op.values)) {
			v := op.values[name]
			h.Write([]byte(name))
			num(len(v.ints), len(v.floats))
			for _, x := range v.ints {
				num(int(x))
			}
			for _, x := range v.floats {
				num(int(math.Float32bits(x)))
			}
		}
		num(len(op.values))
	}
	list(m.inputs)
	list(m.outputs)
	if o.Float16 {
		num(1)
	}
	num(int(o.Performance))
	for _, name := range slices.Sorted(maps.Keys(o.Extra)) {
		if name != modelName { // which names the files and nothing else
			num(len(name), len(o.Extra[name]))
			h.Write([]byte(name))
			h.Write(o.Extra[name])
		}
	}
	return modelKey(h.Sum(nil)), nil
}

// save returns the stored form; fault.Unsupported when the device has none.
func (c *compiled) save() ([]byte, error) {
	var program bytes.Buffer
	if err := c.program.Save(&program); err != nil {
		return nil, err
	}
	b := append([]byte(storedMagic), make([]byte, 4+4+8)...)
	binary.LittleEndian.PutUint32(b[8:], storedVersion)
	b = append(b, c.key[:]...)
	for _, section := range [][]byte{[]byte(c.npu.name), encodePorts(c.in), encodePorts(c.out), []byte(c.defect),
		program.Bytes()} {
		b = binary.LittleEndian.AppendUint64(b, uint64(len(section)))
		b = append(b, section...)
	}
	binary.LittleEndian.PutUint64(b[16:], uint64(len(b)+sha256.Size))
	sum := sha256.Sum256(b)
	return append(b, sum[:]...), nil
}

// storedSize returns the size that the first bytes of a stored form claim for all of it, 0 when they do not begin one.
func storedSize(head []byte) uint64 {
	if len(head) < storedHead || !bytes.HasPrefix(head, []byte(storedMagic)) {
		return 0
	}
	return binary.LittleEndian.Uint64(head[16:])
}

// loadModel restores a compiled model from its stored form. Errors are of kind fault.File unless the device refuses.
func loadModel(d *npu, data []byte, o device.Options) (*compiled, error) {
	if !bytes.HasPrefix(data, []byte(storedMagic)) {
		return nil, fault.New(fault.File, "this is no compiled model of this library: want the bytes of "+
			"OH_NNCompilation_ExportCacheToBuffer [ohnn-no-compiled-model]")
	}
	if len(data) < storedHead+5*8+sha256.Size {
		return nil, fault.New(fault.File, "a compiled model cut short at %d bytes [ohnn-compiled-model-cut]", len(data))
	}
	if v := binary.LittleEndian.Uint32(data[8:]); v != storedVersion {
		return nil, fault.New(fault.File, "a compiled model in format %d: this library reads format %d "+
			"[ohnn-compiled-model-format]", v, storedVersion)
	}
	body, sum := data[:len(data)-sha256.Size], data[len(data)-sha256.Size:]
	if got := sha256.Sum256(body); !bytes.Equal(got[:], sum) {
		return nil, fault.New(fault.File, "a compiled model that is damaged: its checksum is wrong "+
			"[ohnn-compiled-model-damaged]")
	}
	var sections [5][]byte
	rest := body[storedHead:]
	for i := range sections {
		if len(rest) < 8 {
			return nil, fault.New(fault.File, "a compiled model that lacks section %d [ohnn-compiled-model-lacks]", i)
		}
		n := binary.LittleEndian.Uint64(rest)
		if n > uint64(len(rest)-8) {
			return nil, fault.New(fault.File, "a compiled model whose section %d claims %d bytes "+
				"[ohnn-compiled-model-section]", i, n)
		}
		sections[i], rest = rest[8:8+n], rest[8+n:]
	}
	if name := string(sections[0]); name != d.name {
		return nil, fault.New(fault.File, "a model compiled for device %s: this is %s "+
			"[ohnn-model-compiled-device]", name, d.name)
	}
	c := &compiled{npu: d, key: modelKey(data[24:storedHead]), defect: string(sections[3])}
	var err error
	if c.in, err = decodePorts(sections[1]); err != nil {
		return nil, fault.Wrap(err, "inputs")
	}
	if c.out, err = decodePorts(sections[2]); err != nil {
		return nil, fault.Wrap(err, "outputs")
	}
	if c.program, c.placement, err = loadProgram(context.Background(), d, sections[4]); err != nil {
		return nil, err
	}
	in, out := c.program.Ports()
	if len(in) != len(c.in) || len(out) != len(c.out) {
		c.release()
		return nil, fault.New(fault.File, "a compiled model with %d inputs and %d outputs that describes %d and "+
			"%d [ohnn-compiled-model-inputs]", len(in),
			len(out), len(c.in), len(c.out))
	}
	return c, nil
}

// encodePorts writes descriptors as the reference's cache does: int32 data type, int32 format, int32 tensor type,
// uint64 rank, int32 dimensions, NUL-terminated name.
func encodePorts(ports []port) []byte {
	var b []byte
	for _, p := range ports {
		b = binary.LittleEndian.AppendUint32(b, uint32(p.dataType))
		b = binary.LittleEndian.AppendUint32(b, uint32(p.format))
		b = binary.LittleEndian.AppendUint32(b, uint32(p.tensorType))
		b = binary.LittleEndian.AppendUint64(b, uint64(len(p.shape)))
		for _, d := range p.shape {
			b = binary.LittleEndian.AppendUint32(b, uint32(d))
		}
		b = append(b, p.name...)
		b = append(b, 0)
	}
	return b
}

// decodePorts reads what encodePorts wrote; anything else is an error of kind fault.File.
func decodePorts(b []byte) ([]port, error) {
	var ports []port
	for len(b) > 0 {
		if len(b) < 20 {
			return nil, fault.New(fault.File, "descriptor %d is cut short [ohnn-descriptor-cut-short]", len(ports))
		}
		p := port{
			dataType:   DataType(binary.LittleEndian.Uint32(b)),
			format:     Format(binary.LittleEndian.Uint32(b[4:])),
			tensorType: TensorType(binary.LittleEndian.Uint32(b[8:])),
		}
		rank := binary.LittleEndian.Uint64(b[12:])
		b = b[20:]
		if !p.dataType.Valid() || p.format >= formatEnd || p.tensorType >= spec.TensorTypeEnd || rank > maxLegacyRank ||
			rank > uint64(len(b)/4) {
			return nil, fault.New(fault.File, "descriptor %d has data type %d, format %d, tensor type %d, rank "+
				"%d [ohnn-descriptor-data-type]", len(ports),
				p.dataType, p.format, p.tensorType, rank)
		}
		for range rank {
			p.shape = append(p.shape, int32(binary.LittleEndian.Uint32(b)))
			b = b[4:]
		}
		end := bytes.IndexByte(b, 0)
		if end < 0 {
			return nil, fault.New(fault.File, "descriptor %d has a name without an end "+
				"[ohnn-descriptor-name-without]", len(ports))
		}
		p.name, b = string(b[:end]), b[end+1:]
		ports = append(ports, p)
	}
	if len(ports) == 0 {
		return nil, fault.New(fault.File, "no descriptor [ohnn-no-descriptor]")
	}
	return ports, nil
}

const (
	infoName  = "cache_info.nncache"
	dataName  = "%d.nncache"
	modelName = "ModelName" // the extension configuration that prefixes the file names
)
