// Package fanout has independent calls of one function made side by side.
package fanout

import "sync"

// Each calls f with 0 to n−1, at most threads of them at a time, one at least, and returns the
// error of the lowest. All calls are made. They must not depend on each other.
func Each(threads, n int, f func(i int) error) error {
	var wait sync.WaitGroup
	todo, errs := make(chan int), make([]error, n)
	for range min(n, max(1, threads)) {
		wait.Go(func() {
			for i := range todo {
				errs[i] = f(i)
			}
		})
	}
	for i := range n {
		todo <- i
	}
	close(todo)
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
