package fake

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/anynpu/anynpu/internal/oip"
)

var nullLog = log.New(io.Discard, "", 0)

// rest answers the JSON form.
func (s *Server) rest(w http.ResponseWriter, r *http.Request) {
	path := strings.Split(strings.TrimPrefix(r.URL.Path, "/v2"), "/")
	if len(path) == 5 && path[1] == "repository" && path[4] == "load" {
		s.load(w, r, path[3])
		return
	}
	if len(path) < 3 || path[1] != "models" {
		_ = json.NewEncoder(w).Encode(&oip.Server{Name: "fake", Version: "1"})
		return
	}
	m := s.model(path[2])
	if m == nil {
		s.refuse(w, r, oip.NotFound, "no model "+path[2])
		return
	}
	switch path[len(path)-1] {
	case "ready":
		s.Readies.Add(1)
	case "infer":
		s.restInfer(w, r, m)
	default:
		_ = json.NewEncoder(w).Encode(&m.Model)
	}
}

func (s *Server) restInfer(w http.ResponseWriter, r *http.Request, m *Model) {
	s.Infers.Add(1)
	f := Fault(s.Fault.Load())
	if st, is := statuses[f]; is {
		s.refuse(w, r, st.code, st.text)
		return
	}
	body, err := io.ReadAll(r.Body)
	n := len(body)
	if text := r.Header.Get(oip.HeaderLength); text != "" && err == nil {
		n, err = strconv.Atoi(text)
	}
	if err != nil || n > len(body) {
		s.refuse(w, r, oip.InvalidArgument, "no request")
		return
	}
	q, err := oip.ParseRequestJSON(body[:n], body[n:])
	var a *oip.Response
	if err == nil {
		q.Model = m.Name
		made := f
		if f == Typed { // as numbers, below
			made = None
		}
		a, err = s.compute(r.Context(), q, made)
	}
	if err != nil {
		s.refuse(w, r, oip.InvalidArgument, err.Error())
		return
	}
	binaryOutput := map[string]bool{}
	for _, o := range q.Outputs {
		binaryOutput[o.Name], _ = o.Parameters[oip.BinaryData].(bool)
	}
	head, tail, err := a.JSON(func(name string) bool { return (binaryOutput[name] || f == Large) && f != Typed })
	if err != nil {
		s.refuse(w, r, oip.InvalidArgument, err.Error())
		return
	}
	if len(tail) > 0 {
		w.Header().Set(oip.HeaderLength, strconv.Itoa(len(head)))
	}
	all := append(head, bytes.Join(tail, nil)...)
	switch f {
	case Reset:
		panic(http.ErrAbortHandler)
	case Half, Cut:
		w.Header().Set("Content-Length", strconv.Itoa(len(all)))
		_, _ = w.Write(all[:len(all)/2])
	case Garbage:
		_, _ = w.Write(bytes.Repeat([]byte{0xFF}, 1000))
	default:
		_, _ = w.Write(all)
	}
}

// typed moves a tensor's raw contents to typed ones.
func typed(t *oip.Tensor) error {
	c, le := &oip.Contents{}, binary.LittleEndian
	switch t.Datatype {
	case "FP32":
		for b := t.Raw; len(b) > 0; b = b[4:] {
			c.FP32 = append(c.FP32, math.Float32frombits(le.Uint32(b)))
		}
	case "INT8":
		for _, b := range t.Raw {
			c.Int = append(c.Int, int32(int8(b)))
		}
	case "UINT8":
		for _, b := range t.Raw {
			c.Uint = append(c.Uint, uint32(b))
		}
	default:
		return fmt.Errorf("no typed contents of %s", t.Datatype)
	}
	t.Raw, t.Contents = nil, c
	return nil
}
