package serve

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anynpu/anynpu/internal/oip"
	"github.com/anynpu/anynpu/internal/serve/models"
	"github.com/anynpu/anynpu/internal/serve/queue"
)

// metrics are counted over the life of a server.
type metrics struct {
	received, sent atomic.Int64 // bytes of messages

	mu       sync.Mutex
	answered map[outcome]int64
	took     map[modelVersion]*queue.Histogram
}

// outcome is what requests are counted by. A request that named no model that is loaded has none.
type outcome struct {
	modelVersion
	protocol string
	code     oip.Code
}

type modelVersion struct{ name, version string }

// label notes which model the call computes.
func (c *call) label(v *models.Version) { c.model = modelVersion{v.Name, strconv.Itoa(v.Number)} }

// answer counts a request that has been answered.
func (m *metrics) answer(c *call, protocol string, code oip.Code) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.answered == nil {
		m.answered, m.took = map[outcome]int64{}, map[modelVersion]*queue.Histogram{}
	}
	m.answered[outcome{c.model, protocol, code}]++
	if c.model.name != "" && code == oip.OK {
		if m.took[c.model] == nil {
			m.took[c.model] = &queue.Histogram{}
		}
		m.took[c.model].Add(time.Since(c.begin))
	}
}

// page is a text in Prometheus' form.
type page struct{ bytes.Buffer }

func (p *page) head(name, kind, help string) {
	fmt.Fprintf(p, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

// value writes a line; labels are names and values in turn.
func (p *page) value(name string, v float64, labels ...string) {
	p.WriteString(name)
	for i := 0; i < len(labels); i += 2 {
		p.WriteString(map[bool]string{true: "{", false: ","}[i == 0] + labels[i] + `="` + escape.Replace(labels[i+1]) + `"`)
	}
	if len(labels) > 0 {
		p.WriteByte('}')
	}
	p.WriteString(" " + strconv.FormatFloat(v, 'g', -1, 64) + "\n")
}

var escape = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func (p *page) one(name, kind, help string, v float64) {
	p.head(name, kind, help)
	p.value(name, v)
}

func (p *page) histogram(name string, d queue.Distribution, labels ...string) {
	sum := int64(0)
	for i, n := range d.Parts {
		sum += n
		le := "+Inf"
		if i < len(queue.Bounds) {
			le = strconv.FormatFloat(queue.Bounds[i].Seconds(), 'g', -1, 64)
		}
		p.value(name+"_bucket", float64(sum), append(slices.Clone(labels), "le", le)...)
	}
	p.value(name+"_sum", d.Sum.Seconds(), labels...)
	p.value(name+"_count", float64(sum), labels...)
}

// text returns the metrics.
func (s *Server) text() []byte {
	p := &page{}
	s.metrics.text(p)
	type line struct {
		model, version string
		counts         queue.Counts
		waiting, runs  int
	}
	var lines []line
	s.config.Models.Each(func(v *models.Version) {
		w, r := v.Waiting()
		lines = append(lines, line{v.Name, strconv.Itoa(v.Number), v.Counts(), w, r})
	})
	each := func(name, kind, help string, f func(l *line) float64) {
		p.head(name, kind, help)
		for i := range lines {
			p.value(name, f(&lines[i]), "model", lines[i].model, "version", lines[i].version)
		}
	}
	each("anynpu_model_ready", "gauge", "1 for each version of a model that is loaded.", func(*line) float64 { return 1 })
	each("anynpu_waiting_requests", "gauge", "Requests in the queue.", func(l *line) float64 { return float64(l.waiting) })
	each("anynpu_running", "gauge", "Runs under way, or collecting requests.",
		func(l *line) float64 { return float64(l.runs) })
	each("anynpu_runs_total", "counter", "Runs of the model.", func(l *line) float64 { return float64(l.counts.Runs) })
	each("anynpu_joined_requests_total", "counter", "Requests that shared a run with others.",
		func(l *line) float64 { return float64(l.counts.Joined) })
	each("anynpu_refused_requests_total", "counter", "Requests for which the queue had no room.",
		func(l *line) float64 { return float64(l.counts.Refused) })
	p.head("anynpu_queue_seconds", "histogram", "Time in the queue of requests that succeeded.")
	for _, l := range lines {
		p.histogram("anynpu_queue_seconds", l.counts.Wait, "model", l.model, "version", l.version)
	}
	p.head("anynpu_compute_seconds", "histogram", "Time of the run of requests that succeeded.")
	for _, l := range lines {
		p.histogram("anynpu_compute_seconds", l.counts.Compute, "model", l.model, "version", l.version)
	}
	p.one("anynpu_ready", "gauge", "1 while the server wants requests.", map[bool]float64{true: 1}[s.isReady()])
	p.one("anynpu_connections", "gauge", "Open connections.", float64(s.room.open.Load()))
	p.one("anynpu_refused_connections_total", "counter", "Connections that were closed because too many were busy.",
		float64(s.room.refused.Load()))
	p.one("anynpu_held_bytes", "gauge", "Memory that requests hold.", float64(s.held.Load()))
	p.one("anynpu_received_bytes_total", "counter", "Bytes of requests.", float64(s.metrics.received.Load()))
	p.one("anynpu_sent_bytes_total", "counter", "Bytes of answers.", float64(s.metrics.sent.Load()))
	process(p)
	return p.Bytes()
}

// text writes what was counted by request.
func (m *metrics) text(p *page) {
	m.mu.Lock()
	defer m.mu.Unlock()
	keys := make([]outcome, 0, len(m.answered))
	for k := range m.answered {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b outcome) int {
		return cmp.Or(strings.Compare(a.name, b.name), strings.Compare(a.version, b.version),
			strings.Compare(a.protocol, b.protocol), cmp.Compare(a.code, b.code))
	})
	p.head("anynpu_requests_total", "counter", "Requests by model, protocol and gRPC's code of the answer.")
	for _, k := range keys {
		p.value("anynpu_requests_total", float64(m.answered[k]), "model", k.name, "version", k.version, "protocol",
			k.protocol, "code", k.code.String())
	}
	models := make([]modelVersion, 0, len(m.took))
	for k := range m.took {
		models = append(models, k)
	}
	slices.SortFunc(models, func(a, b modelVersion) int {
		return cmp.Or(strings.Compare(a.name, b.name), strings.Compare(a.version, b.version))
	})
	p.head("anynpu_request_seconds", "histogram", "Time from a request's first byte to its answer, if it succeeded.")
	for _, k := range models {
		p.histogram("anynpu_request_seconds", m.took[k].Read(), "model", k.name, "version", k.version)
	}
}

// process writes what the process takes.
func process(p *page) {
	p.one("go_goroutines", "gauge", "Goroutines.", float64(runtime.NumGoroutine()))
	if fds, err := os.ReadDir("/proc/self/fd"); err == nil {
		p.one("process_open_fds", "gauge", "Open file descriptors.", float64(len(fds)-1))
	}
	if text, err := os.ReadFile("/proc/self/statm"); err == nil {
		if f := strings.Fields(string(text)); len(f) > 1 {
			if pages, err := strconv.ParseFloat(f[1], 64); err == nil {
				p.one("process_resident_memory_bytes", "gauge", "Resident memory.", pages*float64(os.Getpagesize()))
			}
		}
	}
}
