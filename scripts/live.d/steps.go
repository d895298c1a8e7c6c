package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// step asks one thing. run gives the answer as plain JSON values, which are normalized and recorded, or checks an error, which
// ends it: notHere where it cannot be asked, any other where it went wrong.
type step struct {
	name string
	asks string
	run  func(ctx context.Context, w *world) any
}

// stopped carries the error that ends a step, as package testing ends a test: check panics with it, and caught takes it.
type stopped struct{ err error }

// check ends the step where there is an error.
func check(err error) {
	if err != nil {
		panic(stopped{err})
	}
}

// got returns a value, unless an error ends the step.
func got[T any](value T, err error) T {
	check(err)
	return value
}

// named puts what was done before an error; nil stays nil.
func named(what string, err error) error {
	if err != nil {
		err = fmt.Errorf("%s: %w", what, err)
	}
	return err
}

// caught runs do, and returns the error with which check ended it, or nil.
func caught(do func()) (err error) {
	defer func() {
		switch end := recover().(type) {
		case nil:
		case stopped:
			err = end.err
		default:
			panic(end)
		}
	}()
	do()
	return nil
}

// during runs do. An error that ends it ends the step, with what before it.
func during(what string, do func()) { check(named(what, caught(do))) }

// facts are one JSON object of an answer.
type facts = map[string]any

// steps are all of them, in the order in which they are gone through: the one that waits longest is the last.
var steps = []step{
	{"identity", "who does each kind of token act as, and what may it do", askIdentity},
	{"queries", "what does each of our GraphQL documents get", askQueries},
	{"gateway", "what does the gateway make of the answers", askGateway},
	{"permissions", "which of our documents need which permission of an App", askPermissions},
	{"heavy", "are 60 pull requests, 200 comments and 120 threads read in pages", askHeavy},
	{"edits", "are all versions of an edited comment kept, the first one whole", askEdits},
	{"refs", "which refs can be made, forced, leased, deleted, and in which words are they refused", askRefs},
	{"hidden", "does a ruleset of all branches hold for hidden refs", askHidden},
	{"limit", "in which words is a push of more than two refs refused", askLimit},
	{"badge", "is a pull request shown as merged: head and base in our order, at once, in one atomic push, 20 each", askBadge},
	{"closing", "what does closing do to a pull request that has landed", askClosing},
	{"protection", "what is each kind of token told about a protected branch, and what does a push get", askProtection},
	{"length", "do 65,536 characters fit, and 65,537 not", askLength},
	{"reactions", "what does a reaction get, and one that is there already", askReactions},
	{"locked", "who may comment in a locked conversation", askLocked},
	{"transferred", "what does an issue answer that was transferred", askTransferred},
	{"story", "does a label lead to a pull request and a command to its merge, by the installed workflow", askStory},
	{"cancel", "what does a turn leave behind that is cancelled", askCancel},
	{"group", "which of five events in one concurrency group get a run", askGroup},
	{"expiry", "what does an App's token get after an hour", askExpiry},
}

// notHere is why something cannot be asked of this server with what was given.
type notHere string

func (n notHere) Error() string { return string(n) }

// inSandbox is why the sandbox cannot be asked something.
const inSandbox = "not possible here: "

// cleaningTime bounds the cleaning up after a run that was interrupted.
const cleaningTime = 10 * time.Minute

// goThrough cleans, runs the steps, records and prints what they answer, and cleans again.
func (w *world) goThrough(ctx context.Context, o options, out io.Writer) (err error) {
	if err := w.cleanUp(ctx); err != nil {
		return fmt.Errorf("remove what an earlier run left: %w", err)
	}
	defer func() {
		if ctx.Err() != nil {
			fmt.Fprintln(w.said, "interrupted: cleaning up, which takes a moment")
		}
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleaningTime)
		defer cancel()
		if cleaned := w.cleanUp(late); cleaned != nil {
			err = errors.Join(err, fmt.Errorf("clean up, which the next run or --clean does: %w", cleaned))
		}
		fmt.Fprintln(w.said, w.spent())
	}()
	failed := false
	for _, s := range steps {
		if len(o.only) > 0 && !slices.Contains(o.only, s.name) {
			continue
		}
		began := time.Now()
		r := w.ask(ctx, s)
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("in step %s, of which there is no record: %w", s.name, err)
		}
		fmt.Fprintf(w.said, "%-12s %5.1fs  %s\n", s.name, time.Since(began).Seconds(), r.inShort())
		if err := r.write(out, o.record); err != nil {
			return err
		}
		failed = failed || r.Error != ""
	}
	if failed {
		return errFound
	}
	return nil
}

// ask runs one step, and makes a record of it.
func (w *world) ask(ctx context.Context, s step) record {
	w.names = newNames(w)
	r := record{Step: s.name, Asks: s.asks, Who: w.who}
	var answer any
	err := caught(func() { answer = s.run(ctx, w) })
	var no notHere
	switch {
	case errors.As(err, &no):
		r.NotPossible = string(no)
	case err != nil:
		r.Error = w.names.text(err.Error())
	default:
		r.Answer = w.names.normal("", plain(answer))
	}
	return r
}
