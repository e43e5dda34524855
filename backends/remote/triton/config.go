// Package triton writes the files that Triton wants beside a model: its configuration, in the form of a repository's
// file and as JSON, and the program of its Python backend.
package triton

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/anynpu/anynpu/backends/dl"
	"github.com/anynpu/anynpu/backends/remote/link"
	"github.com/anynpu/anynpu/core/fault"
)

// Model is model.py of the Python backend: it computes the file model.onnx beside it with ONNX Runtime.
//
//go:embed model.py
var Model string

// File is the name of the model's file, below the folder of its version.
const File = "model.onnx"

// Program is the name of Model's file, below the folder of the version.
const Program = "model.py"

// Config is a model's configuration. Its JSON form is the protocol's.
type Config struct {
	Name      string     `json:"name"`
	Backend   string     `json:"backend"`
	Batch     int        `json:"max_batch_size"`
	Inputs    []port     `json:"input"`
	Outputs   []port     `json:"output"`
	Instances []instance `json:"instance_group"`
}

type port struct {
	Name string  `json:"name"`
	Type string  `json:"data_type"`
	Dims []int64 `json:"dims"`
}

type instance struct {
	Kind string `json:"kind"`
}

// New is the configuration of a model with these ports, for the backend that a manifest's upload, or export --serve,
// names. Kind fault.Unsupported for scalars, which Triton does not serve.
func New(name, backend string, inputs, outputs []link.Port) (*Config, error) {
	c := &Config{Name: name, Backend: "onnxruntime", Instances: []instance{{"KIND_CPU"}}}
	if backend == dl.UploadTritonPython {
		c.Backend = "python"
	}
	for _, side := range []struct {
		from []link.Port
		to   *[]port
	}{{inputs, &c.Inputs}, {outputs, &c.Outputs}} {
		for _, p := range side.from {
			if len(p.Shape) == 0 {
				return nil, fault.New(fault.Unsupported, "%q is a scalar, which Triton does not serve [remote-triton-scalar]",
					p.Name)
			}
			*side.to = append(*side.to, port{p.Name, "TYPE_" + p.Datatype, p.Shape})
		}
	}
	return c, nil
}

// Text is the configuration as config.pbtxt.
func (c *Config) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "name: %q\nbackend: %q\nmax_batch_size: %d\n", c.Name, c.Backend, c.Batch)
	for _, side := range []struct {
		word  string
		ports []port
	}{{"input", c.Inputs}, {"output", c.Outputs}} {
		for _, p := range side.ports {
			dims := strings.Trim(strings.ReplaceAll(fmt.Sprint(p.Dims), " ", ", "), "[]")
			fmt.Fprintf(&b, "%s [{ name: %q data_type: %s dims: [%s] }]\n", side.word, p.Name, p.Type, dims)
		}
	}
	for _, i := range c.Instances {
		fmt.Fprintf(&b, "instance_group [{ kind: %s }]\n", i.Kind)
	}
	return b.String()
}

// JSON is the configuration as a request to load the model has it.
func (c *Config) JSON() string {
	text, err := json.Marshal(c)
	if err != nil {
		panic(err) // texts and numbers
	}
	return string(text)
}

// Python reports whether the model needs Program beside it.
func (c *Config) Python() bool { return c.Backend == "python" }
