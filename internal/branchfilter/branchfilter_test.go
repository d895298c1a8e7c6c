package branchfilter_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/branchfilter"
)

// The cheat sheet of GitHub's documentation, and what it leaves to be thought of.
func TestAPatternNamesTheBranchesThatGitHubsNames(t *testing.T) {
	t.Parallel()
	for pattern, tt := range map[string]struct{ yes, no []string }{
		"feature/*":        {[]string{"feature/my-branch", "feature/your-branch"}, []string{"feature/a/b", "feature", "xfeature/a"}},
		"feature/**":       {[]string{"feature/beta-a/my-branch", "feature/your-branch", "feature/mona/the/octocat"}, []string{"feature", "features/a"}},
		"main":             {[]string{"main"}, []string{"main2", "a/main", "Main"}},
		"*":                {[]string{"main", "releases"}, []string{"all/the/branches"}},
		"**":               {[]string{"main", "all/the/branches", "every/tag"}, nil},
		"*feature":         {[]string{"mona-feature", "feature", "ver-10-feature"}, []string{"a/feature"}},
		"v2*":              {[]string{"v2", "v2.0", "v2.9"}, []string{"v2/x"}},
		"v[12].[0-9]+.[0]": {[]string{"v1.10.0", "v2.1.0"}, []string{"v1..0", "v3.1.0", "v1x1.0"}},
		"releases/**-ok":   {[]string{"releases/10-ok", "releases/a/b-ok"}, []string{"releases/ok"}},
		"**/docs":          {[]string{"docs", "a/docs", "a/b/docs"}, []string{"mydocs", "docs/a"}},
		"a/**/b":           {[]string{"a/b", "a/x/b", "a/x/y/b"}, []string{"ab", "a/xb"}},
		"a**/b":            {[]string{"a/b", "ax/b", "a/x/b"}, []string{"b"}},
		"octoc?t":          {[]string{"octoct", "octot"}, []string{"octocat"}},
		"colou?r[0-9]?":    {[]string{"color", "colour7"}, []string{"colouur", "color77"}},
		`fix\+\*\?`:        {[]string{"fix+*?"}, []string{"fixx", "fix+x?"}},
		`a(b)|c.d$`:        {[]string{"a(b)|c.d$"}, []string{"ab", "cxd"}},
		"ä+":               {[]string{"ä", "ää"}, []string{"a"}},
		"gh-pr-*":          {[]string{"gh-pr-8"}, []string{"gh-pr-8/fix"}},
	} {
		assert.NoError(t, branchfilter.Check(pattern), pattern)
		for _, branch := range tt.yes {
			assert.True(t, branchfilter.Match([]string{pattern}, branch), "%s names %s", pattern, branch)
		}
		for _, branch := range tt.no {
			assert.False(t, branchfilter.Match([]string{pattern}, branch), "%s does not name %s", pattern, branch)
		}
	}
}

func TestTheLastPatternThatMatchesDecides(t *testing.T) {
	t.Parallel()
	patterns := []string{"agent/**", "!agent/old/**", "agent/old/but-this"}
	for branch, want := range map[string]bool{
		"agent/small/7-hello": true, "agent/old/x": false, "agent/old/but-this": true, "main": false,
	} {
		assert.Equal(t, want, branchfilter.Match(patterns, branch), branch)
	}
	assert.False(t, branchfilter.Match([]string{"!agent/**", "x"}, "agent/a"))
	assert.True(t, branchfilter.Match([]string{"!agent/**", "agent/*"}, "agent/a"), "there was nothing to take back yet")
	assert.True(t, branchfilter.Match([]string{"a!b"}, "a!b"), "only the first character says not")
	assert.True(t, branchfilter.Match([]string{`\!a`}, "!a"))
	assert.False(t, branchfilter.Match(nil, "main"))
	assert.True(t, branchfilter.Negative("!a"))
	assert.False(t, branchfilter.Negative(`\!a`))
}

func TestWhatIsNoPattern(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]string{
		"":         "the pattern is empty",
		"!":        "the pattern is empty",
		`a\`:       `nothing follows the \`,
		"+a":       "+ stands for a repetition of the character before it, and there is none",
		"a/*?":     "? stands for a repetition of the character before it, and there is none",
		"a++":      "+ stands for a repetition of the character before it, and there is none",
		"a[":       "[ begins a set of letters, digits and their ranges, as in [a-z0-9]",
		"a[]":      "[ begins a set of letters, digits and their ranges, as in [a-z0-9]",
		"a[^b]":    "[ begins a set of letters, digits and their ranges, as in [a-z0-9]",
		"a[a-Z]":   "[ begins a set of letters, digits and their ranges, as in [a-z0-9]",
		"a[9-0]":   "[9-0]: a range goes from the lower to the higher",
		"{a,b}/**": `a branch filter knows no {a,b}: write two patterns, or \{ for the character itself`,
		"a b":      `no branch has ' ' in its name`,
		"a:b":      `no branch has ':' in its name`,
	} {
		assert.EqualError(t, branchfilter.Check(pattern), want, pattern)
		assert.False(t, branchfilter.Match([]string{pattern}, pattern), pattern)
	}
}
