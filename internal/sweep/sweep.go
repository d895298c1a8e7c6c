// Package sweep decides everything about a sweep that can be decided without touching the world: in which order work is
// done and by which job, what is said about conflicts and lost replies, and which refs nobody needs any more.
package sweep

import (
	"errors"

	"github.com/mergexo/mergexo/internal/model"
)

// Whole is what Only calls the work that is the whole repository's, not one number's.
const Whole = "repository"

// Order puts work in the order in which it is done: by its most pressing reason, then by who has waited longest, then by
// number. The reasons of each are put in order too. What is given stays as it is.
func Order(work []model.Work) []model.Work { return nil }

// Matrix spreads work over at most so many jobs, in the order of work. One job is about one number as long as there are
// enough of them. Without work it is empty, which Actions refuses: the caller skips the job then.
func Matrix(work []model.Work, most int) model.Matrix {
	return model.Matrix{Include: []model.MatrixJob{}}
}

// ParseOnly reads what a job of a matrix is about: "7,9,12", "repository", or both.
func ParseOnly(s string) (numbers []int, whole bool, err error) {
	return nil, false, errors.New("not built yet")
}
