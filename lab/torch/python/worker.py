"""Runs one of the samplers of dmala.py on a cell, one command a line on standard input, one answer
a line on standard output, all JSON. Started by `bin/lab torch`."""

import argparse
import json
import pathlib
import resource
import statistics
import sys
import time

import numpy
import safetensors.torch
import torch
import transformers
from torch.utils.flop_counter import FlopCounterMode

import dmala


def cpu():
    r = resource.getrusage(resource.RUSAGE_SELF)
    return r.ru_utime + r.ru_stime


def peak_memory():
    with open("/proc/self/status") as f:
        for line in f:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0


class Worker:
    def __init__(self, args):
        torch.set_num_threads(args.threads)
        torch.set_num_interop_threads(1)
        with open(args.cell) as f:
            self.cell = json.load(f)
        self.variant = args.variant
        self.model = load(args.model).eval()
        if self.variant == "saving":
            self.model.requires_grad_(False)
        self.attention = args.attention
        if self.attention != "auto":
            self.model.set_attn_implementation(self.attention)
        self.samplers = {}
        if args.bfloat16:
            autocast(self.model)
        if args.compile:
            self.model.bert = torch.compile(self.model.bert)

    def sampler(self, n):
        if n not in self.samplers:
            s = self.cell["sentences"][n]
            self.samplers[n] = dmala.VARIANTS[self.variant](self.model, s, s["alpha"], s["states"], self.cell["seed"] + n)
        return self.samplers[n]

    def attention_check(self):
        """Chooses the faster of torch's two ways to compute attention, by one evaluation of each,
        of some 2,000 tokens, after a first one for warming up."""
        times = {}
        sentence = self.cell["sentences"][0]
        enough = 1 + 2048 // (len(sentence["ids"]) * len(sentence["positions"]))  # chains
        for name in ("eager", "sdpa", "eager", "sdpa"):
            self.model.set_attn_implementation(name)
            sampler = self.sampler(0)
            start = time.perf_counter()
            sampler.energy_and_gradient(sampler.theta[:enough])
            times[name] = time.perf_counter() - start
        self.attention = min(times, key=times.get)
        self.model.set_attn_implementation(self.attention)
        return {"attention": self.attention, "seconds": times}

    def check(self, n, file):
        """Compares energies and gradients with those that infill wrote: per state, U as float64 and
        m × V float32."""
        s = self.cell["sentences"][n]
        sampler = self.sampler(n)
        states = torch.tensor(s["check"])
        data = open(file, "rb").read()
        m, v = len(s["positions"]), self.model.config.vocab_size
        count = len(s["check"])
        u = numpy.frombuffer(data[: 8 * count], numpy.float64)
        g = numpy.frombuffer(data[8 * count :], numpy.float32).reshape(count, m, v)
        got_u, got_g = sampler.energy_and_gradient(states)
        allowed = s["allowed"][0]
        return {
            "energy": float(numpy.abs(got_u.double().numpy() - u).max()),
            "gradient": float(numpy.abs(got_g.numpy() - g)[:, :, allowed].max()),
            "largest": float(numpy.abs(g[:, :, allowed]).max()),
        }

    def slot(self, n, seconds, steps, trace):
        """Steps for so many seconds, or so many steps, whole ones and at least one. A trace has the states and energies
        of all chains, those before the first step included."""
        sampler = self.sampler(n)
        probs, moved, energies, states = [], 0, [], []
        if trace:
            energies.append(sampler.energy_and_gradient(sampler.theta)[0])
            states.append(sampler.theta)
        begin_cpu, begin, done = cpu(), time.perf_counter(), 0
        while True:
            u, prob, move = sampler.step()
            probs.append(prob)
            energies.append(u)
            if trace:
                states.append(sampler.theta)
            moved += int(move.sum())
            done += 1
            wall = time.perf_counter() - begin
            if (steps and done >= steps) or (not steps and wall >= seconds):
                break
        used = cpu() - begin_cpu
        return {
            "steps": done, "wall": wall, "cpu": used, "moved": moved,
            "prob": torch.stack(probs).mean(0).tolist(), "energy": torch.stack(energies).mean(0).tolist(),
            "trace": {"Energy": torch.stack(energies, 1).tolist(), "Tokens": torch.stack(states, 1).tolist()} if trace else None,
        }

    def flops(self, n):
        """Floating-point operations in matrix products of one step: those of one chain, times chains."""
        sampler = self.sampler(n)
        self.model.set_attn_implementation("eager")  # every product is then seen by the counter
        with FlopCounterMode(display=False) as counter:
            sampler.energy_and_gradient(sampler.theta[:1])
        if self.attention != "auto":
            self.model.set_attn_implementation(self.attention)
        return {"flops": counter.get_total_flops() * len(sampler.theta) * (2 if self.variant == "straightforward" else 1)}

    def peak(self, seconds):
        """GFLOP/s of torch.mm in float32, of the median call, at the sizes that infill's side uses too; and GFLOP a second
        of the processor, over all calls of a size."""
        best, by_cpu = {}, {}
        for m, k, n in self.cell["products"]:
            a, b, out = torch.randn(m, k), torch.randn(k, n), torch.empty(m, n)
            torch.mm(a, b, out=out)
            end, times, used = time.perf_counter() + seconds, [], cpu()
            while time.perf_counter() < end:
                start = time.perf_counter()
                torch.mm(a, b, out=out)
                times.append(time.perf_counter() - start)
            best[f"{m}×{k}×{n}"] = 2 * m * k * n / statistics.median(times) / 1e9
            by_cpu[f"{m}×{k}×{n}"] = 2 * m * k * n * len(times) / (cpu() - used) / 1e9
        return {"gflops": best, "by_cpu": by_cpu}

    def run(self, c):
        match c["do"]:
            case "attention":
                return self.attention_check()
            case "check":
                return self.check(c["sentence"], c["file"])
            case "slot":
                return self.slot(c["sentence"], c.get("seconds", 0), c.get("steps", 0), c.get("trace", False))
            case "flops":
                return self.flops(c["sentence"])
            case "peak":
                return self.peak(c["seconds"])
            case "versions":
                return {"torch": torch.__version__, "transformers": transformers.__version__,
                        "blas": torch.__config__.show().split("BLAS_INFO=")[1].split(",")[0],
                        "cpu": torch.backends.cpu.get_cpu_capability()}
            case "memory":
                return {"bytes": peak_memory()}
        raise ValueError(f"unknown command {c['do']!r}")


