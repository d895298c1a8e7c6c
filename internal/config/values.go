package config

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/mergexo/mergexo/internal/branchfilter"
	"github.com/mergexo/mergexo/internal/markdown"
	"github.com/mergexo/mergexo/internal/model"
)

// The readers of values. Each takes a value as the TOML library decodes it (string, int64, float64, bool, a time, []any,
// map[string]any, []map[string]any) and describes a problem in one line, or several for several list items.

type timeout = time.Duration

// mistake is the error for a value of another type, or outside of what the type allows.
type mistake struct {
	want string
	got  any
}

func (m mistake) Error() string { return fmt.Sprintf("want %s, got %s", m.want, describe(m.got)) }

func wrong(want string, got any) error { return mistake{want, got} }

func text(v any) (string, error) {
	s, ok := v.(string)
	if !ok {
		return "", wrong("a string", v)
	}
	if i := strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }); i >= 0 {
		return "", fmt.Errorf("holds a control character: %q", markdown.Clip(s))
	}
	return s, nil
}

func nonEmpty(v any) (string, error) {
	s, err := text(v)
	if err == nil && strings.TrimSpace(s) == "" {
		err = errors.New("must not be empty")
	}
	return s, err
}

func boolean(v any) (bool, error) {
	b, ok := v.(bool)
	if !ok {
		return false, wrong("true or false", v)
	}
	return b, nil
}

// written reads what it matters for whether it is there.
func written(v any) (*bool, error) {
	b, err := boolean(v)
	return &b, err
}

func atLeast(least int) func(any) (int, error) { return between(least, math.MaxInt32) }

func between(least, most int) func(any) (int, error) {
	want := fmt.Sprintf("a whole number from %d on", least)
	if most != math.MaxInt32 {
		want = fmt.Sprintf("a whole number from %d to %d", least, most)
	}
	return func(v any) (int, error) {
		n, ok := v.(int64)
		if !ok || n < int64(least) || n > int64(most) {
			return 0, wrong(want, v)
		}
		return int(n), nil
	}
}

func amount(v any) (float64, error) {
	if n, ok := v.(int64); ok {
		v = float64(n)
	}
	f, ok := v.(float64)
	if !ok || math.IsNaN(f) || math.IsInf(f, 0) || f < 0 {
		return 0, wrong("an amount of at least 0", v)
	}
	return f, nil
}

func duration(v any) (time.Duration, error) {
	const want = `a duration above zero such as "30m" or "90s"`
	s, ok := v.(string)
	if !ok {
		return 0, wrong(want, v)
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return 0, wrong(want, v)
	}
	return d, nil
}

func oneOf(words ...string) func(any) (string, error) {
	return func(v any) (string, error) {
		if s, ok := v.(string); ok && slices.Contains(words, s) {
			return s, nil
		}
		return "", wrong("one of "+strings.Join(words, ", "), v)
	}
}

// list reads a list whose items have their own reader.
func list(read func(any) (string, error), want string) func(any) ([]string, error) {
	return func(v any) ([]string, error) {
		items, ok := v.([]any)
		if !ok {
			return nil, wrong(want, v)
		}
		var out []string
		var problems []error
		for i, item := range items {
			s, err := read(item)
			if err != nil {
				problems = append(problems, fmt.Errorf("item %d: %w", i+1, err))
			}
			out = append(out, s)
		}
		return out, errors.Join(problems...)
	}
}

var (
	texts        = list(nonEmpty, "a list of strings")
	arguments    = list(argument, "a list of strings")
	globs        = list(glob, "a list of globs")
	regexes      = list(regex, "a list of regular expressions")
	logins       = list(login, "a list of logins")
	passEnv      = list(envName, "a list of names of environment variables")
	repositories = list(repository, "a list of owner/name")
	reviewedWork = list(oneOf(string(model.FlowImplementation), string(model.FlowBugfix), string(model.FlowSmallJob), model.AskFeedback), "a list of kinds of work")
)

// argument reads one argument of a program: any text that exec accepts, even a multi-line script.
func argument(v any) (string, error) {
	s, ok := v.(string)
	if !ok {
		return "", wrong("a string", v)
	}
	if strings.Contains(s, "\x00") {
		return "", errors.New("contains a zero byte, which is not allowed")
	}
	return s, nil
}

// argv reads a command. A string is refused: no shell would split it.
func argv(v any) ([]string, error) {
	const want = `a list of arguments such as ["make", "test"]`
	args, err := list(argument, want)(v)
	if err == nil && len(args) > 0 && strings.TrimSpace(args[0]) == "" {
		err = errors.New("item 1: the program must not be empty")
	}
	return args, err
}

