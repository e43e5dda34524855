package io

import "time"

// Converted, unless nil, gets the time of each conversion of an input or an output, and of each copy to the program's
// memory. It is set before the first execution is made.
var Converted func(took time.Duration)

// Converting begins a conversion; what it returns ends it.
func Converting() func() {
	if Converted == nil {
		return nothing
	}
	began := time.Now()
	return func() { Converted(time.Since(began)) }
}

func nothing() {}
