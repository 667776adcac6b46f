package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden file anew")

func TestGenerate(t *testing.T) {
	got, err := generate(".", "opsmon/app/httpapi/internal/schemagen/testdata/views")
	if err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/views/golden.json"
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); diff != "" {
		t.Error(diff)
	}
	if !json.Valid(got) {
		t.Error("it is not JSON")
	}
}

func TestGenerateRefusesWhatItCannotDescribe(t *testing.T) {
	for dir, want := range map[string]string{
		"option":   `unknown option "minimum"`,
		"comment":  `must begin with "View is"`,
		"method":   "encodes itself",
		"channel":  "an answer cannot hold chan int",
		"stranger": "net/netip.Addr has no schema",
	} {
		if _, err := generate(".", "opsmon/app/httpapi/internal/schemagen/testdata/bad/"+dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", dir, err, want)
		}
	}
}

func TestAnswersAreGenerated(t *testing.T) {
	got, err := generate(".", "opsmon/app/httpapi")
	if err != nil {
		t.Fatal(err)
	}
	if want, err := os.ReadFile("../../answers.json"); err != nil || !bytes.Equal(got, want) {
		t.Errorf("app/httpapi/answers.json is out of date (%v): run go generate ./app/httpapi", err)
	}
}
