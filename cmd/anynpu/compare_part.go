package main

import (
	"os"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx/export"
)

// writePart writes the part of the second model that departs first: as ONNX to path, and to the folder path.data its
// inputs as in/NAME.npy and what the first side has of its output as want/NAME.npy.
func (c *comparisonOf) writePart(path string) error {
	row := c.rows[c.report.Departs[0]]
	p, err := c.b.Part(row.Value, c.want)
	if err != nil {
		return err
	}
	model, err := export.Of(p.Graph, export.Options{Symbols: c.b.m.Symbols})
	if err != nil {
		return fault.Wrap(err, "--bisect")
	}
	if err := model.WriteFile(path); err != nil {
		return fault.Wrap(err, "--bisect")
	}
	in := make([]device.Port, len(model.In))
	for i, name := range model.In {
		in[i].Name = name
	}
	dir := path + ".data"
	for _, folder := range []string{dir + "/in", dir + "/want"} {
		if err := os.MkdirAll(folder, 0o777); err != nil {
			return fault.As(fault.File, err, "--bisect")
		}
	}
	for i, name := range fileNames(in) {
		if _, err := save(dir+"/in", name, in[i].Name, p.In[i]); err != nil {
			return fault.Wrap(err, "--bisect")
		}
	}
	out := fileNames([]device.Port{{Name: model.Out[0]}})
	_, err = save(dir+"/want", out[0], model.Out[0], c.want[row.Value])
	return fault.Wrap(err, "--bisect")
}
