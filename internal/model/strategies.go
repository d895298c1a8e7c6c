package model

// Strategies are the names of all strategies, as settings and commands give them.
func Strategies() []string {
	return []string{StrategyRebase, StrategySquash, StrategyNoFF, StrategyCherryPick, StrategyUnion, StrategyAPI}
}
