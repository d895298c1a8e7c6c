package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// renumber gives a fresh repository the id that it has elsewhere.
func (w world) renumber(r *Repository, id int64) error {
	if r.ID == id {
		return nil
	}
	if w.repositoryByID(id) != nil {
		return fmt.Errorf("repository id %d is taken", id)
	}
	from := w.git.path(r)
	r.ID = id
	if err := os.Rename(from, w.git.path(r)); err != nil {
		return fmt.Errorf("move repository %s: %w", r.FullName(), err)
	}
	return nil
}

// commitFiles puts changed files onto a branch as the sandbox's inventor, and moves the branch without any event.
func (g gitStore) commitFiles(r *Repository, branch, from string, files map[string]string, message string, at time.Time) (string, error) {
	parent := g.branchSHA(r, branch)
	if parent == "" && from != "" {
		parent = g.resolve(r, from)
	}
	paths := make([]string, 0, len(files))
	for p := range files {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	var entries []treeEntry
	for _, p := range paths {
		sha, err := g.writeObject(r, "blob", []byte(files[p]))
		if err != nil {
			return "", err
		}
		entries = append(entries, treeEntry{Path: p, Mode: "100644", SHA: &sha})
	}
	tree, err := g.trees.edit(r, parent, entries)
	if err != nil {
		return "", err
	}
	var parents []string
	if parent != "" {
		parents = []string{parent}
	}
	by := signedAt(inventorName, inventorEmail, at)
	sha, err := g.commitTree(r, tree, parents, message, by, by)
	if err != nil {
		return "", err
	}
	return sha, g.setBranch(r, branch, sha)
}

// setBranch points a branch at a commit without any event.
func (g gitStore) setBranch(r *Repository, branch, sha string) error {
	ref := "refs/heads/" + branch
	if err := g.setRef(r, refChange{ref, r.Refs[ref], sha}); err != nil {
		return err
	}
	r.Refs[ref] = sha
	g.world.changed()
	return nil
}

// uploadPack lets a checkout of somebody else, and commits that no ref of it names, be copied from.
const uploadPack = "--upload-pack=git -c safe.directory=* -c uploadpack.allowAnySHA1InWant=true upload-pack"

// copyCheckout copies the branches and tags of a local repository; branches of its origin where it has none of that name.
func (g gitStore) copyCheckout(r *Repository, checkout string) error {
	checkout, err := filepath.Abs(checkout)
	if err != nil {
		return fmt.Errorf("copy checkout: %w", err)
	}
	fetch := func(specs ...string) error {
		args := append([]string{"fetch", "-q", "--no-tags", "--update-shallow", "--no-write-fetch-head", uploadPack, checkout}, specs...)
		if _, err := g.run(r, args...); err != nil {
			return fmt.Errorf("copy checkout %s: %w", checkout, err)
		}
		return nil
	}
	if err := fetch("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*", "+refs/remotes/origin/*:refs/sandbox/origin/*"); err != nil {
		return err
	}
	refs, err := g.readRefs(r)
	if err != nil {
		return err
	}
	for ref, sha := range refs {
		branch, ok := strings.CutPrefix(ref, "refs/sandbox/origin/")
		if !ok {
			continue
		}
		if _, err := g.run(r, "update-ref", "-d", ref); err != nil {
			return fmt.Errorf("copy checkout: %w", err)
		}
		delete(refs, ref)
		if local := "refs/heads/" + branch; branch != "HEAD" && refs[local] == "" {
			if _, err := g.run(r, "update-ref", local, sha); err != nil {
				return fmt.Errorf("copy checkout: %w", err)
			}
			refs[local] = sha
		}
	}
	r.Refs = refs
	if g.branchSHA(r, r.DefaultBranch) == "" { // a detached checkout: what it stands on is the default branch
		return g.copyHead(r, checkout)
	}
	return nil
}

// copyHead makes the default branch of what a checkout has checked out.
func (g gitStore) copyHead(r *Repository, checkout string) error {
	head, err := runGit(checkout, nil, nil, "rev-parse", "--verify", "-q", "HEAD^{commit}")
	if err != nil {
		return fmt.Errorf("copy checkout %s: it has no commit: %w", checkout, err)
	}
	sha := strings.TrimSpace(string(head))
	if !g.fetchCommit(r, checkout, sha) {
		return fmt.Errorf("copy checkout %s: commit %s cannot be copied", checkout, sha)
	}
	return g.setBranch(r, r.DefaultBranch, sha)
}

// fetchCommit copies one commit with its history from a checkout, when the checkout has it.
func (g gitStore) fetchCommit(r *Repository, checkout, sha string) bool {
	if len(sha) != 40 || !isHex(sha) || sha == zeroSHA {
		return false
	}
	if g.peel(r, sha) == sha {
		return true
	}
	if checkout == "" {
		return false
	}
	checkout, err := filepath.Abs(checkout)
	if err != nil {
		return false
	}
	_, err = g.run(r, "fetch", "-q", "--no-tags", "--update-shallow", "--no-write-fetch-head", uploadPack, checkout, sha)
	return err == nil && g.peel(r, sha) == sha
}

// imagesOf invents a file before and after a change, from a hunk that may be cut off at its end: its lines stand at
// their numbers, above them are lines of padding, and below them what the hunk's header says is missing.
func imagesOf(hunkText string) (before, after string) {
	hunks := parseHunks(hunkText)
	if len(hunks) == 0 {
		return "", "A line that is new.\n"
	}
	h := hunks[0]
	oldCount, newCount := hunkCounts(h.header)
	var old, now []string
	for n := 1; n < max(h.oldStart, h.newStart); n++ {
		line := fmt.Sprintf("Line %d.", n)
		if n < h.oldStart {
			old = append(old, line)
		}
		if n < h.newStart {
			now = append(now, line)
		}
	}
	oldEnd, newEnd := len(old)+oldCount, len(now)+newCount
	for _, l := range h.lines {
		switch {
		case strings.HasPrefix(l, "+"):
			now = append(now, l[1:])
		case strings.HasPrefix(l, "-"):
			old = append(old, l[1:])
		case strings.HasPrefix(l, "\\"):
		default:
			old, now = append(old, strings.TrimPrefix(l, " ")), append(now, strings.TrimPrefix(l, " "))
		}
	}
	missingOld, missingNew := max(0, oldEnd-len(old)), max(0, newEnd-len(now))
	common := min(missingOld, missingNew)
	for n := common; n < missingOld; n++ {
		old = append(old, fmt.Sprintf("Line %d, removed.", len(old)+1))
	}
	for n := common; n < missingNew; n++ {
		now = append(now, fmt.Sprintf("Line %d, added.", len(now)+1))
	}
	for n := range common {
		line := fmt.Sprintf("Line %d after the change.", n+1)
		old, now = append(old, line), append(now, line)
	}
	return textOf(old), textOf(now)
}

func textOf(ls []string) string {
	if len(ls) == 0 {
		return ""
	}
	return strings.Join(ls, "\n") + "\n"
}

// hunkCounts reads the numbers of lines of "@@ -12,7 +12,9 @@"; a number that is left out is 1.
func hunkCounts(header string) (oldCount, newCount int) {
	f := strings.Fields(header)
	if len(f) < 3 {
		return 0, 0
	}
	count := func(s string) int {
		n := 1
		if _, c, ok := strings.Cut(s, ","); ok {
			_, _ = fmt.Sscan(c, &n) // what is no number leaves 1
		}
		return n
	}
	return count(f[1]), count(f[2])
}
