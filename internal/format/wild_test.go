package format

import (
	"bytes"
	"strings"
	"testing"
)

// TestWild reads small files as they are found in the wild. note is a part of the
// report, and err of the error, where there is one.
func TestWild(t *testing.T) {
	for _, c := range []struct {
		name, in  string
		o         ReadOptions
		vertices  int
		edges     uint64
		directed  bool
		columns   string
		note, err string
	}{
		{name: "snap", in: "# Directed graph (each unordered pair of nodes is saved once): CA-GrQc.txt\n# Nodes: 4 Edges: 3\n# FromNodeId\tToNodeId\n1\t2\n2\t3\n3\t9\n",
			vertices: 4, edges: 3, columns: "src,dst", note: "the file's comments say that the graph is directed; it is read as undirected (--directed)"},
		{name: "snap undirected", in: "# Undirected graph: ../../data/output/amazon.ungraph.txt\r\n# Amazon\r\n# FromNodeId\tToNodeId\r\n1\t88160\r\n1\t118052\r\n",
			vertices: 3, edges: 2, columns: "src,dst"},
		{name: "snap on kaggle", in: "FromNodeId,ToNodeId\n0,1\n1,2\n2,0\n", vertices: 3, edges: 3, directed: true, columns: "src,dst", note: `directed, from column "FromNodeId" to column "ToNodeId"`},
		{name: "snap temporal", in: "582 364 0\n168 472 2797\n168 912 3304\n2 790 4523\n", vertices: 7, edges: 4, columns: "src,dst,weight:int", note: "the third column is taken as weight; --columns"},
		{name: "konect", in: "% asym posweighted\n% 3 3 3\n1 2 1 1289241911\n2 3 1 1289241912\n3 1 1 1289241913\n", vertices: 3, edges: 3, directed: true, columns: "src,dst,weight:int,time"},
		{name: "network repository", in: "% sym unweighted\n% 3 3 3\n1 2\n2 3\n1 3\n", vertices: 3, edges: 3, columns: "src,dst"},
		{name: "sizes apart", in: "3 3 2\n1 2\n2 3\n", vertices: 3, edges: 2, columns: "src,dst", note: "the first line, 3 2, is read as the numbers of vertices and edges"},
		{name: "sizes", in: "4 3\n1 2\n2 3\n3 4\n", vertices: 4, edges: 3, columns: "src,dst", note: "the first line, 4 3, is read as the numbers of vertices and edges (--header no: it is an edge)"},
		{name: "sizes as told", in: "4 3\n1 2\n2 3\n3 4\n", o: ReadOptions{Header: NoHeader}, vertices: 4, edges: 3, columns: "src,dst"},
		{name: "sizes from 0", in: "5 3\n0 1\n1 2\n2 4\n", vertices: 4, edges: 3, columns: "src,dst", note: "1 of the vertices that the first line promises"},
		{name: "sizes and weights", in: "3 2\n0 1 0.5\n1 2 0.25\n", vertices: 3, edges: 2, columns: "src,dst,weight:float"},
		{name: "sizes and commas", in: "3 2\n0,1\n1,2\n", vertices: 3, edges: 2, columns: "src,dst"},
		{name: "no sizes", in: "9 2\n1 2\n2 3\n", vertices: 4, edges: 3, columns: "src,dst", note: "the first line, 9 2, is read as an edge; if it has the numbers of vertices and edges, use --header yes"},
		{name: "no sizes as told", in: "9 2\n1 2\n2 3\n", o: ReadOptions{Header: WithHeader}, vertices: 3, edges: 2, columns: "src,dst"},
		{name: "wrong sizes", in: "3 5\n1 2 7\n2 3 8\n", err: "3 fields where 2 are expected"},
		{name: "train2id", in: "2\n0 1 0\n1 2 1\n", vertices: 3, edges: 2, directed: true, columns: "src,dst,label"},
		{name: "string", in: "protein1 protein2 combined_score\n9606.ENSP00000000233 9606.ENSP00000356607 173\n9606.ENSP00000000233 9606.ENSP00000427567 154\n9606.ENSP00000000233 9606.ENSP00000253413 151\n",
			vertices: 4, edges: 3, columns: "src:string,dst,combined_score:int"},
		{name: "string web", in: "#node1\tnode2\tnode1_string_id\tnode2_string_id\tcombined_score\nTP53\tMDM2\t9606.A\t9606.B\t0.999\nTP53\tEP300\t9606.A\t9606.C\t0.99\n",
			vertices: 3, edges: 2, columns: "src:string,dst,node1_string_id:string,node2_string_id:string,combined_score:float"},
		{name: "biogrid", in: "#BioGRID Interaction ID\tEntrez Gene Interactor A\tEntrez Gene Interactor B\tBioGRID ID Interactor A\tBioGRID ID Interactor B\tScore\n103\t6416\t2318\t112315\t108607\t-\n117\t84665\t88\t124185\t106603\t-\n",
			err: "the ends of an edge could be Entrez Gene Interactor A and Entrez Gene Interactor B, or BioGRID ID Interactor A and BioGRID ID Interactor B; name the columns in order, as --columns _,src,dst"},
		{name: "biogrid as told", in: "#BioGRID Interaction ID\tEntrez Gene Interactor A\tEntrez Gene Interactor B\tScore\n103\t6416\t2318\t-\n117\t84665\t88\t-\n", o: ReadOptions{Columns: []string{"_", "src", "dst"}},
			vertices: 4, edges: 2, columns: "_,src,dst"},
		{name: "genes", in: "Gene_A\tGene_B\tscore\nBRCA1\tTP53\t0.9\nTP53\tATM\t0.8\n", vertices: 3, edges: 2, columns: "src:string,dst,score:float"},
		{name: "ogb", in: "104447,13091\n15858,47283\n107156,69161\n", vertices: 6, edges: 3, columns: "src,dst"},
		{name: "paysim", in: "step,type,amount,nameOrig,oldbalanceOrg,newbalanceOrig,nameDest,oldbalanceDest,newbalanceDest,isFraud,isFlaggedFraud\n1,PAYMENT,9839.64,C1231006815,170136.0,160296.36,M1979787155,0.0,0.0,0,0\n1,TRANSFER,181.0,C1305486145,181.0,0.0,C553264065,0.0,0.0,1,0\n",
			vertices: 4, edges: 2, directed: true, columns: "step:int,label,amount:float,src:string,oldbalanceOrg:float,newbalanceOrig:float,dst,oldbalanceDest:float,newbalanceDest:float,isFraud:int,isFlaggedFraud:int", note: `directed, from column "nameOrig" to column "nameDest"`},
		{name: "ibm aml", in: "Timestamp,From Bank,Account,To Bank,Account,Amount Received,Receiving Currency\n2022-09-01 00:20,010,8000EBD30,010,8000EBD30,3697.34,US Dollar\n2022-09-01 00:20,03208,8000F4580,001,8000F5340,0.01,US Dollar\n",
			err: "the ends of an edge could be Account and Account.1, or From Bank and To Bank; name the columns in order, as --columns time,_,src,_,dst --directed"},
		{name: "ibm aml as told", in: "Timestamp,From Bank,Account,To Bank,Account\n2022/09/01 00:20,010,8000EBD30,010,8000EBD31\n2022/09/01 00:29,03208,8000F4580,001,8000F5340\n", o: ReadOptions{Columns: []string{"time", "_", "src", "_", "dst"}, Direction: Directed},
			vertices: 4, edges: 2, directed: true, columns: "time,_,src:string,_,dst", note: "times are microseconds since 1970"},
		{name: "minutes", in: "a,b,2024-01-01 10:00\nb,c,2024-01-01 11:00\n", vertices: 3, edges: 2, columns: "src:string,dst,time", note: "all values are dates"},
		{name: "day first", in: "1,2,01/02/2024\n", o: ReadOptions{Columns: []string{"src", "dst", "time"}}, err: "a time: not a number, and not a date such as 2024-01-31T12:00:00Z"},
		{name: "synapses", in: "pre_root_id,post_root_id,neuropil,syn_count\n720575940625363947,720575940623224444,ME_R,10\n720575940625363947,720575940623224445,LO,20\n", vertices: 3, edges: 2, directed: true,
			columns: "src,dst,neuropil:string,syn_count:int", note: `directed, from column "pre_root_id" to column "post_root_id"`},
		{name: "elliptic", in: "txId1,txId2\n230425980,5530458\n232022460,232438397\n", vertices: 4, edges: 2, columns: "src,dst"},
		{name: "bitcoin otc", in: "6,2,4,1289241911.72836\n6,5,2,1289241941.53378\n1,15,1,1289243140.39049\n", vertices: 5, edges: 3, columns: "src,dst,weight:int,time", note: "column 4 is taken as time"},
		{name: "bitcoin otc named", in: "source,target,rating,time\n6,2,4,1289241911.72836\n6,5,2,1289241941.53378\n", vertices: 3, edges: 2, directed: true, columns: "src,dst,rating:int,time"},
		{name: "transactions", in: "tx_id,from_account,to_account,amount\n1,A,B,5\n2,B,C,7\n", vertices: 3, edges: 2, directed: true, columns: "tx_id:int,src:string,dst,amount:int", note: `directed, from column "from_account" to column "to_account"`},
		{name: "payments", in: "sender,receiver,amount,timestamp\n1,2,100,1700000000\n2,3,50,1700000060\n", vertices: 3, edges: 2, directed: true, columns: "src,dst,amount:int,time"},
		{name: "payments undirected", in: "sender,receiver,amount,timestamp\n1,2,100,1700000000\n2,1,50,1700000060\n", o: ReadOptions{Direction: Undirected}, vertices: 2, edges: 2, columns: "src,dst,amount:int,time"},
		{name: "text payments", in: "Payer;Payee\nann;bob\nbob;cy\n", vertices: 3, edges: 2, directed: true, columns: "src:string,dst"},
		{name: "cites", in: "paper,cites\n10,5\n11,5\n", vertices: 3, edges: 2, directed: true, columns: "src,dst"},
		{name: "cora", in: "35\t1033\n35\t103482\n40\t1033\n", vertices: 4, edges: 3, columns: "src,dst"},
		{name: "patents", in: "\"CITING\",\"CITED\"\n3858241,956203\n3858241,1324234\n", vertices: 3, edges: 2, directed: true, columns: "src,dst"},
		{name: "gephi", in: "Source,Target,Type,Id,Label,Weight\n1,2,Undirected,0,,1.0\n2,3,Undirected,1,,2.0\n", vertices: 3, edges: 2, columns: "src,dst,_,Id:int,label,Weight:float", note: "undirected: the column Type says so"},
		{name: "gephi directed", in: "\ufeffSource;Target;Type;Id\r\nann;bob;Directed;0\r\nbob;cy;Directed;1\r\n", vertices: 3, edges: 2, directed: true, columns: "src:string,dst,_,Id:int"},
		{name: "gephi mixed", in: "Source,Target,Type\n1,2,Undirected\n2,3,Undirected\n3,4,Directed\n", err: "edges of both kinds"},
		{name: "neo4j", in: ":START_ID,:END_ID,:TYPE\n1,2,KNOWS\n2,3,LIKES\n", vertices: 3, edges: 2, directed: true, columns: "src,dst,label"},
		{name: "triples", in: "head\trelation\ttail\n/m/1\t/people/person\t/m/2\n/m/2\t/people/person\t/m/3\n", vertices: 3, edges: 2, directed: true, columns: "src:string,label,dst"},
		{name: "pandas index", in: ",source,target,weight\n0,5,6,0.5\n1,6,7,0.25\n", vertices: 3, edges: 2, directed: true, columns: "_,src,dst,weight:float", note: "column 1 has no name and is not read"},
		{name: "trailing comma", in: "src,dst,\n1,2,\n2,3,\n", vertices: 3, edges: 2, directed: true, columns: "src,dst"},
		{name: "trailing comma in the header", in: "u,v,\n1,2\n2,3\n", vertices: 3, edges: 2, columns: "src,dst"},
		{name: "netflow", in: "Source IP,Source Port,Destination IP,Destination Port,Protocol\n10.0.0.1,443,10.0.0.2,5000,6\n10.0.0.2,53,10.0.0.3,5001,17\n", vertices: 3, edges: 2, directed: true, columns: "src:string,Source Port:int,dst,Destination Port:int,Protocol:int"},
		{name: "neutral", in: "node_1,node_2\n1,2\n2,3\n", vertices: 3, edges: 2, columns: "src,dst"},
		{name: "letters", in: "u,v\n1,2\n2,3\n", vertices: 3, edges: 2, columns: "src,dst"},
		{name: "letters as vertices", in: "a,b\nb,c\nc,a\n", vertices: 3, edges: 3, columns: "src:string,dst"},
		{name: "numbered vertices", in: "node1 node2\nnode3 node4\n", vertices: 4, edges: 2, columns: "src:string,dst"},
		{name: "words", in: "from to\nto go\ngo home\n", vertices: 4, edges: 3, columns: "src:string,dst", note: "the first line, from,to, is read as an edge (--header yes if it names the columns)"},
		{name: "unknown names", in: "Person,Friend\nann,bob\nbob,cy\n", vertices: 5, edges: 3, columns: "src:string,dst", note: "the first line, Person,Friend, is read as an edge (--header yes if it names the columns)"},
		{name: "unknown names before a blank", in: "Person,Friend,_\nann,bob,x\nbob,cy,y\n", vertices: 5, edges: 3, columns: "src:string,dst,label", note: "the first line, Person,Friend,_, is read as an edge"},
		{name: "unknown names as told", in: "Person,Friend\nann,bob\nbob,cy\n", o: ReadOptions{Header: WithHeader}, vertices: 3, edges: 2, columns: "src:string,dst", note: "the header's first columns Person,Friend are taken as the vertex ids"},
		{name: "unknown names over numbers", in: "person,friend\n1,2\n2,3\n", vertices: 3, edges: 2, columns: "src,dst", note: "the header's first columns person,friend are taken as the vertex ids"},
		{name: "a label alone", in: "who,whom,relation\nann,bob,knows\nbob,cy,likes\n", err: "the first line names the columns, or is an edge: use --header yes or --header no"},
		{name: "an id first", in: "tx_id,who,whom\n1,5,6\n2,6,7\n", err: "names no source; name the columns with --columns"},
		{name: "columns over a header", in: "a,b,amount\n1,2,5\n2,3,6\n", o: ReadOptions{Columns: []string{"src", "dst", "w"}}, vertices: 3, edges: 2, columns: "src,dst,w:int", note: "the first line names the columns, and is not an edge (--header no)"},
		{name: "columns over a text header", in: "sender,receiver,how\nann,bob,x\nbob,cy,y\n", o: ReadOptions{Columns: []string{"src", "dst", "label"}}, vertices: 3, edges: 2, directed: true, columns: "src:string,dst,label"},
		{name: "columns by their names", in: "1,5,6\n2,6,7\n", o: ReadOptions{Columns: []string{"tx_id", "from_account", "to_account"}}, vertices: 3, edges: 2, columns: "tx_id:int,src,dst"},
		{name: "zeros", in: "01 2\n1 2\n", vertices: 3, edges: 2, columns: "src:string,dst", note: `ids are text: "01" in line 1 begins with a zero (--columns src:int,dst:int,… reads numbers)`},
		{name: "zeros as told", in: "01 2\n1 2\n", o: ReadOptions{Columns: []string{"src:int", "dst:int"}}, vertices: 2, edges: 1, columns: "src,dst"},
		{name: "late zeros", in: strings.Repeat("1 2\n2 3\n", 40_000) + "01 2\n", vertices: 4, edges: 3, columns: "src:string,dst", note: "ids are text, since some begin with a zero"},
		{name: "late zeros of rows", in: strings.Repeat("1,2,x\n2,3,y\n", 40_000) + "1,02,x\n", vertices: 4, edges: 3, columns: "src:string,dst,label", note: "ids are text, since some begin with a zero"},
		{name: "dates", in: "1 2 2024-01-31\n2 3 2024-02-01\n", vertices: 3, edges: 2, columns: "src,dst,time", note: "the third column is taken as time: all values are dates"},
		{name: "named dates", in: "source,target,date\n1,2,2024-01-31\n2,3,2024-02-01\n", vertices: 3, edges: 2, directed: true, columns: "src,dst,time", note: "column date is the time of the edges"},
		{name: "no dates", in: "source,target,date\n1,2,spring\n2,3,2024-02-01\n", vertices: 3, edges: 2, directed: true, columns: "src,dst,date:string", note: "column date is a property: not all of it are times"},
		{name: "windows", in: "\ufefffrom;to;label\r\n1;2;x\r\n\r\n2;3;y\r\n", vertices: 3, edges: 2, directed: true, columns: "src,dst,label"},
		{name: "quotes", in: "\"from\",\"to\",\"weight\"\n\"a\",\"b\",1\n\"b\",\"c\",2\n", vertices: 3, edges: 2, directed: true, columns: "src:string,dst,weight:int"},
		{name: "words around a blank", in: "ann,_,bob\ncy,_,di\n", vertices: 3, edges: 2, columns: "src:string,dst,label"},
		{name: "bars", in: "src|dst\n1|2\n2|3\n", vertices: 3, edges: 2, directed: true, columns: "src,dst"},
		{name: "header alone", in: "src,dst\n", directed: true, columns: "src,dst", note: "the file has no edges"},
		{name: "hashtags", in: "x #a\n#a y\ny z\n%z x\n", vertices: 4, edges: 2, columns: "src:string,dst", note: "lines after the first edge that begin with # or % are comments, and are not read: 2"},
		{name: "times of day", in: "1 2 2024-01-31 12:00:00\n2 3 2024-01-31 13:00:00\n", vertices: 3, edges: 2, columns: "src,dst,time,col4:string", note: "the fourth column is the time of day, and is not part of the time"},
		{name: "relations", in: "/m/1\t/people/person\t/m/2\n/m/2\t/film/film\t/m/3\n", vertices: 3, edges: 2, directed: true, columns: "src:string,label,dst", note: "directed, with labels: the columns are taken as head, relation and tail, by their values"},
		{name: "relations between numbers", in: "1 likes 2\n2 hates 3\n", vertices: 3, edges: 2, directed: true, columns: "src,label,dst"},
		{name: "n-triples", in: "<a> <p> <b> .\n<c> <p> <d> .\n", vertices: 4, edges: 2, directed: true, columns: "src:string,label,dst,_"},
		{name: "labels last", in: "ann bob likes\nbob cy hates\n", vertices: 3, edges: 2, columns: "src:string,dst,label", note: "the third column is taken as label; --columns src,label,dst reads the second as label"},
		{name: "labels last of numbers", in: "1 2 likes\n2 3 hates\n", vertices: 3, edges: 2, columns: "src,dst,label", note: "the third column is taken as label; --columns src,dst,NAME reads it as a property"},
		{name: "fractions", in: "src,dst,w\n3,2,4\n1.5,2,4\n", err: `:3:1: wrong columns: column src holds vertex ids, which are whole numbers or text (--columns src:string,dst,… reads all as text): "1.5"`},
		{name: "fractions at both ends", in: "# of pandas\n\"w\";\"src\";\"dst\"\n\"a;\"\"b\";1.0;2.0\n", err: `:3:9: wrong columns: column src holds vertex ids`},
		{name: "fractions after a form feed", in: "src dst\n1\f2.5\n", err: `:2:1: wrong columns: column dst holds vertex ids, which are whole numbers or text (--columns src:string,dst,… reads all as text): "1\f2.5"`},
		{name: "fractions before an open quote", in: "w,src,dst\n4,1.5,\"2\n", err: `:2:1: wrong columns: column src holds vertex ids, which are whole numbers or text (--columns src:string,dst,… reads all as text): "4,1.5,\"2"`},
		{name: "fractions as told", in: "src,dst\n1.5,2\n", o: ReadOptions{Columns: []string{"src:string", "dst"}}, vertices: 2, edges: 1, directed: true, columns: "src:string,dst"},
		{name: "dates as ends", in: "src,dst\n2024-01-31,2\n", err: `:2:1: wrong columns: column src holds vertex ids`},
		{name: "fractions without a direction", in: "a,b\n1.5,2.5\n2.5,3.5\n", o: ReadOptions{Header: WithHeader}, vertices: 3, edges: 2, columns: "src:string,dst", note: "the header's first columns a,b are taken as the vertex ids"},
		{name: "dates from and to", in: "person,friend,from,to\n1,2,2024-01-31,2024-02-01\n", vertices: 2, edges: 1, columns: "src,dst,from:string,to:string", note: "the header's first columns person,friend are taken as the vertex ids"},
		{name: "names of two pairs", in: "source,to\n1,2\n", vertices: 2, edges: 1, directed: true, columns: "src,dst", note: `directed, from column "source" to column "to"`},
		{name: "names of two pairs as told", in: "source,to\n1,2\n", o: ReadOptions{Columns: []string{"src", "dst"}}, vertices: 2, edges: 1, directed: true, columns: "src,dst"},
		{name: "airlines", in: "2B,410,AER,2965\n2B,411,ASF,2966\n", vertices: 3, edges: 2, columns: "src:string,dst,label,col4:int", note: "no line names the columns: the first two of 4 are taken as the ends of an edge (--columns says otherwise)"},
		{name: "r rows", in: "\"from\" \"to\" \"w\"\n\"1\" 1 2 0.5\n\"2\" 2 3 0.7\n", err: "the lines have 4 fields, and the header has 3 names; name the columns with --columns"},
		{name: "numbered rows", in: "trans_id;account_id;partner_id\n1;2;3\n2;2;4\n", err: "names no source; name the columns with --columns"},
		{name: "reddit", in: "SOURCE_SUBREDDIT\tTARGET_SUBREDDIT\tPOST_ID\tTIMESTAMP\na\tb\t1u4\t2013-12-31 16:39:58\nb\tc\t1u5\t2013-12-31 18:18:37\n", vertices: 3, edges: 2, directed: true, columns: "src:string,dst,POST_ID:string,time"},
		{name: "flights", in: "Airline,Origin,Dest,Stops\nAA,JFK,LAX,0\nAA,LAX,SFO,0\n", vertices: 3, edges: 2, directed: true, columns: "Airline:string,src:string,dst,Stops:int"},
		{name: "ethereum", in: "hash,from_address,to_address,value\n0xaa,0x1,0x2,5\n0xab,0x2,0x3,1\n", vertices: 3, edges: 2, directed: true, columns: "hash:string,src:string,dst,value:int"},
		{name: "movielens", in: "userId,movieId,rating\n1,31,2.5\n2,31,3.0\n", vertices: 3, edges: 2, columns: "src,dst,rating:float", note: "the header's first columns userId,movieId are taken as the vertex ids"},
		{name: "banksim", in: "step,customer,age,gender,zipcodeOri,merchant,zipMerchant,category,amount,fraud\n0,'C10','4','M','28007','M34','28007','es_transportation',4.55,0\n0,'C35','2','M','28007','M34','28007','es_transportation',39.68,0\n",
			vertices: 3, edges: 2, directed: true, columns: "step:int,src:string,age:string,gender:string,zipcodeOri:string,dst,zipMerchant:string,category:string,amount:float,fraud:int", note: `directed, from column "customer" to column "merchant"`},
		{name: "a step first", in: "step,account,counterparty\n1,2,3\n1,3,4\n", err: "names no source; name the columns with --columns"},
		{name: "an amount first", in: "amount,account,counterparty\n1,2,3\n1,3,4\n", err: "names no source; name the columns with --columns"},
		{name: "thousands", in: "from,to,amount\na,b,\"1,000\"\nb,c,5\n", vertices: 3, edges: 2, directed: true, columns: "src:string,dst,amount:string", note: "column amount is text, because of the comma in 1,000"},
		{name: "decimal commas", in: "from;to;amount\na;b;1,5\nb;c;1.002,25\n", vertices: 3, edges: 2, directed: true, columns: "src:string,dst,amount:string", note: "column amount is text, because of the comma in 1,5"},
		{name: "decimal commas without names", in: "1;2;1,5\n2;3;2,25\n", vertices: 3, edges: 2, columns: "src,dst,weight:string", note: "column weight is text, because of the comma in 1,5"},
		{name: "late comma", in: "from,to,amount\n" + strings.Repeat("1,2,3\n2,3,4\n", 40_000) + "3,1,\"1,000\"\n", vertices: 3, edges: 3, directed: true, columns: "src,dst,amount:string", note: "column amount is text, because of the comma in 1,000"},
		{name: "commas in names", in: "from;to;name\na;b;x,y\nb;c;1,5\n", vertices: 3, edges: 2, directed: true, columns: "src:string,dst,name:string"},
		{name: "t v e with zeros", in: "t # 0\nv 00 A\nv 01 B\ne 0 01 x\n", vertices: 2, edges: 1, columns: "src,dst,label"},
		{name: "contacts", in: "t,i,j\n20,1,2\n40,2,3\n", vertices: 3, edges: 2, columns: "time,src,dst"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, pipe := range []bool{false, true} {
				path, o := put(t, "g.txt", []byte(c.in)), c.o
				if pipe {
					if strings.HasPrefix(c.name, "late") {
						continue
					}
					path, o.Stdin = "-", bytes.NewReader([]byte(c.in))
				}
				g, err := Read(t.Context(), path, o, nil)
				if c.err != "" || err != nil {
					if c.err == "" || err == nil || !strings.Contains(err.Error(), c.err) {
						t.Errorf("error %v, want %q", err, c.err)
					}
					continue
				}
				r := g.Read
				if strings.Contains(strings.Join(r.Notes, "\n"), "comments, and are not read") && c.name != "hashtags" {
					t.Errorf("comments before the data are reported: %q", r.Notes)
				}
				if g.NumVertices() != c.vertices || g.NumEdges() != c.edges || g.Directed != c.directed || r.Columns != c.columns {
					t.Errorf("%d vertices, %d edges, directed: %v, columns %s; want %d, %d, %v, %s\n%s", g.NumVertices(), g.NumEdges(), g.Directed, r.Columns, c.vertices, c.edges, c.directed, c.columns, strings.Join(r.Notes, "\n"))
				}
				if notes := strings.Join(r.Notes, "\n"); !strings.Contains(notes, c.note) {
					t.Errorf("the report is\n%s\nand has no %q", notes, c.note)
				}
				if r.Lines != r.Kept+r.Duplicates+r.Reciprocal+r.SelfLoops {
					t.Errorf("of %d lines %d are kept, and %d + %d + %d dropped", r.Lines, r.Kept, r.Duplicates, r.Reciprocal, r.SelfLoops)
				}
			}
		})
	}
}
