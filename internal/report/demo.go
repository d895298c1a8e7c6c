package report

import (
	"fmt"
	"io"
)

// Demo prints where a demo of the sandbox is, with the key that lets one in, and what to try there. kept says whether it is there again at the next start.
func Demo(w io.Writer, origin, key, repo string, kept bool) error {
	end := "Ctrl-C ends it and deletes it."
	if kept {
		end = "Ctrl-C ends it; the same --state continues it."
	}
	at := origin + "/" + repo
	_, err := fmt.Fprintf(w, `Open %[3]s/?key=%[4]s

  %[1]s/pull/2     alice suggests a change: the agent applies it
  %[1]s/issues/1   labeled agent:small-job: the agent opens a pull request
  %[1]s/actions    the runs, with their logs

Try this:
  - On #2: press Merge as octo, then approve it as alice.
  - On #3: add the label agent:small-job.
  - On the diff of #4: comment on a line with a suggestion.

The agent is "suggestion": it applies suggestions and diff blocks, without a model. %[2]s
`, at, end, origin, key)
	return err
}
