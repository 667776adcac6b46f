package app

import "os"

// terminate ends a process: Windows cannot ask one that has no console.
var terminate = os.Kill
