package settings

import "infill/infill"

// Implied is what the settings of a manifest would be if these settings left each of them to the
// others of the manifest: by default steps depend on marginals, and method depends on whether
// anything of the sampling is chosen. It is for messages. Two manifests that differ in such a value
// alone do not differ in what somebody chose. A value of v that is chosen is left out where it can
// be told from one that is not.
func (v *Fill) Implied(manifest map[string]string) map[string]string {
	usual, err := fillTable.Recorded(Defaults())
	if err != nil { // it has the names of no files
		return nil
	}
	// without is the value of a setting that follows from those of others.
	without := func(s *Setting[Fill], others []*Setting[Fill]) string {
		rest := Defaults()
		for _, o := range others {
			if o != s {
				_ = o.Set(rest, manifest[o.Name]) // what it cannot read was not written by this program
			}
		}
		text, err := s.Recorded(rest)
		if err != nil {
			return manifest[s.Name]
		}
		return text
	}
	var changed, chosen []*Setting[Fill]
	for _, s := range fillTable {
		if s.record && manifest[s.Name] != usual[s.Name] {
			changed = append(changed, s)
		}
	}
	for _, s := range changed {
		if without(s, changed) != manifest[s.Name] {
			chosen = append(chosen, s)
		}
	}
	out := map[string]string{}
	for _, s := range fillTable {
		if s.record {
			out[s.Name] = without(s, chosen)
		}
	}
	if v.Method != infill.MethodAuto {
		delete(out, "method")
	}
	return out
}
