package rknn

import (
	"bytes"
	"fmt"
	"io"

	"github.com/anynpu/anynpu/core/fault"
)

// File has the contents of an .rknn file.
type File struct {
	Size      int64
	Version   uint64 // of the container: 6, or 0x1004 for rv1103, rv1106 and their b variants
	Targets   []string
	Compiler  string // version of the converter, as text
	Framework string // that the model came from, e.g. "ONNX"
	Custom    string // what RKNN_QUERY_CUSTOM_STRING gives
	Batch     int    // rknn_batch_size, 0: not said

	Inputs, Outputs []Port
	// Graphs are the tensors and nodes, one graph for each dynamic shape; empty when the file does not have them.
	Graphs []Graph
	// Preprocess has the steps that the converter built in before the network, by input name.
	Preprocess map[string]Preprocess
	// Ranges are the smallest and largest values of tensors, by name, as the converter measured them.
	Ranges map[string][2]float64
	// DynamicShapes are the shapes that inputs and outputs may have, by name: lists of one length, of which entry k of
	// each belongs to graph k. nil: the shapes are fixed.
	DynamicShapes map[string][][]int64
	SharedWeights []string // names of weights that another file has

	// Unread lists the parts that could not be read, with reasons. Lost says that types, scales, shapes or preprocessing
	// of inputs, outputs or inner tensors are among them.
	Unread []string
	Lost   bool
}

// Port is an input or output of the model.
type Port struct {
	Name   string
	Type   string  // "float32", "int8", ...; empty when not said
	Layout string  // "nchw", "nhwc"; empty when not said
	Dims   []int64 // in the order of the source model, NCHW for images; empty when not said
}

// Preprocess is the first step on an input: (x - Mean) / Std per channel.
type Preprocess struct {
	Mean, Std []float64
	// RGB2BGR says how the converter read the images that it calibrated with. Nothing is swapped when the model runs.
	RGB2BGR bool
}

// Encrypted reports whether a file that begins with head is an encrypted .rknn file, of which nothing can be read.
func Encrypted(head []byte) bool {
	return bytes.HasPrefix(head, []byte("RKCE")) || bytes.HasPrefix(head, []byte("CYPTRKNN"))
}

// Recognize reports whether a file that begins with head is an .rknn file, plain or encrypted.
func Recognize(head []byte) bool { return bytes.HasPrefix(head, []byte("RKNN")) || Encrypted(head) }

// Read reads the description in an .rknn file of size bytes. Kind fault.File when it does not begin as one or is
// encrypted.
func Read(r io.ReaderAt, size int64) (*File, error) {
	w := newWindow(r, 0, size)
	head := w.bytes(0, min(size, headerSize))
	switch {
	case Encrypted(head):
		return nil, fault.New(fault.File, "the .rknn file is encrypted: nothing can be read of it")
	case !Recognize(head):
		return nil, fault.New(fault.File, "it begins with %q, which is not an .rknn file", head[:min(len(head), 8)])
	}
	f := &File{Size: size}
	f.readContainer(w)
	return f, nil
}

// lose notes a part that could not be read and on which types, scales, shapes or preprocessing depend.
func (f *File) lose(part, format string, args ...any) {
	f.Lost = true
	f.skip(part, format, args...)
}

// skip notes a part that could not be read.
func (f *File) skip(part, format string, args ...any) {
	if len(f.Unread) < maxNotes {
		f.Unread = append(f.Unread, part+": "+fmt.Sprintf(format, args...))
	}
}

// Limits of a file's parts, far beyond those of real files.
const (
	maxText    = 64 << 20 // bytes of a JSON or dictionary text
	maxName    = 4096     // bytes of a name
	maxTensors = 1 << 20  // of all graphs
	maxGraphs  = 1024
	maxRank    = 16
	maxGroups  = 64 // of a filter's native shape, each of at most maxRank numbers
	maxNotes   = 64
)
