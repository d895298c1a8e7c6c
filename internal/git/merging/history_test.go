package merging_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mergexo/mergexo/internal/git"
	"github.com/mergexo/mergexo/internal/git/gittest"
)

// randomHistory is a random one of a base branch and a branch, with side branches of both, made beside a stock git that merges,
// picks and reverts for it. The same seed makes the same history, times and all.
type randomHistory struct {
	*gittest.Repo
	rand  *rand.Rand
	stock string // where the stock git works; its objects are the repository's
	files map[string]map[string]gittest.Edit
	lines int
	base  string
	head  string
	sides []string
}

// oddNames are what a name in a repository may look like.
var oddNames = []string{
	"a \"b\"\n\tc", "caf\xe9", "-rf", " lead", "tr ail ", "\u00fc/\u00e9.txt", ":(top)x", "*", "[a]?", "d0/f1/deep", "D0/F0", "\U0001f600", "x\\y", "HEAD", "d1/.gitignore", "f~HEAD",
}

// oddWords are what people write into a message or call themselves.
var oddWords = []string{"plain", "caf\xe9 noir", "\u00fcml\u00e4ut", "# no comment", "fixup! x", "  two  spaces", "\xff\xfe", "\U0001f600 at\tend ", "-----", "diff --git a/x b/x", "[skip ci]"}

func newHistory(t testing.TB, path string, seed uint64) *randomHistory {
	t.Helper()
	h := &randomHistory{Repo: gittest.NewRepo(t, path), rand: rand.New(rand.NewPCG(seed, 15)), stock: t.TempDir(), files: map[string]map[string]gittest.Edit{}}
	gittest.Must(h.inStock("init", "-q", "--template=", "."))(t)
	start := map[string]gittest.Edit{}
	for i := range 8 {
		start[fmt.Sprintf("d%d/f%d", i%2, i)] = gittest.Edit{Mode: "100644", Text: strings.ReplaceAll(gittest.Numbers(12), "\n", fmt.Sprintf(" of %d\n", i))}
	}
	start[h.pick(oddNames)] = gittest.Edit{Mode: "100644", Text: gittest.Numbers(12)}
	root := h.on(start)
	h.base, h.head, h.sides = h.change(root), root, []string{root}
	for range 3 + h.rand.IntN(9) {
		h.grow()
	}
	if h.head == root || h.rand.IntN(3) == 0 {
		h.head = h.change(h.head)
	}
	if h.rand.IntN(3) == 0 { // a base that has not moved since the branch began
		h.base = root
	}
	return h
}

// grow adds one commit somewhere.
func (h *randomHistory) grow() {
	side := h.rand.IntN(len(h.sides))
	switch h.rand.IntN(17) {
	case 0, 1, 2:
		h.base = h.change(h.base)
	case 3, 4, 5:
		h.head = h.change(h.head)
	case 6:
		h.sides = append(h.sides, h.change(h.pick(append(h.sides, h.base, h.head))))
	case 7:
		h.sides[side] = h.change(h.sides[side])
	case 8, 9, 16:
		h.join(&h.head, h.sides[side])
	case 10:
		h.join(&h.head, h.earlier(h.base))
	case 11:
		h.join(&h.base, h.pick([]string{h.sides[side], h.earlier(h.head)}))
	case 12:
		h.replay(&h.head, "cherry-pick", h.earlier(h.base))
	case 13:
		h.take(h.earlier(h.head))
	case 14:
		tip := []*string{&h.base, &h.head}[h.rand.IntN(2)]
		h.replay(tip, "revert", h.earlier(*tip))
	default:
		h.join(&h.sides[side], h.pick([]string{h.base, h.head}))
	}
}

func (h *randomHistory) pick(list []string) string { return list[h.rand.IntN(len(list))] }

// earlier is a tip or one of the commits before it.
func (h *randomHistory) earlier(tip string) string {
	return h.pick(strings.Fields(h.Git("rev-list", "--max-count=4", tip)))
}

// on is a commit with these files.
func (h *randomHistory) on(files map[string]gittest.Edit, parents ...string) string {
	edits := map[string]gittest.Edit{}
	if len(parents) > 0 {
		for path := range h.files[parents[0]] {
			edits[path] = gittest.Edit{}
		}
	}
	maps.Copy(edits, files)
	for path, e := range edits {
		if len(parents) > 0 && h.files[parents[0]][path] == e {
			delete(edits, path)
		}
	}
	h.N++
	author := fmt.Sprintf("%s <dev@example.com> %d %s", h.pick([]string{"Dev", "Zo\u00eb", "A. U. Thor"}), 1700000000+h.N, h.pick([]string{"+0200", "-0330", "+0000"}))
	sha := h.CommitBy(author, fmt.Sprintf("%s %d\n\nof %v\n%s", h.pick(oddWords), h.N, parents, h.pick([]string{"", "\nTrailer: yes\n", "body\r\n"})), edits, parents...)
	h.files[sha] = files
	return sha
}

