package engine_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/model"
)

// differs gives a branch files that git shows as changed as soon as they are checked out.
func (w *world) differs(branch string) {
	w.t.Helper()
	w.write("octo", branch, "old.txt", "an old\r\nfile\r\n")
	w.write("octo", branch, ".github/workflows/ci.yml", "on: push\r\n")
	w.write("octo", branch, ".gitattributes", "* text eol=lf\n")
}

// changed are the files that differ between two heads.
func (w *world) changed(from, to string) []string {
	w.t.Helper()
	diff := w.api("octo", "GET", w.path("/compare/"+from+"..."+to), nil)
	names := []string{}
	for _, f := range diff["files"].([]any) {
		names = append(names, f.(map[string]any)["filename"].(string))
	}
	return names
}

// TestFilesThatNobodyTouchedAreNobodysWork: blobs and attributes disagree, so that git shows files as changed before the agent starts.
func TestFilesThatNobodyTouchedAreNobodysWork(t *testing.T) {
	type row struct {
		place  string
		pushed []string
	}
	each(t, map[string]row{
		"answer":                        {workspace, []string{"greeting.txt"}},
		"talk":                          {ownClone, []string{}},
		"answer+commits all":            {ownClone, []string{"greeting.txt"}},
		"talk+commits all":              {workspace, []string{}},
		"answer+stages all":             {workspace, []string{"greeting.txt"}},
		"answer+commits all+rewrites":   {ownClone, []string{"greeting.txt", "old.txt"}},
		"answer+commits all+puts aside": {workspace, []string{"greeting.txt"}},
	}, func(t *testing.T, how string, c row) {
		w := newWorld(t, `required_tests = ["sh", "-c", "git status --short >status.txt"]`)
		w.differs(w.head)
		if c.place == workspace {
			w.clone()
		}
		w.agent = how
		before := w.tip()
		w.done(w.handle(w.remark("alice", "Answer me.")))
		assert.Equal(t, c.pushed, w.changed(before, w.tip()))
		said := w.marked("turn", "done")[0]["body"]
		assert.NotContains(t, said, "left changes")
		assert.NotContains(t, said, "git stash")
		assert.Empty(t, w.checkpoints())
	})
}

func TestACheckpointHasNothingThatNobodyTouched(t *testing.T) {
	w := newWorld(t)
	w.differs(w.head)
	w.agent = "answer+commits all+doubts"
	w.gives(model.ResultBlocked, w.handle(w.remark("alice", "Answer me.")))
	branch, _ := w.kept()
	assert.Equal(t, []string{"greeting.txt"}, w.changed(w.tip(), branch))
}

func TestAnIssuesPullRequestHasNothingThatNobodyTouched(t *testing.T) {
	every(t, []string{"job", "job+commits all"}, func(t *testing.T, how string) {
		w := newIssue(t)
		w.differs("main")
		w.agent = how
		w.done(w.handle(w.label("alice", bugfix)))
		assert.Equal(t, []string{"greeting.txt"}, w.changed("main", w.pulls()[0].at("head", "sha").(string)))
	})
}

func TestAForksFixHasNothingThatNobodyTouched(t *testing.T) {
	w := newExternal(t,
		`evaluate = ["sh", "-c", 'cat >/dev/null; if [ -f mended ]; then echo "{\"verdict\":\"approve\"}"; else echo "{\"verdict\":\"fix\",\"reason\":\"mend it\"}"; fi']`,
		`fix = ["sh", "-c", "cat >/dev/null; echo yes >mended"]`)
	w.differs("main")
	base := w.at("main")
	w.admits("carol")
	assert.Equal(t, "merged", w.badge())
	assert.Equal(t, []string{"f.txt", "mended"}, w.changed(base, "main"))
	w.quiet()
}

// TestWhatIsInTheFilesIsPushedAndTheRestIsKept: what agents do to a checkout beside their work.
func TestWhatIsInTheFilesIsPushedAndTheRestIsKept(t *testing.T) {
	type row struct {
		pushed []string
		says   string
		kept   []string
	}
	each(t, map[string]row{
		"answer+stashes":      {[]string{"greeting.txt"}, "the agent left changes in git stash; they were not pushed, but kept on branch ", []string{"later.txt"}},
		"answer+skips":        {[]string{"greeting.txt"}, "", nil},
		"answer+loses index":  {[]string{"greeting.txt"}, "", nil},
		"answer+nests":        {[]string{"greeting.txt"}, `these paths cannot be committed, so they are neither pushed nor kept: "nested/" (it is a repository of its own)`, nil},
		"answer+roots":        {[]string{"greeting.txt"}, `the agent left commits on branch "refs/heads/root", which was not its branch; they were not pushed, but kept on branch `, []string{"root.txt"}},
		"answer+starts early": {[]string{"greeting.txt"}, `the agent left commits on branch "refs/heads/early", which was not its branch; they were not pushed, but kept on branch `, []string{"early.txt"}},
	}, func(t *testing.T, how string, row row) {
		w := newWorld(t).whoseAgent(how)
		before := w.tip()
		w.done(w.handle(w.remark("alice", "Answer me.")))
		assert.Equal(t, row.pushed, w.changed(before, w.tip()))
		said := w.marked("turn", "done")[0]["body"]
		assert.Contains(t, said, row.says)
		assert.NotContains(t, said, "hint:")
		if row.kept == nil {
			assert.Empty(t, w.checkpoints())
			return
		}
		branch, _ := w.kept()
		assert.Contains(t, said, row.says+branch)
		assert.Subset(t, w.changed(before, branch), row.kept)
	})
}

func TestASparseWorkspaceTakesNewFilesOutsideOfIt(t *testing.T) {
	w := newWorld(t)
	w.write("octo", w.head, "in/a.txt", "a\n")
	w.write("octo", w.head, "out/b.txt", "b\n")
	w.clone("--sparse")
	w.agent = "answer+goes out"
	before := w.tip()
	w.done(w.handle(w.remark("alice", "Answer me.")))
	assert.Equal(t, []string{"greeting.txt", "out/new.txt"}, w.changed(before, w.tip()))
}
