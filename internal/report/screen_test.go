package report

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/model"
)

// seenBy is what a terminal shows in the end of what was written to it.
func seenBy(written string) string {
	var shown strings.Builder
	for line := range strings.Lines(written) {
		if i := strings.LastIndex(line, clearLine); i >= 0 {
			line = line[i+len(clearLine):]
		}
		shown.WriteString(line)
	}
	return shown.String()
}

func TestTheLineAboutTheWorkStaysBelowWhatIsWritten(t *testing.T) {
	t.Parallel()
	var b lockedBuffer
	s := NewScreen(&b)
	s.Adapt(false, true)
	c := clockwork.NewFakeClock()
	_, _ = fmt.Fprintln(s, "before")
	done := s.Working(c, "running make\n\x1b[31mtest "+strings.Repeat("x", 100))
	line := "running make test " + strings.Repeat("x", workLimit-1-len("running make test ")) + "…"
	assert.Equal(t, "before\n"+line, seenBy(b.String()))
	require.NoError(t, c.BlockUntilContext(t.Context(), 1))
	c.Advance(time.Second)
	b.wait("(1 s)")
	_, _ = fmt.Fprint(s, "a lo")
	assert.Equal(t, "before\na lo", seenBy(b.String()), "nothing stands in an unfinished line")
	_, _ = fmt.Fprintln(s, "g")
	assert.Contains(t, seenBy(b.String()), "before\na log\n"+line+" (1 s)")
	c.Advance(11 * time.Second)
	b.wait("(12 s)")
	done()
	done()
	assert.Equal(t, "before\na log\n", seenBy(b.String()))
	c.Advance(time.Hour)
	_, _ = fmt.Fprintln(s, "after")
	assert.Equal(t, "before\na log\nafter\n", seenBy(b.String()))
	assert.NotContains(t, b.String(), "\x1b[3")
}

func TestNothingButATerminalShowsTheWork(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	s := NewScreen(&b)
	s.Working(clockwork.NewFakeClock(), "running make test")()
	assert.Empty(t, b.String())
	assert.False(t, s.Terminal())
}

// hostile is what somebody would write who wants to be taken for us.
const hostile = "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x9b31m"

func TestColoursAreOursOnly(t *testing.T) {
	t.Parallel()
	rep := model.Report{Result: model.ResultBlocked, Reason: hostile, Said: []model.Saying{{Where: hostile, Text: hostile}}}
	write := func(s *Screen) {
		require.NoError(t, Account(s, rep))
		require.NoError(t, Complaint(s, hostile))
		require.NoError(t, Statuses(s, []model.Status{{Number: 7, Title: hostile, Branch: hostile}}, nil))
		require.NoError(t, Findings(s, "settings\n  fix   "+hostile+"\n  ok    fine\n        fix it\n"))
		require.NoError(t, NewConsole(s, false, nil).Group(hostile))
	}
	var plainly, coloured bytes.Buffer
	write(NewScreen(&plainly))
	assert.NotContains(t, plainly.String(), "\x1b")
	s := NewScreen(&coloured)
	s.Adapt(true, false)
	write(s)
	for _, want := range []string{"result: \x1b[33mblocked\x1b[0m", "\x1b[31mmergexo:\x1b[0m ", "\x1b[1mNUMBER  ", "  \x1b[31mfix\x1b[0m ", "  \x1b[32mok\x1b[0m ", "        fix it", "\x1b[1m== red "} {
		assert.Contains(t, coloured.String(), want)
	}
	rest := strings.NewReplacer("\x1b[0m", "", "\x1b[1m", "", "\x1b[31m", "", "\x1b[32m", "", "\x1b[33m", "").Replace(coloured.String())
	assert.Equal(t, plainly.String(), rest, "the same text")
	assert.NotContains(t, coloured.String(), "\x1b[31mred")
}

// lockedBuffer is read while it is written.
type lockedBuffer struct {
	mu   sync.Mutex
	b    bytes.Buffer
	more chan struct{}
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.more != nil {
		close(l.more)
		l.more = nil
	}
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// wait waits until a text was written.
func (l *lockedBuffer) wait(text string) {
	for {
		l.mu.Lock()
		if strings.Contains(l.b.String(), text) {
			l.mu.Unlock()
			return
		}
		if l.more == nil {
			l.more = make(chan struct{})
		}
		more := l.more
		l.mu.Unlock()
		<-more
	}
}
