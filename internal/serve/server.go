// Package serve answers the Open Inference Protocol, version 2, for the models of a repository: its gRPC service and
// its REST twins with binary tensors, health for load balancers, and metrics. gRPC is spoken by net/http's own HTTP/2.
//
// Whatever a client sends or does not send is bounded: sizes of messages, memory that requests hold, the time in which
// they have to arrive, connections, streams, and requests that wait.
package serve

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anynpu/anynpu/internal/serve/models"
)

// Config says what a server serves and allows.
type Config struct {
	Models  *models.Repository
	Version string // of the tool
	// Message is how many bytes a request may have, Held how many all requests may hold that are read or computed.
	Message, Held int64
	Timeout       time.Duration // how long a request may take from when it was read
	// Client is how long a client may take to send a request, or to take an answer, besides a second for each Rate bytes;
	// Rate 0 is DefaultRate.
	Client      time.Duration
	Rate        int64
	Connections int         // open ones at most; for another one, the one that has been without a request longest is closed
	Token       string      // what clients have to show, "": nothing
	Control     bool        // clients may load and unload models
	Shared      bool        // clients may register shared memory of this machine
	TLS         *tls.Config // nil: none
	Log         func(text string)
}

// DefaultRate is how many bytes a second a client has to send or take, on average.
const DefaultRate = 64 << 10

// idle is how long a connection may be without a request while there is room for others.
const idle = 5 * time.Minute

// Server answers requests. All methods are safe for concurrent use.
type Server struct {
	config   Config
	http     *http.Server
	held     atomic.Int64
	metrics  metrics
	room     room
	shared   shared
	ready    atomic.Bool
	draining chan struct{} // closed when Shutdown begins
	drain    sync.Once
}

// New returns a server that is not ready yet.
func New(c Config) *Server {
	c.Rate = cmp.Or(c.Rate, DefaultRate)
	s := &Server{config: c, draining: make(chan struct{})}
	s.room.most = c.Connections
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(c.TLS == nil)
	s.http = &http.Server{
		Handler: http.NewCrossOriginProtection().Handler(s.handler()), Protocols: &protocols, TLSConfig: c.TLS,
		ReadHeaderTimeout: c.Client, IdleTimeout: idle, MaxHeaderBytes: 64 << 10, ConnState: s.room.note,
		ErrorLog: log.New(io.Discard, "", 0), // what strangers send is no event
		HTTP2: &http.HTTP2Config{MaxConcurrentStreams: 128, MaxReceiveBufferPerConnection: 8 << 20,
			MaxReceiveBufferPerStream: 4 << 20, SendPingTimeout: 3 * c.Client, PingTimeout: c.Client,
			WriteByteTimeout: c.Client},
	}
	return s
}

// Serve answers what comes to the listener until Shutdown, and returns why it ended before that.
func (s *Server) Serve(l net.Listener) error {
	l = s.room.listener(l)
	var err error
	if s.config.TLS != nil {
		err = s.http.ServeTLS(l, "", "")
	} else {
		err = s.http.Serve(l)
	}
	if err == http.ErrServerClosed {
		return nil
	}
	return err
}

// SetReady says whether the models that were to be loaded at first are.
func (s *Server) SetReady(ready bool) { s.ready.Store(ready) }

// isReady tells whether requests are wanted.
func (s *Server) isReady() bool {
	select {
	case <-s.draining:
		return false
	default:
		return s.ready.Load()
	}
}

// Shutdown has the server not be ready, takes no more connections, and returns when the requests that there are have
// been answered, or cuts them off when ctx ends: then it returns the context's error. It can be called again to cut off
// sooner.
func (s *Server) Shutdown(ctx context.Context) error {
	s.drain.Do(func() { close(s.draining) })
	err := s.http.Shutdown(ctx)
	if err != nil {
		s.http.Close()
	}
	s.shared.release()
	return err
}

// handler answers gRPC and REST, on whichever address a request comes.
func (s *Server) handler() http.Handler {
	rest := s.rest()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			switch v := recover(); v {
			case nil:
			case http.ErrAbortHandler:
				panic(v)
			default:
				s.config.Log(fmt.Sprintf("request %s %s: panic: %v\n%s", r.Method, r.URL.Path, v, debug.Stack()))
				panic(http.ErrAbortHandler)
			}
		}()
		if r.ProtoMajor == 2 && strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") {
			s.grpc(w, r)
			return
		}
		rest.ServeHTTP(w, r)
	})
}
