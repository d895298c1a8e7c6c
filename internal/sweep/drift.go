package sweep

import "github.com/mergexo/mergexo/internal/model"

// Lost is an answer of ours that a receipt lists and that is not there any more.
type Lost struct{ Token, Turn, Receipt string }

// Missing are the answers that a receipt lists and no trusted comment carries any more, unless they were reported. complete
// says that every comment was read: else nothing can be said.
func Missing(st model.State, complete bool, reported func(token string) bool) []Lost { return nil }

// DriftText reports, once, what became of our answers without us.
func DriftText(lost []Lost, edited []model.Distrust) string { return "" }
