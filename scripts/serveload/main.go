// Command serveload asks a running inference server for a model by gRPC and by REST with binary tensors, from more and
// more clients at a time, and prints what came back and how fast. Every answer is compared with the first one.
//
//	serveload -grpc ADDRESS -http ADDRESS -model NAME -shape 1,1,8,8 -clients 1,8,64 -time 5s [-slow 200]
//
// With -slow, as many connections that begin a request and do not go on with it are kept open meanwhile.
package main

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/oip"
)

// target is what is asked for.
type target struct {
	grpc, http, model string
	request           *oip.Request
	timeout           time.Duration
}

func main() {
	grpc := flag.String("grpc", "127.0.0.1:8001", "address of gRPC")
	rest := flag.String("http", "127.0.0.1:8000", "address of REST")
	model := flag.String("model", "digits", "name of the model, of one input")
	shape := flag.String("shape", "1,1,8,8", "sizes of the input")
	clients := flag.String("clients", "1,8,64", "how many clients at a time")
	length := flag.Duration("time", 5*time.Second, "how long each")
	slow := flag.Int("slow", 0, "connections that do not go on")
	flag.Parse()
	if err := run(*grpc, *rest, *model, *shape, *clients, *length, *slow); err != nil {
		fmt.Fprintln(os.Stderr, "serveload:", err)
		os.Exit(1)
	}
}

func run(grpc, rest, model, shape, clients string, length time.Duration, slow int) error {
	t := &target{grpc: grpc, http: rest, model: model, timeout: 30 * time.Second}
	if err := t.prepare(shape); err != nil {
		return err
	}
	for range slow {
		c, err := net.Dial("tcp", rest)
		if err != nil {
			return err
		}
		defer c.Close()
		if _, err := io.WriteString(c, "POST /v2/models/"+model+"/infer HTTP/1.1\r\nHost: x\r\nContent-Le"); err != nil {
			return err
		}
	}
	for _, kind := range []string{"grpc", "rest"} {
		for _, text := range strings.Split(clients, ",") {
			n, err := strconv.Atoi(text)
			if err != nil || n < 1 {
				return fmt.Errorf("-clients %s: want numbers", clients)
			}
			if err := t.load(kind, n, length); err != nil {
				return fmt.Errorf("%s, %d clients: %w", kind, n, err)
			}
		}
	}
	return nil
}

// prepare makes the request for the model's input.
func (t *target) prepare(shape string) error {
	a, err := http.Get("http://" + t.http + "/v2/models/" + t.model)
	if err != nil {
		return err
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err != nil || a.StatusCode != 200 {
		return fmt.Errorf("%s: %s", a.Status, text)
	}
	_, rest, ok := bytes.Cut(text, []byte(`"inputs":[{"name":"`))
	name, _, _ := bytes.Cut(rest, []byte(`"`))
	if !ok {
		return fmt.Errorf("no inputs in %s", text)
	}
	in := oip.Tensor{Name: string(name), Datatype: "FP32"}
	count := 1
	for _, s := range strings.Split(shape, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return fmt.Errorf("-shape %s: want sizes", shape)
		}
		in.Shape, count = append(in.Shape, int64(n)), count*n
	}
	v := make([]float32, count)
	for i := range v {
		v[i] = float32(i%17) / 16
	}
	in.Raw = tensor.Float32s(v...)
	t.request = &oip.Request{Model: t.model, ID: "load", Inputs: []oip.Tensor{in}}
	return nil
}

// errBusy is the answer of a server that has too much to do, or of a balancer that has lost one.
var errBusy = errors.New("busy")

// client asks once and returns the first output.
type client func() ([]byte, error)

// grpcClient has a connection of its own.
func (t *target) grpcClient() (client, func()) {
	var p http.Protocols
	p.SetUnencryptedHTTP2(true)
	c := &http.Client{Transport: &http.Transport{Protocols: &p}, Timeout: t.timeout}
	parts, size := t.request.Parts()
	message := bytes.Join(append([][]byte{oip.AppendPrefix(nil, size)}, parts...), nil)
	return func() ([]byte, error) {
		q, err := http.NewRequest("POST", "http://"+t.grpc+oip.ModelInfer, bytes.NewReader(message))
		if err != nil {
			return nil, err
		}
		q.Header.Set("Content-Type", "application/grpc")
		q.Header.Set("Te", "trailers")
		a, err := c.Do(q)
		if err != nil {
			return nil, err
		}
		defer a.Body.Close()
		text, err := io.ReadAll(a.Body)
		code := cmp.Or(a.Trailer.Get("Grpc-Status"), a.Header.Get("Grpc-Status"))
		switch {
		case err != nil:
			return nil, err
		case code == "8" || code == "14" || a.StatusCode != 200 && oip.CodeOfHTTP(a.StatusCode) == oip.Unavailable:
			return nil, errBusy // the last one from a balancer
		case code != "0" || len(text) < oip.PrefixSize:
			return nil, fmt.Errorf("status %q: %s", code, a.Trailer.Get("Grpc-Message"))
		}
		m, err := oip.ParseResponse(text[oip.PrefixSize:])
		if err != nil || len(m.Outputs) == 0 {
			return nil, cmp.Or(err, errors.New("no outputs"))
		}
		return m.Outputs[0].Raw, nil
	}, c.CloseIdleConnections
}

