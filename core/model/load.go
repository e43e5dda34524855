package model

import (
	"crypto/sha256"
	"encoding/hex"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx"
	"github.com/anynpu/anynpu/core/format/rknn"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
)

// Model is an imported model.
type Model struct {
	*onnx.Model
	Path string // of the ONNX file that was read, empty for bytes
	Size int64  // bytes of what the program handed over
	// Digest is the SHA-256, in hexadecimal, of bytes that the program handed over. It is known to Loaded alone.
	Digest string
	// Instead is set when another file was read than the program's own.
	Instead *Instead
	// MapError is why the map could not be read, which does no harm to a model that can be loaded as it is.
	MapError error
	// Images are the inputs of the graph that take images, or parts of them.
	Images map[graph.Value]*Image
	// Unbatched is why the batch of the metadata has no effect, empty if it has or there is none.
	Unbatched string

	perAxis func(*tensor.Quant) bool
	wide    bool
	bounded bool // outputs of the graph have the sizes of others
}

// Instead names the file or bytes that an ONNX file was read for.
type Instead struct {
	Name string // of what the program handed over, for messages
	Map  Map    // that names the file, empty: it lies beside
	// Compiled describes a compiled model in its own words, nil where the program handed over something else. Nothing is
	// known of an encrypted one but its size.
	Compiled *rknn.File
	// Described is its share of the metadata of the ONNX model.
	Described *Described
}

// Options govern how a model is loaded.
type Options struct {
	Weights *mem.Weights // receives the constants; they live as long as it does
	Nodes   bool         // keep the nodes of the file: onnx.Model.Nodes
	Map     Map
	// Compiled is the format of compiled models for which an ONNX file is loaded, Unknown: of none.
	Compiled Format
	// Quantize has a float model compute with codes where its metadata, or a compiled model's file, say so.
	Quantize bool
	// Fix is onnx.Options.Fix, for APIs whose models have fixed sizes.
	Fix bool
	// Absent has an ONNX file loaded for a model whose file is not there (Source.Locate).
	Absent bool
	// Devices load compiled models: the first that reads a file's container has the last word on it.
	Devices []device.Device
	// Images says how inputs are taken that the metadata call images.
	Images ImageOptions
	// PerAxis says which codes with a scale for each index of an axis cross the border (ExposeQuantized), nil: none.
	PerAxis func(*tensor.Quant) bool
	// Wide has codes of 32 bits cross the border at outputs.
	Wide bool

	below func(n *onnx.Names) map[string]string // metadata that hold where the ONNX model is silent
}

// Loaded, unless nil, is called for every model that Load has imported. Set before the first.
var Loaded func(m *Model)

// Load imports a model; the bytes of the source are not kept. Errors say what the source is and what to do, without a
// word before them; most are of kind fault.File.
func Load(s Source, o Options) (*Model, error) {
	m, err := load(s, o)
	if err == nil && Loaded != nil {
		if s.Path == "" {
			sum := sha256.Sum256(s.Data)
			m.Digest = hex.EncodeToString(sum[:])
		}
		Loaded(m)
	}
	return m, err
}

func load(s Source, o Options) (*Model, error) {
	if o.Absent {
		found, why, err := s.Locate(o.Map)
		if err != nil {
			return nil, err
		}
		if why != nil {
			return loadOther(s, nil, found.Path, why, o)
		}
	}
	f, err := s.Open()
	if err != nil {
		return nil, fault.Wrap(err, "%q", s.Path)
	}
	defer f.Close()
	if d := Reader(o.Devices, f.Container()); d != nil {
		return loadCompiled(s, f, d, o)
	}
	if f.Format == o.Compiled && f.Format != Unknown {
		return loadInstead(s, f, o)
	}
	file, mapError := o.Map.Find(f, f.Size, s.Path)
	if file != "" {
		return loadOther(s, f, file, &Instead{Name: s.name(), Map: o.Map}, o)
	}
	m, err := importONNX(s, f, o)
	if err != nil {
		return nil, err
	}
	m.MapError = mapError
	return m, nil
}

// loadOther reads the ONNX file that stands for f, nil for a file that is not there.
func loadOther(s Source, f *File, file string, why *Instead, o Options) (*Model, error) {
	other := Source{Path: file}
	in, err := other.Open()
	if err != nil {
		return nil, fault.Wrap(err, "%s: %q, to be loaded instead", s.name(), file)
	}
	defer in.Close()
	if in.Format == RKNN {
		return nil, fault.New(fault.File, "%s: %q, to be loaded instead, is an .rknn file too: want an ONNX model", s.name(),
			file)
	}
	m, err := importONNX(other, in, o)
	if err != nil {
		return nil, fault.Wrap(err, "%s: %q, to be loaded instead", s.name(), file)
	}
	if m.Instead = why; f != nil {
		m.Size = f.Size
	}
	return m, nil
}

// importONNX imports the model in f as it is.
func importONNX(s Source, f *File, o Options) (*Model, error) {
	switch {
	case f.Size == 0:
		return nil, fault.New(fault.File, "%sit is empty: want an ONNX model", s.label())
	case f.Format != ONNX:
		return nil, fault.New(fault.File, "%sit begins with %q, which is no ONNX model: export the network to ONNX and pass "+
			"that file", s.label(), f.Head[:min(len(f.Head), 8)])
	}
	options := onnx.Options{Weights: o.Weights, Nodes: o.Nodes, Below: o.below, Quantize: o.Quantize, Fix: o.Fix}
	var m *onnx.Model
	var err error
	if s.Path != "" {
		m, err = onnx.ImportFile(s.Path, options)
	} else if m, err = onnx.Import(s.Data, options); err != nil {
		err = fault.Wrap(err, "%s", s.name())
	}
	if err != nil {
		return nil, err
	}
	own := &Model{Model: m, Path: s.Path, Size: f.Size, perAxis: o.PerAxis, wide: o.Wide}
	if err := own.useBatch(); err != nil {
		return nil, err
	}
	return own, fault.Wrap(own.decodeImages(o.Images), "model %s", s.name())
}
