"""Rows a second of PyTorch on a graphics card, for the work that `bin/lab cuda` times: BERT in the
shape of a config.json with random weights, the head at one place of each row, log-probabilities in
float32 on the processor. Prints one JSON object a line."""

import argparse
import json
import time

import torch
import transformers


def main():
    p = argparse.ArgumentParser()
    p.add_argument("config")
    p.add_argument("--rows", default="32 128 512 1024")
    p.add_argument("--length", type=int, default=16)
    p.add_argument("--seconds", type=float, default=3)
    p.add_argument("--device", default="cuda")
    args = p.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    config = transformers.BertConfig.from_json_file(args.config)
    config._attn_implementation = "sdpa"
    model = transformers.BertForMaskedLM(config).eval().to(args.device)
    wait = torch.cuda.synchronize if args.device == "cuda" else lambda: None
    for precision, dtype in (("fp32", torch.float32), ("fp16", torch.float16)):
        model = model.to(dtype)
        for rows in map(int, args.rows.split()):
            for what in ("rows", "scores"):
                ids = torch.randint(2000, 20000, (rows, args.length))
                at = torch.full((rows,), 3)
                target = torch.randint(2000, 20000, (rows, 1))

                @torch.inference_mode()
                def call():
                    x = ids.to(args.device, non_blocking=True)
                    hidden = model.bert(x).last_hidden_state
                    hidden = hidden[torch.arange(rows, device=x.device), at.to(x.device)]
                    logp = torch.log_softmax(model.cls(hidden).float(), -1)
                    if what == "scores":
                        logp = logp.gather(1, target.to(x.device))
                    return logp.cpu()

                for seconds in (args.seconds / 3, args.seconds):
                    wait()
                    start, n = time.perf_counter(), 0
                    while time.perf_counter() - start < seconds:
                        call()
                        n += rows
                    wait()
                    took = time.perf_counter() - start
                print(json.dumps({"what": what, "device": "torch " + torch.__version__, "precision": precision,
                                  "rows_a_call": rows, "tokens": args.length, "rows_a_second": round(n / took)}),
                      flush=True)


main()
