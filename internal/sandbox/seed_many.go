package sandbox

import (
	"bytes"
	"fmt"
)

// Pulls adds many pull requests of one repository at once, in a moment where one by one would take git minutes. Their head
// branches are made: each begins at its base and has one commit, which adds the file changes/NUMBER.txt.
func (d *Seeder) Pulls(repository string, pulls []SeedPull) error {
	r, err := d.s.named(repository)
	if err != nil {
		return err
	}
	var in bytes.Buffer
	for n, p := range pulls {
		base := d.s.branchSHA(r, p.Base)
		if base == "" || p.HeadRepo != "" || p.Merged || d.s.branchSHA(r, p.Head) != "" || r.Issues[p.Number] != nil {
			return fmt.Errorf("pull request %d: want a free number, a base branch that is there, a head branch that is not, no other repository and no merge", p.Number)
		}
		created, _ := d.times(p.CreatedAt, p.UpdatedAt)
		text := p.Title + "\n"
		fmt.Fprintf(&in, "commit refs/heads/%s\nmark :%d\ncommitter %s <%s> %d +0000\ndata %d\n%s\nfrom %s\n", p.Head, n+1, inventorName, inventorEmail, created.Unix(), len(p.Title), p.Title, base)
		fmt.Fprintf(&in, "M 100644 inline changes/%d.txt\ndata %d\n%s\nreset refs/pull/%d/head\nfrom :%d\n\n", p.Number, len(text), text, p.Number, n+1)
	}
	if _, err := runGit(d.s.gitDir(r), nil, in.Bytes(), "fast-import", "--quiet"); err != nil {
		return fmt.Errorf("make %d branches: %w", len(pulls), err)
	}
	if r.Refs, err = d.s.readRefs(r); err != nil {
		return err
	}
	for _, p := range pulls {
		i, err := d.issue(repository, p.SeedIssue)
		if err != nil {
			return err
		}
		i.Pull = &Pull{ID: d.id(p.PullID), HeadRepo: r.ID, HeadRef: p.Head, BaseRef: p.Base,
			HeadSHA: d.s.branchSHA(r, p.Head), BaseSHA: d.s.branchSHA(r, p.Base), Draft: p.Draft}
		d.s.issues[i.Pull.ID] = i
	}
	return nil
}
