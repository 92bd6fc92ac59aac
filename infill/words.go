package infill

import "infill/infill/request"

// The words of a request, see package infill/request.
type (
	Options                = request.Options
	WordOptions            = request.WordOptions
	SearchOptions          = request.SearchOptions
	SamplingOptions        = request.SamplingOptions
	ResultOptions          = request.ResultOptions
	WatchOptions           = request.WatchOptions
	Method                 = request.Method
	Effort                 = request.Effort
	Budget                 = request.Budget
	Start                  = request.Start
	Starts                 = request.Starts
	Collect                = request.Collect
	Scoring                = request.Scoring
	Filter                 = request.Filter
	Term                   = request.Term
	Weighted               = request.Weighted
	Range[N int | float64] = request.Range[N]
	Finished               = request.Finished

	Result    = request.Result
	Filling   = request.Filling
	Parts     = request.Parts
	WordRank  = request.WordRank
	Marginals = request.Marginals
	Marginal  = request.Marginal
	Estimate  = request.Estimate
	Ending    = request.Ending
	Step      = request.Step
	Progress  = request.Progress
)

// Values of Method, Effort, Budget, Start, Collect, Scoring and Ending.
const (
	MethodAuto   = request.MethodAuto
	MethodExact  = request.MethodExact
	MethodSearch = request.MethodSearch
	MethodSample = request.MethodSample

	EffortNormal   = request.EffortNormal
	EffortQuick    = request.EffortQuick
	EffortThorough = request.EffortThorough

	BudgetSteps       = request.BudgetSteps
	BudgetEvaluations = request.BudgetEvaluations
	BudgetRows        = request.BudgetRows

	StartMasked   = request.StartMasked
	StartArgmax   = request.StartArgmax
	StartOriginal = request.StartOriginal
	StartRandom   = request.StartRandom

	CollectVisited = request.CollectVisited
	CollectLast    = request.CollectLast
	CollectChain   = request.CollectChain

	ScoreBlended    = request.ScoreBlended
	ScorePLL        = request.ScorePLL
	ScoreWithinWord = request.ScoreWithinWord

	EndedItself  = request.EndedItself
	EndedRows    = request.EndedRows
	EndedStopped = request.EndedStopped
)

// Numbers of a request, and the name of the model's part of an energy.
const (
	DefaultSteps   = request.DefaultSteps
	PublishedSteps = request.PublishedSteps
	DefaultChains  = request.DefaultChains
	MaxWeight      = request.MaxWeight
	ModelEnergy    = request.ModelEnergy
)

// Ranges are the ranges of numbers, ErrFiltered and ErrStart errors, and ReadStarts reads Starts.
var (
	Ranges      = request.Ranges
	ErrFiltered = request.ErrFiltered
	ErrStart    = request.ErrStart
	ReadStarts  = request.ReadStarts
)
