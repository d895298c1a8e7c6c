package turn

// LogLimit is how many characters of a job's log are kept, its notices included.
const LogLimit = 20_000

// CleanLog makes the log of a job readable: its end, of at most LogLimit characters, without timestamps, colours, markers
// of workflow commands, progress bars and characters that nobody sees. cut says that raw is the end of a longer one.
func CleanLog(raw []byte, cut bool) string { return "" }
