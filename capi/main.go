// Command capi is the library: built with -buildmode=c-shared it is libanynpu.so.0, which exports the C
// functions of every façade. It contains only what the generator makes; behaviour is in the façades' packages.
package main

/*
#cgo CFLAGS: -std=gnu11 -Wall -Wextra
#include "boundary/boundary.h"
*/
import "C"

import _ "github.com/anynpu/anynpu/capi/watch"

func main() {}
