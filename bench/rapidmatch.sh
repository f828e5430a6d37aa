#!/bin/sh
# rapidmatch.sh SOURCE OUT: builds RapidMatch (github.com/RapidsAtHKUST/RapidMatch, a clone in SOURCE) as OUT/rapidmatch and
# OUT/rapidmatch_cache, for `weft bench join --peers`. SOURCE stays as it is.
#
# Changes to the copy that is built:
# - configuration/config.h: statistics of the search are not collected, because they cost time. Query graphs may have 64 vertices
#   instead of 32, because a query with edge labels has two vertices more for each edge.
# - rapidmatch has the failing sets that the authors take for large queries. rapidmatch_cache has their intersection cache for small
#   queries instead. Both count subgraph isomorphisms.
# - One command compiles everything with -O3 -march=native -DNDEBUG and link-time optimisation, instead of shared libraries.
set -eu
[ $# = 2 ] || { sed -n '2p' "$0"; exit 2; }
mkdir -p "$2"
out=$(cd "$2" && pwd)
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -r "$1/." "$copy"
cd "$copy"
config=configuration/config.h
sed -i -e '/^#define COLLECT_/d' -e 's/^\(#define MAXIMUM_QUERY_GRAPH_SIZE\) .*/\1 64/' $config
sources="matching/matchingcommand.cpp matching/engine.cpp matching/execution_tree.cpp matching/execution_tree_node.cpp
	matching/execution_tree_generator.cpp matching/preprocessor.cpp matching/encoder.cpp matching/query_plan_generator.cpp
	graph/graph.cpp
	utility/graphoperations.cpp utility/commandparser.cpp utility/computesetintersection.cpp utility/global_variables.cpp
	utility/han/intersection_algos.cpp utility/han/utils/util.cpp utility/hashjoin/nop_join.cpp
	utility/leapfrogtriejoin/leapfrogtriejoin.cpp utility/relation/catalog.cpp utility/primitive/*.cpp
	utility/nucleus_decomposition/bucket.cpp utility/nucleus_decomposition/hierarchy.cpp utility/nucleus_decomposition/k3-4.cpp
	utility/nucleus_decomposition/kcore.cpp utility/nucleus_decomposition/ktruss.cpp utility/nucleus_decomposition/util.cpp
	utility/nucleus_decomposition/nd_interface.cpp"
build() { ${CXX:-g++} -std=c++14 -O3 -march=native -DNDEBUG -flto -w -I. -Iutility -pthread $sources -o "$out/$1"; }
build rapidmatch
sed -i -e '/^#define FAILING_SET_PRUNING/d' -e 's|^// \(#define INTERSECTION_CACHE\)|\1|' $config
build rapidmatch_cache
