// Package metadata reads what a portable model carries beside its graph: how inputs are normalized and laid out, which
// shapes a dynamic model is meant for, names. It is found in an ONNX model's metadata_props, and in a file
// MODEL.anynpu.json beside it, whose entries win.
//
// The keys, all optional; values are JSON (a string value may be written without quotes in metadata_props):
//
//	anynpu.schema               number   version of these keys; 1 (the default) is read, others are refused
//	anynpu.name                 string   name of the model, default: the graph's
//	anynpu.custom_string        string   free text handed to programs that ask for it
//	anynpu.input.NAME.mean      numbers  subtracted per channel before anything else; default 0
//	anynpu.input.NAME.std       numbers  divisor per channel after mean; default 1
//	anynpu.input.NAME.scale     numbers  factor per channel after mean, in the place of std
//	anynpu.input.NAME.pixel     string   gray, rgb, bgr, rgba, nv12, nv21, yuv444: what the bytes of an image are
//	anynpu.input.NAME.planes    number   of nv12 and nv21: 1 (the default) when luma and chroma are one tensor, 2 when they are two
//	anynpu.input.NAME.range     string   regular (the default) or bt601_video: the bytes that luma and chroma of YUV images take
//	anynpu.input.NAME.order     string   rgb, bgr, yuv444 or gray: the channels that the network wants, default those of pixel; of YUV images rgb
//	anynpu.input.NAME.bytes     string   unsigned or signed: whether the bytes of a gray, RGB, BGR or YUV444 image are pixels, or pixels - 128
//	anynpu.input.NAME.source    string   ddr, resizer or pyramid: the input is the bytes of an image; of a resizer, regions of images of any size
//	anynpu.input.NAME.layout    string   nchw or nhwc: the order in which programs hand data over, default the model's own
//	anynpu.input.NAME.shapes    lists    the shapes a dynamic input is meant for, e.g. [[1,3,224,224],[1,3,320,320]]
//	anynpu.input.NAME.shape     list     the shape of an input that the model leaves open, or whose first size of 1 is to be another batch
//	anynpu.dim.NAME             number   size of the open dimension of that name, which is then none any more
//	anynpu.output.NAME.max_shape list    the largest shape of an output whose sizes only a run tells
//	anynpu.output.NAME.codes    object   the codes that programs see of an output of real numbers: {"type": "int32", "scale": [0.5, 0.25], "axis": 3};
//	                                     type int8, int16 or int32, which can stand alone in the place of the object
//	anynpu.output.NAME.layout   string   nchw or nhwc: the order in which programs see an output of rank 4, default the model's own
//	anynpu.output.NAME.native   string   nchw or nhwc: the order that the model's own dimensions have, where it cannot be told
//	anynpu.outputs.codes        object   codes of all outputs of real numbers that have none of their own
//	anynpu.value.NAME.shape     list     sizes, or names of open dimensions, of a custom operator's result; or "as input 0", "as input 1", ...
//	anynpu.value.NAME.type      string   its element type, e.g. float32; default what the model declares, else that of the operator's input
//	anynpu.value.NAME.stored    object   how a board stores the value: {"type": "int8", "scale": 0.5, "zero": 3, "native": [[1,2,8,8,16]]}; type
//	                                     int8, int16, float16 or float32, scale and zero of codes alone; of inputs and outputs native shapes, one for
//	                                     each of the shapes, and dims: the shape that programs see, with as many elements as the model's
//	anynpu.value.NAME.partial   object   codes between the steps of an operator, as those of stored: of the sums of a convolution over the operand NAME
//	                                     of a Concat, or of the first step of the mean over an image that has this name, or whose result has
//	anynpu.filters              string   channel (the default) or layer: what has codes of its own of a filter that codes are multiplied with
//	anynpu.inputs               strings  the values that are the model's inputs, where it begins behind its own
//	anynpu.outputs              strings  the values that are its outputs, where it ends before its own
//	anynpu.target               string   the board that the model was converted for, e.g. rk3588; read there, too
//	anynpu.compiled             list     compiled forms of the model: {"container": "rknn", "target": "rk3588", "file": "net.rknn", "sha256": "..."};
//	                                     container, file and sha256 are needed, file is a path below the model's folder
//	anynpu.models               strings  in a pack list only: the files of the pack, relative to it
//
// An unknown key under anynpu. is a warning, a known key with a wrong value an error of kind fault.File that names key
// and value.
package metadata

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sort"
	"strings"

	"github.com/anynpu/anynpu/core/fault"
)

