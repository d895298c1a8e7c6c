package git_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// history is a random one: two branches from one commit, with changes of lines, new, deleted and renamed files, modes and
// merges of the base into the branch.
type history struct {
	r     *repo
	rand  *rand.Rand
	made  map[string]map[string]edit // commit -> its files
	lines int
}

func (h *history) commit(files map[string]edit, parents ...string) string {
	edits := map[string]edit{}
	if len(parents) > 0 {
		for path := range h.made[parents[0]] {
			edits[path] = edit{}
		}
	}
	for path, e := range files {
		edits[path] = e
	}
	sha := h.r.commit(fmt.Sprintf("commit %d\n\nof %v", len(h.made), parents), edits, parents...)
	h.made[sha] = files
	return sha
}

// change is a commit on top of another one.
func (h *history) change(on string) string {
	files := map[string]edit{}
	var paths []string
	for i := range 8 {
		path := fmt.Sprintf("d%d/f%d", i%2, i)
		for _, p := range []string{path, path + ".moved"} {
			if e, ok := h.made[on][p]; ok {
				files[p] = e
				paths = append(paths, p)
			}
		}
	}
	for range 1 + h.rand.IntN(3) {
		path := paths[h.rand.IntN(len(paths))]
		e, ok := files[path]
		if !ok {
			continue
		}
		switch h.rand.IntN(12) {
		case 0:
			if len(files) > 3 {
				delete(files, path)
			}
		case 1:
			if !strings.HasSuffix(path, ".moved") {
				delete(files, path)
				files[path+".moved"] = e
			}
		case 2:
			files[path] = edit{map[string]string{"100644": "100755", "100755": "100644"}[e.mode], e.text}
		default:
			rows := strings.SplitAfter(e.text, "\n")
			h.lines++
			rows[h.rand.IntN(len(rows)-1)] = fmt.Sprintf("line %d\n", h.lines)
			files[path] = edit{e.mode, strings.Join(rows, "")}
		}
	}
	return h.commit(files, on)
}
