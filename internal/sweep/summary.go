package sweep

import "github.com/mergexo/mergexo/internal/model"

// SummaryText is a sweep as the job summary tells it, within GitHub's limit.
func SummaryText(b model.Board, reports []model.Report) string { return "" }
