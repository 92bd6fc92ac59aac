"""Tests of the training program; they run in seconds: python3 -m pytest -q models/train"""

import argparse
import ast
import graphlib
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
import safetensors.torch
import torch

import compare
import data
import embed
import evaluate
import export
import fillings
import grid
import model
import muon
import pack
import plot
import prepare
import prune
import quantise
import revocab
import start
import store
import text
import train
import vocab
import weights

SMALL = train.config(200, 64, 2)
UNEVEN = {**SMALL, "intermediate_sizes": [96, 256]}  # the first layer's block is narrower
FEW_HEADS = {**train.config(200, 64, 2, heads=4), "attention_heads": [3, 4], "intermediate_sizes": [96, 256]}
FACTORISED = train.config(200, 64, 2, heads=4, width=48)
SPECIAL = data.Special(0, 1, 2, 3, 4)  # of vocab.py's vocabularies


@pytest.fixture(params=[SMALL, UNEVEN, FEW_HEADS, FACTORISED], ids=["even", "uneven", "few heads", "factorised"])
def net(request):
    torch.manual_seed(1)
    net = model.MaskedLM(request.param)
    for p in net.parameters():
        p.data += 0.1 * torch.randn_like(p)
    return net.eval().requires_grad_(False)


def test_words_are_those_of_the_reference_tokenizer():
    from tokenizers import normalizers, pre_tokenizers

    norm, pre = normalizers.BertNormalizer(lowercase=True), pre_tokenizers.BertPreTokenizer()
    for s in ["It's 1,234.5 (U.S.) - Café, naïve—\"so\" `` it ''", "a_b@-@c 東京tower £5 x²", "tab\tand  spaces\u00a0here"]:
        assert text.words(s) == [w for w, _ in pre.pre_tokenize_str(norm.normalize_str(s))]


@pytest.mark.parametrize(
    "line, want",
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ('"No," said Mr. Hill. "It is late!" He left.', ['"No," said Mr. Hill.', '"It is late!"', "He left."]),
        ("It cost 3.5 dollars. 20 people came.", ["It cost 3.5 dollars.", "20 people came."]),
        ("no end", ["no end"]),
    ],
)
def test_sentences(line, want):
    assert text.sentences(line) == want


def test_styles():
    assert text.treebank("\"I don't,\" he said; it's Tom's.").split() == (
        "`` I do n't, '' he said; it 's Tom 's.".split()
    )
    assert text.treebank("You can't, won't.") == "You ca n't, wo n't."
    assert text.wikitext("The well-known 1,234.5 men's").split() == (
        "The well @-@ known 1 @,@ 234 @.@ 5 men 's".split()
    )
    assert text.narrative("She took his hand.") and not text.narrative("The river flows to the sea.")


def test_vocabulary_has_frequent_words_characters_and_merges():
    counts = {"the": 5000, "lower": 900, "lowest": 800, "lowly": 700, "zebra": 3}
    v = vocab.build(counts, 200)
    assert v[:5] == vocab.SPECIAL and len(v) == len(set(v))
    assert {"the", "lower", "a", "##a", "`", "@"} <= set(v)
    # With room for no whole word, byte-pair encoding finds the stem the words have in common.
    assert vocab.merges(counts, 3)[0] in ("th", "##he", "lo")
    assert "low" in vocab.merges({k: n for k, n in counts.items() if k != "the"}, 3)


def test_cooccurrence_by_brute_force():
    rng = np.random.default_rng(0)
    pieces, line = rng.integers(0, 7, 60).astype(np.uint16), np.array([0, 11, 12, 40, 60])
    want = np.zeros((7, 7))
    for i in range(60):
        for j in range(i + 1, min(i + 1 + embed.WINDOW, 60)):
            if np.searchsorted(line, i, "right") == np.searchsorted(line, j, "right"):
                weight = 1 - (j - i - 1) / embed.WINDOW
                want[pieces[i], pieces[j]] += weight
                want[pieces[j], pieces[i]] += weight
    np.testing.assert_allclose(embed.cooccurrence(pieces, line, 7), want, rtol=1e-6)


def test_embeddings_of_like_pieces_are_alike():
    rng = np.random.default_rng(0)
    # Pieces 0-4 follow pieces 50-99, pieces 5-9 follow pieces 100-149.
    first = rng.integers(0, 10, 20000)
    pieces = np.stack([rng.integers(0, 50, 20000) + np.where(first < 5, 50, 100), first], 1)
    line = np.arange(0, 40001, 2)
    e = embed.factorise(embed.cooccurrence(pieces.reshape(-1).astype(np.uint16), line, 150), 8)
    unit = e / e.norm(dim=1, keepdim=True)
    assert float(unit[0] @ unit[1]) > 0.8 > 0.2 > float(unit[0] @ unit[7])


def test_muon_steps_have_spectral_norm_one():
    torch.manual_seed(0)
    for shape, kind in [((3, 64, 64), torch.bfloat16), ((2, 128, 32), torch.bfloat16), ((2, 32, 128), torch.float32)]:
        x = muon.orthogonalise(torch.randn(shape), kind)
        assert x.dtype == kind
        s = torch.linalg.svdvals(x.float())
        # The five steps send singular values into about [0.7, 1.2], except the very smallest.
        assert s.max() < 1.3 and s.median() > 0.6
    p, g = [torch.zeros(128, 32)], [torch.randn(128, 32)]
    muon.step(p, g, [torch.zeros(128, 32)], rate=0.1)
    assert 0.1 < float(torch.linalg.matrix_norm(p[0], 2)) < 0.1 * 2 * 1.3
    assert float((p[0] * g[0]).sum()) < 0


def test_windows_stay_inside_lines_and_masks_hide_targets():
    rng = np.random.default_rng(3)
    lengths = rng.integers(1, 90, 3000)
    sentence = np.concatenate([[0], np.cumsum(lengths)])
    line = np.arange(0, 3001, 3)
    pieces = rng.integers(5, 200, sentence[-1]).astype(np.uint16)
    w = data.windows(sentence, line, np.ones(1000, bool), rng)
    n = w[:, 1] - w[:, 0]
    assert n.min() >= data.SHORTEST and n.max() <= data.LONGEST - 2
    assert 0.01 < (n > data.SHORT - 2).mean() < 0.5
    owner = np.searchsorted(sentence[line], w[:, 0], "right")
    assert (owner == np.searchsorted(sentence[line], w[:, 1] - 1, "right")).all()
    assert len(np.unique(w[:, 0])) == len(w)
    todo = data.batches(w, rng)
    assert len(todo) > 10
    assert all(len({int(b - a) for a, b in rows}) == 1 and len(rows) * (rows[0, 1] - rows[0, 0] + 2) <= data.TOKENS
               for rows in todo)  # fmt: skip
    assert len(np.unique(np.concatenate(todo)[:, 0])) == sum(map(len, todo))
    rows = todo[0]
    for special in (SPECIAL, data.Special(0, 100, 101, 102, 103)):
        ids = data.fill(pieces, rows, special)
        assert ids.shape == (len(rows), rows[0, 1] - rows[0, 0] + 2)
        assert (ids[:, 0] == special.cls).all() and (ids[:, -1] == special.sep).all()
        assert (ids[0, 1:-1] == pieces[rows[0, 0] : rows[0, 1]]).all()
        masked, at, target = data.mask(ids, 0.2, rng, special)
        assert len(at) == int(0.2 * ids.size) and (masked.reshape(-1)[at] == special.mask).all()
        assert (torch.from_numpy(ids).reshape(-1)[at] == target).all() and not np.isin(target, special).any()
        assert int((masked != torch.from_numpy(ids)).sum()) == len(at)


