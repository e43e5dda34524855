// Command remote measures what a remote device costs beside a direct client: the same tensors from and to the caller's
// memory, the same server, by the same protocol, in turns in one process. gRPC's direct client is grpc-go, that of
// HTTP with binary tensors is net/http. The device is measured with shared memory, too.
//
//	go run ./remote [-anynpu FILE] [-helper FILE] [-rounds N] [-turn N]
//	go run ./remote -grpc HOST:PORT -http HOST:PORT -server PID
//	perf trace -s -- go run ./remote -only grpc -side device
//
// The server computes y = -x over float32[-1], as model neg: `anynpu serve`, or the one that the addresses name. It is
// a process of its own, for one in the direct client's process would spare that client the way from process to process.
//
// A line has the time on the clock, and the processor time of all who take part: this process, the program beside the
// device, and the server. On a machine that is busy otherwise the first has the time that each of them waits for a
// processor, too. A turn is a few calls: so what a call leaves to do after its end is counted where it belongs. Garbage
// is collected between turns too.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

type options struct {
	anynpu, helper, grpc, http string
	server, rounds, turn       int
	only, side                 string
}

func main() {
	var o options
	flag.StringVar(&o.anynpu, "anynpu", "../build/bin/anynpu", "the program that serves neg")
	flag.StringVar(&o.helper, "helper", "../build/lib/anynpu-remote", "the program that speaks with servers")
	flag.StringVar(&o.grpc, "grpc", "", "HOST:PORT of a server that has neg, in place of -anynpu")
	flag.StringVar(&o.http, "http", "", "HOST:PORT of its HTTP")
	flag.IntVar(&o.server, "server", 0, "its process, whose processor time counts")
	flag.IntVar(&o.rounds, "rounds", 60, "turns of each side and size")
	flag.IntVar(&o.turn, "turn", 10, "calls of a turn, at 5 MB a fifth of it")
	flag.StringVar(&o.only, "only", "", "grpc or http")
	flag.StringVar(&o.side, "side", "", "direct, device or shared memory alone, whose system calls can be counted so")
	flag.Parse()
	if err := run(&o); err != nil {
		fmt.Fprintln(os.Stderr, "remote:", err)
		os.Exit(1)
	}
}

func run(o *options) error {
	if o.rounds < 1 || o.turn < 1 {
		return errors.New("want at least one turn of one call")
	}
	if o.grpc == "" && o.http == "" {
		end, err := serve(o)
		if err != nil {
			return err
		}
		defer end()
	}
	for _, protocol := range []string{"grpc", "http"} {
		address := map[string]string{"grpc": o.grpc, "http": o.http}[protocol]
		if address == "" || o.only != "" && o.only != protocol {
			continue
		}
		for _, c := range []struct{ bytes, turn int }{{150528, o.turn}, {5227200, max(o.turn/5, 1)}} {
			if err := compare(o, protocol, address, c.bytes, c.turn); err != nil {
				return fmt.Errorf("%s, %d bytes: %w", protocol, c.bytes, err)
			}
		}
	}
	return nil
}

// side is a way to the server.
type side struct {
	name string
	call func() error
	y    []byte // that a call writes
	pid  int    // of the program that takes part, 0: none
	end  func()

	wall  []time.Duration    // of each call
	parts [3][]time.Duration // of this process, the program and the server: of a call, on average over a turn
	cpu   []time.Duration    // of all of them
}

func sides(o *options, protocol, address string, x []byte) (list []*side, err error) {
	add := func(s *side, e error) {
		list, err = append(list, s), errors.Join(err, e)
	}
	if protocol == "grpc" {
		add(directGRPC(address, x))
		add(through(o.helper, "grpc://"+address, x, false))
		add(through(o.helper, "grpc://"+address, x, true))
	} else {
		add(directHTTP(address, x))
		add(through(o.helper, "http://"+address, x, false))
	}
	return list, err
}

func compare(o *options, protocol, address string, bytes, turn int) error {
	x := numbers(bytes)
	list, err := sides(o, protocol, address, x)
	defer func() {
		for _, s := range list {
			if s != nil {
				s.end()
			}
		}
	}()
	if err != nil {
		return err
	}
	if list = slices.DeleteFunc(list, func(s *side) bool {
		other := o.side != "" && s.name != o.side
		if other {
			s.end()
		}
		return other
	}); len(list) == 0 {
		return nil
	}
	const warm = 3
	for i := range o.rounds + warm {
		for _, s := range list {
			if err := s.take(o, turn, i >= warm); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
		}
	}
	for _, s := range list {
		if err := negated(x, s.y); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	fmt.Printf("%s, %d bytes each way, %d calls each\n", protocol, bytes, turn*o.rounds)
	direct := list[0]
	for _, s := range list {
		fmt.Printf("  %-14s clock p50 %7.3f ms, min %7.3f; processors p50 %7.3f ms", s.name, ms(at(s.wall, 0.5)),
			ms(at(s.wall, 0)), ms(at(s.cpu, 0.5)))
		if s != direct {
			fmt.Printf("; ratio of the clock %.2f, of processors %.2f", ratio(s.wall, direct.wall), ratio(s.cpu, direct.cpu))
		}
		fmt.Printf(" (here %.3f, program %.3f, server %.3f)\n", ms(at(s.parts[0], 0.5)), ms(at(s.parts[1], 0.5)),
			ms(at(s.parts[2], 0.5)))
	}
	return nil
}

// take makes a turn.
func (s *side) take(o *options, calls int, count bool) error {
	of := [3]int{os.Getpid(), s.pid, o.server}
	var from [3]time.Duration
	for i, pid := range of {
		var err error
		if from[i], err = processors(pid); err != nil {
			return err
		}
	}
	for range calls {
		began := time.Now()
		if err := s.call(); err != nil {
			return err
		}
		if count {
			s.wall = append(s.wall, time.Since(began))
		}
	}
	if !count {
		return nil
	}
	sum := time.Duration(0)
	for i, pid := range of {
		to, err := processors(pid)
		if err != nil {
			return err
		}
		s.parts[i] = append(s.parts[i], (to-from[i])/time.Duration(calls))
		sum += to - from[i]
	}
	s.cpu = append(s.cpu, sum/time.Duration(calls))
	return nil
}

// processors is the processor time of a process so far; 0 for none.
func processors(pid int) (time.Duration, error) {
	if pid == 0 {
		return 0, nil
	}
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|2), &t); err != nil { // the clock that the kernel numbers so
		return 0, fmt.Errorf("the processor time of process %d: %w", pid, err)
	}
	return time.Duration(t.Nano()), nil
}

func ms(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }

func at(list []time.Duration, q float64) time.Duration {
	list = slices.Sorted(slices.Values(list))
	return list[int(q*float64(len(list)-1))]
}

func ratio(a, b []time.Duration) float64 { return float64(at(a, 0.5)) / float64(at(b, 0.5)) }
