package agent

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
	"github.com/mergexo/mergexo/internal/strictjson"
)

// rules are what an outcome must have. An agent quotes files in whatever encoding they are, and a turn is not lost for a
// letter; package handoff takes UTF-8 only, since MergeXO itself writes what it reads.
func rules(req model.Request) strictjson.Rules {
	allowed := append(takes(req), ours...)
	return strictjson.Rules{
		Name: "outcome",
		Required: map[string][]string{
			"review_replies[]": {"review_comment_id", "body"},
			"git_ops[]":        {"op"},
			"roadmap_items[]":  {"key", "title", "flow", "needs", "acceptance"},
			"findings[]":       {"path", "line", "severity", "text"},
		},
		Nullable: []string{""},
		Only:     map[string][]string{"": allowed},
		AnyBytes: true,
		Hint: func(field string, known []string) string {
			near := didYouMean(field, known)
			if near == "" && slices.Equal(known, allowed) {
				return fmt.Sprintf(": an answer to %s has %s", requestName(req), strings.Join(known, ", "))
			}
			return near
		},
	}
}

// itemFlows are how the items of a roadmap are done.
var itemFlows = []string{model.AskDesign, model.AskBugfix, model.AskSmallJob}

var gitOps = []string{"fetch_origin", "merge_origin_default_branch"}

// Decode reads an outcome of a request, as strict as strictjson is, and names the field that is wrong. A top-level field
// may be null, which is the same as leaving it out. Errors are *Error of kind Output.
func Decode(stdout []byte, req model.Request) (model.Outcome, error) {
	object, rest, err := strictjson.First(stdout)
	if errors.Is(err, io.EOF) {
		return model.Outcome{}, wrong("it wrote nothing on stdout: want one JSON object")
	}
	if err != nil {
		return model.Outcome{}, wrong("its output is not JSON (%v): it begins with \"%s\"", err, words{text: string(stdout), most: 80})
	}
	if rest = bytes.TrimSpace(rest); len(rest) > 0 {
		return model.Outcome{}, wrong("its output continues after the JSON object: \"%s\"", words{text: string(rest), most: 80})
	}
	var outcome model.Outcome
	if err := strictjson.Decode(object, &outcome, rules(req)); err != nil {
		return model.Outcome{}, wrong("%v", err)
	}
	if u := outcome.Usage; u.InputTokens < 0 || u.OutputTokens < 0 || u.CostUSD < 0 {
		return model.Outcome{}, wrong("usage: want no negative numbers")
	}
	return outcome, nil
}