// change is a commit on top of another one; some of them change nothing.
func (h *randomHistory) change(on string) string {
	files := maps.Clone(h.files[on])
	for range h.rand.IntN(4) {
		paths := slices.Sorted(maps.Keys(files))
		if len(paths) == 0 {
			break
		}
		path := h.pick(paths)
		switch e := files[path]; h.rand.IntN(16) {
		case 0:
			if len(files) > 3 {
				delete(files, path)
			}
		case 1, 2:
			delete(files, path)
			h.put(files, path+".moved", e)
		case 3:
			delete(files, path)
			h.put(files, h.pick(oddNames), e)
		default:
			h.put(files, path, h.edited(e))
		}
		if h.rand.IntN(5) == 0 {
			h.put(files, h.pick(oddNames), h.fresh())
		}
	}
	return h.on(files, on)
}

// put sets a file; what cannot be beside it goes.
func (h *randomHistory) put(files map[string]gittest.Edit, path string, e gittest.Edit) {
	maps.DeleteFunc(files, func(other string, _ gittest.Edit) bool {
		return strings.HasPrefix(other, path+"/") || strings.HasPrefix(path, other+"/")
	})
	files[path] = e
}

// fresh is a new entry of a tree.
func (h *randomHistory) fresh() gittest.Edit {
	h.lines++
	switch h.rand.IntN(5) {
	case 0:
		return gittest.Edit{Mode: git.ModeSymlink, Text: h.pick([]string{"d0/f0", "nowhere", "caf\xe9"})}
	case 1:
		return gittest.Edit{Mode: git.ModeSubmodule, Text: fmt.Sprintf("%040x", h.rand.IntN(3)+1)}
	case 2:
		return gittest.Edit{Mode: "100644", Text: fmt.Sprintf("\x00binary %d\xff", h.rand.IntN(3))}
	case 3:
		return gittest.Edit{Mode: "100755", Text: gittest.Numbers(12)}
	}
	return gittest.Edit{Mode: "100644", Text: strings.ReplaceAll(gittest.Numbers(12), "\n", "\r\n")}
}

// edited is an entry that somebody worked on.
func (h *randomHistory) edited(e gittest.Edit) gittest.Edit {
	if !strings.HasPrefix(e.Mode, "100") {
		return h.fresh()
	}
	rows := strings.SplitAfter(strings.TrimSuffix(e.Text, "\n"), "\n")
	at := h.rand.IntN(len(rows))
	h.lines++
	switch h.rand.IntN(12) {
	case 0:
		return gittest.Edit{Mode: map[string]string{"100644": "100755", "100755": "100644"}[e.Mode], Text: e.Text}
	case 1:
		if strings.Contains(e.Text, "\r\n") {
			return gittest.Edit{Mode: e.Mode, Text: strings.ReplaceAll(e.Text, "\r\n", "\n")}
		}
		return gittest.Edit{Mode: e.Mode, Text: strings.ReplaceAll(e.Text, "\n", "\r\n")}
	case 2:
		return gittest.Edit{Mode: e.Mode, Text: strings.TrimSuffix(e.Text, "\n")}
	case 3:
		rows = slices.Insert(rows, at, fmt.Sprintf("new %d\n", h.lines))
	case 4:
		rows = slices.Delete(rows, at, at+1)
	case 5: // what others may write as well
		rows[at] = "the same\n"
	default:
		rows[at] = fmt.Sprintf("line %d\n", h.lines)
	}
	return gittest.Edit{Mode: e.Mode, Text: strings.Join(rows, "") + "\n"}
}

// join merges into a tip as people do: where it conflicts, they take one side or give it up; some change more on the way.
func (h *randomHistory) join(tip *string, other string) {
	onto, parents := *tip, []string{*tip, other}
	if sha, ok := h.merged(onto, other); ok {
		if sha == onto || sha == other {
			return
		}
		*tip = sha
	} else if sha, ok = h.merged(onto, other, "-X", h.pick([]string{"ours", "theirs"})); ok {
		*tip = sha
	} else {
		return
	}
	switch h.rand.IntN(12) {
	case 0:
		files := maps.Clone(h.files[*tip])
		h.put(files, "evil", h.fresh())
		*tip = h.on(files, parents...)
	case 1: // with a third one, that brings nothing
		third := h.on(h.files[onto], onto)
		*tip = h.on(h.files[*tip], append(parents, third)...)
	}
}

