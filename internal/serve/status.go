package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/anynpu/anynpu/core/fault"
	"github.com/anynpu/anynpu/internal/oip"
	"github.com/anynpu/anynpu/internal/serve/models"
	"github.com/anynpu/anynpu/internal/serve/queue"
)

// status is an error with the codes that it has in gRPC and in HTTP.
type status struct {
	code oip.Code
	http int
	text string
}

// Error returns the text for the client.
func (s *status) Error() string { return s.text }

// clientClosed is the status of HTTP, nginx's, of a request that the client has given up.
const clientClosed = 499

// maxReason bounds the text of an error that a client gets.
const maxReason = 2000

func refuse(code oip.Code, http int, format string, args ...any) error {
	return &status{code, http, fmt.Sprintf(format, args...)}
}

// invalid is the error of a request that is wrong in itself.
func invalid(format string, args ...any) error {
	return refuse(oip.InvalidArgument, http.StatusBadRequest, format, args...)
}

// statusOf returns the codes of an error and its text as one line.
func statusOf(err error) status {
	s := status{oip.Internal, http.StatusInternalServerError, fault.Printable(err.Error())}
	if len(s.text) > maxReason {
		s.text = s.text[:maxReason] + "..."
	}
	var own *status
	switch {
	case errors.As(err, &own):
		s.code, s.http = own.code, own.http
	case errors.Is(err, models.ErrUnknown):
		s.code, s.http = oip.NotFound, http.StatusNotFound
	case errors.Is(err, models.ErrNotReady), errors.Is(err, queue.ErrClosed):
		s.code, s.http = oip.Unavailable, http.StatusServiceUnavailable
	case errors.Is(err, queue.ErrFull):
		s.code, s.http = oip.ResourceExhausted, http.StatusTooManyRequests
	case errors.Is(err, context.Canceled):
		s.code, s.http = oip.Canceled, clientClosed
	case errors.Is(err, context.DeadlineExceeded):
		s.code, s.http = oip.DeadlineExceeded, http.StatusGatewayTimeout
	default:
		switch fault.KindOf(err) {
		case fault.Argument, fault.Shape, fault.Type, fault.Data, fault.File:
			s.code, s.http = oip.InvalidArgument, http.StatusBadRequest
		case fault.Unsupported:
			s.code, s.http = oip.Unimplemented, http.StatusNotImplemented
		case fault.Memory:
			s.code, s.http = oip.ResourceExhausted, http.StatusServiceUnavailable
		case fault.Timeout:
			s.code, s.http = oip.DeadlineExceeded, http.StatusGatewayTimeout
		case fault.Canceled:
			s.code, s.http = oip.Canceled, clientClosed
		}
	}
	return s
}
