package graph

type statCache struct{}
