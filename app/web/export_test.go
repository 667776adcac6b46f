package web

// ExampleDemo is a demonstration that the tests of the pages show.
var ExampleDemo = exampleDemo
