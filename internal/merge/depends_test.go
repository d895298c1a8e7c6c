package merge_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/merge"
	"github.com/mergexo/mergexo/internal/model"
)

// What people write to say what has to land first, and what only looks like it.
func TestWhatATextSaysItDependsOn(t *testing.T) {
	t.Parallel()
	const here = "https://github.com/octo/widgets/pull/7"
	for body, want := range map[string]merge.Depends{
		"Depends-on: #1":                                     {On: []int{1}},
		"It greets.\r\n\r\nDepends-on: #1\r\n":               {On: []int{1}},
		"DEPENDS-ON:#1":                                      {On: []int{1}},
		"Depends-on: #1.":                                    {On: []int{1}},
		"Depends-on: #1 (the API, see #9)":                   {On: []int{1}},
		"Depends-on: #1 because of #9":                       {On: []int{1}},
		"Depends-on: #1, #3":                                 {On: []int{1, 3}},
		"Depends-on: #1 #3 and #4 & #5":                      {On: []int{1, 3, 4, 5}},
		"Depends-on: #1 (the API), #3 (its tests)":           {On: []int{1, 3}},
		"Depends-on: #1\nDepends-on: #3\n\nDepends-on: #1":   {On: []int{3, 1}},
		"- Depends-on: #1":                                   {On: []int{1}},
		"* it greets\n* Depends-on: #1\n  1. Depends-on: #3": {On: []int{1, 3}},
		"- [ ] Depends-on: #1\n- [x] Depends-on: #3":         {On: []int{1, 3}},
		"**Depends-on:** #1":                                 {On: []int{1}},
		"**Depends-on: #1**":                                 {On: []int{1}},
		"_Depends-on_: **#1**":                               {On: []int{1}},
		"<b>Depends-on:</b> #1":                              {On: []int{1}},
		"### Depends-on: #1":                                 {On: []int{1}},
		"Depends-on #1":                                      {On: []int{1}},
		"Depends on: #1":                                     {On: []int{1}},
		"Depends on #1":                                      {On: []int{1}},
		"Depends on PR #1 and pull request #3":               {On: []int{1, 3}},
		"Depends on:\n\n- #1 (the API)\n- #3\n\nSee #9.":     {On: []int{1, 3}},
		"## Depends on\n* [#1](" + here[:37] + "1)":          {On: []int{1}},
		"<details>\n\nDepends-on: #1\n\n</details>":          {On: []int{1}},
		"Depends-on: octo/widgets#1":                         {On: []int{1}},
		"Depends-on: Octo/Client#12, octo/api#3":             {Others: map[string]int{"octo/client": 12, "octo/api": 3}},
		"Depends-on: https://github.com/octo/widgets/pull/1": {On: []int{1}},
		"Depends-on: <https://github.com/octo/widgets/pull/1/files#diff-1>, #3":    {On: []int{1, 3}},
		"Depends-on: [the API](https://github.com/octo/widgets/pull/1), then [#3]": {On: []int{1}},
		"Depends-on: https://github.com/octo/client/pull/12.":                      {Others: map[string]int{"octo/client": 12}},
		"Depends-on: https://example.com/octo/widgets/pull/1":                      {Unread: []string{"Depends-on: https://example.com/octo/widgets/pull/1"}},
		"Depends-on: the API\n\n**Depends on:** 12":                                {Unread: []string{"Depends-on: the API", "Depends on: 12"}},
		"Depends-on: `#1`": {Unread: []string{"Depends-on: ``"}},
		"Depends-on: #1x":  {Unread: []string{"Depends-on: #1x"}},
		"Depends on the weather.\nIt depends on #9.\nDepends online: #9":            {},
		"Depends-on:\n\nIt greets. #9":                                              {},
		"**Depends on:** none\nDepends-on: -\nDepends-on: N/A\nDepends-on: nothing": {},
		"```\nDepends-on: #9\n```\n\n    Depends-on: #9":                            {},
		"say `Depends-on: #9`\n`Depends-on: #9`":                                    {},
		"> Depends-on: #9\nDepends-on: #9":                                          {},
		"<!--\nWrite:\nDepends-on: #9\n-->\nDepends-on: <!-- #9 -->":                {},
		"<!-- Depends-on: #9 -->\n\n<div>\nDepends-on: #9\n</div>":                  {},
		"~~Depends-on: #9~~":                                                        {},
		strings.Repeat("Depends-on: #1\n", 3) + "Depends-on: #" + strings.Join(strings.Split("23456789", ""), ", #") + ", #10, #11": {On: []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}},
	} {
		got := merge.DependsOf(model.Pull{Body: body, URL: here})
		if len(got.Others) == 0 {
			got.Others = nil
		}
		assert.Equal(t, want.On, got.On, "%q", body)
		assert.Equal(t, want.Unread, got.Unread, "%q", body)
		assert.Equal(t, want.Others, got.Others, "%q", body)
	}
}
