package report

import (
	"fmt"
	"io"
	"strings"
)

// Demo prints where a demo of the sandbox is, with the key that lets one in, and what to try there. kept says whether it is there again at the next start.
func Demo(w io.Writer, origin, key, repo string, tips []string, kept bool) error {
	end := "Ctrl-C stops the demo and deletes it."
	if kept {
		end = "Ctrl-C stops the demo; the same --state continues it."
	}
	at := origin + "/" + repo
	_, err := fmt.Fprintf(w, `Open %[3]s/?key=%[4]s

  alice suggests a change, and the agent applies it:
    %[1]s/pull/2?key=%[4]s
  An issue is labeled agent:small-job, and the agent opens a pull request:
    %[1]s/issues/1?key=%[4]s
  The runs, with their logs:
    %[1]s/actions?key=%[4]s

Try this:
  - %[5]s

The agent is "suggestion": it applies suggestions and diff blocks, without a model. %[2]s
`, at, end, origin, key, strings.Join(tips, "\n  - "))
	return err
}
