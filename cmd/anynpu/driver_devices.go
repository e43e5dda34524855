package main

import (
	"strings"
)

// driverDevices are the APIs of drivers that are devices, and the ids of their first devices; the others have 2, 3 and
// so on behind it.
var driverDevices = []string{"rknn", "hbdnn", "hbucp", "ohnn", "nnapi", "onnxruntime"}

// driverAPI is the API of a driver that may have a device with an id.
func driverAPI(id string) string { return strings.TrimRight(id, "0123456789") }
