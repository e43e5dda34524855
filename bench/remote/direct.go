package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"

	"github.com/anynpu/anynpu/internal/oip"
)

// deadline is what every call of both sides has.
const deadline = time.Minute

// window is the flow control of both sides.
const window = 16 << 20

func request(x []byte) *oip.Request {
	return &oip.Request{Model: "neg", ID: "1", Outputs: []oip.Requested{{Name: "y"}},
		Inputs: []oip.Tensor{{Name: "x", Datatype: "FP32", Shape: []int64{int64(len(x) / 4)}, Raw: x}}}
}

// codec has what generated code does, into and from memory of grpc-go's pool, but that results are not copied to a
// slice of their own on the way to the caller's memory.
type codec struct{}

func (codec) Name() string { return "proto" }

func (codec) Marshal(v any) (mem.BufferSlice, error) {
	parts, size := v.(*oip.Request).Parts()
	pool := mem.DefaultBufferPool()
	b := pool.Get(size)
	to := (*b)[:0]
	for _, p := range parts {
		to = append(to, p...)
	}
	return mem.BufferSlice{mem.NewBuffer(b, pool)}, nil
}

// into is where a response's only output belongs.
type into []byte

func (codec) Unmarshal(data mem.BufferSlice, v any) error {
	b := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer b.Free()
	m, err := oip.ParseResponse(b.ReadOnlyData())
	if err != nil {
		return err
	}
	y := *v.(*into)
	if len(m.Outputs) != 1 || len(m.Outputs[0].Raw) != len(y) {
		return fmt.Errorf("an answer of %d outputs", len(m.Outputs))
	}
	copy(y, m.Outputs[0].Raw)
	return nil
}

func directGRPC(address string, x []byte) (*side, error) {
	encoding.RegisterCodecV2(codec{})
	c, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithInitialWindowSize(window), grpc.WithInitialConnWindowSize(4*window),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(1<<30)))
	if err != nil {
		return nil, err
	}
	q, y := request(x), into(make([]byte, len(x)))
	return &side{name: "direct", y: y, end: func() { c.Close() }, call: func() error {
		ctx, cancel := context.WithTimeout(context.Background(), deadline)
		defer cancel()
		return c.Invoke(ctx, oip.ModelInfer, q, &y)
	}}, nil
}

// pieces are read one after the other.
type pieces struct {
	list [][]byte
	k    int
	at   int
}

func (p *pieces) Read(b []byte) (n int, err error) {
	for p.k < len(p.list) && n < len(b) {
		m := copy(b[n:], p.list[p.k][p.at:])
		n, p.at = n+m, p.at+m
		if p.at == len(p.list[p.k]) {
			p.k, p.at = p.k+1, 0
		}
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func directHTTP(address string, x []byte) (*side, error) {
	c := &http.Client{Transport: &http.Transport{WriteBufferSize: 64 << 10, ReadBufferSize: 64 << 10,
		DisableCompression: true}}
	q, y := request(x), make([]byte, len(x))
	q.Outputs[0].Parameters = oip.Parameters{oip.BinaryData: true}
	head := make([]byte, 0, 4096)
	return &side{name: "direct", y: y, end: c.CloseIdleConnections, call: func() error {
		ctx, cancel := context.WithTimeout(context.Background(), deadline)
		defer cancel()
		text, tail, err := q.JSON()
		if err != nil {
			return err
		}
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+"/v2/models/neg/infer",
			&pieces{list: append([][]byte{text}, tail...)})
		if err != nil {
			return err
		}
		r.ContentLength = int64(len(text) + len(x))
		r.Header.Set("Content-Type", "application/octet-stream")
		r.Header.Set(oip.HeaderLength, strconv.Itoa(len(text)))
		resp, err := c.Do(r)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		n, err := strconv.Atoi(resp.Header.Get(oip.HeaderLength))
		if err != nil || resp.StatusCode != http.StatusOK || n > cap(head) {
			return fmt.Errorf("%s, %d bytes of JSON: %w", resp.Status, n, err)
		}
		if _, err := io.ReadFull(resp.Body, head[:n]); err != nil {
			return err
		}
		_, sizes, err := oip.ParseResponseHead(head[:n])
		if err != nil {
			return err
		}
		if len(sizes) != 1 || sizes[0] != int64(len(y)) {
			return fmt.Errorf("an answer of %v bytes", sizes)
		}
		if _, err := io.ReadFull(resp.Body, y); err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, resp.Body)
		return err
	}}, nil
}
