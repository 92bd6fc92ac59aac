package lab

import "time"

// begin is the start of the program.
var begin = time.Now()
