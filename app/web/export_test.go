package web

// ExampleDemo is a demo for the tests of the pages.
var ExampleDemo = exampleDemo