// argvOrNone reads a command that can explicitly be none; example is one.
func argvOrNone(example string) func(any) (Tests, error) {
	return func(v any) (Tests, error) {
		if v == "none" {
			return Tests{None: true}, nil
		}
		if _, ok := v.([]any); !ok {
			return Tests{}, wrong("a list of arguments such as "+example+`, or "none"`, v)
		}
		args, err := argv(v)
		return Tests{Argv: args}, err
	}
}

func glob(v any) (string, error) {
	s, err := nonEmpty(v)
	if err == nil && !doublestar.ValidatePattern(s) {
		err = fmt.Errorf("not a glob: %q", markdown.Clip(s))
	}
	return s, err
}

// branchPattern reads a pattern of a branch filter.
func branchPattern(v any) (string, error) {
	s, err := nonEmpty(v)
	if err != nil {
		return "", err
	}
	if err := branchfilter.Check(s); err != nil {
		return "", fmt.Errorf("not a branch filter of GitHub's: %q: %w", markdown.Clip(s), err)
	}
	return s, nil
}

// branchFilter reads the one pattern of a rule.
func branchFilter(v any) (string, error) {
	s, err := branchPattern(v)
	if err == nil && branchfilter.Negative(s) {
		err = fmt.Errorf("%q only excludes branches from other patterns, and a rule has one pattern: name the branches it is for", markdown.Clip(s))
	}
	return s, err
}

// branchFilters reads a list of patterns. An empty list is valid; one with only exceptions is a mistake.
func branchFilters(v any) ([]string, error) {
	patterns, err := list(branchPattern, "a list of branch filters")(v)
	if err == nil && len(patterns) > 0 && !slices.ContainsFunc(patterns, func(p string) bool { return !branchfilter.Negative(p) }) {
		err = errors.New(`every pattern begins with !, so no branch is tracked: begin with what they are exceptions of, such as "agent/**"`)
	}
	return patterns, err
}

func regex(v any) (string, error) {
	s, err := nonEmpty(v)
	if err != nil {
		return "", err
	}
	if _, err := regexp.Compile(s); err != nil {
		return "", fmt.Errorf("not a regular expression: %s", markdown.OneLine(strings.TrimPrefix(err.Error(), "error parsing regexp: ")))
	}
	return s, nil
}

var loginShape = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*(\[bot\])?$`)

func login(v any) (string, error) {
	s, err := nonEmpty(v)
	if err != nil {
		return "", err
	}
	if strings.HasPrefix(s, "@") {
		return "", fmt.Errorf("write the login without @, got %q", markdown.Clip(s))
	}
	if !loginShape.MatchString(s) {
		return "", wrong("a login", v)
	}
	return s, nil
}

var userShape = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)

func userName(v any) (string, error) {
	s, err := text(v)
	if err == nil && s != "" && !userShape.MatchString(s) {
		err = wrong("the name of a user of the runner", v)
	}
	return s, err
}

// path reads a path inside the repository.
func path(v any) (string, error) {
	s, err := text(v)
	if err == nil && (strings.HasPrefix(s, "/") || slices.Contains(strings.Split(s, "/"), "..")) {
		err = wrong("a path inside the repository", v)
	}
	return s, err
}

func repository(v any) (string, error) {
	s, err := nonEmpty(v)
	if err == nil {
		_, err = model.ParseRepo(s)
	}
	return s, err
}

var envShape = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// envName refuses names that would give the agent the run's own credentials: the token, GitHub's runtime tokens, our keys.
func envName(v any) (string, error) {
	s, err := nonEmpty(v)
	if err != nil {
		return "", err
	}
	if !envShape.MatchString(s) {
		return "", wrong("the name of an environment variable", v)
	}
	name := strings.ToUpper(s)
	for _, own := range []string{"GITHUB_TOKEN", "GH_TOKEN", "INPUT_TOKEN", "INPUT_SIGNING_KEY"} {
		if name == own {
			return "", fmt.Errorf("%s would hand our credentials to the agent, which must never see them", s)
		}
	}
	for _, prefix := range []string{"ACTIONS_", "MERGEXO_"} {
		if strings.HasPrefix(name, prefix) {
			return "", fmt.Errorf("%s would hand credentials of the run to the agent, which must never see them (all of %s*)", s, prefix)
		}
	}
	return s, nil
}

// describe names a value's type in TOML's terms.
func describe(v any) string {
	switch v := v.(type) {
	case string:
		return fmt.Sprintf("%q", markdown.Clip(v))
	case int64:
		return fmt.Sprintf("the number %d", v)
	case float64:
		return fmt.Sprintf("the number %v", v)
	case bool:
		return fmt.Sprintf("%t", v)
	case time.Time:
		return "a date"
	case []any:
		if len(v) == 0 {
			return "an empty list"
		}
		return "a list"
	case []map[string]any:
		return "a list of tables"
	case map[string]any:
		return "a table"
	}
	return fmt.Sprintf("a %T", v)
}
