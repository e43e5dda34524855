// Package networks holds the benchmark networks of bench/gen_bench_models.py without their weights, and makes weights
// for them: enough to see which kernels compute a network and what a run takes, without Python and without large files.
package networks

import (
	"archive/zip"
	"encoding/binary"
	"io/fs"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/anynpu/anynpu/core/fault"
)

// Collection is an opened archive.
type Collection struct {
	zip *zip.ReadCloser
}

// Open opens an archive that bench/outline.py has written. Kind fault.File.
func Open(path string) (*Collection, error) {
	z, err := zip.OpenReader(path)
	if err != nil {
		return nil, fault.As(fault.File, err, "networks")
	}
	return &Collection{z}, nil
}

// Close closes the archive.
func (c *Collection) Close() error { return c.zip.Close() }

// Names lists the networks in alphabetical order.
func (c *Collection) Names() []string {
	var names []string
	for _, f := range c.zip.File {
		names = append(names, strings.TrimSuffix(f.Name, ".onnx"))
	}
	slices.Sort(names)
	return names
}

// Model returns a network as an ONNX model with weights that depend on nothing but the name.
func (c *Collection) Model(name string) ([]byte, error) {
	outline, err := fs.ReadFile(c.zip, name+".onnx")
	if err != nil {
		return nil, fault.As(fault.File, err, "networks")
	}
	rnd := rand.New(rand.NewPCG(uint64(len(name)), 1))
	model, err := rewrite(outline, graphField, func(g []byte) ([]byte, error) {
		return rewrite(g, initializerField, func(t []byte) ([]byte, error) { return filled(t, rnd) })
	})
	return model, fault.Wrap(err, "network %s", name)
}

// Field numbers of ONNX: ModelProto.graph, GraphProto.initializer, and of TensorProto.
const (
	graphField       = 7
	initializerField = 5

	dimsField     = 1
	dataTypeField = 2
	rawDataField  = 9
)

// rewrite copies a message with every occurrence of one field changed.
func rewrite(message []byte, field protowire.Number, change func([]byte) ([]byte, error)) ([]byte, error) {
	var out []byte
	for len(message) > 0 {
		num, typ, head := protowire.ConsumeTag(message)
		if head < 0 {
			return nil, fault.As(fault.File, protowire.ParseError(head), "tag")
		}
		size := protowire.ConsumeFieldValue(num, typ, message[head:])
		if size < 0 {
			return nil, fault.As(fault.File, protowire.ParseError(size), "field %d", num)
		}
		if num != field || typ != protowire.BytesType {
			out = append(out, message[:head+size]...)
		} else {
			body, _ := protowire.ConsumeBytes(message[head:])
			changed, err := change(body)
			if err != nil {
				return nil, err
			}
			out = protowire.AppendBytes(protowire.AppendTag(out, num, typ), changed)
		}
		message = message[head+size:]
	}
	return out, nil
}

// filled returns a TensorProto with values made up if it has none.
func filled(tensor []byte, rnd *rand.Rand) ([]byte, error) {
	var dims []int64
	dataType, complete := uint64(0), false
	for rest := tensor; len(rest) > 0; {
		num, typ, head := protowire.ConsumeTag(rest)
		if head < 0 {
			return nil, fault.As(fault.File, protowire.ParseError(head), "tensor")
		}
		value := rest[head:]
		size := protowire.ConsumeFieldValue(num, typ, value)
		if size < 0 {
			return nil, fault.As(fault.File, protowire.ParseError(size), "tensor: field %d", num)
		}
		switch {
		case num == dimsField && typ == protowire.VarintType:
			n, _ := protowire.ConsumeVarint(value)
			dims = append(dims, int64(n))
		case num == dimsField && typ == protowire.BytesType:
			packed, _ := protowire.ConsumeBytes(value)
			for len(packed) > 0 {
				n, used := protowire.ConsumeVarint(packed)
				if used < 0 {
					return nil, fault.New(fault.File, "tensor: sizes are cut off")
				}
				dims, packed = append(dims, int64(n)), packed[used:]
			}
		case num == dataTypeField && typ == protowire.VarintType:
			dataType, _ = protowire.ConsumeVarint(value)
		case num == rawDataField:
			complete = true
		}
		rest = rest[head+size:]
	}
	if complete {
		return tensor, nil
	}
	data, err := values(dataType, dims, rnd)
	if err != nil {
		return nil, err
	}
	return protowire.AppendBytes(protowire.AppendTag(slices.Clone(tensor), rawDataField, protowire.BytesType), data), nil
}

// maxElements bounds a constant.
const maxElements = 1 << 28

// values makes weights of ONNX's element types float32 (1), uint8 (2), int8 (3) and int32 (6). Those of rank 2 and more
// are uniform, floats such that sums over the fan-in keep the size of activations; vectors are scales or biases: small
// positive floats, zero integers.
func values(dataType uint64, dims []int64, rnd *rand.Rand) ([]byte, error) {
	n := int64(1)
	for _, d := range dims {
		if n *= d; d < 0 || n > maxElements {
			return nil, fault.New(fault.File, "tensor: sizes %v", dims)
		}
	}
	switch dataType {
	case 1:
		data := make([]byte, 0, 4*n)
		low, high := float32(0.01), float32(0.02)
		if len(dims) > 1 {
			fanIn := n / max(dims[0], 1)
			if len(dims) == 2 {
				fanIn = dims[0]
			}
			high = float32(math.Sqrt(6 / float64(max(fanIn, 1))))
			low = -high
		}
		for range n {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(low+(high-low)*rnd.Float32()))
		}
		return data, nil
	case 2, 3:
		data := make([]byte, n)
		if len(dims) > 1 {
			for i := range data {
				data[i] = byte(rnd.Uint32())
			}
		}
		return data, nil
	case 6:
		return make([]byte, 4*n), nil
	}
	return nil, fault.New(fault.Unsupported, "tensor: values of ONNX type %d", dataType)
}
