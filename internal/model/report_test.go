package model_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mergexo/mergexo/internal/model"
)

func TestOfTwoReportsTheGraverOneSaysWhatTheRunCameTo(t *testing.T) {
	report := func(number int, r model.Result, kind string) model.Report {
		return model.Report{Number: number, Result: r, Reason: string(r), Effects: []model.Effect{{Kind: kind}}, Calls: model.Calls{Git: number}}
	}
	order := []model.Result{model.ResultNothing, model.ResultDone, model.ResultRetry, model.ResultBlocked, model.ResultFailed}
	for i, one := range order {
		for j, other := range order {
			all := report(1, one, "first")
			all.Join(report(2, other, "then"))
			want := 1
			if j > i {
				want = 2
			}
			assert.Equal(t, want, all.Number, "%s and %s", one, other)
			assert.Equal(t, string(order[max(i, j)]), all.Reason)
			assert.Equal(t, []model.Effect{{Kind: "first"}, {Kind: "then"}}, all.Effects)
			assert.Equal(t, 3, all.Calls.Git)
		}
	}
}
