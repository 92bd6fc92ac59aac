package main

import (
	"io"
	"os"

	"golang.org/x/sys/unix"

	"infill/internal/program"
)

// endWithReader ends the program when nobody is left who reads out, if that is a pipe. The next
// record would find out too, but its work may take hours, and the program that wanted it is gone.
func endWithReader(out io.Writer) {
	f, ok := out.(*os.File)
	if !ok {
		return
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return
	}
	fds := []unix.PollFd{{Fd: int32(f.Fd())}} // which is told of a broken pipe always
	go func() {
		for {
			n, err := unix.Poll(fds, -1)
			switch {
			case err == unix.EINTR:
			case err == nil && n > 0 && fds[0].Revents&unix.POLLERR != 0:
				os.Exit(program.OK) // as the write would
			default:
				return
			}
		}
	}()
}
