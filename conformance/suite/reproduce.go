package suite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Reproduction says which cases Reproduce turns into programs, and how these are compiled.
type Reproduction struct {
	Sample  int      // about so many cases of each suite, evenly; 0: all
	Compile []string // command and flags, to which SOURCE -o PROGRAM LIBRARIES are added
	Folder  string   // that keeps the sources of programs that do not do what the case did, "" for none
}

// batch is how many cases are computed and turned into programs at a time.
const batch = 200

// Reproduce turns cases into C programs, compiles them and runs each with the library of its case: a program must pass
// if its case does. It prints those that do not, and tells whether there are none. Cases with several threads are left
// out.
func Reproduce(suites []*Suite, o Options, how Reproduction, w io.Writer) (bool, error) {
	dir, err := os.MkdirTemp("", "anynpu-programs-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	good, cases := true, 0
	for _, s := range suites {
		n := &session{options: o}
		if err := n.add(s); err != nil {
			return false, err
		}
		cases += len(n.jobs)
		var chosen []int
		every := 1
		if how.Sample > 0 {
			every = max(len(n.jobs)/how.Sample, 1)
		}
		for i := 0; i < len(n.jobs); i += every {
			chosen = append(chosen, i)
		}
		passed, skipped, wrong := 0, 0, 0
		for len(chosen) > 0 {
			now := chosen[:min(batch, len(chosen))]
			chosen = chosen[len(now):]
			if err := o.context().Err(); err != nil {
				return false, errors.New(interrupted)
			}
			made := n.programs(o.context(), now)
			for i := range made {
				if p := &made[i]; p.err == nil && p.Forks {
					p.err = errors.New("its threads need not meet in the order in which those of the case did")
				}
			}
			verdicts := make([]error, len(made))
			var wg sync.WaitGroup
			next := make(chan int)
			for range max(o.Workers, 1) {
				wg.Go(func() {
					for i := range next {
						p := &made[i]
						if p.err == nil && p.result.Status != Skip {
							library := n.jobs[now[i]].kind.file.path
							verdicts[i] = how.run(o.context(), filepath.Join(dir, fmt.Sprint(i)), p, library, 2*o.pool().limit(""))
						}
					}
				})
			}
			for i := range made {
				next <- i
			}
			close(next)
			wg.Wait()
			for i, p := range made {
				id := n.jobs[now[i]].task.ID
				switch err := verdicts[i]; {
				case p.err != nil:
					skipped++
					fmt.Fprintf(w, "skip  %s: %v\n", id, p.err)
				case p.result.Status == Skip:
					skipped++
				case err != nil:
					wrong++
					fmt.Fprintf(w, "wrong %s: %v\n", id, err)
					if how.Folder != "" {
						name := strings.NewReplacer("/", "_", " ", "_").Replace(id) + ".c"
						if err := os.WriteFile(filepath.Join(how.Folder, name), []byte(p.Source), 0o644); err != nil {
							return false, err
						}
					}
				default:
					passed++
				}
			}
		}
		fmt.Fprintf(w, "%s %s: %d programs do what their cases do, %d do not, %d skipped\n", s.API.Name, s.Name, passed,
			wrong, skipped)
		good = good && wrong == 0 && (passed > 0 || len(n.jobs) == 0)
	}
	if cases == 0 && o.Filter != "" {
		return false, fmt.Errorf("no case's name contains %q", o.Filter)
	}
	return good, nil
}

// run compiles and runs a program within a limit; nil: it has ended as its case did.
func (how *Reproduction) run(ctx context.Context, path string, p *program, library string, limit time.Duration) error {
	source := path + ".c"
	if err := os.WriteFile(source, []byte(p.Source), 0o644); err != nil {
		return err
	}
	defer os.Remove(source)
	args := append(append([]string{}, how.Compile[1:]...), source, "-o", path, "-ldl", "-lpthread", "-lm")
	ctx, stop := context.WithTimeout(ctx, limit)
	defer stop()
	if out, err := exec.CommandContext(ctx, how.Compile[0], args...).CombinedOutput(); err != nil || len(out) > 0 {
		return fmt.Errorf("%s: %v: %s", how.Compile[0], err, lastLines(string(out), 6))
	}
	defer os.Remove(path)
	cmd := exec.CommandContext(ctx, path, Locate(library))
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		return err
	}
	if (err == nil) != (p.result.Status == Pass) {
		return fmt.Errorf("the case: %s %s; the program: %v: %s", p.result.Status, p.result.Message, err,
			lastLines(string(out), 4))
	}
	return nil
}

func lastLines(s string, n int) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], " | ")
}
