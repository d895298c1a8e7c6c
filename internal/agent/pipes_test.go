package agent

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestOfAProgramsLinesOnlyThoseWantedAreKept(t *testing.T) {
	t.Parallel()
	wanted := func(line []byte) bool { return bytes.HasPrefix(line, []byte("+")) }
	for name, parts := range map[string][]string{
		"at once":       {"+one\nno\n+two\n+end"},
		"byte by byte":  strings.Split("+one\nno\n+two\n+end", ""),
		"in the middle": {"+on", "e\nn", "o\n+two\n", "+end"},
		"and no end":    {"+one\n", "no\n+two\n+end", ""},
	} {
		to := &capped{limit: 100, over: func() { t.Error("there is room") }}
		s := &sieve{to: to, keep: wanted}
		for _, part := range parts {
			n, err := s.Write([]byte(part))
			assert.NoError(t, err)
			assert.Equal(t, len(part), n)
		}
		assert.Equal(t, "+one\n+two\n", string(to.bytes()), "%s: a line may go on", name)
		s.flush()
		s.flush()
		assert.Equal(t, "+one\n+two\n+end", string(to.bytes()), name)
	}
}

func TestALineThatNeverEndsCountsThoughNobodyWantsIt(t *testing.T) {
	t.Parallel()
	floods := 0
	to := &capped{limit: 10, over: func() { floods++ }}
	s := &sieve{to: to, keep: func([]byte) bool { return false }}
	_, _ = s.Write([]byte("short\n0123456789"))
	assert.False(t, to.flooded())
	assert.Empty(t, to.bytes())
	_, _ = s.Write([]byte("more"))
	assert.True(t, to.flooded(), "or a program could fill the memory")
	assert.Empty(t, s.part)
	_, _ = s.Write([]byte("and still more"))
	assert.Equal(t, 1, floods)
}
