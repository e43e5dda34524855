package main

import (
	_ "embed"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"

	"github.com/anynpu/anynpu/backends/remote/link"
	"github.com/anynpu/anynpu/backends/remote/triton"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/format/onnx/export"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/tensor"
)

//go:embed serve_files/kserve_model.py
var kserveModel string

//go:embed serve_files/mlserver_runtime.py
var mlserverRuntime string

//go:embed serve_files/ray_models.py
var rayModels string

// serveKinds are the servers for which export --serve writes files.
var serveKinds = []string{"triton", "triton-python", "kserve", "mlserver", "ray"}

// served is a model for a server.
type served struct {
	name   string
	model  *export.Model
	in     []link.Port
	out    []link.Port
	folder string
	files  []string
}

// servedName matches the names that servers give models.
var servedName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// newServed describes the ports of g, whose ONNX form is model, for files in a folder.
func newServed(name, folder string, g *graph.Graph, model *export.Model) (*served, error) {
	if !servedName.MatchString(name) {
		return nil, usage("--name %s: want 1 to 64 letters, digits, dots, dashes or underscores [tool-serve-name]", name)
	}
	s := &served{name: name, model: model, folder: folder}
	for side, list := range [][]graph.Value{g.In, g.Out} {
		for _, v := range list {
			f := g.Fact(v)
			p, ok := link.PortOf(g.Values[v].Name, f.Type)
			if !ok {
				return nil, exit(exitModel, fault.New(fault.Unsupported,
					"%q is %v, which the protocol has no word for [tool-serve-type]", p.Name, f.Type))
			}
			p.Type = tensor.Invalid // files have the protocol's word alone
			if side == 0 {
				s.in = append(s.in, p)
			} else {
				s.out = append(s.out, p)
			}
		}
	}
	return s, nil
}

// write writes what a server of a kind needs.
func (s *served) write(kind string) error {
	about := map[string]any{"name": s.name, "inputs": s.in, "outputs": s.out}
	switch kind {
	case "triton", "triton-python":
		config, err := triton.New(s.name, kind, s.in, s.out)
		if err != nil {
			return exit(exitModel, err)
		}
		if config.Python() {
			if err := s.text(s.name+"/1/"+triton.Program, triton.Model); err != nil {
				return err
			}
		}
		if err := s.text(s.name+"/config.pbtxt", config.Text()); err != nil {
			return err
		}
		return s.onnx(s.name + "/1/" + triton.File)
	case "kserve":
		if err := s.json("model.json", about); err != nil {
			return err
		}
		if err := s.text("kserve_model.py", kserveModel); err != nil {
			return err
		}
		return s.onnx("model.onnx")
	case "ray":
		if err := s.json(s.name+"/model.json", about); err != nil {
			return err
		}
		if err := s.text("ray_models.py", rayModels); err != nil {
			return err
		}
		return s.onnx(s.name + "/model.onnx")
	}
	about["implementation"] = "anynpu_ort.Ort"
	about["parameters"] = map[string]string{"uri": "./model.onnx"}
	if err := s.json(s.name+"/model-settings.json", about); err != nil {
		return err
	}
	if err := s.text("anynpu_ort.py", mlserverRuntime); err != nil {
		return err
	}
	return s.onnx(s.name + "/model.onnx")
}

// path is a file's path, whose folder is made.
func (s *served) path(file string) (string, error) {
	path := filepath.Join(s.folder, file)
	s.files = append(s.files, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", exit(exitRun, err)
	}
	return path, nil
}

func (s *served) text(file, text string) error {
	path, err := s.path(file)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		return exit(exitRun, err)
	}
	return nil
}

func (s *served) json(file string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return exit(exitRun, err)
	}
	return s.text(file, string(text)+"\n")
}

func (s *served) onnx(file string) error {
	path, err := s.path(file)
	if err == nil {
		if err = s.model.WriteFile(path); err != nil {
			err = exit(exitRun, err)
		}
	}
	return err
}