// restClient has a connection of its own.
func (t *target) restClient() (client, func()) {
	c := &http.Client{Transport: &http.Transport{}, Timeout: t.timeout}
	ask := *t.request
	ask.Parameters = oip.Parameters{oip.BinaryOutput: true}
	head, tail, err := ask.JSON()
	body := bytes.Join(append([][]byte{head}, tail...), nil)
	return func() ([]byte, error) {
		if err != nil {
			return nil, err
		}
		q, err := http.NewRequest("POST", "http://"+t.http+"/v2/models/"+t.model+"/infer", bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		q.Header.Set(oip.HeaderLength, strconv.Itoa(len(head)))
		a, err := c.Do(q)
		if err != nil {
			return nil, err
		}
		defer a.Body.Close()
		text, err := io.ReadAll(a.Body)
		switch {
		case err != nil:
			return nil, err
		case a.StatusCode == 429 || a.StatusCode == 502 || a.StatusCode == 503:
			return nil, errBusy
		case a.StatusCode != 200:
			return nil, fmt.Errorf("%s: %s", a.Status, text)
		}
		n, err := strconv.Atoi(a.Header.Get(oip.HeaderLength))
		if err != nil || n > len(text) {
			return nil, fmt.Errorf("%s %q", oip.HeaderLength, a.Header.Get(oip.HeaderLength))
		}
		m, err := oip.ParseResponseJSON(text[:n], text[n:])
		if err != nil || len(m.Outputs) == 0 {
			return nil, cmp.Or(err, errors.New("no outputs"))
		}
		return m.Outputs[0].Raw, nil
	}, c.CloseIdleConnections
}

// load asks from n clients for some time and prints a line.
func (t *target) load(kind string, n int, length time.Duration) error {
	connect := map[string]func() (client, func()){"grpc": t.grpcClient, "rest": t.restClient}[kind]
	var all sync.WaitGroup
	var mu sync.Mutex
	var times []time.Duration
	var want []byte
	var failure error
	busy, wrong := 0, 0
	begin := time.Now()
	for range n {
		ask, end := connect()
		all.Go(func() {
			defer end()
			for time.Since(begin) < length {
				from := time.Now()
				got, err := ask()
				took := time.Since(from)
				mu.Lock()
				switch {
				case err == errBusy:
					busy++
				case err != nil:
					failure = err
				case want == nil:
					want, times = got, append(times, took)
				case !alike(want, got):
					wrong++
				default:
					times = append(times, took)
				}
				stop := failure != nil
				mu.Unlock()
				switch {
				case stop:
					return
				case err == errBusy:
					time.Sleep(5 * time.Millisecond)
				}
			}
		})
	}
	all.Wait()
	took := time.Since(begin)
	switch {
	case failure != nil:
		return failure
	case wrong > 0:
		return fmt.Errorf("%d answers differ from the first", wrong)
	case len(times) == 0:
		return errors.New("no answer")
	}
	slices.Sort(times)
	at := func(q float64) float64 { return 1e3 * times[min(int(q*float64(len(times))), len(times)-1)].Seconds() }
	fmt.Printf("%s, %2d clients: %7.0f requests/s, p50 %.2f ms, p90 %.2f ms, p99 %.2f ms, longest %.1f ms; %d right, %d refused\n",
		kind, n, float64(len(times))/took.Seconds(), at(0.5), at(0.9), at(0.99), at(1), len(times), busy)
	return nil
}

// alike tells whether two outputs of float32 are equal but for the rounding of another batch.
func alike(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, err1 := tensor.ReadFloat32s(a, len(a)/4)
	y, err2 := tensor.ReadFloat32s(b, len(b)/4)
	if err1 != nil || err2 != nil || len(x) != len(y) {
		return false
	}
	for i := range x {
		if d := x[i] - y[i]; d > 1e-5 || d < -1e-5 {
			return false
		}
	}
	return true
}
