package cli_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/manual"
)

func TestHelpListsAndPrintsEveryPageOfTheManual(t *testing.T) {
	t.Parallel()
	list := program(t, nil, "help").ok(t)
	for _, topic := range manual.Topics {
		assert.Contains(t, list.out, "\n   "+topic.Name+" ")
		page, ok := manual.Page(topic.Name)
		require.True(t, ok)
		assert.True(t, strings.HasSuffix(program(t, nil, "help", topic.Name).ok(t).out, manual.Plain(page)), topic.Name)
	}
}

func TestHelpOfACommandThatIsATopicTooIsBoth(t *testing.T) {
	t.Parallel()
	page, _ := manual.Page("sandbox")
	flags := program(t, nil, "sandbox", "--help")
	assert.Equal(t, flags.out+"\n"+manual.Plain(page), program(t, nil, "help", "sandbox").out)
}

func TestHelpOfASetting(t *testing.T) {
	t.Parallel()
	got := program(t, nil, "help", "feedback.ci").ok(t)
	assert.Equal(t, "`feedback.ci`: one of never, first_fail, all_complete. Default: `\"never\"`.\n"+
		"  When failed workflow runs become feedback: never, after the first failure, or after all runs have finished. See ci (mergexo help ci).\n", got.out)
}
