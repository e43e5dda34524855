package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/anynpu/anynpu/internal/oip"
	"github.com/anynpu/anynpu/internal/serve/models"
)

// answer is what a REST request is answered with: a value that is written as JSON, or a text.
type answer struct {
	status int
	body   any
}

// rest are the routes of the REST twins.
func (s *Server) rest() http.Handler {
	m := http.NewServeMux()
	route := func(pattern string, f func(c *call) (any, error)) {
		m.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			c := s.call(w, r)
			defer c.end()
			var body any
			err := s.admit(r)
			if err == nil {
				body, err = f(c)
			}
			c.reply(body, err)
		})
	}
	route("GET /v2", func(*call) (any, error) { return s.about(), nil })
	route("GET /v2/{$}", func(*call) (any, error) { return s.about(), nil })
	route("GET /v2/health/live", func(*call) (any, error) { return map[string]bool{"live": true}, nil })
	route("GET /v2/health/ready", func(*call) (any, error) {
		return when(s.isReady(), map[string]bool{"ready": s.isReady()}), nil
	})
	route("GET /v2/models", func(*call) (any, error) {
		list := []string{}
		s.config.Models.Each(func(v *models.Version) {
			if n := len(list); n == 0 || list[n-1] != v.Name {
				list = append(list, v.Name)
			}
		})
		return map[string][]string{"models": list}, nil
	})
	for _, at := range []string{"/v2/models/{model}", "/v2/models/{model}/versions/{version}"} {
		route("GET "+at, func(c *call) (any, error) {
			return s.aboutModel(c.r.PathValue("model"), c.r.PathValue("version"))
		})
		route("GET "+at+"/ready", (*call).restModelReady)
		route("GET "+at+"/stats", (*call).restStatistics)
		route("POST "+at+"/infer", (*call).restInfer)
	}
	route("POST /v2/repository/index", (*call).restIndex)
	route("POST /v2/repository/models/{model}/load", (*call).restLoad)
	route("POST /v2/repository/models/{model}/unload", (*call).restUnload)
	for _, at := range []string{"/v2/systemsharedmemory", "/v2/systemsharedmemory/region/{region}"} {
		route("GET "+at+"/status", (*call).restSharedStatus)
		route("POST "+at+"/unregister", (*call).restSharedUnregister)
	}
	route("POST /v2/systemsharedmemory/region/{region}/register", (*call).restSharedRegister)
	route("GET /metrics", func(*call) (any, error) { return s.text(), nil })
	route("/", func(c *call) (any, error) {
		for _, method := range []string{"GET", "POST"} {
			other := *c.r
			if other.Method = method; method != c.r.Method {
				if _, pattern := m.Handler(&other); pattern != "/" {
					c.w.Header().Set("Allow", method)
					return nil, refuse(oip.Unimplemented, http.StatusMethodNotAllowed, "want %s here", method)
				}
			}
		}
		return nil, refuse(oip.Unimplemented, http.StatusNotFound, "no such path")
	})
	return m
}

// when is an answer whose status says whether it is so.
func when(ok bool, body any) answer {
	if ok {
		return answer{http.StatusOK, body}
	}
	return answer{http.StatusServiceUnavailable, body}
}

// sent is an answer that was written already.
type sent struct{}

// reply writes an answer.
func (c *call) reply(body any, err error) {
	a, is := body.(answer)
	if !is {
		a = answer{http.StatusOK, body}
	}
	h := c.w.Header()
	if err != nil {
		st := statusOf(err)
		c.server.metrics.answer(c, "http", st.code)
		a = answer{st.http, map[string]string{"error": st.text}}
		switch st.http {
		case http.StatusTooManyRequests, http.StatusServiceUnavailable:
			h.Set("Retry-After", "1")
		case http.StatusUnauthorized:
			h.Set("WWW-Authenticate", "Bearer")
		case http.StatusRequestTimeout, http.StatusRequestEntityTooLarge:
			if c.r.ProtoMajor == 1 {
				h.Set("Connection", "close") // the rest of the request is not read
			}
		}
	} else {
		c.server.metrics.answer(c, "http", oip.OK)
	}
	switch v := a.body.(type) {
	case sent:
	case []byte:
		h.Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		c.send(a.status, v)
	default:
		text, err := json.Marshal(v)
		if err != nil { // no value above is of such a type
			panic(err)
		}
		h.Set("Content-Type", "application/json")
		c.send(a.status, text)
	}
}

// send writes the status and the parts of a body of known length.
func (c *call) send(status int, parts ...[]byte) {
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	c.w.Header().Set("Content-Length", strconv.Itoa(size))
	c.w.WriteHeader(status)
	c.write(parts...)
}

// body reads the whole body of a request.
func (c *call) body() (body []byte, err error) {
	in := &arriving{call: c}
	defer func() { c.arrived(in.got, err) }()
	if c.r.ContentLength > c.server.config.Message {
		return nil, c.tooLarge(c.r.ContentLength)
	}
	switch encoding := c.r.Header.Get("Content-Encoding"); encoding {
	case "", "identity":
		return c.message(in, c.r.ContentLength)
	default:
		return c.expand(encoding, in)
	}
}

