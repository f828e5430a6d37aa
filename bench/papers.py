#!/usr/bin/env python3
"""papers.py SYSTEM=GRAPH[,GRAPH…]... [--device gpu:0]: the experiments of the systems' papers, as JSON lines.

`weft bench ablation` runs the experiments of each system on its graphs. SYSTEM may name one experiment, as "stmatch/Figure 12"=GRAPH. Kept as
docs/results/papers-NAME.jsonl the lines become tables of docs/ablation.md (`make figures`). After --seconds, if given, what is
measured then is kept. Environment: WEFT, the program.
"""
import argparse, json, os, signal, subprocess, sys, time

WEFT = os.environ.get("WEFT", "weft")
parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("what", nargs="+", metavar="SYSTEM[/EXPERIMENT]=GRAPH[,GRAPH…]")
parser.add_argument("--device", default="gpu:0")
parser.add_argument("--runs", type=int, default=3)
parser.add_argument("--limit", type=float, default=10, help="seconds for one run")
parser.add_argument("--seconds", type=float, default=0, help="time for each system; 0: no limit")
parser.add_argument("--commit", default="", help="of weft, where the program does not know it")
parser.add_argument("--out", type=argparse.FileType("w"), default=sys.stdout)
args = parser.parse_args()

smi = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"], stdout=subprocess.PIPE, text=True, check=True).stdout
where = f"{len(args.device.split(','))} × " + ", driver ".join(smi.splitlines()[0].split(", "))
version = args.commit or subprocess.run([WEFT, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
print(json.dumps({"kind": "papers", "about": f"{where}, {len(os.sched_getaffinity(0))} cores; {time.strftime('%Y-%m-%d')}; {version}; median of {args.runs}; at most {args.limit:g} s a run"}),
      file=args.out, flush=True)
failed = False
for w in args.what:
    system, graphs = w.split("=", 1)
    system, _, experiment = system.partition("/")
    command = [WEFT, "bench", "ablation", "--system", system, "--device", args.device, "--runs", str(args.runs), "--timeout", f"{args.limit}s", "--to", "ndjson", "--progress", "none"]
    if experiment:
        command += ["--experiment", experiment]
    for g in graphs.split(","):
        command += ["-g", g]
    p = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        out, err = p.communicate(timeout=args.seconds or None)
    except subprocess.TimeoutExpired:  # by Ctrl-C, so that weft writes what it has
        p.send_signal(signal.SIGINT)
        out, err = p.communicate()
    for line in out.splitlines():
        row = json.loads(line)
        row["graph"] = os.path.basename(row["graph"]).split(".")[0]
        print(json.dumps(row, ensure_ascii=False), file=args.out, flush=True)
        failed = failed or row["note"] == "COUNT DIFFERS"
    print(f"{time.strftime('%H:%M:%S')} {w}: exit {p.returncode}\n{err[-1500:]}", file=sys.stderr, flush=True)
sys.exit(1 if failed else 0)
