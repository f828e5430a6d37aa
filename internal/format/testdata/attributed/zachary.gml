Creator "igraph version 0.10.2 "
Version 1
graph
[
  directed 0
  node
  [
    id 0
    name "v0"
    color "blue"
  ]
  node
  [
    id 1
    name "v1"
    color "red"
  ]
  node
  [
    id 2
    name "v2"
    color "red"
  ]
  node
  [
    id 3
    name "v3"
    color "blue"
  ]
  node
  [
    id 4
    name "v4"
    color "red"
  ]
  node
  [
    id 5
    name "v5"
    color "red"
  ]
  node
  [
    id 6
    name "v6"
    color "blue"
  ]
  node
  [
    id 7
    name "v7"
    color "red"
  ]
  node
  [
    id 8
    name "v8"
    color "red"
  ]
  node
  [
    id 9
    name "v9"
    color "blue"
  ]
  node
  [
    id 10
    name "v10"
    color "red"
  ]
  node
  [
    id 11
    name "v11"
    color "red"
  ]
  node
  [
    id 12
    name "v12"
    color "blue"
  ]
  node
  [
    id 13
    name "v13"
    color "red"
  ]
  node
  [
    id 14
    name "v14"
    color "red"
  ]
  node
  [
    id 15
    name "v15"
    color "blue"
  ]
  node
  [
    id 16
    name "v16"
    color "red"
  ]
  node
  [
    id 17
    name "v17"
    color "red"
  ]
  node
  [
    id 18
    name "v18"
    color "blue"
  ]
  node
  [
    id 19
    name "v19"
    color "red"
  ]
  node
  [
    id 20
    name "v20"
    color "red"
  ]
  node
  [
    id 21
    name "v21"
    color "blue"
  ]
  node
  [
    id 22
    name "v22"
    color "red"
  ]
  node
  [
    id 23
    name "v23"
    color "red"
  ]
  node
  [
    id 24
    name "v24"
    color "blue"
  ]
  node
  [
    id 25
    name "v25"
    color "red"
  ]
  node
  [
    id 26
    name "v26"
    color "red"
  ]
  node
  [
    id 27
    name "v27"
    color "blue"
  ]
  node
  [
    id 28
    name "v28"
    color "red"
  ]
  node
  [
    id 29
    name "v29"
    color "red"
  ]
  node
  [
    id 30
    name "v30"
    color "blue"
  ]
  node
  [
    id 31
    name "v31"
    color "red"
  ]
  node
  [
    id 32
    name "v32"
    color "red"
  ]
  node
  [
    id 33
    name "v33"
    color "blue"
  ]
  edge
  [
    source 1
    target 0
    weight 0
    label "y"
  ]
  edge
  [
    source 2
    target 0
    weight 0.5
    label "x"
  ]
  edge
  [
    source 3
    target 0
    weight 1
    label "y"
  ]
  edge
  [
    source 4
    target 0
    weight 1.5
    label "x"
  ]
  edge
  [
    source 5
    target 0
    weight 2
    label "y"
  ]
  edge
  [
    source 6
    target 0
    weight 2.5
    label "x"
  ]
  edge
  [
    source 7
    target 0
    weight 3
    label "y"
  ]
  edge
  [
    source 8
    target 0
    weight 3.5
    label "x"
  ]
  edge
  [
    source 10
    target 0
    weight 4
    label "y"
  ]
  edge
  [
    source 11
    target 0
    weight 4.5
    label "x"
  ]
  edge
  [
    source 12
    target 0
    weight 5
    label "y"
  ]
  edge
  [
    source 13
    target 0
    weight 5.5
    label "x"
  ]
  edge
  [
    source 17
    target 0
    weight 6
    label "y"
  ]
  edge
  [
    source 19
    target 0
    weight 6.5
    label "x"
  ]
  edge
  [
    source 21
    target 0
    weight 7
    label "y"
  ]
  edge
  [
    source 31
    target 0
    weight 7.5
    label "x"
  ]
  edge
  [
    source 2
    target 1
    weight 8
    label "y"
  ]
  edge
  [
    source 3
    target 1
    weight 8.5
    label "x"
  ]
  edge
  [
    source 7
    target 1
    weight 9
    label "y"
  ]
  edge
  [
    source 13
    target 1
    weight 9.5
    label "x"
  ]
  edge
  [
    source 17
    target 1
    weight 10
    label "y"
  ]
  edge
  [
    source 19
    target 1
    weight 10.5
    label "x"
  ]
  edge
  [
    source 21
    target 1
    weight 11
    label "y"
  ]
  edge
  [
    source 30
    target 1
    weight 11.5
    label "x"
  ]
  edge
  [
    source 3
    target 2
    weight 12
    label "y"
  ]
  edge
  [
    source 7
    target 2
    weight 12.5
    label "x"
  ]
  edge
  [
    source 27
    target 2
    weight 13
    label "y"
  ]
  edge
  [
    source 28
    target 2
    weight 13.5
    label "x"
  ]
  edge
  [
    source 32
    target 2
    weight 14
    label "y"
  ]
  edge
  [
    source 9
    target 2
    weight 14.5
    label "x"
  ]
  edge
  [
    source 8
    target 2
    weight 15
    label "y"
  ]
  edge
  [
    source 13
    target 2
    weight 15.5
    label "x"
  ]
  edge
  [
    source 7
    target 3
    weight 16
    label "y"
  ]
  edge
  [
    source 12
    target 3
    weight 16.5
    label "x"
  ]
  edge
  [
    source 13
    target 3
    weight 17
    label "y"
  ]
  edge
  [
    source 6
    target 4
    weight 17.5
    label "x"
  ]
  edge
  [
    source 10
    target 4
    weight 18
    label "y"
  ]
  edge
  [
    source 6
    target 5
    weight 18.5
    label "x"
  ]
  edge
  [
    source 10
    target 5
    weight 19
    label "y"
  ]
  edge
  [
    source 16
    target 5
    weight 19.5
    label "x"
  ]
  edge
  [
    source 16
    target 6
    weight 20
    label "y"
  ]
  edge
  [
    source 30
    target 8
    weight 20.5
    label "x"
  ]
  edge
  [
    source 32
    target 8
    weight 21
    label "y"
  ]
  edge
  [
    source 33
    target 8
    weight 21.5
    label "x"
  ]
  edge
  [
    source 33
    target 9
    weight 22
    label "y"
  ]
  edge
  [
    source 33
    target 13
    weight 22.5
    label "x"
  ]
  edge
  [
    source 32
    target 14
    weight 23
    label "y"
  ]
  edge
  [
    source 33
    target 14
    weight 23.5
    label "x"
  ]
  edge
  [
    source 32
    target 15
    weight 24
    label "y"
  ]
  edge
  [
    source 33
    target 15
    weight 24.5
    label "x"
  ]
  edge
  [
    source 32
    target 18
    weight 25
    label "y"
  ]
  edge
  [
    source 33
    target 18
    weight 25.5
    label "x"
  ]
  edge
  [
    source 33
    target 19
    weight 26
    label "y"
  ]
  edge
  [
    source 32
    target 20
    weight 26.5
    label "x"
  ]
  edge
  [
    source 33
    target 20
    weight 27
    label "y"
  ]
  edge
  [
    source 32
    target 22
    weight 27.5
    label "x"
  ]
  edge
  [
    source 33
    target 22
    weight 28
    label "y"
  ]
  edge
  [
    source 25
    target 23
    weight 28.5
    label "x"
  ]
  edge
  [
    source 27
    target 23
    weight 29
    label "y"
  ]
  edge
  [
    source 32
    target 23
    weight 29.5
    label "x"
  ]
  edge
  [
    source 33
    target 23
    weight 30
    label "y"
  ]
  edge
  [
    source 29
    target 23
    weight 30.5
    label "x"
  ]
  edge
  [
    source 25
    target 24
    weight 31
    label "y"
  ]
  edge
  [
    source 27
    target 24
    weight 31.5
    label "x"
  ]
  edge
  [
    source 31
    target 24
    weight 32
    label "y"
  ]
  edge
  [
    source 31
    target 25
    weight 32.5
    label "x"
  ]
  edge
  [
    source 29
    target 26
    weight 33
    label "y"
  ]
  edge
  [
    source 33
    target 26
    weight 33.5
    label "x"
  ]
  edge
  [
    source 33
    target 27
    weight 34
    label "y"
  ]
  edge
  [
    source 31
    target 28
    weight 34.5
    label "x"
  ]
  edge
  [
    source 33
    target 28
    weight 35
    label "y"
  ]
  edge
  [
    source 32
    target 29
    weight 35.5
    label "x"
  ]
  edge
  [
    source 33
    target 29
    weight 36
    label "y"
  ]
  edge
  [
    source 32
    target 30
    weight 36.5
    label "x"
  ]
  edge
  [
    source 33
    target 30
    weight 37
    label "y"
  ]
  edge
  [
    source 32
    target 31
    weight 37.5
    label "x"
  ]
  edge
  [
    source 33
    target 31
    weight 38
    label "y"
  ]
  edge
  [
    source 33
    target 32
    weight 38.5
    label "x"
  ]
]