func (c *call) restModelReady() (any, error) {
	name, version := c.r.PathValue("model"), c.r.PathValue("version")
	v, err := c.server.config.Models.Find(name, version)
	if err != nil {
		return nil, err
	}
	ready := c.server.isReady()
	return when(ready, map[string]any{"name": v.Name, "ready": ready}), nil
}

// restInfer answers with JSON, and with the outputs behind it that the request wants as bytes.
func (c *call) restInfer() (any, error) {
	name, version := c.r.PathValue("model"), c.r.PathValue("version")
	if _, err := c.server.config.Models.Find(name, version); err != nil {
		return nil, err // before much is sent
	}
	body, err := c.body()
	if err != nil {
		return nil, err
	}
	head, tail := body, []byte(nil)
	if text := c.r.Header.Get(oip.HeaderLength); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > len(body) {
			return nil, invalid("%s %q: want a number of at most %d, the bytes of the body", oip.HeaderLength, text, len(body))
		}
		head, tail = body[:n], body[n:]
	}
	if err := c.hold(typedFactor * int64(len(head))); err != nil {
		return nil, err
	}
	q, err := oip.ParseRequestJSON(head, tail)
	if err != nil {
		return nil, invalid("%v", err)
	}
	q.Model, q.Version = name, version
	ctx, cancel := context.WithDeadline(c.r.Context(), c.begin.Add(c.server.config.Timeout))
	defer cancel()
	answer, err := c.infer(ctx, q)
	if err != nil {
		return nil, err
	}
	all, _ := q.Parameters[oip.BinaryOutput].(bool)
	binary := func(output string) bool {
		for _, o := range q.Outputs {
			if is, said := o.Parameters[oip.BinaryData].(bool); o.Name == output && said {
				return is
			}
		}
		return all
	}
	size := int64(0)
	for _, t := range answer.Outputs {
		if !binary(t.Name) {
			size += int64(len(t.Raw))
		}
	}
	if err := c.hold(typedFactor * size); err != nil {
		return nil, err
	}
	text, parts, err := answer.JSON(binary)
	if err != nil {
		return nil, invalid("%v", err)
	}
	h := c.w.Header()
	h.Set("Content-Type", "application/json")
	if len(parts) > 0 {
		h.Set("Content-Type", "application/octet-stream")
		h.Set(oip.HeaderLength, strconv.Itoa(len(text)))
	}
	c.send(http.StatusOK, append([][]byte{text}, parts...)...)
	return sent{}, nil
}

// small reads a body of JSON that may be absent into v.
func (c *call) small(v any) error {
	const most = 64 << 10
	in := &arriving{call: c}
	text, err := io.ReadAll(io.LimitReader(in, most+1))
	if len(text) <= most {
		c.arrived(in.got, err)
	}
	switch {
	case err != nil:
		return received(err)
	case len(text) > most:
		return invalid("a body of more than %d bytes", most)
	case len(bytes.TrimSpace(text)) == 0:
		return nil
	}
	if err := json.Unmarshal(text, v); err != nil {
		return invalid("the body is not the JSON that this wants: %v", err)
	}
	return nil
}

func (c *call) restIndex() (any, error) {
	var q struct {
		Ready bool `json:"ready"`
	}
	if err := c.small(&q); err != nil {
		return nil, err
	}
	list, err := c.server.index(q.Ready)
	if err != nil {
		return nil, err
	}
	type line struct {
		Name    string `json:"name"`
		Version string `json:"version"`
		State   string `json:"state"`
		Reason  string `json:"reason"`
	}
	out := make([]line, len(list))
	for i, e := range list {
		out[i] = line(e)
	}
	return out, nil
}

func (c *call) restLoad() (any, error) {
	var q struct {
		Parameters map[string]any `json:"parameters"`
	}
	if err := c.small(&q); err != nil {
		return nil, err
	}
	if len(q.Parameters) > 0 {
		return nil, errParameters
	}
	if err := c.server.control(); err != nil {
		return nil, err
	}
	return struct{}{}, c.server.config.Models.Load(c.r.Context(), c.r.PathValue("model"))
}

func (c *call) restUnload() (any, error) {
	if err := c.small(&struct{}{}); err != nil {
		return nil, err
	}
	if err := c.server.control(); err != nil {
		return nil, err
	}
	return struct{}{}, c.server.config.Models.Unload(c.r.PathValue("model"))
}

// admit refuses a request without the token.
func (s *Server) admit(r *http.Request) error {
	if s.config.Token == "" || open(r.URL.Path) {
		return nil
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || !same(strings.TrimSpace(token), s.config.Token) {
		return refuse(oip.Unauthenticated, http.StatusUnauthorized, "want the header Authorization with the server's token")
	}
	return nil
}
