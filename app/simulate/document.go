package simulate

// The part of a manifest that the simulation needs (http-api.md section 2.3). null and absent values are the zero
// value.
type (
	document struct {
		Account struct {
			ID            string            `json:"id"`
			ShiftPatterns []patternDocument `json:"shiftPatterns"`
			Reasons       []reasonDocument  `json:"reasons"`
			TaskLists     []struct {
				Code    string `json:"code"`
				Trigger struct {
					Type string `json:"type"`
				} `json:"trigger"`
			} `json:"taskLists"`
			SKUs   []skuDocument   `json:"skus"`
			Plants []plantDocument `json:"plants"`
			levelDocument
		} `json:"account"`
	}
	patternDocument struct {
		Code   string `json:"code"`
		Shifts []struct {
			Name      string  `json:"name"`
			StartHour float64 `json:"startHour"`
			Duration  float64 `json:"duration"`
			WeekDay   string  `json:"weekDay"`
		} `json:"shifts"`
	}
	reasonDocument struct {
		Code    string           `json:"code"`
		Type    []string         `json:"type"`
		Role    string           `json:"oee"`
		Reasons []reasonDocument `json:"reasons"`
	}
	rateDocument struct {
		CycleTime      float64 `json:"cycleTime"`
		UnitsPerMinute float64 `json:"unitsPerMinute"`
		UnitsPerHour   float64 `json:"unitsPerHour"`
	}
	skuDocument struct {
		Code string `json:"code"`
		rateDocument
		PartsPerCycle           float64  `json:"partsPerCycle"`
		LineSpeedTarget         float64  `json:"lineSpeedTarget"`
		Multiplier              float64  `json:"downtimeDurationThresholdMultiplier"`
		MinimumCycleTime        float64  `json:"minimumCycleTime"`
		AllowUseInQuickSchedule bool     `json:"allowUseInQuickSchedule"`
		StationCodes            []string `json:"stationCodes"`
		StationGroupCodes       []string `json:"stationGroupCodes"`
	}
	plantDocument struct {
		Timezone                string          `json:"timezone"`
		DayStartHour            float64         `json:"dayStartHour"`
		WeekStartDay            float64         `json:"weekStartDay"`
		TotalEnergyStationCodes []string        `json:"totalEnergyStationCodes"`
		Groups                  []groupDocument `json:"stationGroups"`
		levelDocument
	}
	groupDocument struct {
		Code             string            `json:"code"`
		ShiftPatternCode string            `json:"shiftPatternCode"`
		Stations         []stationDocument `json:"stations"`
		levelDocument
	}
	stationDocument struct {
		Code                            string   `json:"code"`
		ShiftPatternCode                string   `json:"shiftPatternCode"`
		MinimumCycleTime                float64  `json:"minimumCycleTime"`
		SpeedScale                      float64  `json:"speedScale"`
		SpeedOffset                     float64  `json:"speedOffset"`
		SpeedToProductionRatio          float64  `json:"speedToProductionRatio"`
		ElectricalPowerNominalKw        float64  `json:"electricalPowerNominalKw"`
		DowntimeDetectionMode           string   `json:"downtimeDetectionMode"`
		UtilisationDowntimeThreshold    *float64 `json:"utilisationDowntimeThreshold"`
		ProductiveStatusMode            string   `json:"productiveStatusMode"`
		ElectricalUsageStoppedThreshold float64  `json:"electricalUsageStoppedThresholdKw"`
		LineSpeedStoppedThreshold       float64  `json:"lineSpeedStoppedThreshold"`
		ProductiveHoldOnTime            float64  `json:"productiveHoldOnTime"`
		LineSpeedTarget                 float64  `json:"lineSpeedTarget"`
		rateDocument
		levelDocument
	}
	// levelDocument has the fields that can be set at every level.
	levelDocument struct {
		IncludeReasonCodes   []string `json:"includeReasonCodes"`
		ExcludeReasonCodes   []string `json:"excludeReasonCodes"`
		IncludeTaskListCodes []string `json:"includeTaskListCodes"`
		ExcludeTaskListCodes []string `json:"excludeTaskListCodes"`

		EnableTasks                     string `json:"enableTasks"`
		EnableMeterOnly                 string `json:"enableMeterOnly"`
		EnableSchedulingOnly            string `json:"enableSchedulingOnly"`
		EnableAlwaysConnected           string `json:"enableAlwaysConnected"`
		EnableManualProduction          string `json:"enableManualProduction"`
		EnableRejectProduction          string `json:"enableRejectProduction"`
		EnableQuickScheduleStart        string `json:"enableQuickScheduleStart"`
		EnableScheduleCutShort          string `json:"enableScheduleCutShort"`
		EnableManualDowntime            string `json:"enableManualDowntime"`
		EnableAutoEndOnQuantityComplete string `json:"enableAutoEndOnQuantityComplete"`
	}
)
