// Package remote is the program beside the library that speaks the Open Inference Protocol for devices of
// backends/remote: connections, the choice of an address, what a failure means, repetition, rests of addresses that
// fail. Tensors lie in memory shared with the process that asks (package link); they go from there to the network and
// back without being held elsewhere.
package remote

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/anynpu/anynpu/backends/dl"
	"github.com/anynpu/anynpu/internal/oip"
)

// What connections are given.
const (
	dialLimit    = 3 * time.Second
	idleLimit    = 5 * time.Minute
	pingAfter    = 15 * time.Second // without a frame, while a call is under way
	pingLimit    = 10 * time.Second
	frameSize    = 1 << 20
	windowSize   = 16 << 20
	maxHeaders   = 64 << 10
	maxMetadata  = 16 << 20 // of an answer that has no tensors
	restOverhead = 1 << 20  // of JSON beside binary tensors
)

// endpoint is one address.
type endpoint struct {
	address string
	rest    bool
	base    string // scheme://host:port as HTTP has it
	headers http.Header
	token   func() (string, error)
	clients []*http.Client
	next    atomic.Uint64
	// repository takes models; nil: none are sent
	repository *endpoint

	breaker breaker
	lent    lent
	counts  counts
}

// newEndpoint opens nothing.
func newEndpoint(address string, r *dl.Remote) (*endpoint, error) {
	scheme, host, _ := strings.Cut(address, "://")
	secure := scheme == "grpcs" || scheme == "https"
	e := &endpoint{address: address, rest: scheme == "http" || scheme == "https", base: "http://" + host,
		headers: http.Header{}, token: tokenOf(r.Token)}
	if secure {
		e.base = "https://" + host
	}
	for name, value := range r.Headers {
		e.headers.Set(name, value)
	}
	var config *tls.Config
	if secure {
		var err error
		if config, err = tlsConfig(&r.TLS); err != nil {
			return nil, err
		}
	}
	dialer := &net.Dialer{Timeout: dialLimit, KeepAlive: pingAfter}
	for range r.Connections {
		if e.rest {
			e.clients = append(e.clients, newClient(newHTTP1(dialer, host, config)))
			continue
		}
		var protocols http.Protocols
		protocols.SetHTTP2(secure)
		protocols.SetUnencryptedHTTP2(!secure)
		dial := dialSocket(dialer)
		if !secure {
			dial = joining(dial)
		}
		t := &http.Transport{
			Protocols: &protocols, DialContext: dial, TLSClientConfig: config.Clone(),
			TLSHandshakeTimeout: dialLimit, IdleConnTimeout: idleLimit, MaxResponseHeaderBytes: maxHeaders,
			DisableCompression: true, ForceAttemptHTTP2: true,
			HTTP2: &http.HTTP2Config{MaxReadFrameSize: frameSize, MaxReceiveBufferPerConnection: 4 * windowSize,
				MaxReceiveBufferPerStream: windowSize, SendPingTimeout: pingAfter, PingTimeout: pingLimit},
			WriteBufferSize: 64 << 10, ReadBufferSize: 64 << 10,
		}
		e.clients = append(e.clients, newClient(t))
	}
	return e, nil
}

func newClient(t http.RoundTripper) *http.Client {
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
}

// client takes the connections in turn.
func (e *endpoint) client() *http.Client {
	return e.clients[e.next.Add(1)%uint64(len(e.clients))]
}

func (e *endpoint) close() {
	for _, c := range e.clients {
		c.CloseIdleConnections()
	}
	if e.repository != nil && e.repository != e {
		e.repository.close()
	}
}

// authorize sets what every request has.
func (e *endpoint) authorize(h http.Header) error {
	for name, values := range e.headers {
		h[name] = values
	}
	token, err := e.token()
	if err == nil && token != "" {
		h.Set("Authorization", "Bearer "+token)
	}
	return err
}

// maxToken bounds the file of a token.
const maxToken = 64 << 10

// tokenOf reads a token for each request, as tokens in files are renewed; "" without one.
func tokenOf(t dl.RemoteToken) func() (string, error) {
	return func() (token string, err error) {
		switch {
		case t.File != "":
			data, err := os.ReadFile(t.File)
			if err != nil {
				return "", fmt.Errorf("token: %w", err)
			}
			if len(data) > maxToken {
				return "", fmt.Errorf("token: %s has %d bytes, want at most %d", t.File, len(data), maxToken)
			}
			token = strings.TrimSpace(string(data))
		case t.Variable != "":
			token = strings.TrimSpace(os.Getenv(t.Variable))
		default:
			return "", nil
		}
		if token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return "", fmt.Errorf("token: %s%s is empty or has letters that no token has", t.File, t.Variable)
		}
		return token, nil
	}
}

// tlsConfig reads the files of a manifest.
func tlsConfig(t *dl.RemoteTLS) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.Server}
	if t.CA != "" {
		data, err := os.ReadFile(t.CA)
		if err != nil {
			return nil, fmt.Errorf("tls.ca: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(data) {
			return nil, fmt.Errorf("tls.ca: %s has no certificate", t.CA)
		}
	}
	if t.Certificate != "" {
		pair, err := tls.LoadX509KeyPair(t.Certificate, t.Key)
		if err != nil {
			return nil, fmt.Errorf("tls.certificate: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// ready asks whether the server can compute a model.
func (e *endpoint) ready(ctx context.Context, model oip.ModelName) error {
	if e.rest {
		return e.restReady(ctx, model)
	}
	b, err := e.small(ctx, oip.ModelReady, model.Append(nil))
	if err != nil {
		return err
	}
	f, err := oip.ParseFlag(b)
	if err != nil {
		return garbled(err)
	}
	if !f.Value {
		return failed("missing", "ModelReady says that %s is not ready", model.Name)
	}
	return nil
}

// metadata asks for a model's ports.
func (e *endpoint) metadata(ctx context.Context, model oip.ModelName) (*oip.Model, error) {
	if e.rest {
		return e.restMetadata(ctx, model)
	}
	b, err := e.small(ctx, oip.ModelMetadata, model.Append(nil))
	if err != nil {
		return nil, err
	}
	m, err := oip.ParseModel(b)
	return m, garbled(err)
}

// server asks what the server is.
func (e *endpoint) server(ctx context.Context) (*oip.Server, error) {
	if e.rest {
		return e.restServer(ctx)
	}
	b, err := e.small(ctx, oip.ServerMetadata, nil)
	if err != nil {
		return nil, err
	}
	s, err := oip.ParseServer(b)
	return s, garbled(err)
}

// garbled is the failure of an answer that cannot be read.
func garbled(err error) error {
	if err == nil {
		return nil
	}
	return failed("garbled", "%v", err)
}
