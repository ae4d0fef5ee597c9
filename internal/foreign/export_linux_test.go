package foreign

// HoldUntilGo is what a process does between its report and its program.
var HoldUntilGo = holdUntilGo
