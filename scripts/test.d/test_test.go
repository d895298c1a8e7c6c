package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/clock/clocktest"
	"github.com/mergexo/mergexo/internal/must"
)

func TestArguments(t *testing.T) {
	o := must.Get(parse([]string{"--all", "./internal/git", "-run", "TestX", "-v"}))(t)
	assert.Equal(t, options{all: true, packages: []string{"./internal/git"}, flags: []string{"-run", "TestX", "-v"}}, o)
	assert.ErrorContains(t, must.Err(parse([]string{"--fast"})), "--fast: there is no such flag\nusage: ")
}

// told is what comes of what go test tells, on the screen and at the end.
func told(o options, events ...string) (screen, end string) {
	var out, last bytes.Buffer
	m := &machine{out: &console{to: &out}}
	o.seed = 7
	f := &folding{m: m, o: o, packages: map[string]*result{}, heard: func() {}}
	f.read(strings.NewReader(strings.Join(events, "\n") + "\n"))
	m.tally.again(&last)
	m.tally.tell(&last, 61*time.Second, o, o.order(), m.missing)
	return out.String(), last.String()
}

const pkg = `"Package":"github.com/mergexo/mergexo/internal/engine"`

func TestWhatFailedIsShownAndCanBeRunAgain(t *testing.T) {
	screen, end := told(options{all: true},
		`{"Action":"output",`+pkg+`,"Test":"TestGood","Output":"noise\n"}`, `{"Action":"pass",`+pkg+`,"Test":"TestGood"}`,
		`{"Action":"output",`+pkg+`,"Test":"TestBad/it's_(so)","Output":"it is 3\n"}`, `{"Action":"fail",`+pkg+`,"Test":"TestBad/it's_(so)"}`,
		`{"Action":"fail",`+pkg+`,"Test":"TestBad"}`, `{"Action":"fail",`+pkg+`,"Elapsed":1.5}`)
	assert.Equal(t, "it is 3\nFAIL\tgithub.com/mergexo/mergexo/internal/engine\t1.500s\n", screen)
	assert.Equal(t, "again: scripts/test --all ./internal/engine -run '^TestBad$/^it.s_\\(so\\)$' -shuffle=7\n"+
		"scripts/test: 1 tests passed, 1 failed, in 1m1s, -shuffle=7; nothing left out\n", end)
}

func TestAPanicShowsWhatWasRunning(t *testing.T) {
	screen, end := told(options{},
		`{"Action":"output",`+pkg+`,"Test":"TestA","Output":"panic: at the disco\n"}`, `{"Action":"output",`+pkg+`,"Output":"exit status 2\n"}`, `{"Action":"fail",`+pkg+`,"Elapsed":2}`)
	assert.Contains(t, screen, "panic: at the disco\nexit status 2\nFAIL\t")
	assert.Contains(t, end, "again: scripts/test ./internal/engine -shuffle=7\n")
	assert.Contains(t, end, "0 tests passed, 1 failed")
}

func TestWhatTheCompilerSaysIsShown(t *testing.T) {
	screen, end := told(options{}, `{"ImportPath":"x [x.test]","Action":"build-output","Output":"x.go:1: undefined: y\n"}`, `{"Action":"fail",`+pkg+`,"Elapsed":0}`)
	assert.Contains(t, screen, "x.go:1: undefined: y\n")
	assert.Contains(t, end, "again: scripts/test ./internal/engine -shuffle=7\n")
}

func TestQuietTestsAreCounted(t *testing.T) {
	screen, end := told(options{}, `{"Action":"pass",`+pkg+`,"Test":"TestA"}`, `{"Action":"pass",`+pkg+`,"Test":"TestA/b"}`, `{"Action":"pass",`+pkg+`,"Elapsed":0.25}`)
	assert.Equal(t, "ok  \tgithub.com/mergexo/mergexo/internal/engine\t0.250s\t2 tests\n", screen)
	assert.Equal(t, "scripts/test: 2 tests passed, 0 failed, in 1m1s, -shuffle=7; nothing left out\n", end)
}

func TestTheEndTellsTheOrderOfTheTests(t *testing.T) {
	passed, failed := `{"Action":"pass",`+pkg+`,"Elapsed":0.25}`, `{"Action":"fail",`+pkg+`,"Elapsed":1}`
	_, end := told(options{flags: []string{"-shuffle=3", "-v", "-shuffle=5"}}, passed)
	assert.Contains(t, end, "in 1m1s, -shuffle=5; ", "the caller's own")
	_, end = told(options{flags: []string{"-shuffle=5"}}, failed)
	assert.Contains(t, end, "again: scripts/test ./internal/engine -shuffle=5\n")
	_, end = told(options{stress: true}, passed)
	assert.Contains(t, end, "in 1m1s, an order a round; ", "each round tells its own")
}

func TestWhatHangsIsEndedHoweverLongItAllTakes(t *testing.T) {
	c, ended := clockwork.NewFakeClock(), make(chan syscall.Signal)
	heard, stop := onSilence(c, func(s syscall.Signal, _ time.Duration) { ended <- s })
	waits, over := context.WithTimeout(t.Context(), clocktest.Hang)
	defer over()
	for range 10 {
		c.Advance(hangTime - time.Second)
		require.NoError(t, c.BlockUntilContext(waits, 2), "both are still to come")
		heard()
	}
	c.Advance(hangTime)
	assert.Equal(t, syscall.SIGQUIT, <-ended, "which it answers by telling where it is")
	c.Advance(hangTime)
	assert.Equal(t, syscall.SIGKILL, <-ended)
	heard()
	stop()
	c.Advance(3 * hangTime)
	select {
	case s := <-ended:
		t.Errorf("%s after the end", s)
	default:
	}
}

func TestVersions(t *testing.T) {
	for found, want := range map[string]bool{"2.38": true, "2.38.0": true, "2.39.5": true, "3.0": true, "2.37.9": false, "2.4": false, "2": false} {
		assert.Equal(t, want, atLeast("2.38", found), found)
	}
}

func TestOnlyWhatTheRaceDetectorWatchesIsCompiledForIt(t *testing.T) {
	t.Chdir("../..")
	m := &machine{env: os.Environ()}
	racing := m.racing(t.Context())
	for _, dir := range []string{"./internal/engine", "./internal/git/relay", "./internal/git/transport"} {
		assert.Contains(t, racing, dir)
	}
	for _, dir := range []string{"./internal/lineage", "./internal/engine/turns", "./internal/sandbox"} {
		assert.NotContains(t, racing, dir)
	}
}
