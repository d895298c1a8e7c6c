package merge

import "github.com/mergexo/mergexo/internal/model"

// Settle is the result of a run that leaves a request with this code, waiting or over; "" for one that has landed. What
// only time or a further run brings is to be tried again; for the rest a person is needed, unless one has just ended it.
func Settle(code model.MergeCode) model.Result {
	switch {
	case code == "", code == model.CodeCancelled, code == model.CodeReplaced:
		return model.ResultDone
	case code.Retryable():
		return model.ResultRetry
	}
	return model.ResultBlocked
}
