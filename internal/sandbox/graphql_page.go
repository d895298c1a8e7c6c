package sandbox

import (
	"encoding/base64"
	"fmt"
	"slices"
	"sort"
	"strings"
)

// pageArgs are the arguments that every connection takes. The survey has checked first and last before they come here.
type pageArgs struct {
	After, Before *string
	First, Last   *int32
}

// sortKey orders the items of a connection, major part first. A cursor holds one, so it survives that its item is
// deleted and that others come and go, as GitHub's cursors do.
type sortKey [2]int64

func (k sortKey) less(o sortKey) bool { return k[0] < o[0] || k[0] == o[0] && k[1] < o[1] }

const cursorMark = "cursor:v2:"

func (k sortKey) cursor() string {
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%s%d:%d", cursorMark, k[0], k[1]))
}

func readCursor(cursor string) (k sortKey, err error) {
	text, err := base64.StdEncoding.DecodeString(cursor)
	if err == nil {
		if rest, ok := strings.CutPrefix(string(text), cursorMark); ok {
			_, err = fmt.Sscanf(rest, "%d:%d", &k[0], &k[1])
		} else {
			err = fmt.Errorf("no cursor")
		}
	}
	if err != nil {
		return k, &refusal{kind: "INVALID_CURSOR_ARGUMENTS", message: fmt.Sprintf("`%s` does not appear to be a valid cursor.", cursor)}
	}
	return k, nil
}

// connection is a page of a list, for every connection type of the schema.
type connection[N any] struct {
	page  pageInfo
	edges []*edge[N]
	total int
}

// edge is an entry of a page with its cursor.
type edge[N any] struct {
	Cursor string
	Node   *N
}

// pageInfo is https://docs.github.com/en/graphql/reference/objects#pageinfo.
type pageInfo struct {
	HasNextPage, HasPreviousPage bool
	StartCursor, EndCursor       *string
}

func (c *connection[N]) TotalCount() int32   { return int32(c.total) }
func (c *connection[N]) PageInfo() *pageInfo { return &c.page }
func (c *connection[N]) Edges() *[]*edge[N]  { return &c.edges }

func (c *connection[N]) Nodes() *[]*N {
	nodes := make([]*N, len(c.edges))
	for i, e := range c.edges {
		nodes[i] = e.Node
	}
	return &nodes
}

// listing is what a connection pages through.
type listing[T, N any] struct {
	items []T
	key   func(i int, item T) sortKey
	desc  bool
	wrap  func(item T) *N
}

// inOrder keys items by their place, for lists that have no better order.
func inOrder[T any](i int, _ T) sortKey { return sortKey{int64(i)} }

// keyed is an item of a list, and its place there.
type keyed[T any] struct {
	key  sortKey
	item T
}

// before says that a stands before b on the pages.
func (l listing[T, N]) before(a, b sortKey) bool {
	if l.desc {
		a, b = b, a
	}
	return a.less(b)
}

// sorted are the items in the order of the pages.
func (l listing[T, N]) sorted() []keyed[T] {
	entries := make([]keyed[T], len(l.items))
	for i, item := range l.items {
		entries[i] = keyed[T]{l.key(i, item), item}
	}
	inPlace := func(i, j int) bool { return l.before(entries[i].key, entries[j].key) }
	if l.desc {
		slices.Reverse(entries)
	}
	if !sort.SliceIsSorted(entries, inPlace) { // most lists are sorted from the start
		sort.SliceStable(entries, inPlace)
	}
	return entries
}

// pageOf cuts a page out of a list. Only what is on the page is wrapped, so a long list costs a sort and no more.
func pageOf[T, N any](args pageArgs, l listing[T, N]) (*connection[N], error) {
	entries := l.sorted()
	from, to := 0, len(entries)
	if args.After != nil && *args.After != "" {
		k, err := readCursor(*args.After)
		if err != nil {
			return nil, err
		}
		from = sort.Search(len(entries), func(i int) bool { return l.before(k, entries[i].key) })
	}
	if args.Before != nil && *args.Before != "" {
		k, err := readCursor(*args.Before)
		if err != nil {
			return nil, err
		}
		to = max(from, sort.Search(len(entries), func(i int) bool { return !l.before(entries[i].key, k) }))
	}
	switch {
	case args.First != nil:
		to = min(to, from+int(*args.First))
	case args.Last != nil:
		from = max(from, to-int(*args.Last))
	default:
		to = from
	}
	c := &connection[N]{total: len(entries), page: pageInfo{HasPreviousPage: from > 0, HasNextPage: to < len(entries)}, edges: []*edge[N]{}}
	for _, e := range entries[from:to] {
		c.edges = append(c.edges, &edge[N]{e.key.cursor(), l.wrap(e.item)})
	}
	if n := len(c.edges); n > 0 {
		c.page.StartCursor, c.page.EndCursor = &c.edges[0].Cursor, &c.edges[n-1].Cursor
	}
	return c, nil
}
