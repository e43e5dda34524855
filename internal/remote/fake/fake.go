// Package fake is a server of the Open Inference Protocol for tests, which misbehaves on demand: gRPC without TLS or
// with it, and the JSON form with binary tensors.
package fake

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anynpu/anynpu/internal/oip"
)

// Fault is how the server misbehaves in the runs that follow.
type Fault int32

// The faults.
const (
	None        Fault = iota
	Slow              // answers when the client has gone, at the latest after 30 s
	Half              // half an answer, then the end of the stream
	Cut               // half an answer, then the connection ends
	WrongShape        // a shape that is not the model's
	WrongLength       // fewer bytes than the shape has
	WrongType         // another datatype
	NoOutput          // an answer without outputs
	Extra             // outputs that nobody has asked for, in front
	OneMore           // [N,1] for [N]
	Typed             // typed contents
	GoAway            // ends the connection in order after the answer
	Reset             // resets the stream
	Large             // 64 MB of an output that nobody has asked for
	Garbage           // bytes that are no message
	Compressed        // a compressed message
	NoStatus          // the stream ends without a status
	Busy              // ResourceExhausted
	Overlarge         // ResourceExhausted: the message is larger than max
	StubDied          // Internal, as Triton has it when a model's process has died
	Broken            // Internal, with a coloured traceback
	Denied            // Unauthenticated
	NotFound          // NotFound
	Invalid           // InvalidArgument
	EndlessMeta       // metadata without an end
	EndlessHead       // headers without an end
	NotReady          // ModelReady says no, runs are computed
	LoadRefused       // a model that is sent is not loaded: HTTP 400
	LoadHalf          // half an answer to a model that is sent
	LoadCut           // the connection ends instead of that answer
	LoadSlow          // that answer comes when the client has gone, at the latest after 30 s
	LoadLost          // a model that is sent is said to be loaded, and is not there
)

// Model is what the server has.
type Model struct {
	oip.Model
	Compute func(r *oip.Request) ([]oip.Tensor, error)
	Close   func() // ends what the model has; nil: nothing
}

// Server is a running server.
type Server struct {
	Fault   atomic.Int32
	Infers  atomic.Int64 // calls of ModelInfer
	Readies atomic.Int64 // calls of ModelReady
	Token   string       // that requests must have; "" for none
	Shared  bool         // it takes regions of shared memory, by gRPC
	Loads   atomic.Int64 // models that were sent
	// Load makes a model from files, by their paths; nil: the server takes no models
	Load    func(name, config string, files map[string][]byte) (*Model, error)
	Address string // HOST:PORT

	secure bool
	models map[string]*Model // under mu
	// dropped have been forgotten, and are closed with the server
	dropped []*Model
	http    *http.Server
	listen  net.Listener
	mu      sync.Mutex
	conns   map[net.Conn]bool
	// regions are the files of shared memory, by name
	regions map[string]*os.File
	done    chan struct{}
}

// Start starts a server on a port of the loopback, with TLS if config is not nil. Settings that are not atomic are made
// by the options before it answers.
func Start(config *tls.Config, models []*Model, options ...func(*Server)) (*Server, error) {
	return StartAt("127.0.0.1:0", config, models, options...)
}

// StartAt is Start at an address.
func StartAt(address string, config *tls.Config, models []*Model, options ...func(*Server)) (*Server, error) {
	s := &Server{models: map[string]*Model{}, conns: map[net.Conn]bool{}, done: make(chan struct{}),
		secure: config != nil}
	for _, m := range models {
		s.models[m.Name] = m
	}
	for _, o := range options {
		o(s)
	}
	var err error
	if s.listen, err = net.Listen("tcp", address); err != nil {
		return nil, err
	}
	s.Address = s.listen.Addr().String()
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(config != nil)
	protocols.SetUnencryptedHTTP2(config == nil)
	s.http = &http.Server{Handler: http.HandlerFunc(s.serve), Protocols: &protocols, TLSConfig: config,
		HTTP2: &http.HTTP2Config{MaxReadFrameSize: 1 << 20, MaxReceiveBufferPerConnection: 64 << 20,
			MaxReceiveBufferPerStream: 16 << 20},
		ErrorLog:  nullLog,
		ConnState: s.track}
	go func() {
		defer close(s.done)
		if config != nil {
			_ = s.http.ServeTLS(s.listen, "", "")
		} else {
			_ = s.http.Serve(s.listen)
		}
	}()
	return s, nil
}

func (s *Server) track(c net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch state {
	case http.StateNew:
		s.conns[c] = true
	case http.StateClosed, http.StateHijacked:
		delete(s.conns, c)
	}
}

