package serve

import (
	"context"
	"errors"
	"net/http"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/anynpu/anynpu/internal/oip"
)

// The methods of grpc.health.v1.
const (
	healthCheck = "/grpc.health.v1.Health/Check"
	healthWatch = "/grpc.health.v1.Health/Watch"
)

// The states of a service in grpc.health.v1.
const (
	serving        = 1
	notServing     = 2
	serviceUnknown = 3
)

// errStreamed ends a call that has been answered.
var errStreamed = errors.New("answered")

// health returns the state of a service: "" and the protocol's service are the server, any other name is a model's.
func (s *Server) health(service string) int {
	switch {
	case !s.isReady():
		return notServing
	case service == "" || "/"+service+"/" == oip.Service:
		return serving
	}
	if _, err := s.config.Models.Find(service, ""); err != nil {
		return serviceUnknown
	}
	return serving
}

// healthOf reads a request of Check or Watch.
func healthOf(message []byte) (service string, err error) {
	m, err := oip.ParseModelName(message) // its first field is a text, too
	if err != nil {
		return "", invalid("%v", err)
	}
	return m.Name, nil
}

func healthAnswer(state int) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(state))
}

func (c *call) healthCheck(_ context.Context, message []byte) ([][]byte, error) {
	service, err := healthOf(message)
	if err != nil {
		return nil, err
	}
	state := c.server.health(service)
	if state == serviceUnknown {
		return nil, refuse(oip.NotFound, http.StatusNotFound, "unknown service %q", service)
	}
	return one(healthAnswer(state))
}

// watchEvery is how often a watched state is looked at.
const watchEvery = time.Second

// healthWatch sends the state of a service now and whenever it changes, until the client or the server goes.
func (c *call) healthWatch(message []byte) error {
	service, err := healthOf(message)
	if err != nil {
		return err
	}
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for last := 0; ; {
		if state := c.server.health(service); state != last {
			last = state
			answer := healthAnswer(state)
			c.write(oip.AppendPrefix(nil, len(answer)), answer)
			if c.rc.Flush() != nil || c.rc.SetWriteDeadline(time.Time{}) != nil {
				return errStreamed
			}
		}
		select {
		case <-tick.C:
		case <-c.r.Context().Done():
			return errStreamed
		case <-c.server.draining:
			if last != notServing {
				answer := healthAnswer(notServing)
				c.write(oip.AppendPrefix(nil, len(answer)), answer)
			}
			c.trailers(oip.Unavailable, "the server stops")
			return errStreamed
		}
	}
}
