package sandbox

import "fmt"

// mergeRef is where GitHub has the commit that merges a pull request for trial. It is made when somebody asks whether the pull
// request can be merged, stays as it is while nobody asks again, and goes with the merge:
// https://github.com/tj/git-extras/issues/775. Workflows of pull_request check it out:
// https://docs.github.com/en/actions/reference/workflows-and-actions/events-that-trigger-workflows#pull_request
func mergeRef(i *Issue) string { return fmt.Sprintf("refs/pull/%d/merge", i.Number) }

// showMerge makes the commit of a pull request that can be merged, and points its ref there. One that cannot be merged keeps
// the last that could be.
func (pr pulls) showMerge(i *Issue) error {
	t := &i.Pull.Test
	if t.Commit != "" {
		return nil
	}
	tree, clean, err := pr.git.mergeTree(i.repo, t.Base, t.Head)
	if err != nil || !clean {
		return err
	}
	sha, err := pr.git.commitTree(i.repo, tree, []string{t.Base, t.Head}, fmt.Sprintf("Merge %s into %s\n", t.Head, t.Base), byGitHub(pr.world.now()), byGitHub(pr.world.now()))
	if err != nil {
		return fmt.Errorf("merge pull request %d for trial: %w", i.Number, err)
	}
	if err := pr.git.setRef(i.repo, refChange{mergeRef(i), i.repo.Refs[mergeRef(i)], sha}); err != nil {
		return fmt.Errorf("merge pull request %d for trial: %w", i.Number, err)
	}
	i.repo.Refs[mergeRef(i)], t.Commit = sha, sha
	pr.world.changed()
	return nil
}

// dropMerge takes the ref away, as GitHub does of what is closed.
func (pr pulls) dropMerge(i *Issue) {
	i.Pull.Test = mergeTest{}
	if i.repo.Refs[mergeRef(i)] == "" {
		return
	}
	if _, err := pr.git.run(i.repo, "update-ref", "-d", mergeRef(i)); err == nil { // else it stays a while longer
		delete(i.repo.Refs, mergeRef(i))
	}
}