// Kill ends the server and every connection at once, as SIGKILL does.
func (s *Server) Kill() {
	s.listen.Close()
	s.mu.Lock()
	for c := range s.conns {
		if t, is := c.(*net.TCPConn); is {
			_ = t.SetLinger(0)
		}
		c.Close()
	}
	s.mu.Unlock()
	s.http.Close()
	<-s.done
}

// Close ends the server with Kill, and its models.
func (s *Server) Close() {
	s.Kill()
	s.Forget()
	for _, m := range slices.AppendSeq(s.dropped, maps.Values(s.models)) {
		if m.Close != nil {
			m.Close()
		}
	}
}

// GRPC and REST are the server's addresses as manifests have them.
func (s *Server) GRPC() string { return s.scheme("grpc") + "://" + s.Address }

// REST is GRPC for the JSON form.
func (s *Server) REST() string { return s.scheme("http") + "://" + s.Address }

// Drop forgets a model, as a server that begins anew; it stays for runs under way.
func (s *Server) Drop(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.models[name]; m != nil {
		s.dropped = append(s.dropped, m)
		delete(s.models, name)
	}
}

// Models are the names of the server's models.
func (s *Server) Models() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.models))
}

func (s *Server) model(name string) *Model {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.models[name]
}

func (s *Server) scheme(plain string) string {
	if s.secure {
		return plain + "s"
	}
	return plain
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if s.Token != "" && r.Header.Get("Authorization") != "Bearer "+s.Token {
		s.refuse(w, r, oip.Unauthenticated, "no such token")
		return
	}
	if strings.HasPrefix(r.URL.Path, "/v2") {
		s.rest(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil || len(body) < oip.PrefixSize {
		panic(http.ErrAbortHandler)
	}
	message := body[oip.PrefixSize:]
	switch r.URL.Path {
	case oip.ModelInfer:
		s.infer(w, r, message)
	case oip.ModelReady:
		s.Readies.Add(1)
		m, _ := oip.ParseModelName(message)
		f := Fault(s.Fault.Load())
		if s.model(m.Name) == nil {
			s.refuse(w, r, oip.NotFound, "no model "+m.Name)
			return
		}
		answer(w, [][]byte{oip.Flag{Value: f != NotReady}.Append(nil)})
	case oip.ModelMetadata:
		s.metadata(w, r, message)
	case oip.ServerMetadata:
		answer(w, [][]byte{(&oip.Server{Name: "fake", Version: "1", Extensions: []string{"binary_tensor_data"}}).Append(nil)})
	case oip.SharedMemoryRegister, oip.SharedMemoryUnregister:
		if !s.Shared {
			s.refuse(w, r, oip.Unimplemented, r.URL.Path)
		} else if err := s.region(message, r.URL.Path == oip.SharedMemoryRegister); err != nil {
			s.refuse(w, r, oip.InvalidArgument, err.Error())
		} else {
			answer(w, nil)
		}
	case oip.ServerLive, oip.ServerReady:
		answer(w, [][]byte{oip.Flag{Value: true}.Append(nil)})
	default:
		s.refuse(w, r, oip.Unimplemented, r.URL.Path)
	}
}

func (s *Server) metadata(w http.ResponseWriter, r *http.Request, message []byte) {
	name, _ := oip.ParseModelName(message)
	m := s.model(name.Name)
	switch {
	case m == nil:
		s.refuse(w, r, oip.NotFound, "Request for unknown model: '"+name.Name+"' is not found")
	case Fault(s.Fault.Load()) == EndlessMeta:
		begin(w)
		_, _ = w.Write(oip.AppendPrefix(nil, 1<<30))
		port := (&oip.Model{Inputs: []oip.Port{{Name: strings.Repeat("x", 1000), Datatype: "FP32"}}}).Append(nil)
		for r.Context().Err() == nil {
			if _, err := w.Write(bytes.Repeat(port, 64)); err != nil {
				return
			}
		}
	default:
		answer(w, [][]byte{m.Append(nil)})
	}
}

// refuse answers with a status alone.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, code oip.Code, text string) {
	if strings.HasPrefix(r.URL.Path, "/v2") {
		status := map[oip.Code]int{oip.Unauthenticated: 401, oip.NotFound: 404, oip.InvalidArgument: 400,
			oip.ResourceExhausted: 429, oip.Unavailable: 503}[code]
		if status == 0 {
			status = 500
		}
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]string{"error": text})
		return
	}
	w.Header().Set("Content-Type", "application/grpc")
	w.Header().Set("Grpc-Status", strconv.Itoa(int(code)))
	w.Header().Set("Grpc-Message", oip.EncodeMessage(text))
	w.WriteHeader(http.StatusOK)
}

func begin(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/grpc")
	w.Header().Set("Trailer", "Grpc-Status, Grpc-Message")
	w.WriteHeader(http.StatusOK)
}

