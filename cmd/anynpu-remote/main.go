// Command anynpu-remote speaks with inference servers for a process that uses a remote device (docs/remote.md). The
// library starts it, with a socket as descriptor 3; it ends with that process.
package main

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/anynpu/anynpu/backends/remote/link"
	"github.com/anynpu/anynpu/internal/remote"
)

func main() {
	var st unix.Stat_t
	if err := unix.Fstat(link.SocketFD, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFSOCK {
		fmt.Fprintln(os.Stderr, "anynpu-remote: the AnyNPU library starts this program, with a socket as descriptor 3")
		os.Exit(2)
	}
	unix.CloseOnExec(link.SocketFD)
	c, err := link.NewConn(link.SocketFD)
	remote.OneByOne()
	if err == nil {
		err = remote.Serve(c)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "anynpu-remote:", err)
		os.Exit(1)
	}
}
