graph [
  directed 1
  multigraph 1
  node [
    id 0
    label "ann"
    labels "P"
    age 30
    h 1.5
    ok 1
  ]
  node [
    id 1
    label "bob &#34;the&#34; b<&#38;>&#233;"
  ]
  node [
    id 2
    label "cyd"
    age 2
  ]
  edge [
    source 0
    target 1
    key 0
    label "likes"
    weight 0.5
    time 7
  ]
  edge [
    source 0
    target 1
    key 1
    label "knows"
    weight 2
    time 8
  ]
  edge [
    source 2
    target 0
    key 0
    weight 1.5
    time 9
  ]
]
