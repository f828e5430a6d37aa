package graph

type mapping struct{}
