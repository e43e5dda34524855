package remote

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/anynpu/anynpu/backends/remote/link"
	"github.com/anynpu/anynpu/internal/oip"
)

// modelPath is the path of a model's version.
func modelPath(m oip.ModelName) string {
	path := "/v2/models/" + url.PathEscape(m.Name)
	if m.Version != "" {
		path += "/versions/" + url.PathEscape(m.Version)
	}
	return path
}

// get reads a JSON document; into nil: only whether it is there.
func (e *endpoint) get(ctx context.Context, path string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, e.base+path, nil)
	if err == nil {
		err = e.authorize(req.Header)
	}
	if err != nil {
		return failed(link.Denied, "%v", err)
	}
	resp, err := e.client().Do(req)
	if err != nil {
		return ofError(ctx, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxMetadata+1))
	switch {
	case err != nil:
		return ofError(ctx, err)
	case resp.StatusCode != http.StatusOK:
		return ofHTTP(resp.StatusCode, body)
	case len(body) > maxMetadata:
		return failed(link.Garbled, "an answer of more than %d bytes", maxMetadata)
	case into == nil:
		return nil
	}
	return garbled(json.Unmarshal(body, into))
}

// ofHTTP is the failure that a status of HTTP stands for.
func ofHTTP(status int, body []byte) error {
	var j struct {
		Error  string          `json:"error"`
		Detail json.RawMessage `json:"detail"`
	}
	text := string(body)
	if json.Unmarshal(body, &j) == nil && (j.Error != "" || len(j.Detail) > 0) {
		text = j.Error + string(j.Detail)
	}
	class := link.Failed
	switch status {
	case 400, 422, 415:
		class = link.Refused
	case 401, 403:
		class = link.Denied
	case 404:
		class = link.Missing
	case 413:
		class = link.TooLarge
	case 408, 504:
		class = link.Late
	case 429:
		class = link.Busy
	case 502, 503:
		class = link.Down
	}
	return failed(class, "HTTP %d %q", status, oneLine(text))
}

func (e *endpoint) restReady(ctx context.Context, model oip.ModelName) error {
	return e.get(ctx, modelPath(model)+"/ready", nil)
}

func (e *endpoint) restMetadata(ctx context.Context, model oip.ModelName) (*oip.Model, error) {
	m := &oip.Model{}
	if err := e.get(ctx, modelPath(model), m); err != nil {
		return nil, err
	}
	for _, list := range [][]oip.Port{m.Inputs, m.Outputs} {
		if len(list) > oip.MaxTensors {
			return nil, failed(link.Garbled, "%d tensors", len(list))
		}
	}
	return m, nil
}

func (e *endpoint) restServer(ctx context.Context) (*oip.Server, error) {
	s := &oip.Server{}
	return s, e.get(ctx, "/v2", s)
}

// restInfer makes a run with binary tensors. place is asked where outputs belong.
func (e *endpoint) restInfer(ctx context.Context, r *oip.Request, largest int64, place oip.Placer,
	there *timing) (*oip.Response, int64, int64, error) {
	for i := range r.Outputs {
		r.Outputs[i].Parameters = oip.Parameters{oip.BinaryData: true}
	}
	head, tail, err := r.JSON()
	if err != nil {
		return nil, 0, 0, failed(link.Internal, "%v", err)
	}
	list, size := [][]byte{head}, len(head)
	for _, t := range tail {
		list, size = append(list, t), size+len(t)
	}
	if int64(size) > largest {
		return nil, 0, 0, failed(link.TooLarge, "a request of %d bytes, at most %d are sent (largest_message)", size, largest)
	}
	req, source, err := e.request(ctx, modelPath(oip.ModelName{Name: r.Model, Version: r.Version})+"/infer", list, size)
	if err != nil {
		return nil, 0, 0, failed(link.Denied, "%v", err)
	}
	defer source.stop()
	req.Header.Set("Content-Type", "application/octet-stream")
	req.Header.Set(oip.HeaderLength, strconv.Itoa(len(head)))
	resp, err := e.client().Transport.RoundTrip(req)
	if err != nil {
		return nil, 0, 0, ofError(ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxHeaders))
		return nil, 0, 0, ofHTTP(resp.StatusCode, body)
	}
	there.read(resp.Header)
	out, received, err := readREST(resp, largest, place)
	if err != nil && (errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)) {
		err = failed(link.Garbled, "half an answer")
	}
	if err != nil {
		return nil, 0, 0, ofError(ctx, err)
	}
	return out, int64(size), received, nil
}

// readREST reads an answer: JSON and, if the server has binary tensors, those behind it.
func readREST(resp *http.Response, largest int64, place oip.Placer) (*oip.Response, int64, error) {
	body := io.LimitReader(resp.Body, largest+1)
	text := resp.Header.Get(oip.HeaderLength)
	if text == "" {
		head, err := io.ReadAll(body)
		if err != nil {
			return nil, 0, err
		}
		if int64(len(head)) > largest {
			return nil, 0, failed(link.TooLarge, "an answer of more than %d bytes (largest_message)", largest)
		}
		m, err := oip.ParseResponseJSON(head, nil)
		return m, int64(len(head)), garbled(err)
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 2 || n > restOverhead {
		return nil, 0, failed(link.Garbled, "%s %q", oip.HeaderLength, text)
	}
	head := make([]byte, n)
	if _, err := io.ReadFull(body, head); err != nil {
		return nil, 0, err
	}
	m, received, err := readTail(head, body, largest, place)
	return m, n + received, err
}

// readTail reads the binary tensors that head announces to where they belong.
func readTail(head []byte, body io.Reader, largest int64, place oip.Placer) (*oip.Response, int64, error) {
	m, sizes, err := oip.ParseResponseHead(head)
	if err != nil {
		return nil, 0, garbled(err)
	}
	total := int64(0)
	for k, n := range sizes {
		if n < 0 {
			continue
		}
		if total += n; n > largest || total > largest {
			return nil, 0, failed(link.TooLarge, "an answer of more than %d bytes (largest_message)", largest)
		}
		b, err := place(m.Outputs, k, n)
		if err != nil {
			return nil, 0, err
		}
		if _, err := io.ReadFull(body, b); err != nil {
			return nil, 0, err
		}
		m.Outputs[k].Raw = b
	}
	if n, _ := io.Copy(io.Discard, io.LimitReader(body, 1)); n > 0 {
		return nil, 0, failed(link.Garbled, "bytes behind the last binary tensor")
	}
	return m, total, nil
}
