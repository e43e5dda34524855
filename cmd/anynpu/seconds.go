package main

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// seconds is a flag's time: a number of seconds, as ANYNPU_RUN_TIMEOUT has it, or a number with a unit, 500ms.
type seconds time.Duration

func (s *seconds) String() string { return time.Duration(*s).String() }

func (*seconds) Type() string { return "time" }

func (s *seconds) Set(text string) error {
	d, err := time.ParseDuration(text)
	if n, e := strconv.ParseFloat(text, 64); e == nil && math.Abs(n) <= math.MaxInt64/float64(time.Second) {
		d, err = time.Duration(n*float64(time.Second)), nil
	}
	if err != nil {
		return fmt.Errorf("want a number of seconds, as 10, or a time with its unit, as 500ms")
	}
	*s = seconds(d)
	return nil
}
