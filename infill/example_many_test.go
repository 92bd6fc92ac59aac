package infill_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"runtime"
	"sync"
	"time"

	"infill/infill"
	"infill/infill/open"
	"infill/infill/text"
)

// Many sentences share one engine. Some are in work at a time, so that each is done soon and a
// deadline loses few. The number of a sentence is its ID: its draws are then its own, and the same
// in every order.
func ExampleEngine_Fill_many() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	e, err := open.Engine("small")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	texts := []string{
		"He sat down on the [MASK].",
		"She drank a cup of [MASK].",
		"There is no blank here.",
		"The [MASK] barked at the cat.",
	}
	best, errs := make([]string, len(texts)), make([]error, len(texts))
	numbers := make(chan int)
	var workers sync.WaitGroup
	for range 4 * runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range numbers {
				best[i], errs[i] = first(ctx, e, texts[i], fmt.Sprint(i))
			}
		})
	}
	for i := range texts {
		numbers <- i
	}
	close(numbers)
	workers.Wait()
	for i := range texts {
		switch {
		case errs[i] == nil:
			fmt.Println(best[i])
		case errors.Is(errs[i], text.ErrNoBlank):
			fmt.Println("no blank:", texts[i])
		case errors.Is(errs[i], context.DeadlineExceeded):
			fmt.Println("too late:", texts[i])
		default:
			log.Fatal(errs[i])
		}
	}
	// Output:
	// He sat down on the table.
	// She drank a cup of tea.
	// no blank: There is no blank here.
	// The man barked at the cat.
}

// first is the best filling of a text.
func first(ctx context.Context, e *infill.Engine, text, id string) (string, error) {
	r, err := e.FillText(ctx, text, infill.Options{Seed: 1, ID: id,
		Results: infill.ResultOptions{Top: 1}})
	if err != nil {
		return "", err
	}
	return r.Fillings[0].Text, nil
}
