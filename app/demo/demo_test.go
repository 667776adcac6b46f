package demo

import (
	"testing"
	"time"

	"opsmon/app/account"
	"opsmon/schema"
	"opsmon/schema/strictjson"
)

func TestManifestHasTheRightShape(t *testing.T) {
	doc, err := strictjson.Decode(Manifest())
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range schema.Validate(schema.Manifest, doc) {
		t.Errorf("%s %s", v.Path, v.Issue)
	}
}

func TestManifestPassesEveryCheckWithoutAWarning(t *testing.T) {
	report := account.Validate(Manifest(), time.Now())
	if !report.Valid {
		t.Error("the example is not valid")
	}
	for _, d := range append(report.Details, report.Warnings...) {
		t.Errorf("%s %s", d.Field, d.Issue)
	}
}

func TestManifestIsTheCallersOwn(t *testing.T) {
	Manifest()[0] = 'x'
	if got := Manifest()[0]; got != '{' {
		t.Errorf("a change by one caller reached the next: the document starts with %q", got)
	}
}
