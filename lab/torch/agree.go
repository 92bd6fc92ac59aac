package torch

import (
	"errors"
	"fmt"
	"math"
)

// agreeCell is small enough for PyTorch to make many steps.
var agreeCell = cell{"small", 10, 2}

// Chains forget their start slowly, and a chain's mean energy depends on the
// few optima it visits: hundreds of steps tell, tens do not.
const (
	agreeWarm  = 50
	agreeSteps = 300
)

// agree lets all samplers make the same number of steps from the same states
// and compares their mean probabilities of accepting and their energies, which are random.
func (s *settings) agree(book *book) (err error) {
	m, err := s.meter(agreeCell)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.close()) }()
	if err := m.prepare(); err != nil {
		return err
	}
	if err := m.check(); err != nil {
		return err
	}
	a := &Agreement{Cell: agreeCell, Steps: agreeSteps, Warm: agreeWarm, Chains: agreeCell.chains(),
		Samplers: m.result.Samplers, Commit: commit()}
	for _, name := range m.names {
		acc := newAccumulated(len(m.job.Sentences), a.Chains)
		for n := range m.job.Sentences {
			r, err := m.chainsAfter(name, n)
			if err != nil {
				return err
			}
			acc.add(n, r)
		}
		sm := a.Samplers[name]
		sm.Prob, sm.Energy = acc.prob.mean(), acc.energy.mean()
		fmt.Fprintf(s.verbose, "%-16s mean probability %.4f ± %.4f  U %.3f ± %.3f\n", name,
			sm.Prob.Value, sm.Prob.Error, sm.Energy.Value, sm.Energy.Error)
	}
	worst := 0.0
	for _, name := range []string{straightforward, saving} {
		worst = max(worst, a.Samplers[name].Prob.apart(a.Samplers[ours].Prob),
			a.Samplers[name].Energy.apart(a.Samplers[ours].Energy))
	}
	fmt.Fprintf(s.verbose, "largest difference from infill: %.1f standard errors\n", worst)
	book.Agree = a
	if err := book.save(); err != nil {
		return err
	}
	if worst > 4 {
		return fmt.Errorf("the samplers differ by %.1f standard errors", worst)
	}
	return nil
}

// chainsAfter makes the steps of a sampler and says what came after the warm ones.
func (m *meter) chainsAfter(name string, n int) (*slot, error) {
	var r slot
	if name == ours {
		err := m.workers[name].ask(command{Do: "slot", Sentence: n, Steps: agreeWarm + agreeSteps,
			Warm: agreeWarm}, &r)
		r.Steps = agreeSteps
		return &r, err
	}
	err := m.workers[name].ask(command{Do: "slot", Sentence: n, Steps: agreeWarm}, &r)
	if err == nil {
		r = slot{}
		err = m.workers[name].ask(command{Do: "slot", Sentence: n, Steps: agreeSteps}, &r)
	}
	return &r, err
}

// apart is the difference of two means in standard errors.
func (m Mean) apart(o Mean) float64 {
	return math.Abs(m.Value-o.Value) / math.Hypot(m.Error, o.Error)
}