// merged is a merge by the stock git, where it is clean.
func (h *randomHistory) merged(onto, other string, args ...string) (string, bool) {
	h.at(onto)
	out, err := h.inStock(append(append([]string{"merge", "-q", "--no-ff", "-m", "Merge"}, args...), other)...)
	if err != nil {
		require.Contains(h.T, out, "CONFLICT", "merge %s into %s", other, onto)
		return "", false
	}
	return h.read(), true
}

// take has the base take over a commit of the branch, and often change the same lines once more: then the merge conflicts, and
// a rebase need not.
func (h *randomHistory) take(commit string) {
	before := h.base
	if h.replay(&h.base, "cherry-pick", commit); h.base == before || h.rand.IntN(3) == 0 {
		return
	}
	files := maps.Clone(h.files[h.base])
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if e := files[path]; e != h.files[before][path] && strings.HasPrefix(e.Mode, "100") {
			h.lines++
			files[path] = gittest.Edit{Mode: e.Mode, Text: strings.Replace(strings.ReplaceAll(e.Text, "line", "other"), "the same", fmt.Sprint("more ", h.lines), 1)}
		}
	}
	h.base = h.on(files, h.base)
}

// replay has the stock git pick or revert a commit, where that is clean.
func (h *randomHistory) replay(tip *string, how, commit string) {
	if strings.Count(h.Git("rev-list", "--parents", "-1", commit), " ") != 1 {
		return
	}
	h.at(*tip)
	args := []string{how, "--allow-empty"}
	if how == "revert" {
		args = []string{how, "--no-edit"}
	}
	if _, err := h.inStock(append(args, commit)...); err == nil {
		*tip = h.read()
	}
}

// at puts a commit into the stock git's working tree.
func (h *randomHistory) at(commit string) {
	h.T.Helper()
	for _, name := range []string{"rebase-merge", "sequencer", "CHERRY_PICK_HEAD", "REVERT_HEAD", "MERGE_HEAD", "index", "index.lock"} {
		require.NoError(h.T, os.RemoveAll(filepath.Join(h.stock, ".git", name)))
	}
	there := gittest.Must(os.ReadDir(h.stock))(h.T)
	for _, e := range there {
		if e.Name() != ".git" {
			require.NoError(h.T, os.RemoveAll(filepath.Join(h.stock, e.Name())))
		}
	}
	out, err := h.inStock("-c", "advice.detachedHead=false", "checkout", "-q", "-f", "--detach", commit)
	require.NoError(h.T, err, out)
}

// read is the stock git's HEAD, whose files are read.
func (h *randomHistory) read() string {
	out := gittest.Must(h.inStock("rev-parse", "HEAD"))(h.T)
	sha := strings.TrimSpace(out)
	if h.files[sha] != nil {
		return sha
	}
	files := map[string]gittest.Edit{}
	for row := range strings.SplitSeq(strings.TrimSuffix(h.Git("ls-tree", "-r", "-z", sha), "\x00"), "\x00") {
		about, path, _ := strings.Cut(row, "\t")
		part := strings.Fields(about)
		if len(part) != 3 {
			continue
		}
		e := gittest.Edit{Mode: part[0], Text: part[2]}
		if part[1] == "blob" {
			text := gittest.Must(h.Run(h.Dir, "", "cat-file", "blob", part[2]))(h.T)
			e.Text = text
		}
		files[path] = e
	}
	h.files[sha] = files
	return sha
}

// inStock runs the stock git. Its clock goes on with each commit.
func (h *randomHistory) inStock(args ...string) (string, error) {
	h.N++
	when := fmt.Sprintf("%d +0200", 1700000000+h.N)
	cmd := exec.Command(h.Program, append([]string{"-c", "core.autocrlf=false", "-c", "protocol.file.allow=always", "-c", "gc.auto=0", "-c", "maintenance.auto=false"}, args...)...)
	cmd.Dir = h.stock
	cmd.Env = []string{
		"PATH=" + h.Path, "HOME=" + h.Home, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_MERGE_AUTOEDIT=no", "GIT_EDITOR=true", "LC_ALL=C",
		"GIT_AUTHOR_NAME=Dev", "GIT_AUTHOR_EMAIL=dev@example.com", "GIT_COMMITTER_NAME=Dev", "GIT_COMMITTER_EMAIL=dev@example.com",
		"GIT_AUTHOR_DATE=" + when, "GIT_COMMITTER_DATE=" + when,
	}
	if args[0] != "init" {
		cmd.Env = append(cmd.Env, "GIT_OBJECT_DIRECTORY="+filepath.Join(h.Dir, ".git", "objects"))
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}
