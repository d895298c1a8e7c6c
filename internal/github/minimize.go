package github

import (
	"context"
	"fmt"
	"strings"

	"github.com/mergexo/mergexo/internal/model"
)

// Minimized is a comment in the conversation to hide, by its GraphQL id, and its text from then on; "": the one that it has.
type Minimized struct{ Node, Body string }

// Minimize hides comments as resolved, in one request. People can still open them. One that is hidden already stays so. Where one of
// them is refused or gone, the others are hidden.
// https://docs.github.com/graphql/reference/mutations#minimizecomment
// https://docs.github.com/graphql/reference/mutations#updateissuecomment
func (c Comments) Minimize(ctx context.Context, repo model.Repo, list ...Minimized) error {
	var heads []string
	var fields strings.Builder
	variables := map[string]any{}
	for i, m := range list {
		heads = append(heads, fmt.Sprintf("$i%d: ID!", i))
		variables[fmt.Sprint("i", i)] = m.Node
		if m.Body != "" {
			heads = append(heads, fmt.Sprintf("$b%d: String!", i))
			variables[fmt.Sprint("b", i)] = m.Body
			fmt.Fprintf(&fields, "  e%d: updateIssueComment(input: { id: $i%d, body: $b%d }) { clientMutationId }\n", i, i, i)
		}
		fmt.Fprintf(&fields, "  m%d: minimizeComment(input: { subjectId: $i%d, classifier: RESOLVED }) { clientMutationId }\n", i, i)
	}
	document := "mutation Minimize(" + strings.Join(heads, ", ") + ") {\n" + fields.String() + "}"
	return c.mutate(ctx, "hide comments of "+repo.String(), repo, document, variables)
}
