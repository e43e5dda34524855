package fake

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/model"
	"github.com/anynpu/anynpu/internal/oip"
)

// load takes a model, as Triton's repository extension has it.
func (s *Server) load(w http.ResponseWriter, r *http.Request, name string) {
	if s.Load == nil {
		s.refuse(w, r, oip.NotFound, "Not Found")
		return
	}
	s.Loads.Add(1)
	f := Fault(s.Fault.Load())
	var q struct {
		Parameters map[string]string `json:"parameters"`
	}
	err := json.NewDecoder(r.Body).Decode(&q)
	files := map[string][]byte{}
	for key, text := range q.Parameters {
		if path, is := strings.CutPrefix(key, "file:"); is && err == nil {
			files[path], err = base64.StdEncoding.DecodeString(text)
		}
	}
	if f == LoadSlow {
		select {
		case <-r.Context().Done():
		case <-time.After(30 * time.Second):
		}
		return
	}
	if f == LoadRefused && err == nil {
		err = fault.New(fault.Unsupported, "failed to load '%s', no backend for it", name)
	}
	var m *Model
	if err == nil {
		m, err = s.Load(name, q.Parameters["config"], files)
	}
	if err != nil {
		s.refuse(w, r, oip.InvalidArgument, err.Error())
		return
	}
	s.keep(name, m, f > LoadRefused)
	switch f {
	case LoadCut:
		panic(http.ErrAbortHandler)
	case LoadHalf:
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte("{"))
	}
}

// keep adds a model, or has it only closed with the server.
func (s *Server) keep(name string, m *Model, lost bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if had := s.models[name]; had != nil {
		s.dropped = append(s.dropped, had)
	}
	s.models[name] = m
	if lost {
		delete(s.models, name)
		s.dropped = append(s.dropped, m)
	}
}

// OfFile is a Load whose models a device computes: those of a file model.onnx.
func OfFile(d device.Device) func(name, config string, files map[string][]byte) (*Model, error) {
	return func(name, _ string, files map[string][]byte) (*Model, error) {
		data := files["1/model.onnx"]
		if data == nil {
			return nil, fault.New(fault.File, "no file 1/model.onnx")
		}
		weights := mem.NewWeights()
		defer weights.Release()
		m, err := model.Load(model.Source{Data: data}, model.Options{Weights: weights})
		if err != nil {
			return nil, err
		}
		return OfGraph(name, m.Graph, d)
	}
}
