package serve

import (
	"context"
	"net/http"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/anynpu/anynpu/internal/oip"
	"github.com/anynpu/anynpu/internal/serve/models"
)

// The methods of the repository extension.
const (
	repositoryIndex  = oip.Service + "RepositoryIndex"
	repositoryLoad   = oip.Service + "RepositoryModelLoad"
	repositoryUnload = oip.Service + "RepositoryModelUnload"
)

// control tells whether clients may load and unload.
func (s *Server) control() error {
	if !s.config.Control {
		return refuse(oip.PermissionDenied, http.StatusForbidden, "this server's models are fixed")
	}
	return nil
}

// index lists the models, those alone that are ready if that is asked for.
func (s *Server) index(ready bool) ([]models.Entry, error) {
	all, err := s.config.Models.Index()
	if err != nil || !ready {
		return all, err
	}
	list := []models.Entry{}
	for _, e := range all {
		if e.State == models.Ready {
			list = append(list, e)
		}
	}
	return list, nil
}

func (c *call) repositoryIndex(_ context.Context, message []byte) ([][]byte, error) {
	ready := false
	err := fields(message, func(num protowire.Number, value uint64, _ []byte) {
		ready = ready || num == 2 && value != 0
	})
	if err != nil {
		return nil, err
	}
	list, err := c.server.index(ready)
	if err != nil {
		return nil, err
	}
	var b []byte
	for _, e := range list {
		var m []byte
		for i, text := range []string{e.Name, e.Version, e.State, e.Reason} {
			m = appendText(m, protowire.Number(i+1), text)
		}
		b = protowire.AppendBytes(protowire.AppendTag(b, 1, protowire.BytesType), m)
	}
	return one(b)
}

// named reads the request of a load or unload. Servers differ in it: with Triton and MLServer the model's name is field
// 2, behind the repository's; with KServe it is field 1.
func named(message []byte) (name string, first, more bool, err error) {
	repository, model := "", ""
	err = fields(message, func(num protowire.Number, _ uint64, b []byte) {
		switch num {
		case 1:
			repository = string(b)
		case 2:
			model = string(b)
		case 3:
			more = true
		}
	})
	if model == "" {
		return repository, true, more, err
	}
	return model, false, more, err
}

// errParameters is the error of a load that is to change something.
var errParameters = invalid("loading with parameters is not offered: the model's file says everything")

func (c *call) repositoryLoad(_ context.Context, message []byte) ([][]byte, error) {
	return c.change(message, func(name string, more bool) error {
		if more {
			return errParameters
		}
		return c.server.config.Models.Load(c.r.Context(), name)
	})
}

func (c *call) repositoryUnload(_ context.Context, message []byte) ([][]byte, error) {
	return c.change(message, func(name string, _ bool) error { return c.server.config.Models.Unload(name) })
}

// change answers a load or unload; KServe's clients want to read of its success.
func (c *call) change(message []byte, do func(name string, more bool) error) ([][]byte, error) {
	name, kserve, more, err := named(message)
	if err == nil {
		err = c.server.control()
	}
	if err == nil {
		err = do(name, more)
	}
	if err != nil || !kserve {
		return [][]byte{nil}, err
	}
	b := appendText(nil, 1, name)
	return one(protowire.AppendVarint(protowire.AppendTag(b, 2, protowire.VarintType), 1))
}

// fields calls f for the fields of a message: numbers, and bytes.
func fields(message []byte, f func(num protowire.Number, value uint64, b []byte)) error {
	for b := message; len(b) > 0; {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return invalid("damaged message: %v", protowire.ParseError(n))
		}
		b = b[n:]
		var value uint64
		var data []byte
		switch typ {
		case protowire.VarintType:
			value, n = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			data, n = protowire.ConsumeBytes(b)
		default:
			n = protowire.ConsumeFieldValue(num, typ, b)
		}
		if n < 0 {
			return invalid("damaged message: %v", protowire.ParseError(n))
		}
		f(num, value, data)
		b = b[n:]
	}
	return nil
}

func appendText(b []byte, num protowire.Number, s string) []byte {
	if s == "" {
		return b
	}
	return protowire.AppendString(protowire.AppendTag(b, num, protowire.BytesType), s)
}
