package manifest

import (
	"reflect"
	"testing"

	"opsmon/schema"
	"opsmon/schema/schematest"
)

// TestModelHoldsEverything checks that the model has every property of the schema: otherwise its changes would not be
// detected.
func TestModelHoldsEverything(t *testing.T) {
	system := map[string]bool{"id": true, "domain": true, "stationCountLimit": true, "warehousePassword": true, "uploadTransforms": true, "appUrls": true}
	for name := range SystemFields {
		system[name] = true
	}
	for def, p := range map[string]*structPlan{
		"Account": planOf(reflect.TypeFor[Settings]()), "ShiftPattern": planOf(reflect.TypeFor[ShiftPattern]()), "Shift": planOf(reflect.TypeFor[Shift]()),
		"Reason": planOf(reflect.TypeFor[Reason]()), "Task": planOf(reflect.TypeFor[Task]()), "TaskListEntry": planOf(reflect.TypeFor[TaskInList]()),
		"TaskList": planOf(reflect.TypeFor[TaskList]()), "CronTrigger": planOf(reflect.TypeFor[Trigger]()), "SKU": planOf(reflect.TypeFor[SKU]()),
		"Plant": planOf(reflect.TypeFor[Plant]()), "StationGroup": planOf(reflect.TypeFor[StationGroup]()), "Station": planOf(reflect.TypeFor[Station]()),
	} {
		known := schematest.Properties(schema.JSON(schema.Manifest), def)
		if len(known) == 0 {
			t.Fatalf("the schema has no %s", def)
		}
		for _, name := range known {
			_, field := p.fields[name]
			_, isFlag := flagByName[name]
			if !field && !(isFlag && p.flags >= 0) && !system[name] && !(def == "Account" && Sections[name]) {
				t.Errorf("%s.%s is not in the model", def, name)
			}
		}
	}
}