// Schema is the version of the keys that is read.
const Schema = 1

// MaxFile bounds the size of MODEL.anynpu.json and of a pack list.
const MaxFile = 1 << 24

// Input holds the entries of one input; zero values: nothing is said.
type Input struct {
	Mean, Std []float32
	Scale     []float32 // factors in the place of Std
	Pixel     string
	Planes    int      // tensors of an image whose chroma has a plane of its own
	Ports     []string // names of its tensors, in an API that has several for an image
	Range     string
	Order     string
	Bytes     string
	Source    string
	Layout    string
	Shapes    [][]int64
	Shape     []int64
}

// Output holds the entries of one output; zero values: nothing is said.
type Output struct {
	MaxShape []int64 // the largest shape of one of open size
	Codes    *Codes
	Layout   string // in which programs see it
	Native   string // which the model's own dimensions have
}

// Value holds the entries of a value of the model; all but Stored and Partial of results of operators that the project
// does not know.
type Value struct {
	Shape  []Dim // nil: nothing is said, or Like says it
	Like   int   // the operator's input, from 1, that has the same shape; 0: none
	Type   string
	Stored *Stored
	// Partial are the codes between the steps of an operator: of the sums of a convolution over this operand of a Concat,
	// or of the first step of the mean over an image that has this name, or whose result has.
	Partial *Stored
}

// Made reports whether anything is said of the result of an operator that the project does not know.
func (v *Value) Made() bool { return v.Shape != nil || v.Like != 0 || v.Type != "" }

// Stored is how a board stores a value: as codes, of which each stands for (code - Zero) * Scale, or as real numbers.
type Stored struct {
	Type   string    `json:"type"`
	Scale  float32   `json:"scale,omitempty"` // 0: real numbers
	Zero   int32     `json:"zero,omitempty"`
	Native [][]int64 `json:"native,omitempty"` // shapes in the board's own layout
	Dims   []int64   `json:"dims,omitempty"`   // what programs see of an input or output, nil: the model's shape
}

// Dim is a size, or the name of an open dimension of the model.
type Dim struct {
	Size int64
	Name string
}

// Compiled names a form of the model that a vendor's compiler has made.
type Compiled struct {
	Container string `json:"container"` // the file format, e.g. rknn
	Target    string `json:"target"`    // the chip, "": not said
	File      string `json:"file"`      // relative to the model's folder and below it
	SHA256    string `json:"sha256"`    // of the file, in hexadecimal
}

// Metadata is a model's description of itself.
type Metadata struct {
	Name         string
	CustomString string
	Target       string
	Quantization string // how codes of inputs and outputs are described: scale, shift, or nothing
	Inputs       map[string]Input
	Dims         map[string]int64 // sizes of open dimensions
	Outputs      map[string]Output
	Codes        *Codes // of outputs of real numbers that have none of their own
	Values       map[string]Value
	Filters      string     // channel or layer, empty: not said
	In, Out      []string   // values that are inputs and outputs in the place of the model's own, nil: those
	Compiled     []Compiled // forms that a vendor's compiler has made of the model, the preferred one first
	Warnings     []string
}

// Strangers tells, one sentence each, of metadata for inputs that a model with these inputs does not have. path may be
// empty.
func (m *Metadata) Strangers(path string, inputs []string) []string {
	model := strings.TrimSpace("model " + path)
	var out []string
	for _, name := range slices.Sorted(maps.Keys(m.Inputs)) {
		if !slices.Contains(inputs, name) {
			out = append(out, fmt.Sprintf("%s: metadata for an input %q, which it does not have; there is: %s", model, name,
				strings.Join(inputs, ", ")))
		}
	}
	return out
}

