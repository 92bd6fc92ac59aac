"""Asks a server with huggingface_hub's own client: client.py URL. Prints the answers as JSON."""

import json
import sys

from huggingface_hub import InferenceClient



def plain(answer):
    """The members that the server sends; the client adds one of its own."""
    if isinstance(answer, list):
        return [plain(a) for a in answer]
    return {k: answer[k] for k in ("score", "token", "token_str", "sequence")}


url = sys.argv[1]
out = []
for model in (url + "/", url + "/models/tiny"):
    client = InferenceClient(model=model)
    for text, more in (
        ("the [MASK] sleeps in the house .", {"top_k": 2}),
        ("the [MASK] sleeps in the house .", {"targets": ["dog", "cat"]}),
        ("the [MASK] sleeps in the [MASK] .", {"top_k": 2}),
    ):
        out.append(plain(client.fill_mask(text, **more)))
print(json.dumps(out))
