package report

import (
	"cmp"
	"fmt"
	"io"
	"time"

	"github.com/mergexo/mergexo/internal/model"
)

// History writes what MergeXO did as a table, one entry a line, and the cost of all if the agents reported any.
func History(w io.Writer, entries []model.LogEntry) error {
	if len(entries) == 0 {
		return text(w, "MergeXO did nothing in this period.\n")
	}
	rows := [][]string{{"WHEN (UTC)", "NUMBER", "WHAT", "BY", "COMMIT", "COST", "WHY", "RUN OR COMMENT"}}
	cost := 0.0
	for _, e := range entries {
		cost += e.CostUSD
		rows = append(rows, []string{e.At.UTC().Format("2006-01-02 15:04"), fmt.Sprintf("#%d", e.Number), oneLine(e.What), dash(oneLine(e.By)), dash(short(e.SHA)),
			dash(dollars(e.CostUSD)), dash(brief(e.Why)), oneLine(cmp.Or(e.RunURL, e.URL))})
	}
	if _, total := widthsOf(rows); columnsOf(w) > 0 && total > columnsOf(w) { // half a link leads nowhere
		for i, row := range rows {
			row[0] = row[0][:len(time.DateOnly)]
			rows[i] = row[:len(row)-1]
		}
	}
	if err := table(w, rows); err != nil || cost == 0 {
		return err
	}
	return text(w, fmt.Sprintf("\nAgents reported a cost of %s.\n", dollars(cost)))
}

// dollars is an amount; "" for none.
func dollars(usd float64) string {
	if usd == 0 {
		return ""
	}
	return fmt.Sprintf("$%.2f", usd)
}