def autocast(model):
    """Has the model's products made in bfloat16, as torch.autocast does it; logits come out in float32."""
    forward = model.forward

    def cast(*args, **kwargs):
        with torch.autocast("cpu", torch.bfloat16):
            out = forward(*args, **kwargs)
        out.logits = out.logits.float()
        return out

    model.forward = cast


def load(folder):
    """The model of a folder, in float32. transformers knows one width inside for all layers. Where config.json has the width of each
    (intermediate_sizes), a file may have just these neurons or be filled up with zeros, which infill's graph does not have either."""
    config = transformers.BertConfig.from_pretrained(folder)
    widths = getattr(config, "intermediate_sizes", None)
    if not widths:
        return transformers.BertForMaskedLM.from_pretrained(folder, dtype=torch.float32)
    model = transformers.BertForMaskedLM(config)
    state = safetensors.torch.load_file(pathlib.Path(folder) / "model.safetensors")
    for n, (layer, width) in enumerate(zip(model.bert.encoder.layer, widths, strict=True)):
        layer.intermediate.dense = torch.nn.Linear(config.hidden_size, width)
        layer.output.dense = torch.nn.Linear(width, config.hidden_size)
        for name, axis in (("intermediate.dense.weight", 0), ("intermediate.dense.bias", 0), ("output.dense.weight", 1)):
            key = f"bert.encoder.layer.{n}.{name}"
            kept, rest = state[key].split([width, state[key].shape[axis] - width], axis)
            if rest.any():
                raise ValueError(f"intermediate_sizes leaves out neurons of {key} that are not zero")
            state[key] = kept
    missing, unexpected = model.load_state_dict(state, strict=False)
    model.tie_weights()
    if unexpected or any(not key.startswith("cls.predictions.decoder.") for key in missing):  # the head is tied
        raise ValueError(f"{folder} lacks {missing} and has {unexpected} besides")
    return model


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--model", required=True, help="folder with model.safetensors and config.json")
    p.add_argument("--cell", required=True, help="JSON file with sentences and states")
    p.add_argument("--variant", required=True, choices=list(dmala.VARIANTS))
    p.add_argument("--threads", type=int, required=True)
    p.add_argument("--attention", default="auto", choices=["auto", "eager", "sdpa"])
    p.add_argument("--compile", action="store_true")
    p.add_argument("--bfloat16", action="store_true", help="products of the straightforward program by autocast")
    w = Worker(p.parse_args())
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        print(json.dumps(w.run(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
