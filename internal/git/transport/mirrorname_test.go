package transport_test

import (
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git/transport"
)

func TestNamesOfMirrors(t *testing.T) {
	long := strings.Repeat("long/", 60) + strings.Repeat("ä", 100)
	for _, test := range []struct{ branch, taken, want string }{
		{"feature", "", "gh-pr-7/feature"},
		{"main", "main", "gh-pr-7/main"},
		{"a/b", "", "gh-pr-7/a/b"},
		{"feature", "gh-pr-7/feature", "gh-pr-7/feature-2"},
		{"feature", "gh-pr-7/feature gh-pr-7/feature-2", "gh-pr-7/feature-3"},
		{"feature", "gh-pr-7", "gh-pr-7-mirror/feature"},
		{"feature", "gh-pr-7 gh-pr-7-mirror", "gh-pr-7-mirror-2/feature"},
		{"feature", "gh-pr-7 gh-pr-7-mirror/feature", "gh-pr-7-mirror/feature-2"},
		{"a/b", "gh-pr-7/a", "gh-pr-7/a-b-2"},
		{"gh-pr-8/x", "", "gh-pr-7/gh-pr-8/x"},
		{"", "", "gh-pr-7/head"},
		{"../.hidden//x.lock/a b~^:?*[\\@{.", "", "gh-pr-7/hidden/x-lock/a-b-------@-"},
		{"-x", "", "gh-pr-7/-x"},
		{"bro\xffken\x00", "", "gh-pr-7/bro-ken-"},
		{strings.Repeat("x", 300), "", "gh-pr-7/" + strings.Repeat("x", 236)},
		{strings.Repeat("x", 235) + "ä", "", "gh-pr-7/" + strings.Repeat("x", 235)},
		{strings.Repeat("x", 231) + ".lock", "", "gh-pr-7/" + strings.Repeat("x", 231) + "-lock"},
		{long, "", "gh-pr-7/" + strings.Repeat("long/", 47) + "l"},
	} {
		taken := strings.Fields(test.taken)
		assert.Equal(t, test.want, transport.MirrorName(7, test.branch, func(name string) bool {
			for _, one := range taken {
				if one == name {
					return true
				}
			}
			return false
		}), test.branch)
	}
	assert.NotEmpty(t, transport.MirrorName(7, "x", func(string) bool { return true }), "it ends")
}

func TestWhatIsAMirrorByItsName(t *testing.T) {
	for branch, want := range map[string]int{
		"gh-pr-7": 7, "gh-pr-7/x": 7, "gh-pr-12/a/b": 12, "gh-pr-7-mirror/x": 7, "gh-pr-7-mirror-2/x": 7, "gh-pr-9999999999/x": 9999999999,
		"gh-pr-7-mirror": 0, "gh-pr-7-fix": 0, "gh-pr-": 0, "gh-pr-x": 0, "gh-pr-0/x": 0, "gh-pr-07/x": 0, "gh-pr-7/": 0, "a/gh-pr-7/x": 0, "GH-PR-7/x": 0, "gh-pr--7/x": 0, "": 0,
		"gh-pr-99999999999/x": 0, "gh-pr-7x/y": 0, "gh-pr-7\n": 0,
	} {
		got, _, ok := transport.MirrorOf(branch)
		assert.Equal(t, want, got, branch)
		assert.Equal(t, want != 0, ok, branch)
	}
}

func TestTheNameOfAMirrorHasTheBranchAsItIs(t *testing.T) {
	for branch, want := range map[string]string{
		"gh-pr-7/Fix/Big_Thing.2": "Fix/Big_Thing.2", "gh-pr-7-mirror/x": "x", "gh-pr-7-mirror-2/a/b": "a/b", "gh-pr-7/gh-pr-8/x": "gh-pr-8/x",
		"gh-pr-7": "gh-pr-7", "feature": "",
	} {
		_, slug, _ := transport.MirrorOf(branch)
		assert.Equal(t, want, slug, branch)
	}
}

// TestAnyBranchCanBeMirrored makes names from random texts, some of which are taken.
func TestAnyBranchCanBeMirrored(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	alphabet := []string{"a", "b", "/", ".", "..", "@", "{", "-", ".lock", "ä", "漢", " ", "~", "\\", "\x7f", "\n", "\xff", "gh-pr-3", "\u202e", strings.Repeat("long", 20)}
	for range 300 {
		var text strings.Builder
		for range random.IntN(30) {
			text.WriteString(alphabet[random.IntN(len(alphabet))])
		}
		number := 1 + random.IntN(100000)
		full := random.IntN(4)
		all := map[string]bool{}
		taken := func(name string) bool {
			if _, seen := all[name]; !seen {
				all[name] = random.IntN(4) < full
			}
			return all[name]
		}
		name := transport.MirrorName(number, text.String(), taken)
		require.False(t, all[name])
		for i := range name {
			require.False(t, name[i] == '/' && all[name[:i]], "%q is below a branch", name)
		}
		require.LessOrEqual(t, len(name), 244)
		got, _, ok := transport.MirrorOf(name)
		require.True(t, ok, "%q", name)
		require.Equal(t, number, got, "%q", name)
		out, err := exec.Command("git", "check-ref-format", "refs/heads/"+name).CombinedOutput()
		require.NoError(t, err, "%q: %s", name, out)
	}
}
