package manifest

// Level is the level of the account's tree that makes a setting (http-api.md 2.2).
//
//openapi:as {"type": "string", "enum": ["station", "group", "plant", "account", "default"]}
type Level uint8

// The levels, from the top; LevelDefault means that no level decided.
const (
	LevelDefault Level = iota
	LevelAccount
	LevelPlant
	LevelGroup
	LevelStation
)

var levelNames = [...]string{"default", "account", "plant", "group", "station"}

// String returns the level's name as in answers.
func (l Level) String() string { return levelNames[l] }

// MarshalText returns the level's name.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// Flag indexes a feature flag (http-api.md 2.2).
type Flag uint8

// The feature flags in the order of the specification.
const (
	EnableTasks Flag = iota
	EnableCycleTimeAnalysis
	EnableLostProductionCost
	EnableAutoEndOnQuantityComplete
	EnableDragBetweenStationsOnGantt
	EnableHistoricalCorrection
	EnableProductionCorrection
	EnableManualProduction
	EnableQuickScheduleStart
	EnableScheduleCutShort
	EnableRejectProduction
	EnableEditPartsPerCycle
	EnableScheduleStationFlexibility
	EnableManualDowntime
	EnableAlwaysConnected
	EnableSchedulingOnly
	EnableMeterOnly
	FlagCount
)

// flagInfo is a flag's name and the levels between which it may be set.
type flagInfo struct {
	name        string
	top, bottom Level
}

var flags = [FlagCount]flagInfo{
	EnableTasks:                      {"enableTasks", LevelAccount, LevelAccount},
	EnableCycleTimeAnalysis:          {"enableCycleTimeAnalysis", LevelAccount, LevelAccount},
	EnableLostProductionCost:         {"enableLostProductionCost", LevelAccount, LevelAccount},
	EnableAutoEndOnQuantityComplete:  {"enableAutoEndOnQuantityComplete", LevelAccount, LevelAccount},
	EnableDragBetweenStationsOnGantt: {"enableDragBetweenStationsOnGantt", LevelAccount, LevelAccount},
	EnableHistoricalCorrection:       {"enableHistoricalCorrection", LevelAccount, LevelAccount},
	EnableProductionCorrection:       {"enableProductionCorrection", LevelAccount, LevelStation},
	EnableManualProduction:           {"enableManualProduction", LevelAccount, LevelStation},
	EnableQuickScheduleStart:         {"enableQuickScheduleStart", LevelAccount, LevelStation},
	EnableScheduleCutShort:           {"enableScheduleCutShort", LevelAccount, LevelStation},
	EnableRejectProduction:           {"enableRejectProduction", LevelAccount, LevelStation},
	EnableEditPartsPerCycle:          {"enableEditPartsPerCycle", LevelAccount, LevelStation},
	EnableScheduleStationFlexibility: {"enableScheduleStationFlexibility", LevelAccount, LevelStation},
	EnableManualDowntime:             {"enableManualDowntime", LevelAccount, LevelStation},
	EnableAlwaysConnected:            {"enableAlwaysConnected", LevelAccount, LevelStation},
	EnableSchedulingOnly:             {"enableSchedulingOnly", LevelGroup, LevelStation},
	EnableMeterOnly:                  {"enableMeterOnly", LevelGroup, LevelStation},
}

var flagByName = func() map[string]Flag {
	m := make(map[string]Flag, FlagCount)
	for f := range FlagCount {
		m[flags[f].name] = f
	}
	return m
}()

// Top returns the highest level that may set the flag.
func (f Flag) Top() Level { return flags[f].top }

// Bottom returns the lowest level that may set the flag.
func (f Flag) Bottom() Level { return flags[f].bottom }

// String returns the flag's name, e.g. "enableTasks".
func (f Flag) String() string { return flags[f].name }

// FlagValue is the value of one flag at one level.
type FlagValue uint8

// The values; null and absent are FlagUnset.
const (
	FlagUnset FlagValue = iota
	FlagOn
	FlagOff
	FlagInherit
)

var flagValueNames = [...]string{"", "on", "off", "inherit"}

// String returns the value as in documents, "" if unset.
func (v FlagValue) String() string { return flagValueNames[v] }

// decided reports whether the level sets the flag itself.
func (v FlagValue) decided() bool { return v == FlagOn || v == FlagOff }

func parseFlagValue(s string) FlagValue {
	switch s {
	case "on":
		return FlagOn
	case "off":
		return FlagOff
	case "inherit":
		return FlagInherit
	}
	return FlagUnset
}

// Flags has the values of all flags at one level.
type Flags [FlagCount]FlagValue
