"""Runs the normative Python of a specification: docs/spec/<unit>.md, blocks joined in their order.

    python3 spec_docs.py UNIT SPECIFICATION <requests >states

Requests and states are lines of JSON, one state for each request; see tb/spec_docs.rs. A launch makes a
new state (one with a `state` goes on in that one), a step is one instruction (`again`: from the `state` of the launch);
`digest` asks for the conformance digest of the specification.
"""

import json
import re
import struct
import sys


def blocks(path):
    """The Python of the file at `path`, each line where it stands there, so that errors name it."""
    kept, fence = [], None
    for line in open(path, encoding="utf-8"):
        if line.startswith("```"):
            fence = line.strip("`\n") if fence is None else None
            kept.append("\n")
        else:
            kept.append(line if fence == "python" else "\n")
    return "".join(kept)


def lanes(mask, n):
    return [mask >> i & 1 for i in range(n)]


def mask(flags):
    return sum(1 << i for i, flag in enumerate(flags) if flag)


class Machine:
    def load(self, state):
        vars(self.state).update(state)


class R500(Machine):
    def __init__(self, spec, r):
        self.spec, self.config = spec, spec.Config(
            r["full"], r["bool_const"], r["int_const"], r["offset"],
            r["start"], r["end"], r["code_addr"], r["code_size"])
        self.state = spec.State(self.config, r["lanes"])

    def step(self, r):
        n = self.state.n
        alu, cov = lanes(r["alu"], n), lanes(r["cov"], n)
        pred = [mask(plane >> i & 1 for plane in r["pred"]) for i in range(n)]
        program = {self.state.pc: (r["cmn"], r["inst"], r["addr"])}
        self.spec.run(self.state, self.config, program, lambda pc, s: None, alu, pred, cov, 1)
        return {"alu": mask(alu)}

    def shown(self):
        s = self.state
        return {"st": s.st, "bc": s.bc, "lc": s.lc, "loops": s.loops, "addrs": s.addrs, "pc": s.pc,
                "al": self.spec.al_value(s), "err": s.err, "halted": s.halted, "done": s.done}


class R700(Machine):
    def __init__(self, spec, r):
        n = r["lanes"]
        self.spec, self.config = spec, spec.Config(
            r["prog_len"], r["stack_size"], r["loop_const"], r["bool_const"], r["max_stack_size"],
            r["subentries"], r["dx10_count"])
        self.state = spec.State(self.config, n, lanes(r["valid"], n), r["entry"])

    def step(self, r):
        pred = lanes(r["pred"], self.state.n)
        executes, jump = self.spec.step(self.state, self.config, r["dw0"], r["dw1"], r["u"], pred)
        return {"exec": mask(executes), "jump": jump}

    def load(self, state):
        super().load(state)
        s, at = self.state, 0
        s.valid, s.stack = lanes(s.valid, s.n), {}
        for kind, *frame in s.frames:
            s.stack[at] = lanes(*frame, s.n) if kind == 1 else tuple(frame)
            at += self.config.entry if kind == 2 else 1

    def frames(self):
        s, at = self.state, 0
        while at < s.sp:
            frame = s.stack[at]
            if isinstance(frame, list):
                yield [1, mask(frame)]
            else:
                yield [2 if len(frame) == 7 else 3, *frame]
            at += self.config.entry if len(frame) == 7 and not isinstance(frame, list) else 1

    def shown(self):
        s = self.state
        names = ("st", "pc", "sp", "base", "bkind", "nb", "lt", "lc", "al", "inc", "depth", "skipped",
                 "err", "halted", "done")
        return {"valid": mask(s.valid), "frames": list(self.frames()), **{x: getattr(s, x) for x in names}}


class Spa5(Machine):
    def __init__(self, spec, r):
        self.spec = spec
        self.config = spec.Config(r["lanes"], r["prog_size"], r["depth"], r["brx"], r["prog_base"], r["csm"])
        self.state = spec.State(self.config, r["launched"], r["entry"])

    def step(self, r):
        threads = range(self.config.n)
        p, cc = ([mask(plane >> t & 1 for plane in r[x]) for t in threads] for x in ("p", "cc"))
        a, t = self.spec.step(self.state, self.config, r["word"], p, cc, r["r"], r["constant"], r["csm"])
        return {"a": a, "t": t}

    def shown(self):
        names = ("status", "err", "pc", "active", "exited", "killed", "d_brk", "d_cont", "d_ret", "vis", "stack")
        return {x: getattr(self.state, x) for x in names}


def from_bits(word):
    return struct.unpack("<f", struct.pack("<I", word))[0]


def to_bits(value):
    # One NaN stands for all.
    return 0x7FC00000 if value != value else struct.unpack("<I", struct.pack("<f", value))[0]


class R500Alu:
    """One lane; numbers are the bits of float32. A step shows the registers that it may have changed."""

    def __init__(self, spec, r):
        self.spec, self.lane = spec, spec.Lane()
        self.const = [[from_bits(x) for x in c] for c in r["const"]]
        self.const += [[0.0] * 4] * (256 - len(self.const))
        self.lane.temp = [[from_bits(x) for x in t] for t in r["temp"]]
        self.before = None

    def step(self, r):
        lane, words = self.lane, r["words"]
        self.before = [list(t) for t in lane.temp]
        if words[0] & 3 == 3:
            self.spec.tex_slot(lane, words, r["al"])
        else:
            self.spec.alu_slot(lane, self.const, words, r["al"])
        return {}

    def shown(self):
        lane, before = self.lane, self.before or self.lane.temp
        changed = {str(i): [to_bits(x) for x in t] for i, t in enumerate(lane.temp)
                   if [to_bits(x) for x in t] != [to_bits(x) for x in before[i]]}
        return {"changed": changed, "out": [to_bits(x) for x in lane.out], "killed": lane.killed,
                "alu": lane.alu, "pred": lane.pred}


def main(unit, path):
    spec = type("Spec", (), {})()
    exec(compile(blocks(path), path, "exec"), vars(spec))
    machine = start = None
    for request in map(json.loads, sys.stdin):
        if "digest" in request:
            answer = {"digest": spec.digest(*request["digest"])}
        elif "launch" in request:
            machine = {"r500": R500, "r500-alu": R500Alu, "r700": R700, "spa5": Spa5}[unit](spec, request["launch"])
            answer = machine.shown()
            if "state" in request:
                start = json.dumps(request["state"])
                machine.load(json.loads(start))
        else:
            if "again" in request:
                machine.load(json.loads(start))
            outputs = machine.step(request)
            answer = {**machine.shown(), **outputs}
        print(json.dumps(answer))


main(*sys.argv[1:])
