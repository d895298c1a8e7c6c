package sandbox

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAPushOfTooManyRefsIsRefusedAsAWhole(t *testing.T) {
	t.Parallel()
	w, c := townWithClone(t)
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

func TestABotsPushOfAPointerWhoseObjectNobodyUploadedIsRefused(t *testing.T) {
	t.Parallel()
	w := newTown(t)
	oid := func(of string) string { return strings.Repeat(of, 64) }
	pointer := func(of string) string {
		return "version https://git-lfs.github.com/spec/v1\noid sha256:" + oid(of) + "\nsize 12345\n"
	}
	octo := w.clone("octo")
	octo.commit("old.bin", pointer("a"))
	octo.commit("old.bin", pointer("b"))
	octo.git("push", "-q", "origin", "HEAD:main") // whose Git LFS has uploaded the objects before

	bot := w.clone("actions")
	bot.commit("moved.bin", pointer("a"))
	bot.commit("copy.bin", pointer("b"))
	bot.commit("doc.md", "It begins:\n\n"+pointer("c"))
	bot.git("push", "-q", "origin", "HEAD:refs/heads/fine")
	bot.commit("new.bin", pointer("c"))
	bot.commit("more.bin", strings.Replace(pointer("d"), "git-lfs.github.com", "hawser.github.com", 1))
	bot.commit("new.bin", "gone again\n")
	for _, ref := range []string{"refs/heads/x", "refs/mergexo/turn/1/k"} {
		out, err := bot.try("push", "origin", "HEAD:"+ref)
		require.Error(t, err, ref)
		require.Contains(t, out, "GH008: Your push referenced at least 2 unknown Git LFS objects:")
		require.Contains(t, out, oid("c"))
		require.Contains(t, out, oid("d"))
	}
	require.NotContains(t, octo.git("ls-remote", "origin"), "refs/heads/x")
}
