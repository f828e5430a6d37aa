package weft

import (
	"math/bits"
	"strings"
)

// call is a set of the calls that take options.
type call uint32

const (
	callOpen call = 1 << iota
	callRead
	callFromRecords
	callFromEdges
	callConvert
	callGenerate
	callInfo
	callCheckFile
	callCount
	callCountEach
	callExists
	callMatch
	callList
	callExplain
	callVerify
	callParticipation
	callMotifs
	callCliques
	callMatcha
	callMotifsMatcha
	callCheck
	callSemantics
	callRun
	callCode
	callGraph
	callMatchaExplain
	callRuntimeCheck
	callEnd
)

// callNames are the calls as Concerning and errors name them, in the order of their bits.
var callNames = [...]string{
	"Open", "Read", "FromRecords", "FromEdges", "Convert", "Generate", "Graph.Info", "Graph.CheckFile",
	"Graph.Count", "Graph.CountEach", "Graph.Exists", "Graph.Match", "Graph.List", "Graph.Explain", "Graph.Verify", "Graph.Participation",
	"Graph.Motifs", "Graph.Cliques", "Graph.Matcha", "Graph.MotifsMatcha", "Query.Check", "Query.Semantics",
	"Matcha.Run", "Matcha.Code", "Matcha.Graph", "Matcha.Explain", "Runtime.Check",
}

// Sets of calls that are alike.
const (
	files    = callOpen | callRead | callConvert
	reads    = files | callFromRecords | callFromEdges
	queries  = callCount | callCountEach | callExists | callMatch | callList | callExplain | callVerify | callParticipation
	searches = queries | callMotifs | callCliques
	programs = callMatcha | callMotifsMatcha
)

// concerns says which calls each option concerns. Query.Check takes what the calls take
// that it checks a query for.
var concerns = map[string]call{
	"WithFormat":        files,
	"WithDirected":      reads,
	"WithColumns":       files | callFromRecords,
	"WithNull":          reads,
	"WithSkip":          files,
	"WithHeader":        files,
	"WithDuplicates":    reads,
	"WithLabels":        reads,
	"WithVertices":      reads,
	"WithVertexRecords": reads,
	"WithVertexRows":    reads,
	"WithThreads":       reads | callGenerate | callInfo | callCheckFile | searches | programs | callCheck | callRun | callMatchaExplain,
	"WithMemory":        reads | callGenerate | searches | callCheck | callRun,
	"WithGPUMemory":     reads | searches | callCheck | callRun,
	"WithDevice":        reads | searches | callCheck | callRun | callMatchaExplain | callRuntimeCheck,
	"WithProgress":      files | searches | callCheck,
	"WithEngine":        searches | callCheck | callRuntimeCheck,
	"WithEngineOption":  searches | programs | callCheck,
	"WithOrder":         searches | programs | callCheck,
	"WithSeed":          searches | programs | callCheck,
	"WithSemantics":     searches | programs | callCheck | callSemantics,
	"WithInduced":       searches | programs | callCheck,
	"WithParam":         queries | callMatcha | callCheck,
	"WithProduct":       queries | callMatcha | callCheck,
	"WithLimit":         searches&^(callExists|callVerify) | callCheck,
	"WithList":          searches&^(callExists|callVerify) | callMatcha | callCheck,
	"WithTimeout":       callCountEach | callMotifs | callCheck,
	"WithDirections":    callMotifs | callMotifsMatcha | callCheck,
	"WithQueryColumn":   callList | callParticipation | callCheck,
	"WithListing":       callExplain | callMatcha | callCheck,
	"WithLevels":        callExplain | callCheck,
	"WithPasses":        callRun | callCode | callGraph | callMatchaExplain,
	"WithSchedule":      callRun | callCode | callMatchaExplain,
	"WithTarget":        callRun | callMatchaExplain,
	"WithDebug":         callRun | callCode,
	"WithStats":         callRun,
}

// String names the calls, with commas between them.
func (c call) String() string {
	var names []string
	for ; c != 0; c &= c - 1 {
		names = append(names, callNames[bits.TrailingZeros32(uint32(c))])
	}
	return strings.Join(names, ", ")
}

// Concerning returns those of the options that concern a call, for callers with one list of
// options for several calls. The call is named as in "Open" or "Graph.Count". A name that
// is not a call's concerns no option.
func Concerning(of string, options ...Option) (out []Option) {
	for i, name := range callNames {
		if name != of {
			continue
		}
		for _, o := range options {
			if concerns[o.name]&(1<<i) != 0 {
				out = append(out, o)
			}
		}
	}
	return out
}
