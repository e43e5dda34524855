package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/core/model"
	"github.com/anynpu/anynpu/internal/serve"
	"github.com/anynpu/anynpu/internal/serve/models"
	"github.com/anynpu/anynpu/internal/serve/queue"
)

// serveFlags are the flags of serve.
type serveFlags struct {
	computeFlags
	listenFlags
	message, held           byteSize
	timeout, client, drain  time.Duration
	queue, instances, batch int
	delay                   time.Duration
	connections             int
	fixed, empty, shared    bool
}

func newServe(stdout, stderr io.Writer) *cobra.Command {
	f := serveFlags{message: 64 << 20, held: 1 << 30}
	cmd := &cobra.Command{
		Use:   "serve DIR",
		Short: "Serve the models of a folder to clients of the Open Inference Protocol",
		Long: `serve computes the models of a folder for clients of the Open Inference Protocol
(version 2; those of Triton, KServe and MLServer), over gRPC and over HTTP with
JSON or binary tensors. DIR/NAME.onnx is version 1 of the model NAME, DIR/NAME/3/
holds the file of its version 3. Clients load, load anew and unload models while it
runs.

It listens on this machine alone unless --grpc or --http name another address:
that wants --tls-cert and --tls-key, and --token-file or --tls-client-ca, or
--insecure.

--queue requests wait for each model, others are refused at once (gRPC
ResourceExhausted, HTTP 429). With --batch N requests of equal sizes that wait are
computed together, N images at most, once a comparison has shown that the model
computes them apart.

SIGTERM and SIGINT end it with exit code 0 when the requests that there are have
been answered, --drain later at the latest; a second one ends it at once.`,
		Example: `  anynpu serve models
  anynpu serve models --device rknn --instances 3
  anynpu serve models --batch 8 --batch-delay 2ms
  anynpu serve models --grpc :8001 --http off --tls-cert cert.pem --tls-key key.pem \
    --token-file token`,
		Args: oneFolder,
		RunE: func(_ *cobra.Command, args []string) error { return f.run(args[0], stdout, stderr) },
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
	}
	f.computeFlags.add(cmd)
	f.listenFlags.add(cmd)
	fl := cmd.Flags()
	fl.IntVar(&f.queue, "queue", 64, "how many requests wait for each model, `N` at most")
	fl.IntVar(&f.instances, "instances", 1, "compute `N` requests for each model at the same time, at most")
	fl.IntVar(&f.batch, "batch", 1, "compute up to `N` indices of the first dimension together; 1: every request alone")
	fl.DurationVar(&f.delay, "batch-delay", 0, "how long a request waits for others to be computed with, e.g. 2ms")
	fl.Var(&f.message, "max-message", "largest request in `BYTES`, with K, M or G")
	fl.Var(&f.held, "max-held", "`BYTES` that all requests hold which arrive or are computed, with K, M or G")
	fl.IntVar(&f.connections, "max-connections", 1024, "`N` open connections at most")
	fl.DurationVar(&f.timeout, "timeout", time.Minute, "how long a request may wait and be computed in all")
	fl.DurationVar(&f.client, "client-timeout", 10*time.Second, "how long a client may take to send a request or take an "+
		"answer, besides a second for each 64 KB")
	fl.DurationVar(&f.drain, "drain", 30*time.Second, "how long the requests that there are may take when the server ends")
	fl.BoolVar(&f.fixed, "fixed", false, "clients neither load nor unload models")
	fl.BoolVar(&f.shared, "shared-memory", false, "clients of this machine may pass tensors in shared memory")
	fl.BoolVar(&f.empty, "no-load", false, "begin without models; clients load them")
	return cmd
}

// oneFolder checks for exactly one argument.
func oneFolder(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usage("%s: want one DIR, got %d; see 'anynpu %s --help' [tool-serving-one-folder]", cmd.Name(),
			len(args), cmd.Name())
	}
	return nil
}

func (f *serveFlags) check(dir string) error {
	st, err := os.Stat(dir)
	switch {
	case err != nil:
		return usage("serve %s: %v [tool-serving-folder]", dir, cause(err))
	case !st.IsDir():
		return usage("serve %s: want a folder of models [tool-serving-no-folder]", dir)
	case f.empty && f.fixed:
		return usage("--no-load --fixed: there would never be a model [tool-serving-never]")
	case f.delay < 0 || f.timeout <= 0 || f.client <= 0 || f.drain < 0:
		return usage("--batch-delay %v --timeout %v --client-timeout %v --drain %v: want 0 or more, and timeouts "+
			"above 0 [tool-serving-times]",
			f.delay, f.timeout, f.client, f.drain)
	case f.held < f.message:
		return usage("--max-held %v: want at least --max-message %v [tool-serving-held]", &f.held, &f.message)
	}
	for _, n := range []struct {
		flag        string
		value, most int
	}{{"queue", f.queue, 1 << 20}, {"instances", f.instances, 1 << 10}, {"batch", f.batch, 1 << 16},
		{"max-connections", f.connections, 1 << 20}} {
		if n.value < 1 || n.value > n.most {
			return usage("--%s %d: want 1 to %d [tool-serving-number]", n.flag, n.value, n.most)
		}
	}
	return f.listenFlags.check()
}

