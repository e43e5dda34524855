package remote

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/anynpu/anynpu/backends/remote/link"
	"github.com/anynpu/anynpu/internal/oip"
)

// Load has every address that lacks a model load it, all of them at the same time. meta are those of the first that
// then has it, nil if none does; an error says that nothing was sent anywhere.
func (p *Pool) Load(ctx context.Context, r *link.Request, at memory) (meta *link.Metadata, offers []link.Offer,
	err error) {
	if p.remote.Upload == nil || r.Load == nil {
		return nil, nil, failed(link.Internal, "a model where none is sent")
	}
	body, err := loadBody(r.Load, at, p.remote.Largest)
	if err != nil {
		return nil, nil, err
	}
	offers = make([]link.Offer, len(p.list))
	have := make([]*link.Metadata, len(p.list))
	var wait sync.WaitGroup
	for i, e := range p.list {
		wait.Go(func() { have[i] = e.offer(ctx, oip.ModelName(r.Model), body, &offers[i]) })
	}
	wait.Wait()
	for _, m := range have {
		if m != nil {
			return m, offers, nil
		}
	}
	return nil, offers, nil
}

// offer has an address load a model that it lacks.
func (e *endpoint) offer(ctx context.Context, name oip.ModelName, body []byte, o *link.Offer) *link.Metadata {
	o.Address = e.repository.address
	fail := func(f *failure) *link.Metadata {
		o.Failure = &link.Failure{Class: f.class, Text: f.text, Address: e.address}
		return nil
	}
	if ok, _ := e.breaker.admit(time.Now()); !ok {
		_, why := e.breaker.state()
		return fail(failed(link.Down, "%s rests: %s", e.address, why))
	}
	meta, err := e.describe(ctx, name)
	f := ofError(ctx, err)
	if f == nil {
		e.breaker.success()
		o.Had = true
		return meta
	}
	if f.class != link.Missing {
		e.breaker.failure(f, time.Now())
		return fail(f)
	}
	e.breaker.success() // it answers
	begin := time.Now()
	if f := ofError(ctx, e.repository.load(ctx, name.Name, body)); f != nil {
		return fail(f)
	}
	o.Sent, o.TookMS = int64(len(body)), ms(time.Since(begin))
	if meta, err = e.describe(ctx, name); err != nil {
		f := ofError(ctx, err)
		f.text = "after it has loaded the model: " + f.text
		return fail(f)
	}
	return meta
}

// loadBody is a request of Triton's repository extension, whose files replace those of the repository.
func loadBody(l *link.Loaded, at memory, largest int64) ([]byte, error) {
	config, err := json.Marshal(l.Config)
	if err != nil {
		return nil, failed(link.Internal, "%v", err)
	}
	size, quotes := int64(len(config)), int64(64)
	for _, f := range l.Files {
		if _, err := at(f.Region, f.Off, f.Size); err != nil {
			return nil, failed(link.Internal, "file %s: %v", f.Path, err)
		}
		size += (f.Size+2)/3*4 + int64(len(f.Path)) + quotes
	}
	if size += quotes; size > largest {
		return nil, failed(link.TooLarge, "a request of %d bytes, at most %d are sent (largest_message)", size, largest)
	}
	body := append(make([]byte, 0, size), `{"parameters":{"config":`...)
	body = append(body, config...)
	for _, f := range l.Files {
		path, err := json.Marshal("file:" + f.Path)
		if err != nil {
			return nil, failed(link.Internal, "%v", err)
		}
		data, err := at(f.Region, f.Off, f.Size)
		if err != nil {
			return nil, failed(link.Internal, "file %s: %v", f.Path, err)
		}
		body = append(append(append(body, ','), path...), `:"`...)
		body = append(base64.StdEncoding.AppendEncode(body, data), '"')
	}
	return append(body, "}}"...), nil
}

// load sends a model.
func (e *endpoint) load(ctx context.Context, name string, body []byte) error {
	req, source, err := e.request(ctx, "/v2/repository/models/"+url.PathEscape(name)+"/load", [][]byte{body}, len(body))
	if err != nil {
		return failed(link.Denied, "%v", err)
	}
	defer source.stop()
	req.Header.Set("Content-Type", "application/json")
	resp, err := e.client().Transport.RoundTrip(req)
	if err != nil {
		return ofError(ctx, err)
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(io.LimitReader(resp.Body, maxHeaders))
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return failed(link.Garbled, "half an answer")
	case err != nil:
		return ofError(ctx, err)
	case !slices.Contains([]int{http.StatusOK, http.StatusNoContent}, resp.StatusCode):
		return ofHTTP(resp.StatusCode, said)
	}
	return nil
}
