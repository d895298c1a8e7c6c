package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"
)

const (
	rounds    = 5
	busyLoops = 4        // for each core
	written   = 64 << 20 // bytes, by each of the two that keep the disk busy
	// Tests run beside each other although one of them at a time computes: what they start competes as well. So do the packages,
	// and the rounds: one thread alone would hardly get a turn among the busy loops.
	crowd    = 4
	together = 2
)

// stress runs the tests again and again on a machine that is as slow as a machine can be.
func (m *machine) stress(ctx context.Context, o options) error {
	packages := o.packages
	if len(packages) == 0 {
		packages = []string{"./..."}
	}
	var tags, env []string
	if o.all {
		tags, env = m.tagged(ctx)
	}
	if err := m.goTest(ctx, o, nil, tags, slices.Concat([]string{"-vet=off"}, o.flags, []string{"-run=^$"}, packages)...); err != nil || m.tally.failed() {
		return err
	}
	busy, rest := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		m.busy(busy)
	}()
	defer func() { rest(); <-ended }()
	args := slices.Concat([]string{"-vet=off", timeout, "-count=1", fmt.Sprintf("-p=%d", together), fmt.Sprintf("-parallel=%d", crowd)}, o.flags, packages)
	env = append(env, "GOMAXPROCS=1")
	var all []func()
	for range rounds {
		o.seed = rand.Int64()
		round := o
		all = append(all, func() {
			began := time.Now()
			if m.tests(ctx, round, env, tags, args); ctx.Err() != nil {
				return
			}
			m.out.line("a round of %d, %s: %s", rounds, round.order(), time.Since(began).Round(time.Second))
		})
	}
	both(all...)
	return ctx.Err()
}

// busy keeps all cores and the disk busy until ctx ends.
func (m *machine) busy(ctx context.Context) {
	var all []func()
	for range busyLoops * runtime.NumCPU() {
		all = append(all, func() { _ = m.command(ctx, nil, "sh", "-c", "while :; do :; done").Run() }) // until it is ended
	}
	for i := range 2 {
		all = append(all, func() {
			if err := keepWriting(ctx, filepath.Join(m.temp, fmt.Sprint("busy-", i))); err != nil {
				m.out.line("the disk is not busy: %v", err)
			}
		})
	}
	both(all...)
}

func keepWriting(ctx context.Context, path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	block := make([]byte, 1<<20)
	for at := int64(0); err == nil && ctx.Err() == nil; at = (at + int64(len(block))) % written {
		if _, err = f.WriteAt(block, at); err == nil {
			err = f.Sync()
		}
	}
	return errors.Join(err, f.Close())
}
