package main

import "runtime/debug"

// buildVersion is set by the Makefile.
var buildVersion string

// version is the release this command was built from: set by the build, else
// what Go knows of the module.
func version() string {
	if buildVersion != "" {
		return buildVersion
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
