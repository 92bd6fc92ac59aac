package disk

import (
	"context"
	"os"
	"time"
)

// lockPoll is how often a lock that another process has is asked for.
const lockPoll = 200 * time.Millisecond

// TryLock takes the exclusive lock of an open file unless another open file has it, in
// this process or another one, and reports whether it did. Closing f gives the lock
// back. So does the end of the process, whatever ends it. The lock binds only those who
// ask for it: reading and writing go on without.
//
// The error says that the file cannot be locked at all: some file systems have no locks.
func TryLock(f *os.File) (bool, error) { return tryLock(f) }

// Unlock gives a lock back and closes the file. Closing alone leaves the lock, for a moment, to a
// program that is being started just then: between fork and exec it has the files of this process.
func Unlock(f *os.File) error {
	unlock(f)
	return f.Close()
}

// Lock waits until it has the exclusive lock of the file at path, which it creates if
// need be. It calls waiting once, if it is not nil, when somebody else has the lock.
// Calling unlock gives the lock back. The file stays: removing it would let two
// processes lock two files of one name.
//
// The error is the cause of ctx's end, or says why the file cannot be opened or locked.
func Lock(ctx context.Context, path string, waiting func()) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return nil, err
	}
	tick := time.NewTicker(lockPoll)
	defer tick.Stop()
	for first := true; ; first = false {
		ok, err := tryLock(f)
		if err != nil {
			_ = f.Close()
			return nil, &os.PathError{Op: "lock", Path: path, Err: err}
		}
		if ok {
			return func() { _ = Unlock(f) }, nil
		}
		if first && waiting != nil {
			waiting()
		}
		select {
		case <-ctx.Done():
			_ = f.Close()
			return nil, context.Cause(ctx)
		case <-tick.C:
		}
	}
}
