Creator "igraph version 0.10.2 "
Version 1
graph
[
  directed 1
  node
  [
    id 0
  ]
  node
  [
    id 1
  ]
  node
  [
    id 2
  ]
  node
  [
    id 3
  ]
  node
  [
    id 4
  ]
  node
  [
    id 5
  ]
  node
  [
    id 6
  ]
  edge
  [
    source 0
    target 1
  ]
  edge
  [
    source 0
    target 2
  ]
  edge
  [
    source 1
    target 3
  ]
  edge
  [
    source 1
    target 4
  ]
  edge
  [
    source 2
    target 5
  ]
  edge
  [
    source 2
    target 6
  ]
]
