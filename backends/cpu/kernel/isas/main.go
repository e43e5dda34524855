// Command isas prints the instruction sets that this processor and build have kernels for, lowest first, in one line:
// scripts test each of them.
package main

import (
	"fmt"

	"github.com/anynpu/anynpu/backends/cpu/kernel"
)

func main() {
	for _, isa := range kernel.Supported() {
		fmt.Print(isa, " ")
	}
	fmt.Println()
}
