package cli_test

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/agent"
	"github.com/mergexo/mergexo/internal/manual"
	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/must"
)

func TestTheManualTellsHowToInstallEveryAgent(t *testing.T) {
	page := read(t, pages+"agents.md")
	for _, name := range agent.Names() {
		row := regexp.MustCompile(`(?m)^\| ` + "`\"" + name + "\"`" + ` \|.*$`).FindString(page)
		require.NotEmpty(t, row, name)
		_, install, keys := agent.SetUp(name)
		assert.Contains(t, row, install)
		for _, key := range keys {
			assert.Contains(t, row, "`"+key+"`")
		}
	}
}

// TestTheManualTellsOfEveryFieldOfTheContract holds the format of requests, and the example of an outcome.
func TestTheManualTellsOfEveryFieldOfTheContract(t *testing.T) {
	page := read(t, pages+"agents.md")
	for _, whole := range []reflect.Type{reflect.TypeFor[model.Request](), reflect.TypeFor[model.Outcome]()} {
		for _, f := range reflect.VisibleFields(whole) {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "-" {
				assert.Regexp(t, "[`\"]"+name+"[`\"]", page)
			}
		}
	}
	shown := fenced("json").FindStringSubmatch(page)
	require.NotNil(t, shown)
	assert.NotEmpty(t, must.Get(agent.Decode([]byte(shown[1]), model.Request{Kind: model.AskFeedback}))(t).ReviewReplies)
}

func TestTheReadmeLinksEveryPage(t *testing.T) {
	for _, topic := range manual.Topics {
		assert.Contains(t, read(t, readme), fmt.Sprintf("\n| [%s](%s%s.md) | %s |\n", topic.Name, pages, topic.Name, topic.About))
	}
}

// TestTheCommandsInCommentsExist: the page on reviewing shows the list of commands, as a run prints it.
func TestTheCommandsInCommentsExist(t *testing.T) {
	known := map[string]bool{}
	for _, found := range regexp.MustCompile("(?m)^  \\| \\| `/mergexo ([a-z]+)").FindAllStringSubmatch(read(t, pages+"reviewing.md"), -1) {
		known[found[1]] = true
	}
	assert.Greater(t, len(known), 10)
	for _, page := range allPages() {
		for _, found := range regexp.MustCompile("`/mergexo ([a-z]+)").FindAllStringSubmatch(read(t, page), -1) {
			assert.True(t, known[found[1]], "%s: /mergexo %s", page, found[1])
		}
	}
}
