package sandbox

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Pulls adds many pull requests of one repository at once, in a moment where one by one would take git minutes. Their head
// branches are made: each begins at its base and has one commit, which changes Files, or adds the file changes/NUMBER.txt.
func (d *Seeder) Pulls(repository string, pulls []SeedPull) error {
	r, err := d.s.world.named(repository)
	if err != nil {
		return err
	}
	if err := d.checkMany(r, pulls); err != nil {
		return err
	}
	heads, err := d.manyCommits(r, pulls)
	if err != nil {
		return err
	}
	if err := d.s.git.packRefs(r, heads); err != nil {
		return err
	}
	for _, p := range pulls {
		i, err := d.issue(repository, p.SeedIssue)
		if err != nil {
			return err
		}
		i.Pull = &Pull{ID: d.id(p.PullID), HeadRepo: r.ID, HeadRef: p.Head, BaseRef: p.Base,
			HeadSHA: d.s.git.branchSHA(r, p.Head), BaseSHA: d.s.git.branchSHA(r, p.Base), Draft: p.Draft}
		d.s.issues[i.Pull.ID] = i
		for _, c := range p.Comments {
			if err := d.Comment(repository, p.Number, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// plainRef is what needs no question to git whether it is the name of a branch.
var plainRef = regexp.MustCompile(`^[A-Za-z0-9]+(?:[/_-]*[A-Za-z0-9])*$`)

// checkMany refuses what Pulls cannot make, before anything is made.
func (d *Seeder) checkMany(r *Repository, pulls []SeedPull) error {
	names := map[string]bool{}
	for ref := range r.Refs {
		names[ref] = true
	}
	for _, p := range pulls {
		ref := "refs/heads/" + p.Head
		if d.s.git.branchSHA(r, p.Base) == "" || p.HeadRepo != "" || p.Merged || names[ref] || r.Issues[p.Number] != nil {
			return fmt.Errorf("pull request %d: want a free number, a base branch that is there, a head branch that is not, no other repository and no merge", p.Number)
		}
		names[ref] = true
		if plainRef.MatchString(p.Head) {
			continue
		}
		if _, err := d.s.git.run(r, "check-ref-format", ref); err != nil {
			return fmt.Errorf("pull request %d: %q is not a branch name", p.Number, p.Head)
		}
	}
	for name := range names {
		for above := filepath.Dir(name); above != "refs"; above = filepath.Dir(above) {
			if names[above] {
				return fmt.Errorf("there cannot be a ref %s and a ref %s", above, name)
			}
		}
	}
	return nil
}

// manyCommits makes the commits, and gives the refs that are to point at them.
func (d *Seeder) manyCommits(r *Repository, pulls []SeedPull) (map[string]string, error) {
	const ref = "refs/sandbox/import"
	var in bytes.Buffer
	for n, p := range pulls {
		files := p.Files
		if len(files) == 0 {
			files = map[string]string{fmt.Sprintf("changes/%d.txt", p.Number): p.Title + "\n"}
		}
		created, _ := d.times(p.CreatedAt, p.UpdatedAt)
		fmt.Fprintf(&in, "commit %s\nmark :%d\ncommitter %s <%s> %d +0000\ndata %d\n%s\nfrom %s\n", ref, n+1, inventorName, inventorEmail,
			created.Unix(), len(p.Title), p.Title, d.s.git.branchSHA(r, p.Base))
		for _, path := range slices.Sorted(maps.Keys(files)) {
			fmt.Fprintf(&in, "M 100644 inline %s\ndata %d\n%s\n", strconv.Quote(path), len(files[path]), files[path])
		}
		in.WriteString("\n")
	}
	marks := filepath.Join(d.s.git.path(r), "marks.sandbox")
	defer os.Remove(marks) // it is of no use to anybody
	if _, err := runGit(d.s.git.path(r), nil, in.Bytes(), "fast-import", "--quiet", "--force", "--export-marks="+marks); err != nil {
		return nil, fmt.Errorf("make %d commits: %w", len(pulls), err)
	}
	if len(pulls) == 0 {
		return nil, nil
	}
	if _, err := d.s.git.run(r, "update-ref", "-d", ref); err != nil {
		return nil, fmt.Errorf("make %d commits: %w", len(pulls), err)
	}
	text, err := os.ReadFile(marks)
	if err != nil {
		return nil, fmt.Errorf("make %d commits: %w", len(pulls), err)
	}
	heads := map[string]string{}
	for line := range strings.Lines(string(text)) {
		mark, sha, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.Atoi(strings.TrimPrefix(mark, ":"))
		if err != nil || n < 1 || n > len(pulls) {
			return nil, fmt.Errorf("make %d commits: git gave the mark %q", len(pulls), line)
		}
		heads["refs/heads/"+pulls[n-1].Head] = sha
		heads[fmt.Sprintf("refs/pull/%d/head", pulls[n-1].Number)] = sha
	}
	return heads, nil
}

// packRefs adds refs to the one file that git keeps many refs in: a file for each would cost more than all the rest.
// https://git-scm.com/docs/git-pack-refs
func (g gitStore) packRefs(r *Repository, refs map[string]string) error {
	if _, err := g.run(r, "pack-refs", "--all"); err != nil {
		return fmt.Errorf("pack refs: %w", err)
	}
	file := filepath.Join(g.path(r), "packed-refs")
	text, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("pack refs: %w", err)
	}
	type entry struct{ ref, lines string }
	var all []entry
	for line := range strings.Lines(string(text)) {
		switch {
		case strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "^"): // what the tag before it stands for
			all[len(all)-1].lines += line
		default:
			all = append(all, entry{strings.TrimSpace(line[len(zeroSHA):]), line})
		}
	}
	for ref, sha := range refs {
		all = append(all, entry{ref, sha + " " + ref + "\n"})
	}
	slices.SortFunc(all, func(a, b entry) int { return cmp.Compare(a.ref, b.ref) })
	var b strings.Builder
	b.WriteString("# pack-refs with: peeled fully-peeled sorted \n")
	for _, e := range all {
		b.WriteString(e.lines)
	}
	if err := writeAtomically(file, []byte(b.String())); err != nil {
		return err
	}
	r.Refs, err = g.readRefs(r)
	return err
}