// answer sends a message with the status OK.
func answer(w http.ResponseWriter, parts [][]byte) {
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	begin(w)
	_, _ = w.Write(oip.AppendPrefix(nil, size))
	for _, p := range parts {
		_, _ = w.Write(p)
	}
	w.Header().Set("Grpc-Status", "0")
}

// statuses are the faults that are a status alone.
var statuses = map[Fault]struct {
	code oip.Code
	text string
}{
	Busy:      {oip.ResourceExhausted, "Request dropped due to backpressure (num_queued_requests=16)"},
	Overlarge: {oip.ResourceExhausted, "SERVER: Received message larger than max (67108900 vs. 8388608)"},
	StubDied:  {oip.Internal, "Stub process 'slow1_0_0' is not healthy."},
	Broken:    {oip.Internal, "\x1b[36mray::Replica\x1b[39m\nTraceback:\n  File x\nValueError: no"},
	Denied:    {oip.Unauthenticated, "no"},
	NotFound:  {oip.NotFound, "unknown model"},
	Invalid:   {oip.InvalidArgument, "unexpected shape"},
}

func (s *Server) infer(w http.ResponseWriter, r *http.Request, message []byte) {
	s.Infers.Add(1)
	f := Fault(s.Fault.Load())
	if st, is := statuses[f]; is {
		s.refuse(w, r, st.code, st.text)
		return
	}
	q, err := oip.ParseRequest(message)
	if err != nil {
		s.refuse(w, r, oip.InvalidArgument, err.Error())
		return
	}
	if s.model(q.Model) == nil {
		s.refuse(w, r, oip.NotFound, "Request for unknown model: '"+q.Model+"' is not found")
		return
	}
	out, err := s.compute(r.Context(), q, f)
	if err != nil {
		s.refuse(w, r, oip.InvalidArgument, err.Error())
		return
	}
	parts, size := out.Parts()
	switch f {
	case Reset:
		panic(http.ErrAbortHandler)
	case Garbage:
		answer(w, [][]byte{bytes.Repeat([]byte{0xFF}, 1000)})
	case EndlessHead:
		for i := range 4000 {
			w.Header().Set(fmt.Sprintf("x-%d", i), strings.Repeat("y", 100))
		}
		answer(w, parts)
	case Compressed:
		begin(w)
		_, _ = w.Write([]byte{1, 0, 0, 0, 1, 0})
		w.Header().Set("Grpc-Status", "0")
	case NoStatus:
		w.Header().Set("Content-Type", "application/grpc")
		w.WriteHeader(http.StatusOK)
		_, _ = w.Write(oip.AppendPrefix(nil, size))
		for _, p := range parts {
			_, _ = w.Write(p)
		}
	case Half, Cut:
		begin(w)
		all := bytes.Join(parts, nil)
		_, _ = w.Write(oip.AppendPrefix(nil, size))
		_, _ = w.Write(all[:size/2])
		if f == Cut {
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Grpc-Status", "0")
	case GoAway:
		w.Header().Set("Connection", "close")
		answer(w, parts)
	default:
		answer(w, parts)
	}
}

// compute makes an answer, with the faults that are in it.
func (s *Server) compute(ctx context.Context, q *oip.Request, f Fault) (*oip.Response, error) {
	m := s.model(q.Model)
	if m == nil {
		return nil, errors.New("no model " + q.Model)
	}
	if f == Slow {
		select {
		case <-ctx.Done():
		case <-time.After(30 * time.Second):
		}
	}
	if err := s.fetch(q); err != nil {
		return nil, err
	}
	out, err := m.Compute(q)
	if err != nil {
		return nil, err
	}
	a := &oip.Response{Model: q.Model, Version: "1", ID: q.ID, Outputs: out}
	o := &a.Outputs[0]
	switch f {
	case WrongShape:
		o.Shape = append([]int64{2}, o.Shape...)
	case WrongLength:
		o.Raw = o.Raw[:len(o.Raw)-1]
	case WrongType:
		o.Datatype = map[bool]string{true: "INT32", false: "FP32"}[o.Datatype == "FP32"]
	case NoOutput:
		a.Outputs = nil
	case OneMore:
		o.Shape = append(o.Shape, 1)
	case Typed:
		for i := range a.Outputs {
			if err := typed(&a.Outputs[i]); err != nil {
				return nil, err
			}
		}
	case Extra, Large:
		raw := make([]byte, map[bool]int{true: 64 << 20, false: 8}[f == Large])
		a.Outputs = append([]oip.Tensor{{Name: "not asked for", Datatype: "UINT8", Shape: []int64{int64(len(raw))},
			Raw: raw}},
			a.Outputs...)
	}
	return a, s.put(q, a.Outputs)
}