def test_special_ids_are_those_of_the_vocabulary(tmp_path):
    (tmp_path / "v.txt").write_text("[PAD]\n[unused0]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\n")
    assert data.special(str(tmp_path / "v.txt")) == data.Special(0, 2, 3, 4, 5)
    (tmp_path / "v.txt").write_text("[PAD]\n[UNK]\n[CLS]\nthe\n")
    with pytest.raises(ValueError, match=r"v.txt has no \[SEP\], \[MASK\]"):
        data.special(str(tmp_path / "v.txt"))


def test_positions_run_on_and_shift():
    rng = np.random.default_rng(0)
    p = torch.stack([data.positions(240, 512, rng) for _ in range(500)])
    assert (p.diff(dim=1) == 1).all() and int(p.min()) == 0 and 500 < int(p.max()) < 512
    assert abs(float((p[:, 0] > 0).float().mean()) - data.SHIFT) < 0.05



def test_network_is_transformers_bert(net):
    transformers = pytest.importorskip("transformers")
    state = model.widen(net.state_dict(), net.config)
    if net.config["model_type"] == "electra":
        config = transformers.ElectraConfig(**net.config)
        bert, state, decoder = transformers.ElectraForMaskedLM(config).eval(), model.electra(state), "generator_lm_head"
    else:
        bert, decoder = transformers.BertForMaskedLM(transformers.BertConfig(**net.config)).eval(), "cls.predictions.decoder"
    result = bert.load_state_dict(state, strict=False)
    assert not result.unexpected_keys and all(k.startswith(decoder) for k in result.missing_keys)
    ids = torch.randint(5, 200, (3, 11))
    real = torch.ones(3, 11, dtype=torch.bool)
    real[1, 7:] = False
    with torch.no_grad():
        want = bert(input_ids=ids, attention_mask=real.long()).logits
        got = net.head(net.encode(ids, real))
    assert float((want - got)[real].abs().max()) < 1e-4


def test_the_last_layer_at_some_positions_only(net):
    ids, at = torch.randint(5, 200, (3, 11)), torch.tensor([2, 11, 32])
    real = torch.ones(3, 11, dtype=torch.bool)
    real[1, 7:] = False
    all_ = net.encode(ids, real).reshape(33, -1)
    assert float((net.encode(ids, real, at=at) - all_[at]).abs().max()) < 1e-5


def test_narrow_undoes_widen(net):
    state, wide = net.state_dict(), model.widen(net.state_dict(), net.config)
    assert wide["bert.encoder.layer.0.output.dense.weight"].shape == (64, 256)
    back = model.narrow(model.from_electra(model.electra(wide)), net.config)
    assert model.from_electra(wide).keys() == wide.keys()
    assert back.keys() == state.keys() and all(torch.equal(back[n], t) for n, t in state.items())


def test_quantised_weights_are_within_half_a_scale(net):
    stored = export.quantised(net.state_dict(), {})
    half = weights.expanded(stored)
    assert half.keys() == net.state_dict().keys()
    for n, t in net.state_dict().items():
        scale = stored[n + weights.SCALE][:, None] if stored[n].dtype == torch.int8 else torch.zeros(1)
        assert bool(((half[n].float() - t).abs() <= scale / 2 + t.abs() * 2**-11 + 1e-7).all())
    assert sum(t.dtype == torch.int8 for t in stored.values()) > 10
    zero = weights.expanded(export.quantised({"w": torch.zeros(40, 40)}, {}))
    assert not bool(zero["w"].any())
    with pytest.raises(ValueError, match="does not fit"):
        weights.expanded({"w": torch.tensor([1e30]).half()})


def test_export(net, tmp_path):
    ort = pytest.importorskip("onnxruntime")
    (tmp_path / "v.txt").write_text("".join(f"w{i}\n" for i in range(200)))
    own, auto = tmp_path / "own", tmp_path / "auto"
    own.mkdir()
    export.card(str(own))  # no card, nothing to do
    (own / "README.md").write_text("# card\n\n| file | bytes | SHA-256 |\n|---|---:|---|\n\nend\n")
    export.write(net.state_dict(), net.config, str(tmp_path / "v.txt"), str(own))
    export.card(str(own))
    card = (own / "README.md").read_text()
    assert card.count("\n| `") == 5 and card.endswith("\n\nend\n")
    assert (own / weights.STORED).stat().st_size < 1.2 * sum(t.numel() for t in net.state_dict().values()) + 20000
    assert not (own / weights.HALF).exists()
    ids = torch.randint(5, 200, (3, 9))
    real = torch.ones(3, 9, dtype=torch.bool)
    real[2, 5:] = False
    loaded = evaluate.load(str(own))
    with torch.no_grad():
        want = loaded.head(loaded.encode(ids, real))
    feed = {"input_ids": ids.numpy(), "attention_mask": real.long().numpy(), "token_type_ids": (0 * ids).numpy()}

    def same(folder):
        session = ort.InferenceSession(str(folder / export.GRAPH))
        (got,) = session.run(None, feed)
        assert float((want - torch.from_numpy(got))[real].abs().max()) < 1e-4

    (own / weights.HALF).write_bytes(export.files(own)[weights.HALF])  # what Go's package weights gives the runtime
    same(own)
    export.write(loaded.state_dict(), loaded.config, str(tmp_path / "v.txt"), str(auto), float16=True)
    same(auto)
    assert not (auto / weights.STORED).exists()
    bert = pytest.importorskip("transformers").AutoModelForMaskedLM.from_pretrained(auto, dtype=torch.float32).eval()
    with torch.no_grad():
        logits = bert(input_ids=ids, attention_mask=real.long()).logits
    assert float((want - logits)[real].abs().max()) < 1e-4



