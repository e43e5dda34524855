package serve

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/internal/oip"
)

// method answers one message of a unary call with the parts of another.
type method func(c *call, ctx context.Context, message []byte) (parts [][]byte, err error)

// methods are those of the services, by path.
var methods = map[string]method{
	oip.ServerLive: func(*call, context.Context, []byte) ([][]byte, error) {
		return one(oip.Flag{Value: true}.Append(nil))
	},
	oip.ServerReady: func(c *call, _ context.Context, _ []byte) ([][]byte, error) {
		return one(oip.Flag{Value: c.server.isReady()}.Append(nil))
	},
	oip.ModelReady:     (*call).modelReady,
	oip.ServerMetadata: (*call).serverMetadata,
	oip.ModelMetadata:  (*call).modelMetadata,
	oip.ModelInfer:     (*call).modelInfer,
	repositoryIndex:    (*call).repositoryIndex,
	repositoryLoad:     (*call).repositoryLoad,
	repositoryUnload:   (*call).repositoryUnload,
	healthCheck:        (*call).healthCheck,
	sharedRegister:     (*call).sharedRegister,
	sharedUnregister:   (*call).sharedUnregister,
	sharedStatus:       (*call).sharedStatus,
}

func one(message []byte) ([][]byte, error) { return [][]byte{message}, nil }

// open tells whether a path is answered without a token: what a load balancer asks.
func open(path string) bool {
	return path == healthCheck || path == healthWatch || strings.HasPrefix(path, "/v2/health/")
}

// grpc answers a call of gRPC.
func (s *Server) grpc(w http.ResponseWriter, r *http.Request) {
	c := s.call(w, r)
	defer c.end()
	h := w.Header()
	h.Set("Content-Type", "application/grpc")
	h.Set("Trailer", "Grpc-Status, Grpc-Message")
	parts, err := c.unary()
	if err == errStreamed {
		return
	}
	st := status{}
	if err != nil {
		st = statusOf(err)
	} else {
		size := 0
		for _, p := range parts {
			size += len(p)
		}
		c.write(append([][]byte{oip.AppendPrefix(nil, size)}, parts...)...)
	}
	s.metrics.answer(c, "grpc", st.code)
	c.trailers(st.code, st.text)
}

// trailers ends a call. Without a message before it they are all of the answer.
func (c *call) trailers(code oip.Code, text string) {
	h := c.w.Header()
	h.Set("Grpc-Status", strconv.Itoa(int(code)))
	if text != "" {
		h.Set("Grpc-Message", oip.EncodeMessage(text))
	}
}

// unary reads the request of a call and answers it.
func (c *call) unary() ([][]byte, error) {
	if err := c.server.admit(c.r); err != nil {
		return nil, err
	}
	path := c.r.URL.Path
	f, known := methods[path]
	if !known && path != healthWatch {
		return nil, refuse(oip.Unimplemented, http.StatusNotFound, "unknown method %s", fault.Printable(path))
	}
	limit := c.server.config.Timeout
	if text := c.r.Header.Get("Grpc-Timeout"); text != "" {
		d, err := oip.ParseTimeout(text)
		if err != nil {
			return nil, invalid("%v", err)
		}
		limit = min(limit, d)
	}
	ctx, cancel := context.WithDeadline(c.r.Context(), c.begin.Add(limit))
	defer cancel()
	message, err := c.grpcMessage()
	if err != nil {
		return nil, err
	}
	if path == healthWatch {
		return nil, c.healthWatch(message)
	}
	return f(c, ctx, message)
}

// grpcMessage reads the message of a call.
func (c *call) grpcMessage() (message []byte, err error) {
	body := &arriving{call: c}
	defer func() { c.arrived(body.got, err) }()
	var prefix [oip.PrefixSize]byte
	if _, err := io.ReadFull(body, prefix[:]); err != nil {
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil, invalid("the call has no message")
		}
		return nil, received(err)
	}
	size, compressed := oip.ParsePrefix(prefix)
	if !compressed {
		return c.message(body, size)
	}
	if size > c.server.config.Message {
		return nil, c.tooLarge(size)
	}
	return c.expand(c.r.Header.Get("Grpc-Encoding"), io.LimitReader(body, size))
}

// modelReady answers for a model that there is not, too, as other servers do.
func (c *call) modelReady(_ context.Context, message []byte) ([][]byte, error) {
	m, err := oip.ParseModelName(message)
	if err != nil {
		return nil, invalid("%v", err)
	}
	_, err = c.server.config.Models.Find(m.Name, m.Version)
	return one(oip.Flag{Value: err == nil && c.server.isReady()}.Append(nil))
}

func (c *call) serverMetadata(context.Context, []byte) ([][]byte, error) {
	return one(c.server.about().Append(nil))
}

func (c *call) modelMetadata(_ context.Context, message []byte) ([][]byte, error) {
	m, err := oip.ParseModelName(message)
	if err != nil {
		return nil, invalid("%v", err)
	}
	about, err := c.server.aboutModel(m.Name, m.Version)
	if err != nil {
		return nil, err
	}
	return one(about.Append(nil))
}

func (c *call) modelInfer(ctx context.Context, message []byte) ([][]byte, error) {
	if err := c.holdTyped(message); err != nil {
		return nil, err
	}
	q, err := oip.ParseRequest(message)
	if err != nil {
		return nil, invalid("%v", err)
	}
	answer, err := c.infer(ctx, q)
	if err != nil {
		return nil, err
	}
	parts, _ := answer.Parts()
	return parts, nil
}

// about describes the server.
func (s *Server) about() *oip.Server {
	m := &oip.Server{Name: "anynpu", Version: s.config.Version, Extensions: []string{"binary_tensor_data", "statistics"}}
	if s.config.Control {
		m.Extensions = append(m.Extensions, "model_repository")
	}
	if s.config.Shared {
		m.Extensions = append(m.Extensions, "system_shared_memory")
	}
	return m
}

// aboutModel describes a model that is loaded.
func (s *Server) aboutModel(name, version string) (*oip.Model, error) {
	v, err := s.config.Models.Find(name, version)
	if err != nil {
		return nil, err
	}
	m := v.Metadata
	m.Versions = s.config.Models.Versions(name)
	return &m, nil
}

// serverTiming is the header that tells what a request took where, in the form of the same name of HTTP.
func serverTiming(wait, compute time.Duration) string {
	ms := func(d time.Duration) string { return strconv.FormatFloat(1e3*d.Seconds(), 'f', 3, 64) }
	return "queue;dur=" + ms(wait) + ", compute;dur=" + ms(compute)
}
