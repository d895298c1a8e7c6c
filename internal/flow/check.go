package flow

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// Invalid describes what is wrong with a parsed outcome.
type Invalid struct {
	Field, Detail string
	Reason        string // model.ReasonOutcome, or model.ReasonNoChange if the only problem is that nothing changed
}

func (e *Invalid) Error() string { return e.Field + ": " + e.Detail }

func invalid(field, detail string, args ...any) error {
	return &Invalid{field, fmt.Sprintf(detail, args...), model.ReasonOutcome}
}

// Limits of an outcome.
const (
	maxTouchPaths = 200
	maxTouchPath  = 500 // bytes
)

// Validate checks an outcome against its flow. changed says whether the agent left anything to push: commits or uncommitted
// changes. A blocked agent owes nothing else. Errors are *Invalid.
func Validate(f model.Flow, o model.Outcome, changed bool) error {
	message := strings.TrimSpace(o.CommitMessage)
	switch {
	case strings.TrimSpace(o.BlockedReason) != "":
		return nil
	case f == model.FlowDesign:
		return validDesign(o)
	case f == model.FlowRoadmap:
		return validRoadmap(o)
	case message != "" && !changed:
		return invalid("commit_message", "given, but nothing changed in the checkout")
	case !changed:
		return &Invalid{"commit_message", "missing, and nothing changed in the checkout", model.ReasonNoChange}
	}
	return nil
}

func validDesign(o model.Outcome) error {
	switch {
	case strings.TrimSpace(withoutFrontMatter(o.DesignDoc)) == "":
		return invalid("design_doc_markdown", "empty")
	case blank(o.Title):
		return invalid("title", "empty")
	case len(o.TouchPaths) > maxTouchPaths:
		return invalid("touch_paths", "%d paths, at most %d; use globs to name many", len(o.TouchPaths), maxTouchPaths)
	}
	for i, p := range o.TouchPaths {
		if wrong := badPath(p); wrong != "" {
			return invalid(fmt.Sprintf("touch_paths[%d]", i), "%s", wrong)
		}
	}
	return nil
}

// validRoadmap leaves the items themselves to whoever writes the file, which names what is wrong by its line.
func validRoadmap(o model.Outcome) error {
	switch {
	case blank(o.Title):
		return invalid("title", "empty")
	case len(o.RoadmapItems) == 0:
		return invalid("roadmap_items", "empty")
	}
	return nil
}

// blank reports whether a text has no visible content.
func blank(s string) bool {
	return strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || markdown.Invisible(r) }) == ""
}

var drive = regexp.MustCompile(`^[A-Za-z]:`)

// badPath says why a path or glob is not one within the tree, or "". Alternatives in braces are paths too.
func badPath(p string) string {
	steps := strings.FieldsFunc(p, func(r rune) bool { return strings.ContainsRune("/{},", r) })
	switch {
	case blank(p):
		return "empty"
	case len(p) > maxTouchPath:
		return fmt.Sprintf("%d bytes; at most %d", len(p), maxTouchPath)
	case !utf8.ValidString(p) || strings.ContainsFunc(p, func(r rune) bool { return unicode.IsControl(r) || markdown.Invisible(r) }):
		return "an invisible character"
	case strings.Contains(p, `\`):
		return "a backslash; write paths with slashes"
	case strings.HasPrefix(p, "/") || drive.MatchString(p):
		return "absolute; write paths relative to the top of the repository"
	case slices.Contains(steps, ".."):
		return "it leaves the repository"
	case slices.ContainsFunc(steps, func(s string) bool { return strings.EqualFold(s, ".git") }):
		return "it is git's own"
	case strings.Contains(p, "//") || trimmed(p) == "" || slices.Contains(strings.Split(trimmed(p), "/"), "."):
		return "not a path that git could hold"
	case !doublestar.ValidatePattern(p):
		return "not a glob"
	}
	return ""
}

// trimmed removes "./" and "/" around a directory.
func trimmed(p string) string { return strings.TrimSuffix(strings.TrimPrefix(p, "./"), "/") }

// Tested reports whether at least one path matches a pattern of [repo] test_file_regex. Without patterns it is true. An
// invalid pattern matches nothing: the settings were validated.
func Tested(changed, patterns []string) bool {
	if len(patterns) == 0 {
		return true
	}
	for _, p := range patterns {
		if re, err := regexp.Compile(p); err == nil && slices.ContainsFunc(changed, re.MatchString) {
			return true
		}
	}
	return false
}

// Outside returns the changed paths that a design did not announce, in order. A directory covers everything below it. A
// design without announced paths covers all.
func Outside(changed, touchPaths []string) []string {
	if len(touchPaths) == 0 {
		return nil
	}
	var out []string
	for _, c := range changed {
		if !slices.ContainsFunc(touchPaths, func(p string) bool { return covers(trimmed(p), path.Clean(c)) }) {
			out = append(out, c)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func covers(pattern, file string) bool {
	ok, _ := doublestar.Match(pattern, file) // an invalid pattern only covers what is below it
	return ok || strings.HasPrefix(file, pattern+"/")
}
