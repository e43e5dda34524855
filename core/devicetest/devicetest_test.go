package devicetest

import (
	"maps"
	"os"
	"testing"

	"github.com/anynpu/anynpu/core/devicetest/toy"
	"github.com/anynpu/anynpu/core/graph"
	"github.com/anynpu/anynpu/core/mem"
	"github.com/anynpu/anynpu/core/tensor"
	"github.com/anynpu/anynpu/internal/leak"
)

// live are the counters of everything that the devices of these tests hold.
var live = func() map[string]func() int64 {
	counters := maps.Clone(mem.LiveCounters)
	maps.Copy(counters, toy.LiveCounters)
	return counters
}()

func TestMain(m *testing.M) { os.Exit(leak.Run(m, live)) }

// subject is a toy as the checks see it.
func subject(d *toy.Device) Subject {
	return Subject{
		Device: d,
		Endless: func(s tensor.Shape) (*graph.Graph, func(), error) {
			g, err := sumGraph(s)
			d.Set(toy.Block)
			return g, func() { d.Set(toy.Normal) }, err
		},
		Kill: func() { d.Set(toy.Dead) },
		Live: live,
	}
}

func TestToy(t *testing.T) { Run(t, subject(toy.New("toy"))) }

func TestToy_inHostMemory(t *testing.T) { Run(t, subject(toy.NewHost("host"))) }
