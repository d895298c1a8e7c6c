package internal_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// budget is the most that a part of the house may weigh.
type budget struct {
	room  string
	dirs  string // a regular expression for its packages
	lines int
}

// budgets are the most lines of code, without blank ones, comments and imports, that each part of the house may have. They only fall.
// Whoever needs more says in the same commit what the lines buy. A package belongs to the first row that names it.
var budgets = []budget{
	{"testkit", `internal/(git/gittest|train/trainsim|golden|must|clock/clocktest)`, 2153},
	{"sandbox", `internal/sandbox(/.*)?`, 16840},
	{"scripts", `scripts(/.*)?`, 4052},
	{"engine", `internal/engine(/.*)?`, 16934},
	{"github", `internal/github(/.*)?`, 5716},
	{"git", `internal/git(/.*)?`, 10741},
	{"agent", `internal/agent(/.*)?`, 6261},
	{"cli", `cmd(/.*)?|internal/cli`, 4253},
	{"train", `internal/train`, 1850},
	{"decide", `internal/(merge|turn|flow|command|external|review|roadmap|sweep|needs|lineage)`, 10136},
	{"records", `internal/(model|journal|handoff|transcript)`, 4647},
	{"doctor", `internal/doctor(/.*)?`, 2206},
	{"leak", `internal/leak`, 889},
	{"surfaces", `internal/(config|report|dashboard|markdown|frontmatter)`, 5588},
	{"ground", `.*`, 831},
}

func TestEveryRoomKeepsItsBudget(t *testing.T) {
	found := map[string]int{}
	require.NoError(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && path != ".." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
				return fs.SkipDir
			}
			return err
		}
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		dir := filepath.ToSlash(filepath.Dir(strings.TrimPrefix(path, "../")))
		at := slices.IndexFunc(budgets, func(b budget) bool {
			return regexp.MustCompile("^(" + b.dirs + ")$").MatchString(dir)
		})
		text, err := os.ReadFile(path)
		found[budgets[at].room] += linesOfCode(string(text))
		return err
	}))
	for _, b := range budgets {
		assert.LessOrEqual(t, found[b.room], b.lines, "%s: take lines away, or raise its budget and say in the commit what they buy", b.room)
		assert.GreaterOrEqual(t, found[b.room], b.lines-100, "%s became smaller: lower its budget", b.room)
	}
}

// linesOfCode counts lines as people read them: no blank ones, no comments of their own, no imports.
func linesOfCode(text string) (n int) {
	imports := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "import (":
			imports = true
		case imports:
			imports = line != ")"
		case line != "" && !strings.HasPrefix(line, "//") && !strings.HasPrefix(line, "import "):
			n++
		}
	}
	return n
}
