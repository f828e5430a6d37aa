#!/usr/bin/env python3
"""gsi.py SOURCE OUT [--arch sm_90] [--only-copy]: GSI's published program (github.com/bookug/GSI, a clone in SOURCE) for GPUs of today.

Writes a changed copy to OUT, and builds OUT/gsi with nvcc. SOURCE stays as it is. The changes:

1. Kernels. The published ones rely on warps whose lanes run in lockstep, which GPUs since Volta do not promise: on an H200 they find no row.
   In first_kernel, second_kernel and join_kernel
   - a __syncwarp() follows each statement that all lanes of a warp reach and that reads or writes memory which lanes share;
   - shuffles are the _sync ones;
   - the number of waiting results of a warp is in a register of each lane instead of shared memory, where each lane added to it.
   In link_kernel a barrier stands before one thread moves the block's position on, because other threads still read it.
2. Time. A query runs once before the measured run, and times are in microseconds. Matches are counted instead of written to a file.
   What is measured stays the same: filtering, upload of the lists that the query reads, joins, and download of all matches.
3. Building. With another name for a function that is called like one of the standard library, and NULL where false stood for a pointer.
   Without readline, without Thrust's headers, of which it uses nothing, without a field of the device's properties that CUDA 13 no longer has, and
   without its output for debugging. With -O3 instead of -G.

The program keeps its limits: at most 12 vertices, no parallel edges in a query, vertex labels told apart by a hash of 5 bits, an end of the
program if a hash group overflows, and results that fit into the GPU's memory whole.
"""
import argparse, os, re, shutil, subprocess, sys


def strip_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)


def closing(text, at, pair):
    """The place after the bracket that closes the one at `at`."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] == pair[0]) - (text[i] == pair[1])
        if depth == 0:
            return i + 1
    raise ValueError("a bracket is not closed")


def statement(text, at):
    """A statement from `at` on, as pairs of a head ("if(…)", "else"; "" if it has none) and a body, and the place after it."""
    m = re.compile(r"\s*(if|for|while)\s*(?=\()").match(text, at)
    if not m:
        brace = re.compile(r"\s*\{").match(text, at)
        after = closing(text, brace.end() - 1, "{}") if brace else text.index(";", at) + 1
        return [("", text[at:after])], after
    end = closing(text, m.end(), "()")
    after = statement(text, end)[1]
    parts = [(text[at:end], text[end:after])]
    other = re.compile(r"\s*else\b").match(text, after)
    if m.group(1) == "if" and other:
        end, after = other.end(), statement(text, other.end())[1]
        parts.append((other.group(), text[end:after]))
    return parts, after


# Values that differ between the lanes of a warp. A condition without them is the same for all.
LANES = re.compile(r"\b(idx|pred|k)\b")


# Memory through which lanes of a warp tell each other something.
SHARED = re.compile(r"\bs_pool[0-9]\b|\bd_result_tmp\[")


def with_syncs(text):
    """The statements of a block that a whole warp runs, with __syncwarp() after each that may read or write what other lanes do."""
    out, at = "", 0
    while text[at:].strip():
        parts, at = statement(text, at)
        own = ""  # what is not synchronised inside
        for head, body in parts:
            if head and not LANES.search(parts[0][0]) and body.strip().startswith("{"):
                out += head + " {" + with_syncs(body.strip()[1:-1]) + "}"
                own += head
            else:
                out += head + body
                own += head + body
        if SHARED.search(own) and "__shared__" not in own:
            out += " __syncwarp();"
    return out + "\n"


def kernel(text, name, change):
    """The file with the body of a kernel changed."""
    at = text.index("{", re.search(rf"__global__ void\s+{name}\s*\(", text).start())
    end = closing(text, at, "{}")
    return text[:at] + "{" + change(text[at + 1:end - 1]) + "}" + text[end:]


def lockstep(body):
    body, n = re.subn(r"__shared__\s+unsigned\s+s_pool4\[32\];", "unsigned filled;", body)
    body = body.replace("s_pool4[gidx]", "filled")
    body = re.sub(r"__shfl(_up)?\s*\(", r"__shfl\1_sync(0xffffffffu, ", body)
    return with_syncs(body)


def once(text, pattern, to):
    text, n = re.subn(pattern, to, text)
    if n != 1:
        sys.exit(f"{pattern}: {n} places in the source, not one: it is another version")
    return text


def change(folder):
    def edit(name, *changes):
        path = os.path.join(folder, name)
        with open(path) as f:
            text = strip_comments(f.read())
        for c in changes:
            text = c(text)
        with open(path, "w") as f:
            f.write(text)

    edit("match/Match.cu",
         *[lambda t, k=k: kernel(t, k, lockstep) for k in ("first_kernel", "second_kernel", "join_kernel")],
         lambda t: kernel(t, "link_kernel", lambda b: once(b, r"(if\(threadIdx\.x == 0\)\s*\{\s*swpos\[3\] \+= 1024;)", r"__syncthreads(); \1")),
         lambda t: once(t, r"\(int\)devProps\.clockRate", "0"))
    edit("match/Match.h", lambda t: re.sub(r"#include <thrust/[a-z_]+\.h>", "", t))
    edit("graph/Graph.cpp", lambda t: re.sub(r"\bhash\(", "hash_of(", t))
    edit("io/IO.cpp", lambda t: once(t, r"(invalid char[^;]*;\s*return) false;", r"\1 NULL;"))
    edit("util/Util.h", lambda t: re.sub(r"#include <readline/[a-z]+\.h>", "", t), lambda t: once(t, r"#define\s+DEBUG\s+1\b", ""))
    warm = ("for(int w = 0; w < qnum; ++w) { Match m(query_list[w], data_graph); "
            "m.match(io, final_result, result_row_num, result_col_num, id_map); delete[] final_result; final_result = NULL; }\n")
    edit("main/run.cpp",
         lambda t: once(t, r"long start = Util::get_cur_time\(\);", lambda m: warm + m.group()),
         lambda t: t.replace("Util::get_cur_time()", "chrono::duration_cast<chrono::microseconds>(chrono::steady_clock::now().time_since_epoch()).count()"),
         lambda t: re.sub(r'"\s*ms"', '" us"', t),
         lambda t: once(t, r"io\.output\(final_result[^;]*;", 'cout << "result: " << result_row_num << " rows" << endl;'),
         lambda t: "#include <chrono>\n" + t)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source")
    parser.add_argument("out")
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--only-copy", action="store_true", help="do not build")
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)
    copy = os.path.join(args.out, "GSI")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(args.source, copy, ignore=shutil.ignore_patterns(".git"))
    change(copy)
    if not args.only_copy:
        sources = [os.path.join(copy, f) for f in ("main/run.cpp", "match/Match.cu", "graph/Graph.cpp", "io/IO.cpp", "util/Util.cpp")]
        sys.exit(subprocess.call(["nvcc", "-O3", "-arch=" + args.arch, "-w", "-o", os.path.join(args.out, "gsi"), *sources]))


main()
