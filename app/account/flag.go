package account

// Level is where in the account's tree a setting is made (http-api.md 2.2).
//
//openapi:as {"type": "string", "enum": ["station", "group", "plant", "account", "default"]}
type Level uint8

// The levels, from the top; LevelDefault says that no level decided.
const (
	LevelDefault Level = iota
	LevelAccount
	LevelPlant
	LevelGroup
	LevelStation
)

var levelNames = [...]string{"default", "account", "plant", "group", "station"}

// String returns the level's name as answers carry it.
func (l Level) String() string { return levelNames[l] }

// MarshalText makes a level its name in JSON.
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
	flagCount
)

// flagInfo says what a flag is called and between which levels it may be set.
type flagInfo struct {
	name        string
	top, bottom Level
}

var flags = [flagCount]flagInfo{
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
	m := make(map[string]Flag, flagCount)
	for f := range flagCount {
		m[flags[f].name] = f
	}
	return m
}()

// String returns the flag's name, e.g. "enableTasks".
func (f Flag) String() string { return flags[f].name }

// FlagValue is what one level says of one flag.
type FlagValue uint8

// The values; null and absent are FlagUnset.
const (
	FlagUnset FlagValue = iota
	FlagOn
	FlagOff
	FlagInherit
)

var flagValueNames = [...]string{"", "on", "off", "inherit"}

// String returns the value as documents carry it, "" when unset.
func (v FlagValue) String() string { return flagValueNames[v] }

// decided reports whether the level has a say of its own.
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

// Flags holds what one level says of every flag.
type Flags [flagCount]FlagValue
