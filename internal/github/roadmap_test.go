package github

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/must"
)

// Since an item's issue can have been opened, others may have opened any number.
func TestAnItemIsFoundAmongThousandsOfIssues(t *testing.T) {
	t.Parallel()
	const pages = 25
	var replies []reply
	for p := range pages {
		var nodes []string
		for i := range 100 {
			number := 10_000 - 100*p - i
			nodes = append(nodes, fmt.Sprintf(`{"number": %d, "viewerDidAuthor": %t, "createdAt": %q, "repository": {"nameWithOwner": "octo/widgets"}}`,
				number, number%1000 == 0, noon.Add(time.Duration(number)*time.Minute).Format(time.RFC3339)))
		}
		body := fmt.Sprintf(`{"data": {"repository": {"issues": {"nodes": [%s], "pageInfo": {"hasNextPage": true, "endCursor": "c%d"}}}}}`, strings.Join(nodes, ","), p)
		replies = append(replies, reply{200, body, nil})
	}
	l := dial(t, Options{}, replies...)
	got := must.Get(l.Issues.OpenedSince(t.Context(), widgets, noon.Add(7_600*time.Minute), func(i ItemIssue) bool { return i.Ours }))(t)
	var numbers []int
	for _, i := range got {
		numbers = append(numbers, i.Number)
	}
	assert.Equal(t, []int{10_000, 9_000, 8_000}, numbers)
	assert.Equal(t, fmt.Sprintf("0 REST, %d GraphQL", pages), calls(l.Client), "it stops at the first that is too old")
}