// Sidecar returns the name of the file that overrides a model's own metadata.
func Sidecar(model string) string { return model + ".anynpu.json" }

// Read merges the metadata_props of a model (nil for none) with the file beside it, if there is one; path may be empty.
func Read(props map[string]string, path string) (*Metadata, error) { return ReadOver(nil, props, path) }

// ReadOver is Read with entries that hold where the model and the file beside it are silent.
func ReadOver(below, props map[string]string, path string) (*Metadata, error) {
	m := &Metadata{Inputs: map[string]Input{}}
	for _, from := range []map[string]string{below, props} {
		values := map[string]json.RawMessage{}
		for k, v := range from {
			if strings.HasPrefix(k, "anynpu.") {
				values[k] = raw(v)
			}
		}
		if err := m.set(values, "metadata"); err != nil {
			return nil, err
		}
	}
	if path == "" {
		return m, nil
	}
	values, err := readSidecar(path)
	if err != nil {
		return nil, err
	}
	return m, m.set(values, Sidecar(path))
}

// Beside returns the entries of the file beside the model at path as text, none when there is no file.
func Beside(path string) (map[string]string, error) { return Merged(nil, path) }

// Merged returns the metadata of the model at path as text: its own metadata_props, and the entries of the file beside
// it in their places.
func Merged(props map[string]string, path string) (map[string]string, error) {
	values, err := readSidecar(path)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	maps.Copy(out, props)
	for k, v := range values {
		var s string
		if json.Unmarshal(v, &s) != nil {
			s = string(v)
		}
		out[k] = s
	}
	return out, nil
}

// Same reports whether two values of a key say the same.
func Same(a, b string) bool {
	var x, y any
	return a == b || json.Unmarshal(raw(a), &x) == nil && json.Unmarshal(raw(b), &y) == nil && reflect.DeepEqual(x, y)
}

// readSidecar reads the file beside the model at path; nothing when there is none.
func readSidecar(path string) (map[string]json.RawMessage, error) {
	text, err := readSmall(Sidecar(path))
	if os.IsNotExist(err) {
		return nil, nil
	}
	values := map[string]json.RawMessage{}
	if err == nil {
		err = json.Unmarshal(text, &values)
	}
	return values, fault.As(fault.File, err, "%s", Sidecar(path))
}

func readSmall(path string) ([]byte, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() || st.Size() > MaxFile {
		return nil, fault.New(fault.File, "not a regular file of at most %d bytes", MaxFile)
	}
	text, err := os.ReadFile(path)
	return bytes.TrimPrefix(text, []byte("\ufeff")), err // as some editors begin a file
}

// raw makes JSON of a metadata_props value: what is not JSON is a string.
func raw(v string) json.RawMessage {
	if json.Valid([]byte(v)) {
		return json.RawMessage(v)
	}
	q, _ := json.Marshal(v) // a string always has a JSON form
	return q
}

func (m *Metadata) set(values map[string]json.RawMessage, source string) error {
	keys := make([]string, 0, len(values))
	for k := range values {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		if err := m.setKey(k, values[k], source); err != nil {
			return fault.Wrap(err, "%s: %s: %.200s", source, k, values[k])
		}
	}
	return nil
}

// ReadPack returns the model files of a pack list: a JSON object with the key anynpu.models, names relative to the
// list's folder and below it.
func ReadPack(path string) ([]string, error) {
	text, err := readSmall(path)
	if err != nil {
		return nil, fault.As(fault.File, err, "pack list %s", path)
	}
	var list struct {
		Models []string `json:"anynpu.models"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fault.As(fault.File, err, "pack list %s", path)
	}
	if len(list.Models) == 0 {
		return nil, fault.New(fault.File, "pack list %s: anynpu.models names no file", path)
	}
	out := make([]string, len(list.Models))
	for i, name := range list.Models {
		if !filepath.IsLocal(name) {
			return nil, fault.New(fault.File, "pack list %s: %q is outside its folder", path, name)
		}
		out[i] = filepath.Join(filepath.Dir(path), name)
	}
	return out, nil
}
