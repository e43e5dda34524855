package cpu_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anynpu/anynpu/backends/cpu"
	"github.com/anynpu/anynpu/backends/cpu/ref"
	"github.com/anynpu/anynpu/core/compile"
	"github.com/anynpu/anynpu/core/device"
	"github.com/anynpu/anynpu/core/exec"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/op/opcase"
	"github.com/anynpu/anynpu/core/tensor"
)

const (
	growthFactor = 16               // between the two sizes that are compared
	growthFrom   = time.Millisecond // the least time of the smaller one
	growthLimit  = 2 * time.Second  // for the larger one, of a processor
	growthWait   = 5 * growthLimit  // of the clock
	mostExponent = 1.1              // of the time in the work
	growthTimes  = 6                // measurements of a row that is too high, the lowest counts
	cacheMisses  = 2                // how much more a step costs where the data no longer fit the caches
)

// growthRow is how the time of an operator grows in one way.
type growthRow struct {
	name     string
	from, to string
	exponent float64
	short    time.Duration
	long     time.Duration
}

// TestGrowth holds that the time of every operator grows as its work does, whatever grows: sizes of its inputs, alone
// and together. It compares times of the processor and takes some minutes, so that it is asked for by ANYNPU_GROWTH:
// "all", or names of operators with commas. A machine can be slow for a minute, an algorithm is slow whenever it is
// asked: a row that is too high is measured once more after all others, and both have to be too high.
func TestGrowth(t *testing.T) {
	asked := os.Getenv("ANYNPU_GROWTH")
	if asked == "" {
		t.Skip("it compares times: make test-long runs it, with ANYNPU_GROWTH=all")
	}
	d, err := cpu.New(cpu.Config{Threads: 1})
	require.NoError(t, err)
	var rows []growthRow
	var again []func()
	for _, c := range opcase.All() {
		name := graph.NameOf(c.Op)
		if asked != "all" && !strings.Contains(","+asked+",", ","+name+",") {
			continue
		}
		for i, w := range c.Ways() {
			r, ok := growth(d, c, w)
			if !ok {
				continue
			}
			r.name = fmt.Sprintf("%s, way %d", name, i)
			if os.Getenv("ANYNPU_GROWTH_ROWS") != "" {
				fmt.Println(r)
			}
			rows = append(rows, r)
			if at := len(rows) - 1; r.exponent > mostExponent {
				again = append(again, func() {
					t.Logf("measured again: %v", rows[at])
					if r, ok := growth(d, c, w); ok && r.exponent < rows[at].exponent {
						r.name = rows[at].name
						rows[at] = r
					}
				})
			}
		}
	}
	require.NotEmpty(t, rows)
	for _, measure := range again {
		measure()
	}
	sort.Slice(rows, func(i, j int) bool { return rows[i].exponent > rows[j].exponent })
	for i, r := range rows {
		if r.exponent > mostExponent {
			t.Error(r)
		} else if i < 40 {
			t.Log(r)
		}
	}
	t.Logf("%d rows", len(rows))
}

func (r growthRow) String() string {
	return fmt.Sprintf("%-40s %5.2f  %9.3f ms %9.3f ms  %s -> %s", r.name, r.exponent, ms(r.short), ms(r.long), r.from,
		r.to)
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// growth measures c at the first factor at which it takes long enough, and at growthFactor times that.
func growth(d *cpu.Device, c opcase.Case, w opcase.Way) (r growthRow, ok bool) {
	for factor := int64(1); ; factor *= 4 {
		large, ok := c.By(w, factor*growthFactor)
		if !ok {
			return r, false
		}
		small := c
		if factor > 1 {
			if small, ok = c.By(w, factor); !ok {
				return r, false
			}
		}
		short, err := timeOf(d, small, 1)
		if err != nil {
			return r, false
		}
		if short < growthFrom {
			continue
		}
		work := float64(workOf(large)) / float64(workOf(small))
		if work < 2 || math.IsInf(work, 0) || workOf(large) == math.MaxInt64 {
			return r, false
		}
		for times := range growthTimes {
			s, err := timeOf(d, small, times+1)
			if err != nil {
				return r, false
			}
			l, err := timeOf(d, large, times+1)
			if errors.Is(err, context.Canceled) {
				l = growthLimit
			} else if err != nil {
				return r, false
			}
			if times == 0 || s < short {
				short = s
			}
			if times == 0 || l < r.long {
				r.long = l
			}
			r.short = short
			r.exponent = math.Log(float64(r.long)/float64(short)/cacheMisses) / math.Log(work)
			if r.exponent <= mostExponent || l == growthLimit {
				break
			}
		}
		r.from, r.to = small.Types(), large.Types()
		return r, true
	}
}

// workOf estimates the work of a case.
func workOf(c opcase.Case) int64 {
	facts := c.Facts()
	in := make([]tensor.Tensor, len(c.In))
	for i, f := range facts {
		if f.DType != tensor.Invalid {
			dims, _ := f.Shape.Ints()
			in[i] = tensor.Tensor{DType: f.DType, Dims: dims}
		}
	}
	out, ok := c.Inferred()
	if !ok {
		return 0
	}
	return ref.Work(c.Op, in, out)
}

// timeOf is the lowest time of some runs, none longer than growthWait.
func timeOf(d *cpu.Device, c opcase.Case, runs int) (lowest time.Duration, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	lowest = math.MaxInt64
	var from time.Duration
	var limit *time.Timer
	err = runOf(ctx, d, c, runs, func() {
		limit = time.AfterFunc(growthWait, cancel)
		from = processorTime()
	}, func() {
		limit.Stop()
		lowest = min(lowest, processorTime()-from)
	})
	return lowest, err
}

// runOf runs a case several times, until one fails, and calls before and after around each.
func runOf(ctx context.Context, d *cpu.Device, c opcase.Case, runs int, before, after func()) error {
	g, in, err := c.Filled().Graph()
	if err != nil {
		return err
	}
	p, err := compile.Compile(context.Background(), g, []device.Device{d}, compile.Options{})
	if err != nil {
		return err
	}
	e, err := p.New(device.ExecOptions{})
	p.Release()
	if err != nil {
		return err
	}
	defer e.Release()
	for i, x := range in {
		b := mem.Borrow(x.Data, nil)
		err := e.BindInput(i, mem.View{Buf: b, Type: x.Type()})
		b.Release()
		if err != nil {
			return err
		}
	}
	for range runs {
		before()
		err := exec.Run(ctx, e, device.RunRequest{})
		after()
		if err != nil {
			return err
		}
	}
	return nil
}
