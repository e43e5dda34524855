package remote

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/anynpu/anynpu/backends/remote/link"
	"github.com/anynpu/anynpu/internal/oip"
)

// timing is what a server tells of a run: how long it waited there, and how long it was computed.
type timing struct {
	queue, compute time.Duration
	told           bool
}

// read takes the header Server-Timing, as `anynpu serve` sends it: "queue;dur=1.5, compute;dur=20". Times are in
// milliseconds. What is no such header tells nothing.
func (t *timing) read(h http.Header) {
	for _, line := range h["Server-Timing"] {
		for entry := range strings.SplitSeq(line, ",") {
			name, rest, _ := strings.Cut(strings.TrimSpace(entry), ";")
			text, is := strings.CutPrefix(rest, "dur=")
			ms, err := strconv.ParseFloat(text, 64)
			if !is || err != nil || !(ms >= 0 && ms < 1e9) {
				continue
			}
			d := time.Duration(ms * float64(time.Millisecond))
			switch name {
			case "queue":
				t.queue = d
			case "compute":
				t.compute, t.told = d, true
			}
		}
	}
}

// statistics asks for what a server has counted of a model since it began; nil if it has no such extension.
func (e *endpoint) statistics(ctx context.Context, model oip.ModelName) *link.Statistics {
	var sum *oip.Statistics
	if e.rest {
		var j oip.StatisticsJSON
		if e.get(ctx, modelPath(model)+"/stats", &j) != nil {
			return nil
		}
		sum = j.Sum()
	} else {
		b, err := e.small(ctx, oip.ModelStatistics, model.Append(nil))
		if err != nil {
			return nil
		}
		if sum, err = oip.ParseStatistics(b); err != nil {
			return nil
		}
	}
	if sum.Runs <= 0 {
		return &link.Statistics{}
	}
	return &link.Statistics{Runs: sum.Runs, QueueMS: ms(sum.Queue), ComputeMS: ms(sum.Compute)}
}
