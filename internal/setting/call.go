package setting

import (
	"math/bits"
	"strings"
)

// Call is a set of the calls that take options.
type Call uint64

const (
	Open Call = 1 << iota
	Read
	FromRecords
	FromEdges
	Convert
	Generate
	Info
	Layouts
	Partition
	CheckFile
	Count
	CountEach
	Exists
	Match
	List
	Explain
	Verify
	Participation
	Motifs
	Cliques
	Matcha
	MotifsMatcha
	Check
	Semantics
	Run
	Code
	Graph
	MatchaExplain
	RuntimeCheck
	Watch
	Follow
	Orbits
	RunRows
	end
)

// Calls are the calls as Concerning and errors name them, in the order of their bits.
var Calls = [...]string{
	"Open", "Read", "FromRecords", "FromEdges", "Convert", "Generate", "Graph.Info", "Graph.Layouts", "Graph.Partition", "Graph.CheckFile",
	"Graph.Count", "Graph.CountEach", "Graph.Exists", "Graph.Match", "Graph.List", "Graph.Explain", "Graph.Verify", "Graph.Participation",
	"Graph.Motifs", "Graph.Cliques", "Graph.Matcha", "Graph.MotifsMatcha", "Query.Check", "Query.Semantics",
	"Matcha.Run", "Matcha.Code", "Matcha.Graph", "Matcha.Explain", "Runtime.Check",
	"Graph.Watch", "Graph.Follow", "Graph.Orbits", "Matcha.RunRows",
}

// Sets of calls that are alike.
const (
	files    = Open | Read | Convert
	reads    = files | FromRecords | FromEdges
	queries  = Count | CountEach | Exists | Match | List | Explain | Verify | Participation
	searches = queries | Motifs | Cliques
	motifs   = Motifs | Orbits
	programs = Matcha | MotifsMatcha
	watches  = Watch | Follow
	runs     = Run | RunRows
)

// Concerns maps each option to the calls that it concerns. Query.Check accepts the options of
// the calls that it checks a query for.
var Concerns = map[string]Call{
	"WithFormat":         files,
	"WithDirected":       reads,
	"WithColumns":        files | FromRecords,
	"WithNull":           reads,
	"WithSkip":           files,
	"WithHeader":         files,
	"WithDuplicates":     reads,
	"WithLabels":         reads,
	"WithVertices":       reads,
	"WithVertexRecords":  reads,
	"WithVertexRows":     reads,
	"WithThreads":        reads | Generate | Info | Layouts | Partition | CheckFile | searches | Orbits | programs | Check | runs | MatchaExplain | watches,
	"WithMemory":         reads | Generate | Partition | searches | Orbits | Check | runs | watches,
	"WithGPUMemory":      reads | searches | Check | runs | watches,
	"WithSpill":          searches | Check,
	"WithDevice":         reads | searches | Check | runs | MatchaExplain | RuntimeCheck | watches,
	"WithProgress":       files | searches | Orbits | Check,
	"WithEngine":         searches | Check | RuntimeCheck | watches,
	"WithEngineOption":   searches | programs | Check | watches,
	"WithOrder":          searches | programs | Check,
	"WithSeed":           Partition | searches | programs | Check,
	"WithSemantics":      searches | programs | Check | Semantics | watches,
	"WithInduced":        searches | Orbits | programs | Check | watches,
	"WithParam":          queries | Matcha | Check | watches,
	"WithProduct":        queries | Matcha | Check | watches,
	"WithLimit":          searches&^(Exists|Verify) | Check,
	"WithList":           searches&^(Exists|Verify) | Matcha | Check | watches,
	"WithTimeout":        CountEach | Motifs | Check,
	"WithPlanning":       queries | Check,
	"WithDirections":     motifs | MotifsMatcha | Check,
	"WithQueryColumn":    List | Participation | Check,
	"WithListing":        Explain | Matcha | Check,
	"WithLevels":         Explain | Check,
	"WithPasses":         runs | Code | Graph | MatchaExplain,
	"WithSchedule":       runs | Code | MatchaExplain,
	"WithTarget":         runs | MatchaExplain,
	"WithProgramMemory":  runs,
	"WithCompilerMemory": searches | Check | runs,
	"WithPartitioner":    Partition,
	"WithImbalance":      Partition,
	"WithDebug":          runs | Code,
	"WithStats":          runs,
}

// String names the calls, with commas between them.
func (c Call) String() string {
	var names []string
	for ; c != 0; c &= c - 1 {
		names = append(names, Calls[bits.TrailingZeros64(uint64(c))])
	}
	return strings.Join(names, ", ")
}
