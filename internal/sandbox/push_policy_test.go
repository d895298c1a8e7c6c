package sandbox

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAPushOfTooManyRefsIsRefusedAsAWhole(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	c := w.clone("octo")
	c.git("push", "-q", "origin", "HEAD:refs/hidden/old")
	for name, how := range map[string]struct {
		limit obj
		words []string
	}{
		"two":  {obj{"refs": 2}, []string{"GH013: Repository rule violations found for refs/hidden/old.", "- Pushes can not update more than 2 branches or tags.", "[remote rejected]", "(push declined due to repository rule violations)"}},
		"one":  {obj{"refs": 1}, []string{"- Pushes can not update more than 1 branch or tag."}},
		"mute": {obj{"refs": 2, "mute": true}, []string{"Repository policies do not allow pushes that update more than 2 branches or tags", "[remote failure]", "remote failed to report status"}},
	} {
		w.as("", "PUT", "/_sandbox/pushes", how.limit).want(204)
		for _, more := range [][]string{nil, {"--atomic"}} {
			args := append([]string{"push"}, more...)
			out, err := c.try(append(args, "origin", "HEAD:refs/heads/x", "HEAD:refs/hidden/y", ":refs/hidden/old")...)
			require.Error(t, err, name)
			for _, words := range how.words {
				require.Contains(t, out, words, name)
			}
			require.NotContains(t, c.git("ls-remote", "origin"), "refs/heads/x", "of a push that is refused nothing is made")
		}
		c.git("push", "-q", "origin", "HEAD:refs/heads/"+name)
	}
	w.as("", "PUT", "/_sandbox/pushes", obj{"refs": 2}).want(204)
	c.git("push", "-q", "origin", "HEAD:refs/heads/x", ":refs/hidden/old")
	w.as("", "PUT", "/_sandbox/pushes", obj{"refs": -1}).want(422)
	w.as("", "PUT", "/_sandbox/pushes", obj{}).want(204)
	c.git("push", "-q", "origin", "HEAD:refs/heads/a", "HEAD:refs/heads/b", "HEAD:refs/heads/c")
}
