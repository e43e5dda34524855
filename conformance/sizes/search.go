package sizes

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/anynpu/anynpu/conformance/nnapi"
	"github.com/anynpu/anynpu/conformance/ohnn"
	"github.com/anynpu/anynpu/conformance/rknn"
	"github.com/anynpu/anynpu/conformance/suite"
	"github.com/anynpu/anynpu/core/device"
)

const (
	perChild = 100             // models: the next child starts afresh
	hang     = 2 * time.Minute // without a word
)

// Doors are the names of all doors. The shapes of hbDNN's models are fixed, so that it has none.
func Doors() []string { return []string{"engine", ohnn.API.Name, rknn.API.Name, nnapi.API.Name} }

// Open returns the door of a name: d's own, or that of an API's library below root.
func Open(name, root string, d device.Device) (Door, error) {
	if name == "engine" {
		return Engine(d), nil
	}
	for _, x := range []struct {
		api  *suite.API
		door func(l *suite.Library) Door
	}{
		{ohnn.API, func(l *suite.Library) Door { return &ohnnDoor{l} }},
		{rknn.API, func(l *suite.Library) Door { return &rknnDoor{l} }},
		{nnapi.API, func(l *suite.Library) Door { return &nnapiDoor{l} }},
	} {
		if x.api.Name != name {
			continue
		}
		l, err := suite.Open(x.api, x.api.File(root))
		if err != nil {
			return nil, err
		}
		return x.door(l), nil
	}
	return nil, fmt.Errorf("no door %q: want one of %s", name, strings.Join(Doors(), ", "))
}

// Child tries the models of n seeds on a door, with a line to w before and after each.
func Child(ctx context.Context, w io.Writer, d Door, from, n uint64) error {
	runtime.LockOSThread() // a message belongs to the thread whose call failed
	defer runtime.UnlockOSThread()
	folder, err := os.MkdirTemp("", "sizes")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	dir := func() string {
		own, err := os.MkdirTemp(folder, "model")
		if err != nil {
			panic(err)
		}
		return own
	}
	for seed := from; seed < from+n; seed++ {
		fmt.Fprintf(w, "begin %d\n", seed)
		verdict := "same"
		switch made, err := Try(ctx, ModelOf(seed, d), d, dir); {
		case !made:
			verdict = fmt.Sprintf("refused %v", err)
		case err != nil:
			verdict = fmt.Sprintf("differs %v", err)
		}
		fmt.Fprintf(w, "end %s\n", strings.ReplaceAll(verdict, "\n", " "))
	}
	return nil
}

// Search tries the models of some seeds on a door, in children.
type Search struct {
	Door   string
	Models uint64
	First  uint64 // seed
	Jobs   int    // children at a time
	Child  func(door string, from, n uint64) *exec.Cmd

	mu                    sync.Mutex
	same, refused, failed int
	broken                error // a child could not be started
}

// Run prints the seeds of models that differ, and a summary, and tells whether all models ran as the reference. An
// error says that a child could not be started.
func (s *Search) Run(w io.Writer) (bool, error) {
	begin := time.Now()
	next := make(chan uint64)
	var wg sync.WaitGroup
	for range s.Jobs {
		wg.Go(func() {
			for from := range next {
				s.follow(w, from, min(perChild, s.First+s.Models-from))
			}
		})
	}
	for from := s.First; from < s.First+s.Models; from += perChild {
		next <- from
	}
	close(next)
	wg.Wait()
	fmt.Fprintf(w, "sizes %s: %d models at %d sizes: %d differ, %d refused by the reference, %d as the reference in "+
		"every "+
		"form; %.0f s\n", s.Door, s.Models, Runs, s.failed, s.refused, s.same, time.Since(begin).Seconds())
	return s.failed == 0 && s.refused == 0 && uint64(s.same) == s.Models, s.broken
}

// follow runs children until the models of n seeds are through. The next child begins behind a model that ended one.
func (s *Search) follow(w io.Writer, from, n uint64) {
	for end := from + n; from < end; {
		last, err := s.child(w, from, end-from)
		if err != nil {
			s.mu.Lock()
			s.broken = err
			s.mu.Unlock()
			return
		}
		from = last + 1
	}
}

// child returns the last seed that it tried.
func (s *Search) child(w io.Writer, from, n uint64) (last uint64, err error) {
	cmd := s.Child(s.Door, from, n)
	var errors strings.Builder
	cmd.Stderr = &limited{w: &errors, left: 4000}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return 0, err
	}
	timer := time.AfterFunc(hang, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	begun, through := false, true
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			break
		}
		timer.Reset(hang)
		var seed uint64
		word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch {
		case word == "begin":
			if _, err := fmt.Sscan(rest, &seed); err == nil {
				last, begun, through = seed, true, false
			}
		case word == "end":
			through = true
			s.note(w, last, rest)
		}
	}
	err = cmd.Wait()
	switch {
	case !begun:
		return 0, fmt.Errorf("%s: a child tried nothing: %v: %s", s.Door, err, errors.String())
	case !through:
		s.note(w, last, fmt.Sprintf("ended the process: %v: %s", err, errors.String()))
	}
	return last, nil
}

func (s *Search) note(w io.Writer, seed uint64, verdict string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch word, _, _ := strings.Cut(verdict, " "); word {
	case "same":
		s.same++
		return
	case "refused":
		s.refused++
	default:
		s.failed++
	}
	fmt.Fprintf(w, "FAILED %s seed %d: %s\n", s.Door, seed, verdict)
}

// limited keeps the beginning of what is written.
type limited struct {
	w    io.Writer
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), l.left)
	l.left -= n
	_, err := l.w.Write(p[:n])
	return len(p), err
}