func (f *serveFlags) run(dir string, stdout, stderr io.Writer) error {
	if err := f.check(dir); err != nil {
		return err
	}
	on, err := f.open(stderr, nil)
	if err != nil {
		return err
	}
	defer on.close()
	const spare = 2 // threads that talk to clients while the others compute
	runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), on.threads+spare))
	secured, err := f.security()
	if err != nil {
		return exit(exitUsage, err)
	}
	said := &lines{w: stderr}
	repository := models.New(models.Config{
		Dir: dir, Log: said.write,
		Known: func(path string) bool { return wantModel(path, model.Unknown, on.devices) == nil },
		Open: func(ctx context.Context, path string) (device.Program, error) {
			return openServed(ctx, path, on, said)
		},
		Queue: queue.Config{Limit: f.queue, Instances: f.instances, Batch: f.batch, Delay: f.delay},
	})
	server := serve.New(serve.Config{
		Models: repository, Version: version, Message: int64(f.message), Held: int64(f.held), Timeout: f.timeout,
		Client: f.client, Connections: f.connections, Token: secured.token, TLS: secured.tls, Control: !f.fixed,
		Shared: f.shared, Log: said.write,
	})
	listeners, err := f.listen(said.write)
	if err != nil {
		return exit(exitUsage, err)
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	defer signal.Stop(signals)
	return f.serve(&serving{repository: repository, server: server, listeners: listeners, signals: signals,
		device: on.devices[0].Info().ID, stdout: stdout})
}

// serving is a server that runs.
type serving struct {
	repository *models.Repository
	server     *serve.Server
	listeners  map[string]net.Listener // by their use
	signals    <-chan os.Signal
	device     string
	stdout     io.Writer
}

// serve answers until a signal comes.
func (f *serveFlags) serve(s *serving) error {
	var answering sync.WaitGroup
	failed := make(chan error, len(s.listeners)+1)
	for _, use := range sorted(s.listeners) {
		printf(s.stdout, "%s on %s\n", use, s.listeners[use].Addr())
		answering.Go(func() {
			if err := s.server.Serve(s.listeners[use]); err != nil {
				failed <- exit(exitRun, fault.As(fault.Device, err, "%s on %s", use, s.listeners[use].Addr()))
			}
		})
	}
	loading, stop := context.WithCancel(context.Background())
	defer stop()
	if !f.empty {
		answering.Go(func() { s.load(loading, failed) })
	} else {
		s.server.SetReady(true)
		printf(s.stdout, "ready: clients load the models\n")
	}
	var err error
	select {
	case err = <-failed:
	case <-s.signals:
	}
	stop()
	drain, cut := context.WithTimeout(context.Background(), f.drain)
	defer cut()
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		select {
		case <-s.signals:
			cut()
		case <-ended:
		}
	}()
	if s.server.Shutdown(drain) != nil && err == nil {
		err = exit(exitRun, fault.New(fault.Timeout, "the server ended before all requests were answered "+
			"[tool-serving-drain]"))
	}
	s.repository.Close(drain)
	answering.Wait()
	return err
}

// load loads all models. That none can be loaded ends the server.
func (s *serving) load(ctx context.Context, failed chan<- error) {
	loaded, all, err := s.repository.LoadAll(ctx)
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		failed <- exit(exitModel, err)
		return
	case all > 0 && loaded == 0:
		failed <- exit(exitModel, fmt.Errorf("none of %d models can be loaded", all))
		return
	}
	s.server.SetReady(true)
	printf(s.stdout, "ready: %d of %d models on %s\n", loaded, all, s.device)
}

// openServed loads and compiles a model.
func openServed(ctx context.Context, path string, on *machine, said *lines) (device.Program, error) {
	m, err := load(path, on.devices, said)
	if err != nil {
		return nil, err
	}
	defer m.weights.Release()
	o := m.options(compile.Options{Weights: m.weights, Consume: true, Options: device.Options{Unsaved: true}}, on, said)
	p, err := compile.Compile(ctx, m.Graph, on.devices, o)
	if err != nil {
		return nil, err // no nil *compile.Program in an interface
	}
	return p, nil
}

// lines writes whole lines, one at a time.
type lines struct {
	mu sync.Mutex
	w  io.Writer
}

// Write implements io.Writer.
func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

func (l *lines) write(text string) { printf(l, "anynpu: %s\n", text) }