def test_the_units_that_go_are_those_the_rest_makes_up_for():
    """One of six units of two inputs: the best choice and its matrix by trying all."""
    torch.manual_seed(3)
    x = torch.randn(400, 12, dtype=torch.float64) @ torch.randn(12, 12, dtype=torch.float64)
    weight = torch.randn(5, 12, dtype=torch.float64)
    cov = x.T @ x / len(x)
    want = x @ weight.T

    def left(columns):
        fit = torch.linalg.lstsq(x[:, columns], want).solution
        return float(((x[:, columns] @ fit - want) ** 2).sum()), fit.T

    sets = [[c for c in range(12) if c // 2 != gone] for gone in range(6)]
    best = min(sets, key=lambda s: left(s)[0])
    columns, fit, lost = prune.select(cov, weight, 2, 5, 1)
    assert columns.tolist() == best
    assert torch.allclose(fit, left(best)[1], atol=1e-8)
    assert abs(lost - left(best)[0] / float((want**2).sum())) < 1e-8
    # Units that repeat others cost nothing, however many go.
    copies = torch.cat([x, x @ torch.randn(12, 6, dtype=torch.float64)], 1)
    cov = prune.damped(copies.T @ copies / len(x), 1e-10)
    columns, _, lost = prune.select(cov, torch.randn(5, 18, dtype=torch.float64), 1, 12, 6)
    assert len(columns) == 12 and lost < 1e-6


def test_moments_are_weighted():
    x, y = torch.randn(6, 3), torch.randn(6, 2)
    w = torch.tensor([1.0, 2, 0, 3, 1, 1])
    first, second, cov = prune.moments([x[:2], x[2:]], [w[:2], w[2:]], [y[:2], y[2:]])
    repeated = torch.repeat_interleave(torch.arange(6), w.long())
    a, b = x[repeated], y[repeated]
    assert torch.allclose(first, a.mean(0), atol=1e-6) and torch.allclose(second, b.mean(0), atol=1e-6)
    assert torch.allclose(cov, (a - a.mean(0)).T @ (b - b.mean(0)) / len(a), atol=1e-5)
    assert torch.allclose(prune.moments([x], [w])[2], prune.moments([x], [w], [x])[2], atol=1e-6)


def test_before_is_undone_by_the_norm():
    norm = torch.nn.LayerNorm(16)
    norm.weight.data += 0.3 * torch.randn(16)
    norm.bias.data += torch.randn(16)
    now, wanted = torch.randn(9, 16), norm(torch.randn(9, 16))
    with torch.no_grad():
        assert torch.allclose(norm(now + prune.before(norm, wanted, now)), wanted, atol=1e-3)


def test_pruning_keeps_the_function_of_what_stays(net, monkeypatch):
    """A third layer without effect, a head without effect, and neurons that repeat others: all that goes."""
    monkeypatch.setattr(prune, "STEPS", 200)  # one neuron after another: of two that are alike one goes
    config = {**net.config, "num_hidden_layers": 3}
    config |= {"intermediate_sizes": [*model.inner_sizes(net.config), 64], "attention_heads": [*model.head_counts(net.config), 1]}
    torch.manual_seed(5)
    full = model.MaskedLM(config)
    for p in full.parameters():
        p.data += 0.2 * torch.randn_like(p)
    first, below, spare = full.bert.encoder.layer
    for dense in (spare.attention.output.dense, spare.output.dense):
        dense.weight.data.zero_()
        dense.bias.data.zero_()
    for norm in (below.output.LayerNorm, spare.attention.output.LayerNorm, spare.output.LayerNorm):
        norm.weight.data.fill_(1)
        norm.bias.data.zero_()
    half = model.inner_sizes(config)[0] // 2
    first.intermediate.dense.weight.data[half:] = first.intermediate.dense.weight.data[:half]
    first.intermediate.dense.bias.data[half:] = first.intermediate.dense.bias.data[:half]
    heads = model.head_counts(config)
    if heads[0] > 1:
        first.attention.output.dense.weight.data[:, -first.width :] = 0
        heads = [heads[0] - 1, *heads[1:]]
    batches = [(torch.randint(5, 200, (20, 11)), torch.randint(0, 220, (40,)).unique()) for _ in range(6)]
    state, small = prune.prune(full.state_dict(), config, batches, [0, 1], heads[:2], [half, model.inner_sizes(config)[1]], 1e-4)
    assert small["num_hidden_layers"] == 2 and model.inner_sizes(small)[0] == half
    assert model.head_counts(small) == heads[:2]
    less = model.MaskedLM(small)
    less.load_state_dict(state)
    ids = torch.randint(5, 200, (3, 9))
    with torch.no_grad():
        far = (full.encode(ids) - less.encode(ids)).pow(2).mean() / full.encode(ids).var()
    assert float(far) < 1e-3


def test_numbers_for_layers():
    assert prune.numbers("4", 3) == [4, 4, 4] and prune.numbers("4,8", 3) == [4, 4, 8] and prune.numbers("1,2,3", 3) == [1, 2, 3]
    with pytest.raises(SystemExit, match="has 3 numbers for 4 layers"):
        prune.numbers("1,2,3", 4)


def test_rounding_makes_up_for_what_it_changes():
    """The output moves less than with plain rounding."""
    torch.manual_seed(4)
    x = torch.randn(4000, 64) @ torch.randn(64, 64)
    products, w = x.T @ x / len(x), torch.randn(50, 64)

    def moved(v):
        return float(((x @ (v - w).T) ** 2).mean())

    value = quantise.value(*quantise.quantise(w, products, 4, 16))
    s = torch.stack([grid.scales(g, 4) for g in w.split(16, 1)], 1)
    plain = ((w.unflatten(1, (4, 16)) / s[:, :, None]).round().clamp(-8, 7) * s[:, :, None]).flatten(1)
    assert moved(value) < 0.6 * moved(plain)
    # Without correlation there is nothing to make up for: each weight goes to its nearest number.
    numbers, s = quantise.quantise(w, torch.eye(64), 4, 16)
    assert torch.equal(numbers.float(), (w / s.repeat_interleave(16, 1)).round().clamp(-8, 7))
    assert numbers.min() >= -8 and numbers.max() <= 7


def test_scales_are_the_best_of_those_tried():
    w = torch.randn(30, 16)
    best = grid.scales(w, 4)

    def error(s):
        return ((w / s[:, None]).round().clamp(-8, 7) * s[:, None] - w).pow(2).sum(1)

    for share in grid.CLIPPED:
        s = (w.abs().amax(1) * share / 7.5).half().float()
        assert bool((error(best) <= error(s) + 1e-6).all())
    assert torch.equal(best, best.half().float())


def test_a_rounded_model_is_stored_in_four_bits(net, tmp_path):
    if net.config["model_type"] == "electra":
        pytest.skip("quantise.py refuses factorised tables")
    batches = [(torch.randint(5, 200, (20, 11)), torch.randint(0, 220, (40,)).unique()) for _ in range(4)]
    ids = torch.randint(5, 200, (3, 9))
    before = {n: t.clone() for n, t in net.state_dict().items()}
    with torch.no_grad():
        want = net.head(net.encode(ids))
        numbers = quantise.run(net, batches, 4, 32)
        got = net.head(net.encode(ids))
    assert 1e-6 < float((got - want).pow(2).mean() / want.var()) < 0.1
    rounded = {n for n, t in net.state_dict().items() if not torch.equal(t, before[n])}
    assert rounded == numbers.keys() and len(rounded) == 2 + 6 * net.config["num_hidden_layers"]
    (tmp_path / "v.txt").write_text("".join(f"w{i}\n" for i in range(200)))
    pytest.importorskip("onnxscript")
    export.write(net.state_dict(), net.config, str(tmp_path / "v.txt"), str(tmp_path / "m"), numbers=numbers)
    loaded = evaluate.load(str(tmp_path / "m")).state_dict()
    for n in rounded:
        assert torch.equal(loaded[n], net.state_dict()[n]), n
    size = (tmp_path / "m" / weights.STORED).stat().st_size
    positions = 512 * 64
    assert size < 0.5 * sum(t.numel() for t in before.values()) + 0.6 * positions + 20000


def test_distillation_is_the_mean_of_two_losses(net):
    ids, at = torch.randint(5, 200, (3, 9)), torch.tensor([1, 5, 20])
    target, teacher = torch.randint(5, 200, (3,)), torch.randn(3, 200)
    logp = net.logits(ids, None, at).log_softmax(-1)
    hard = -logp.gather(1, target[:, None]).mean()
    soft = -(teacher.softmax(-1) * logp).sum(-1).mean()
    got, _ = net.loss(ids, at, target, None, teacher, 0.25)
    assert float(got) == pytest.approx(float(0.75 * hard + 0.25 * soft), rel=1e-5)
    assert float(net.loss(ids, at, target)[0]) == pytest.approx(float(hard), rel=1e-5)
    # All probabilities stored: the same loss as from the logits.
    got, _ = net.loss(ids, at, target, None, store.top(teacher, 200), 1.0)
    assert float(got) == pytest.approx(float(soft), rel=1e-4)


def test_the_loss_from_the_largest_probabilities_is_least_at_the_teacher():
    torch.manual_seed(0)
    teacher = 2 * torch.randn(4, 50)
    soft, logits = store.top(teacher, 6), teacher.clone().requires_grad_(True)
    _, loss = model.cross_entropies(logits, torch.zeros(4, dtype=torch.int64), soft)
    loss.backward()
    assert float(logits.grad.abs().max()) < 1e-6
    _, other = model.cross_entropies(teacher + 0.1 * torch.randn(4, 50), torch.zeros(4, dtype=torch.int64), soft)
    assert float(other) > float(loss) + 1e-4


def test_stored_batches_hold_what_the_teacher_says(tmp_path, monkeypatch, capsys):
    torch.manual_seed(0)
    folder, rng = tmp_path / "teacher", np.random.default_rng(0)
    folder.mkdir()
    (folder / "vocab.txt").write_text("\n".join(vocab.SPECIAL + [f"w{i}" for i in range(195)]) + "\n")
    teacher = model.MaskedLM(SMALL)
    safetensors.torch.save_file(teacher.state_dict(), folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(SMALL))
    np.save(tmp_path / "pieces.npy", pieces := rng.integers(5, 200, 9000).astype(np.uint16))
    np.save(tmp_path / "sentence.npy", np.arange(0, 9001, 12))
    np.save(tmp_path / "line.npy", np.arange(0, 751, 3))
    np.save(tmp_path / "narrative.npy", np.ones(250, bool))
    call = [sys.executable, store.__file__, "--data", tmp_path, "--teacher", folder, "--out", tmp_path / "s", "--chunk", "2",
            "--per-epoch", "2", "--top", "20", "--chunks", "3", "--share", "0.2"]  # fmt: skip
    for first in (1, 0):  # two processes share the work
        subprocess.run([*call, "--first", str(first), "--stride", "2"], check=True, capture_output=True)
    chunks = store.Chunks(str(tmp_path / "s"), room=1)
    assert chunks.count() == 3
    half = teacher.bfloat16()
    for number in range(3):
        for k in range(2):
            ids, at, target, (top, probs) = chunks.batch(number, k, pieces, SPECIAL)
            assert len(at) == int(0.2 * ids.numel()) and bool((ids.reshape(-1)[at] == SPECIAL.mask).all())
            with torch.no_grad():
                p = half.logits(ids, None, at).softmax(-1)
            assert float((p.gather(1, top) - probs).abs().max()) < 1e-2
            assert float((p.topk(20).values - probs).abs().max()) < 1e-2
            found = ids.clone()
            found.reshape(-1)[at] = target
            row = found[0, 1:-1].numpy()
            assert any((pieces[i : i + len(row)] == row).all() for i in range(len(pieces) - len(row) + 1))
    a = argparse.Namespace(data=str(tmp_path), stored=str(tmp_path / "s"), seed=1, epoch_chunks=2, gaps=0)
    source, at = train.Stored(a, SPECIAL, 512), {"epoch": 0}
    assert len(source.epoch(at, 1)) == 2 and at["read"] == [1]
    assert {n for n, _ in source.epoch(at, 3)} == {1, 2} and at["read"] == [1, 1, 1]
    *_, position, soft = source.batch((2, 1), 0.0, rng)
    assert len(soft) == 2 and len(position) == chunks.batch(2, 1, pieces, SPECIAL)[0].shape[1]
    # With text: the same stored batches among others, of windows that the chunks do not have.
    a.text, a.data, a.batch_tokens = 0.6, str(tmp_path), data.TOKENS
    at = {"epoch": 0}
    todo = (mixed := train.Mixed(a, SPECIAL, 512)).epoch(at, 3)
    fresh, ofstore = ([x for x in todo if isinstance(x, tuple) == kind] for kind in (False, True))
    assert len(ofstore) == 4 and len(fresh) == 2 and at["read"].count(1) == 2  # 2.4 batches of text
    assert sorted(ofstore) == sorted(train.Stored(a, SPECIAL, 512).epoch({"epoch": 0}, 3))
    windows = {(int(w), int(n)) for c in map(chunks.chunk, range(3)) for w, n in zip(c["window"], c["length"].repeat(c["rows"]))}
    own = {(int(w), int(end - w) + 2) for rows in fresh for w, end in rows}
    again = mixed.epoch({"epoch": 1, "read": [0, 0, 0]}, 3)
    later = {(int(w), int(end - w) + 2) for rows in again if not isinstance(rows, tuple) for w, end in rows}
    assert len(own & windows) < len(own) / 2 and own != later
    repeated = train.Mixed(a, SPECIAL, 512).epoch({"epoch": 0}, 3)
    assert all(np.array_equal(x, y) for x, y in zip(todo, repeated, strict=True))
    ids, at, target, position, soft = mixed.batch(ofstore[0], 0.1, rng)
    assert soft is not None and torch.equal(ids, chunks.batch(*ofstore[0], pieces, SPECIAL)[0])
    ids, at, target, position, soft = mixed.batch(fresh[0], 0.1, rng)
    assert soft is None and len(at) == int(0.1 * ids.numel()) and len(position) == ids.shape[1]
    ids.reshape(-1)[at] = target
    assert np.array_equal(ids.numpy(), data.fill(pieces, fresh[0], SPECIAL))
    # One epoch of both, and the run ends: six batches of about 1,430 tokens.
    call = ["x", "--data", tmp_path, "--vocab", folder / "vocab.txt", "--stored", tmp_path / "s", "--epoch-chunks", 2, "--text", 0.6,
            "--out", tmp_path / "run", "--hidden", 64, "--layers", 1, "--workers", 1, "--threads", 1, "--batches", 1, "--warmup", 1,
            "--no-compile", "--fp32", "--tokens", 8000, "--decay", 1]  # fmt: skip
    monkeypatch.setattr(sys, "argv", [*map(str, call)])
    train.main()
    at = torch.load(tmp_path / "run/checkpoint.pt")["at"]
    assert (at["epoch"], at["batch"], at["step"]) == (1, 0, 6) and sum(at["read"]) == 4
    monkeypatch.setattr(sys, "argv", [str(x) for x in call if x not in ("--stored", tmp_path / "s")])
    with pytest.raises(SystemExit):
        train.main()
    assert "--text needs --stored" in capsys.readouterr().err


def test_a_new_vocabulary_keeps_what_the_pieces_mean(tmp_path):
    """Every rule for a row by hand, biases on a line, and the same network on pieces that both vocabularies have."""
    torch.manual_seed(0)
    old = [*vocab.SPECIAL, "red", "blue", "sing", "in", "##in", "##g", "##er", "##i"]
    new = ["[PAD]", "[unused0]", *vocab.SPECIAL[1:], "blue", "##er", "reding", "##sing", "##ing", "##gin", "##in", "##inx", "##red", "blue-red"]
    (tmp_path / "old.txt").write_text("".join(f"{w}\n" for w in old))
    spelt = {
        "[unused0]": [],
        "reding": ["red", "##in", "##g"],  # as the tokenizer has it
        "##sing": ["sing"],
        "##ing": ["##in", "##g"],  # three letters, and the longest piece first
        "##gin": ["##g", "##in"],
        "##inx": [],
        "##red": [],  # too short for the word
        "blue-red": ["blue", "red"],  # without the sign, which the old vocabulary does not have
    }
    net = model.MaskedLM({**SMALL, "vocab_size": len(old)}).eval()
    count = np.arange(3, 3 + 7 * len(new), 7)
    for i, w in enumerate(new):
        if w in old:
            net.cls.predictions.bias.data[old.index(w)] = 0.7 * np.log(count[i] + 0.5) - 2
    state, config = revocab.revocab(net.state_dict(), net.config, str(tmp_path / "old.txt"), new, count)
    assert config == {**net.config, "vocab_size": len(new)}
    other = model.MaskedLM(config).eval()
    other.load_state_dict(state)
    before, after = (m.bert.embeddings.word_embeddings.weight.data for m in (net, other))
    for row, w in zip(after, new):
        ids = [old.index(part) for part in spelt.get(w, [w])]
        torch.testing.assert_close(row, before[ids].mean(0) if ids else before.mean(0))
    want = torch.from_numpy(0.7 * np.log(count + 0.5) - 2).float()
    torch.testing.assert_close(other.cls.predictions.bias.data, want)
    shared = [w for w in new if w in old]
    assert len(shared) == len(new) - len(spelt)
    mine, theirs = (torch.tensor([[v.index(w) for w in shared]]) for v in (old, new))
    with torch.no_grad():
        torch.testing.assert_close(net.head(net.encode(mine))[..., mine[0]], other.head(other.encode(theirs))[..., theirs[0]])
    # Biases that are on no line stay as they are where the piece does.
    net.cls.predictions.bias.data.normal_()
    bias = revocab.revocab(net.state_dict(), net.config, str(tmp_path / "old.txt"), new, count)[0]["cls.predictions.bias"]
    assert torch.equal(bias[theirs[0]], net.cls.predictions.bias[mine[0]])


def test_a_start_is_some_layers_of_the_other_model(tmp_path):
    """Layers 0 and 2 of three, of which layer 1 does nothing: the same hidden states."""
    torch.manual_seed(0)
    config = train.config(200, 64, 3, heads=4)
    other = model.MaskedLM(config)
    state = {n: t.clone() for n, t in other.state_dict().items()}
    for n in ("attention.output.dense.weight", "output.dense.weight"):
        state[f"bert.encoder.layer.1.{n}"].zero_()
    other.load_state_dict(state)
    bare = {n.removeprefix("bert."): t for n, t in state.items() if n.startswith("bert.")}  # as BertModel saves it
    got, small = start.start(bare, config, [0, 2], torch.arange(200.0))
    net = model.MaskedLM(small)
    net.load_state_dict(got)
    assert small["num_hidden_layers"] == 2 and small["num_attention_heads"] == 4
    ids = torch.randint(5, 200, (3, 9))
    with torch.no_grad():
        assert float((other.encode(ids) - net.encode(ids)).abs().max()) < 1e-4
    assert bool((net.cls.predictions.bias == torch.arange(200.0)).all())
    # Layers of other widths keep theirs.
    uneven = model.MaskedLM(FEW_HEADS).state_dict()
    got, small = start.start(uneven, FEW_HEADS, [1, 0], None)
    assert (model.head_counts(small), model.inner_sizes(small)) == ([4, 3], [256, 96])
    model.MaskedLM(small).load_state_dict(got)
    assert start.start(uneven, FEW_HEADS, [0], None)[1]["intermediate_size"] == 96
    with pytest.raises(ValueError, match="no layer 3: it has 0 to 2"):
        start.start(bare, config, [3], None)


def test_the_projected_table_is_the_teachers_best_of_its_width():
    """Teacher states of a few directions: a table of that width gives the teacher's own logits."""
    torch.manual_seed(0)
    teacher = model.MaskedLM(train.config(200, 128, 1))
    teacher.cls.predictions.bias.data.normal_()
    states = torch.randn(3000, 24) @ torch.randn(24, 128) + torch.randn(128)
    with torch.no_grad():
        table, bias, z = start.output(teacher, states, 24)
        want = states @ teacher.bert.embeddings.word_embeddings.weight.T + teacher.cls.predictions.bias
    assert table.shape == (200, 24) and float((z @ table.T + bias - want).abs().max()) < 1e-2
    torch.testing.assert_close(z.T @ z / 3000, torch.eye(24), atol=1e-2, rtol=0)


def test_fit_finds_a_linear_map():
    torch.manual_seed(0)
    x, a, b = torch.randn(500, 6), torch.randn(3, 6), torch.randn(3)
    got_a, got_b, r2 = start.fit(x, x @ a.T + b, 1e-7, torch.rand(500))
    torch.testing.assert_close((got_a, got_b), (a, b), atol=1e-3, rtol=0)
    assert r2 > 0.999
    # Half of the variance is noise.
    assert start.fit(x, torch.cat([x, torch.randn(500, 6)], 1), 0)[2] == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("config", [SMALL, FEW_HEADS], ids=["even", "few heads"])
def test_a_projected_start_is_a_factorised_model(config):
    torch.manual_seed(0)
    teacher = model.MaskedLM(train.config(200, 128, 2)).eval()
    state, heads = model.MaskedLM(config).state_dict(), model.head_counts(config)
    todo = [(torch.randint(5, 200, (20, 12)), torch.arange(0, 240, 4)) for _ in range(6)]
    state, config = start.start(state, config, [1, 0], None)
    got, small = start.project(teacher, state, config, todo, 32, torch.ones(200))
    assert (small["embedding_size"], small["hidden_size"], small["num_hidden_layers"]) == (32, 64, 2)
    assert model.inner_sizes(small) == model.inner_sizes(config) and model.head_counts(small) == heads[::-1]
    net = model.MaskedLM(small)
    net.load_state_dict(got)
    # Far nearer the teacher's logits on average than a head without its bias and table is.
    with torch.no_grad():
        ids, at = todo[0]
        want, logits = (m.logits(ids, None, at) for m in (teacher, net))
        assert float((logits - want).pow(2).mean()) < 1.1 * float((want - want.mean(0)).pow(2).mean())




def test_packing_and_unpacking(tmp_path):
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    lengths, counts = rng.integers(1, 30, 400), np.full(100, 4)
    arrays = {"pieces": rng.integers(5, 200, lengths.sum()).astype(np.uint16), "narrative": rng.random(100) < 0.5,
              "sentence": np.concatenate([[0], np.cumsum(lengths)]), "line": np.concatenate([[0], np.cumsum(counts)])}  # fmt: skip
    for folder in ("data", "teacher"):
        (tmp_path / folder).mkdir()
    for n, x in arrays.items():
        np.save(tmp_path / f"data/{n}.npy", x)
    teacher = model.MaskedLM(SMALL)
    safetensors.torch.save_file(teacher.state_dict(), tmp_path / "teacher/model.safetensors")
    (tmp_path / "teacher/config.json").write_text(json.dumps(SMALL))
    (tmp_path / "teacher/vocab.txt").write_text("[PAD]\n")
    student = model.MaskedLM(FACTORISED)
    train.fresh(student.state_dict(), FACTORISED, 3, tmp_path / "run")
    parts, out = tmp_path / "parts", tmp_path / "out"
    a = argparse.Namespace(data=tmp_path / "data", vocab=None, teacher=tmp_path / "teacher",
                           checkpoint=tmp_path / "run/checkpoint.pt", every=3, size=50000, preset=0, out=parts, parts=parts)  # fmt: skip
    pack.pack(a)
    assert len(list(parts.glob("part.*"))) > 3
    a.out = out
    pack.unpack(a)
    got = {n: np.load(out / f"data/{n}.npy") for n in arrays}
    firsts = arrays["sentence"][arrays["line"]]
    assert len(got["line"]) == 35 and (got["narrative"] == arrays["narrative"][::3]).all()
    for i, k in enumerate(range(0, 100, 3)):
        at = got["sentence"][got["line"]]
        assert (got["pieces"][at[i] : at[i + 1]] == arrays["pieces"][firsts[k] : firsts[k + 1]]).all()
    loaded = evaluate.load(str(out / "teacher"))
    for n, p in loaded.state_dict().items():
        assert torch.equal(p, teacher.state_dict()[n].bfloat16().float())
    saved = torch.load(out / "start/checkpoint.pt")
    assert (out / "vocab.txt").read_text() == "[PAD]\n"
    assert saved["at"]["epoch"] == 4 and saved["at"]["step"] == 0 and saved["config"] == FACTORISED
    assert torch.equal(saved["model"]["cls.predictions.bias"], student.state_dict()["cls.predictions.bias"])
    (parts / "part.001").write_bytes(b"x")
    with pytest.raises(SystemExit, match="part.001 is damaged"):
        pack.unpack(a)
    (parts / "part.001").unlink()
    with pytest.raises(SystemExit, match="part.001 is missing"):
        pack.unpack(a)


@pytest.mark.parametrize("taught", [True, False])
def test_the_run_on_another_machine_goes_on(tmp_path, taught):
    """gpu.sh with tiny sizes: pieces carried in two calls, two runs, and the weights back.

    With a teacher in the loop, and on gaps without one.
    """
    rng = np.random.default_rng(0)
    for folder in ("data", "teacher"):
        (tmp_path / folder).mkdir()
    np.save(tmp_path / "data/pieces.npy", rng.integers(5, 200, 60000).astype(np.uint16))
    np.save(tmp_path / "data/sentence.npy", np.arange(0, 60001, 10))
    np.save(tmp_path / "data/line.npy", np.arange(0, 6001, 2))
    np.save(tmp_path / "data/narrative.npy", np.ones(3000, bool))
    safetensors.torch.save_file(model.MaskedLM(SMALL).state_dict(), tmp_path / "teacher/model.safetensors")
    (tmp_path / "teacher/config.json").write_text(json.dumps(SMALL))
    (tmp_path / "teacher/vocab.txt").write_text("\n".join(vocab.SPECIAL + [f"w{i}" for i in range(195)]) + "\n")
    train.fresh(model.MaskedLM(FACTORISED).state_dict(), FACTORISED, 0, tmp_path / "run")
    a = argparse.Namespace(data=tmp_path / "data", vocab=tmp_path / "teacher/vocab.txt",
                           teacher=tmp_path / "teacher" if taught else None, checkpoint=tmp_path / "run/checkpoint.pt",
                           every=1, size=200000, preset=0, out=tmp_path / "parts")  # fmt: skip
    pack.pack(a)
    script = str(pathlib.Path(train.__file__).with_name("gpu.sh"))
    env = {**os.environ, "PYTHON": sys.executable, "W": str(tmp_path / "w"), "OUT": str(tmp_path / "out")}

    def call(*args):
        return subprocess.run([script, *map(str, args)], env=env, check=True, capture_output=True, text=True).stdout

    parts = sorted((tmp_path / "parts").iterdir())
    assert len(parts) > 2
    for k, some in enumerate((parts[:1], parts[1:])):
        (tmp_path / f"carry{k}").mkdir()
        for p in some:
            p.rename(tmp_path / f"carry{k}" / p.name)
        call("keep", tmp_path / f"carry{k}")
    steps = []
    gaps = () if taught else ("--gaps", 0.7, "--adam", "--freeze-table", "--rate", 5e-5)
    for more in (), ("--tokens", 8000, "--decay", 1):
        minutes = 5 if more else 0.15
        out = call("run", minutes, "--batch-tokens", 400, "--workers", 1, "--threads", 1, "--warmup", 2, "--no-compile", "--log", 2, *gaps, *more)
        steps.append(torch.load(tmp_path / "w/run/checkpoint.pt")["at"]["step"])
    assert steps[1] > steps[0] > 0 or steps[1] == steps[0] > 5  # the second call begins where the first one stopped
    assert json.loads(out.splitlines()[-1])["step"] <= steps[1]
    back = argparse.Namespace(parts=tmp_path / "out/weights", out=tmp_path / "back")
    pack.unpack(back)
    here, there = (torch.load(p)["model"] for p in (tmp_path / "back/start/checkpoint.pt", tmp_path / "w/run/checkpoint.pt"))
    for n, t in there.items():
        assert float((here[n] - t).abs().max()) < 2e-3 * max(1.0, float(t.abs().max()))


def test_evaluation_counts_ranks(net, tmp_path):
    (tmp_path / "v.txt").write_text("\n".join(vocab.SPECIAL + [f"w{i}" for i in range(195)]) + "\n")
    rng = np.random.default_rng(0)
    lines = [" ".join(f"w{k}" for k in rng.integers(0, 195, n)) for n in (3, 40, 17)]
    (tmp_path / "t.txt").write_text("\n".join(lines) + "\n")
    todo = evaluate.examples(str(tmp_path / "t.txt"), str(tmp_path / "v.txt"))
    assert [len(m) for _, m in todo] == [1, 6, 3]  # round() takes 2.55 to 3
    torch.manual_seed(5)
    teacher = model.MaskedLM(SMALL)
    got = evaluate.evaluate(net, todo, SPECIAL, teacher)
    kl = 0.0
    nll, first = 0.0, 0
    for ids, at in todo:  # one line at a time, no padding
        x = torch.from_numpy(ids.copy())[None]
        x[0, at] = SPECIAL.mask
        with torch.no_grad():
            logp = net.head(net.encode(x))[0, at].log_softmax(-1)
            known = teacher.head(teacher.encode(x))[0, at].log_softmax(-1)
        kl += float(torch.nn.functional.kl_div(logp, known, log_target=True, reduction="sum"))
        target = torch.from_numpy(ids[at])
        nll -= float(logp.gather(1, target[:, None]).sum())
        first += int((logp.argmax(-1) == target).sum())
    assert got["masked"] == 10 and got["top1"] == first / 10
    assert got["perplexity"] == pytest.approx(np.exp(nll / 10), rel=1e-4)
    assert got["kl"] == pytest.approx(kl / 10, rel=1e-3)
    (tmp_path / "t.txt").write_text("alpha beta , alphabeta 12\n")
    (tmp_path / "v.txt").write_text("alpha\nbeta\n12\n")
    assert evaluate.whole(str(tmp_path / "t.txt"), str(tmp_path / "v.txt")) == pytest.approx(2 / 3)


def test_training_learns_and_goes_on(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    line = ["the cat sat on the mat", "a dog ran in the park", "we read old books at home"]
    (tmp_path / "c.txt").write_text("".join(line[i] + ".\n" for i in rng.integers(0, 3, 4000)))
    (tmp_path / "v.txt").write_text("\n".join(vocab.build({w: 9999 for s in line for w in s.split()}, 160)) + "\n")

    def call(module, *args):
        monkeypatch.setattr(sys, "argv", ["x", *map(str, args)])
        module.main()

    v, d, out = tmp_path / "v.txt", tmp_path / "d", tmp_path / "run"
    call(prepare, "--corpus", tmp_path / "c.txt", "--vocab", v, "--out", d, "--processes", 1)
    call(embed, "--data", d, "--vocab", v, "--out", tmp_path / "e.pt", "--dim", 64)
    common = ["--data", d, "--vocab", v, "--embeddings", tmp_path / "e.pt", "--out", out, "--hidden", 64,
              "--layers", 1, "--workers", 1, "--threads", 1, "--warmup", 5, "--batches", 1, "--no-compile", "--log", 50]  # fmt: skip
    call(train, *common, "--tokens", 40000, "--muon-rate", 0.02)
    first = torch.load(out / "checkpoint.pt")["at"]["step"]
    call(train, *common, "--tokens", 140000, "--muon-rate", 0.02)
    saved = torch.load(out / "checkpoint.pt")
    assert saved["at"]["step"] > first > 20
    log = [json.loads(x) for x in open(out / "log.jsonl")]
    assert [x["step"] for x in log] == [50]
    r = evaluate.evaluate(evaluate.load(str(out / "checkpoint.pt")), evaluate.examples(str(tmp_path / "c.txt"), str(v), 200), SPECIAL)
    assert r["top1"] > 0.9  # three sentences: nearly every piece follows from the others
    call(prune, "--model", out / "checkpoint.pt", "--layers", "0", "--heads", "1", "--inner", "48", "--data", d, "--vocab", v,
         "--batches", 2, "--out", tmp_path / "small")  # fmt: skip
    common[common.index(out)] = tmp_path / "small"
    call(train, *common, "--tokens", 40000, "--muon-rate", 0.02, "--teacher", out / "checkpoint.pt")
    r = evaluate.evaluate(evaluate.load(str(tmp_path / "small/checkpoint.pt")), evaluate.examples(str(tmp_path / "c.txt"), str(v), 200), SPECIAL)
    assert r["top1"] > 0.9
    assert "polyline" in plot.svg(plot.points(str(out / "log.jsonl")) * 2, "t")


def test_models_of_different_vocabularies_are_asked_for_the_same_words(tmp_path):
    words = ["red", "blue", "cat", "dog", "sun", "sea"]
    first = [*vocab.SPECIAL, *words, "##s", ".", "fish", "12"]
    second = ["[PAD]", *(f"[unused{i}]" for i in range(9)), *vocab.SPECIAL[1:], "sea", "12", "##h", "fis", *words[:3], "##s", "."]
    lines = ["Red cats , a blue cat 12 fish .", "the sea", ""]
    todo, ids = [], []
    for name, pieces in (("a", first), ("b", second)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "vocab.txt").write_text("\n".join(pieces) + "\n")
    paths = [str(tmp_path / n / "vocab.txt") for n in "ab"]
    shared = compare.common(paths)
    assert shared == ["blue", "cat", "red", "sea"]
    where = compare.places(lines, set(shared), 2)
    assert len(where) == 3 and where[2] == (1, 1) and {k for n, k in where if n == 0} < {0, 4, 5}
    for path in paths:
        tok, special = prepare.tokenizer(path), data.special(path)
        got = compare.examples(lines, where, tok, special)
        for (n, k), (x, at, target) in zip(where, got):
            assert x[at] == special.mask and tok.id_to_token(target) == text.words(lines[n])[k]
            whole = tok.encode(lines[n], add_special_tokens=False).ids
            back = x[1:-1].copy()
            back[at - 1] = target
            assert back.tolist() == whole and x[0] == special.cls and x[-1] == special.sep
        todo.append(got)
        ids.append(torch.tensor([tok.token_to_id(w) for w in shared]))
    net = model.MaskedLM(train.config(len(first), 64, 1)).eval()
    r = compare.measure(net, todo[0], ids[0], data.special(paths[0]))
    first = among = nll = 0.0
    for x, at, target in todo[0]:
        with torch.no_grad():
            logits = net.head(net.encode(torch.from_numpy(x)[None]))[0, at]
        first += int(logits.argmax()) == target
        few = logits[ids[0]].log_softmax(-1)
        own = ids[0].tolist().index(target)
        among += int(few.argmax()) == own
        nll -= float(few[own])
    assert (r["top1"], r["among"]) == (first / 3, among / 3) and r["words"] == 3
    assert r["perplexity"] == pytest.approx(np.exp(nll / 3), rel=1e-4)


def test_fillings_stand_side_by_side(tmp_path):
    """A command in infill's place, which says what it was called with."""
    fake = tmp_path / "infill"
    fake.write_text("#!/bin/sh\nwhile read -r line; do echo \"  -1.50  $line [$*]\"; done\n")
    fake.chmod(0o755)
    (tmp_path / "s.txt").write_text("one [MASK]\ntwo | [MASK]\n")
    columns = [fillings.fill(str(fake), m, str(tmp_path / "s.txt"), ["--steps=9"]) for m in ("", "bert")]
    assert columns[0] == [f"{s} [MASK] [fill --quiet --top 1 --steps=9 -]" for s in ("one", "two |")]
    assert "--model bert -" in columns[1][0]
    got = fillings.table(["one [MASK]", "two | [MASK]"], ["a", "b"], columns)
    assert got.splitlines()[:2] == ["| sentence | a | b |", "| --- | --- | --- |"] and "two \\| [MASK]" in got
    with pytest.raises(ValueError, match="a filled 2 of 1"):
        fillings.table(["one"], ["a", "b"], columns)
    with open(pathlib.Path(train.__file__).with_name("thirty.txt"), encoding="utf-8") as f:
        assert len([line for line in f if "[MASK]" in line]) == 30


def test_imports_have_no_circle():
    here = pathlib.Path(__file__).parent
    names = {p.stem for p in here.glob("*.py")}
    imports = {n: set() for n in names}
    for n in names:
        for node in ast.walk(ast.parse((here / f"{n}.py").read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imports[n] |= {a.name for a in node.names} & names
            elif isinstance(node, ast.ImportFrom):
                imports[n] |= {node.module} & names
    assert "weights" in imports["evaluate"] & imports["export"]
    graphlib.TopologicalSorter(imports).prepare()


def test_gaps_take_whole_words_side_by_side(tmp_path):
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", "3", "##4", "a", "##b", "c", "d"]
    (tmp_path / "vocab.txt").write_text("\n".join(words) + "\n")
    kind = data.kinds(f"{tmp_path}/vocab.txt")
    assert kind.tolist() == [0, 0, 0, 0, 0, 0, 0, 2, 1, 2, 1, 1]
    rng = np.random.default_rng(1)
    rows = np.tile([2, 8, 9, 10, 6, 7, 11, 8, 9, 9, 5, 3], (400, 1))
    ids, at, target = data.gaps(rows, kind, rng, SPECIAL)
    assert (ids.reshape(-1)[at] == SPECIAL.mask).all() and (torch.from_numpy(rows).reshape(-1)[at] == target).all()
    left = ids != torch.from_numpy(rows)
    assert left.any(1).all()  # every window has a gap
    assert not left[:, [0, 4, 5, 10, 11]].any()  # never of numbers, signs or special tokens
    whole = (left[:, 1] == left[:, 2]) & (left[:, 7] == left[:, 8]) & (left[:, 8] == left[:, 9])
    assert 0.5 < whole.float().mean() < 0.9  # the others are the ones in which some pieces are seen
    assert 0.2 < left.float().mean() < 0.5
    assert [data.gap_end(kind[rows[0]], i, k) for i, k in ((1, 1), (1, 2), (3, 2), (6, 1), (6, 2), (6, 3))] == [3, 4, 0, 7, 10, 0]


def test_rounding_at_the_end_moves_the_weights_behind_it():
    torch.manual_seed(1)
    net = model.MaskedLM(SMALL)
    opt = train.Optimizer(net, 1, torch.float32, adam=True)
    name = "bert.encoder.layer.0.output.dense.weight"
    opt.exact = {name: torch.zeros_like(opt.params[name])}
    before = opt.params[name].data.clone()
    opt.round(0)
    p = opt.params[name].data
    assert torch.equal(opt.exact[name], before) and not torch.equal(p, before)
    assert all(len(g.unique()) <= 16 for g in p.view(-1, grid.GROUP))
    grads = [{n: torch.ones_like(q) for n, q in opt.params.items()}]
    opt.step(0, grads, 1.0, 1e-4, 0.0, 1)
    assert (opt.exact[name] < before).all()  # a step too small to change most numbers is kept behind them
    assert ((p - opt.exact[name]).abs() <= opt.scales[name].repeat(1, grid.GROUP).view_as(p) * 4).all()
