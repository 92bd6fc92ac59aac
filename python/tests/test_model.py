"""The package against the program that is built: make test-wheel."""

import concurrent.futures
import contextlib
import inspect
import io
import itertools
import math
import os
import pathlib
import pickle
import re
import subprocess
import sys
import unittest

import infill_mlm as infill
from infill_mlm import _results

ROOT = pathlib.Path(__file__).resolve().parents[2]
SEVERAL = [f"The {word} went to the [MASK]." for word in ("man", "dog", "king", "girl", "ship")]


class ModelTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = infill.Model("small")
        cls.addClassCleanup(cls.model.close)

    def command(self, *args):
        return subprocess.run([infill._program.path(), *args], capture_output=True, text=True,
                              check=True).stdout

    def test_fill_is_that_of_the_command(self):
        text = "The [MASK] sat on the [MASK]."
        got = self.model.fill(text, top=3)
        lines = self.command("fill", "--quiet", "--model", "small", "--top", "3", text).splitlines()
        self.assertEqual([f"{f.score:8.2f}  {f.text}" for f in got], lines)
        self.assertEqual(got.text, text)
        self.assertEqual(len(got), 3)
        for f in got:
            self.assertEqual([f.text[a:b].lower() for a, b in f.spans], f.tokens)

    def test_words_are_those_of_the_command(self):
        got = self.model.score("Zoë bought a souvenir.", words=True)
        lines = self.command("score", "--quiet", "--model", "small", got.text).splitlines()[1:]
        self.assertEqual([f"  {w.score:8.2f}  {w.word}" for w in got.words], lines)
        self.assertEqual([got.text[w.start:w.end] for w in got.words], [w.word for w in got.words])
        self.assertEqual(got.words[3].pieces, "so ##uven ##ir")
        cut = self.model.score(["I", "don't", "know."], words=True)
        self.assertEqual([w.word for w in cut.words], ["I", "don't", "know."])
        self.assertEqual(self.model.score("No.").words, [])

    def test_pairs(self):
        good, bad = ["The dogs were here.", "He is in."] * 40, ["The dogs was here.", "He are in."] * 40
        got = self.model.pairs(good, bad)
        self.assertEqual([(p.good, p.bad) for p in got], list(zip(good, bad)))
        for p in got[:2]:
            want = self.model.score(p.good).score - self.model.score(p.bad).score
            self.assertAlmostEqual(p.difference, want, 5)
        shared = self.model.pairs(good[:1], bad[:1], shared=True)[0]
        self.assertEqual(shared.record["pair"]["shared_pieces"], 4)
        with self.assertRaises(ValueError):
            self.model.pairs(good, bad[:3])
        with self.assertRaises(infill.LineError):
            self.model.pairs(["a cat"], [""])

    def test_tokenize(self):
        got = self.model.tokenize("Zoë sat.")
        self.assertEqual(got.tokens, ["[CLS]", "zoe", "sat", ".", "[SEP]"])
        self.assertEqual(got.spans[1:4], [(0, 3), (4, 7), (7, 8)])
        self.assertEqual(len(got.ids), 5)

    def test_augment(self):
        texts = ["The old man went home by train.", "She sat on the bed."]
        got = self.model.augment(texts, variants=2, seed=1)
        self.assertEqual([len(v) for v in got], [2, 2])
        self.assertFalse(set(texts) & set(itertools.chain(*got)))
        rows = self.model.augment([{"review": t, "label": 1} for t in texts], column="review", variants=1,
                                  seed=1, ban=["home"])
        self.assertEqual([(r["label"], r["original"]) for r in rows], [(1, t) for t in texts])
        with self.assertRaisesRegex(infill.ProgramError, "did you mean --variants"):
            self.model.augment(texts, varians=1)

    def test_frames(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("pandas is not installed")
        frame = pandas.DataFrame({"t": ["The old man went home.", "She sat."], "y": [1, 2]})
        scored = self.model.score(frame, column="t")
        self.assertEqual(list(scored.y), [1, 2])
        self.assertAlmostEqual(scored.score[1], self.model.score("She sat.").score, 5)
        words = self.model.score(frame, column="t", words=True)
        self.assertEqual(list(words.word), "The old man went home . She sat .".split())
        self.assertEqual(list(words.y), [1] * 6 + [2] * 3)
        self.assertEqual([len(t) for t in self.model.tokenize(frame, column="t").tokens], [8, 5])
        more = self.model.augment(frame, column="t", variants=1, seed=1)
        self.assertEqual(list(more.original), list(frame.t))
        masked = pandas.DataFrame({"t": ["The [MASK] went home.", "She sat on the [MASK]."]}, index=["a", "b"])
        filled = self.model.fill(masked, column="t")
        want = [self.model.fill(t)[0] for t in masked["t"]]
        self.assertEqual(list(filled["filled"]), [f.text for f in want])
        self.assertEqual(list(filled["filled_score"]), [f.score for f in want])
        self.assertTrue(self.model.fill(masked["t"]).equals(filled["filled"].rename("t")))
        masked.loc["b", "t"] = None
        for call in (self.model.fill, self.model.score, self.model.tokenize, self.model.augment):
            with self.assertRaisesRegex(TypeError, "row 'b': a text is a str, and not (None|nan)"):
                call(masked, column="t")
        with self.assertRaisesRegex(TypeError, "text 1: a text is a str"):
            list(self.model.fill_many(masked["t"]))
        pairs = self.model.pairs("a", "b", pandas.DataFrame({"a": ["He is in."], "b": ["He are in."]}))
        self.assertGreater(pairs.difference[0], 0)

    def test_no_repeat_has_a_word_too(self):
        text = "The dog saw the [MASK|dog|cat]."
        for setting, want in (("text", ["cat"]), ("blanks", ["cat", "dog"]), ("off", ["cat", "dog"])):
            got = self.model.fill(text, no_repeat=setting)
            self.assertEqual(sorted(f.tokens[0] for f in got), want)

    def test_one_blank_has_probabilities(self):
        got = self.model.fill("They drank a cup of [MASK|tea|coffee].")
        self.assertAlmostEqual(sum(f.probability for f in got), 1)

    def test_settings(self):
        default = infill.Model("small", top=2, ban=["man"])
        self.addCleanup(default.close)
        got = default.fill("The [MASK] went home.")
        self.assertEqual(len(got), 2)
        self.assertNotIn("man", [f.tokens[0] for f in got])
        self.assertEqual(len(default.fill("The [MASK] went home.", top=4)), 4)
        for call in (lambda: self.model.fill("A [MASK].", tpo=1), lambda: infill.Model(tpo=1),
                     lambda: self.model.fill_many([], tpo=1)):
            with self.assertRaisesRegex(TypeError, "did you mean 'top'"):
                call()
        with self.assertRaisesRegex(infill.BadOptionError, "top"):
            self.model.fill("A [MASK].", top=0)

    def test_errors_keep_their_hint(self):
        long = "the " * 600 + "[MASK]."
        for error, hint, call in (
                (infill.NoBlankError, "mask_words", lambda: self.model.fill("None.")),
                (infill.TooLongError, "long", lambda: self.model.fill(long, long="error")),
                (infill.EmptySupportError, "allow, ban, vocab",
                 lambda: self.model.fill("A [MASK|b].", ban=["b"]))):
            with self.assertRaisesRegex(error, f"settings that help: {hint}"):
                call()
        with self.assertRaises(infill.NoBlankError) as caught:  # no word of it is masked there
            self.model.score("None.", candidates=["a"])
        self.assertNotIn("mask_words", str(caught.exception))
        for names in infill._model._HELP.values():
            self.assertLessEqual(set(names), set(infill.FillSettings.__annotations__))

    def test_settings_of_the_model(self):
        model = infill.Model("small", threads=1, low_memory=True, memo=0)
        self.addCleanup(model.close)
        self.assertIn("--low-memory=true", model._command("fill"))
        self.assertTrue(model.fill("The [MASK] went home.")[0].text)
        with self.assertRaisesRegex(infill.ProgramError, "threads") as caught:
            infill.Model("small", threads=0).fill("A [MASK].")
        self.assertEqual(caught.exception.exit_code, 2)

    def test_errors(self):
        for text, kind in (("no blank", infill.NoBlankError), ("", infill.EmptyError),
                           ("a [MASK:", infill.BadBlankError), ("a [MASK/(/]", infill.BadBlankError),
                           ("half \ud800 [MASK]", infill.BadJsonError),
                           ("[MASK] " + "x" * (1 << 20), infill.TooLongError)):
            with self.subTest(text[:20]), self.assertRaises(kind) as caught:
                self.model.fill(text)
            self.assertEqual(caught.exception.record["error"]["code"], kind.code)
            again = pickle.loads(pickle.dumps(caught.exception))
            self.assertEqual((type(again), str(again), again.record),
                             (kind, str(caught.exception), caught.exception.record))
        with self.assertRaises(TypeError):
            self.model.fill(None)
        self.assertTrue(self.model.fill("The text after [MASK] is filled."))

    def test_program_errors(self):
        with self.assertRaisesRegex(infill.ProgramError, 'called "nonsense"') as caught:
            infill.Model("nonsense").fill("A [MASK].")
        self.assertEqual(caught.exception.exit_code, 2)

    def test_fill_many(self):
        said = []
        got = list(self.model.fill_many(iter(SEVERAL), top=1, progress=said.append))
        self.assertEqual([f.text for f in got], SEVERAL)
        self.assertEqual(said, [1, 2, 3, 4, 5])
        self.assertEqual([f[0].text for f in got],
                         [self.model.fill(text, top=1)[0].text for text in SEVERAL])
        out = io.StringIO()
        with contextlib.redirect_stderr(out):
            list(self.model.fill_many(SEVERAL[:2], progress=True))
        self.assertTrue(out.getvalue().endswith("infill: 2/2\n"), out.getvalue())
        self.assertEqual(list(self.model.fill_many([])), [])

    def test_a_seed_repeats(self):
        sampled = {"method": "sample", "chains": 3, "steps": 5, "temperature": 3.0, "seed": 1}
        text = "The [MASK] went to the [MASK]."
        first = self.model.fill(text, **sampled)
        several = list(self.model.fill_many([text] * 3, **sampled))
        again = infill.Model("small", **sampled)
        self.addCleanup(again.close)
        again.fill(SEVERAL[0])
        self.assertEqual(again.fill(text), first)
        self.assertEqual(several[0], first)
        self.assertNotEqual(several[1], first)
        self.assertEqual(list(again.fill_many([text] * 3)), several)

    def test_fill_many_of_bad_texts(self):
        texts = [SEVERAL[0], "no blank", SEVERAL[1]]
        got = list(self.model.fill_many(texts, on_error="return"))
        self.assertIsInstance(got[1], infill.NoBlankError)
        self.assertEqual(got[1].text, "no blank")
        self.assertEqual([got[0].text, got[2].text], [texts[0], texts[2]])
        with self.assertRaises(infill.NoBlankError):
            list(self.model.fill_many(texts))
        for wrong in (lambda: self.model.fill_many("a [MASK]"),
                      lambda: self.model.fill_many([], on_error="ignore")):
            with self.assertRaises((TypeError, ValueError)):
                wrong()

    def test_fill_many_reads_little_ahead(self):
        read = itertools.count()
        endless = (f"{next(read)} [MASK]." for _ in itertools.count())
        some = self.model.fill_many(endless, top=1)
        for _ in range(3):
            next(some)
        some.close()
        self.assertLess(next(read), 80)

    def test_score(self):
        text = "She opened the door."
        got = self.model.score(text)
        self.assertIn(f"{got.score:8.2f}  {text}",
                      self.command("score", "--quiet", "--model", "small", text))
        self.assertAlmostEqual(sum(p.log_prob for p in got.pieces), got.score, 5)
        ranked = self.model.score("The car is [MASK].", candidates=["red", "green"])
        self.assertEqual({c.candidate for c in ranked.candidates}, {"red", "green"})
        self.assertAlmostEqual(sum(c.share for c in ranked.candidates), 1)
        with self.assertRaises(TypeError):
            self.model.score(text, top=3)

    def test_threads(self):
        want = {text: self.model.fill(text, top=1)[0] for text in SEVERAL}
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            got = list(pool.map(lambda text: self.model.fill(text, top=1)[0], SEVERAL * 8))
        self.assertEqual(got, [want[text] for text in SEVERAL * 8])

    def test_mapper(self):
        mapper = pickle.loads(pickle.dumps(self.model.mapper("sentence", no_repeat="text")))
        self.addCleanup(mapper.model.close)
        got = mapper({"sentence": [SEVERAL[0], None, "no blank"], "label": [1, 2, 3]})
        best = self.model.fill(SEVERAL[0])[0]
        self.assertEqual(got, {"filled": [best.text, None, None],
                               "filled_score": [best.score, None, None]})
        self.assertEqual(pickle.dumps(mapper), pickle.dumps(self.model.mapper("sentence", no_repeat="text")))

    def test_datasets(self):
        try:
            import datasets
        except ImportError:
            self.skipTest("Hugging Face's datasets is missing (pip install datasets)")
        data = datasets.Dataset.from_dict({"text": SEVERAL})
        got = data.map(self.model.mapper("text"), batched=True)
        self.assertEqual(got["filled"], [self.model.fill(t)[0].text for t in SEVERAL])

    def test_pipeline(self):
        pipe = infill.pipeline("fill-mask", self.model)
        text = "They drank a cup of [MASK]."
        self.assertEqual(len(pipe(text)), 5)
        first, second = pipe(text, top_k=2)
        self.assertEqual(list(first), ["score", "token", "token_str", "sequence", "tokens"])
        self.assertGreater(first["score"], second["score"])
        self.assertEqual(first["sequence"], text.replace("[MASK]", first["token_str"]))
        self.assertEqual(pipe(text, targets="tea")[0]["token_str"], "tea")
        both = pipe("The [MASK] sat on the [MASK].", top_k=1)[0]
        filled = self.model.fill("The [MASK] sat on the [MASK].", top=1)[0]
        self.assertEqual((both["sequence"], both["score"]), (filled.text, math.exp(filled.score)))
        vocabulary = (ROOT / "models/small/vocab.txt").read_text(encoding="utf-8").split("\n")
        self.assertEqual([vocabulary[n] for n in both["tokens"]], filled.tokens)
        self.assertEqual(len(pipe([text, text])), 2)
        self.assertEqual(pipe([text]), pipe(text))
        with self.assertRaises(ValueError):
            infill.pipeline("summarization")

    def test_places_in_characters(self):
        f = self.model.fill("Zoë – ein Café: the [MASK] went home.", top=1)[0]
        [(a, b)] = f.spans
        self.assertEqual(f.text[a:b].lower(), f.tokens[0])
        self.assertEqual(_results.characters("ä€b", [[0, 2], [2, 5], [5, 6]]),
                         [(0, 1), (1, 2), (2, 3)])

    def test_metrics(self):
        said = ["the cat sat on the mat", "the cat sat on\nthe rug"]
        got = infill.metrics(said, references=["the cat sat on the mat"])
        self.assertAlmostEqual(got["distinct.1"], 100 * 6 / 12)
        self.assertEqual(infill.metrics(said)["self_bleu"], got["self_bleu"])
        # BLEU by its definition: pooled precisions, no brevity penalty.
        want = 100 * (11 / 12 * 9 / 10 * 7 / 8 * 5 / 6) ** 0.25
        self.assertAlmostEqual(got["bleu.references"], want)
        with self.assertRaises(TypeError):
            infill.metrics("one text")
        with self.assertRaises(infill.ProgramError):
            infill.metrics([])

    def test_environment_changes_no_form(self):
        code = ("import infill_mlm; m = infill_mlm.Model('small'); "
                "print(m.fill('The [MASK] went home.')[0].text); m.close()")
        outputs = {subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True,
            env={**infill._program.os.environ, **more}).stdout
            for more in ({}, {"INFILL_PER": "filling", "INFILL_LIMIT": "1", "INFILL_STRICT": "true",
                              "INFILL_TEXT_FIELD": "x", "INFILL_OUTPUT_FORMAT": "csv"})}
        self.assertEqual(len(outputs), 1, outputs)

    def test_readme(self):
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        [code] = re.findall("```python\n(.*?)```", readme, re.S)
        out, names = io.StringIO(), {}
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            exec(compile(code, "README.md", "exec"), names)
        names["model"].close()
        lines = out.getvalue().splitlines()
        self.assertEqual(len(lines), 3, lines)
        for line in lines:
            self.assertRegex(line, r"^-\d+\.\d+ The \w+ sat on the \w+\.$")

    def test_guide(self):
        guide = (ROOT / "docs/guide/python.md").read_text(encoding="utf-8")
        [code], [shown] = (re.findall(f"```{of}\n(.*?)```", guide, re.S) for of in ("python", "text"))
        out, names = io.StringIO(), {}
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            exec(compile(code, "python.md", "exec"), names)
            names["model"].close()
            names["pipe"].model.close()

        if os.environ.get("INFILL_WRITE_GUIDE"):
            (ROOT / "docs/guide/python.md").write_text(guide.replace(shown, out.getvalue()), encoding="utf-8")
            return

        number = r"-?\d+\.\d+"
        self.assertEqual(re.sub(number, "#", out.getvalue()), re.sub(number, "#", shown))
        for a, b in zip(re.findall(number, out.getvalue()), re.findall(number, shown)):
            self.assertAlmostEqual(float(a), float(b), delta=.02)  # processors differ in the last digits

    def test_help_has_the_settings(self):
        self.assertIn("FillSettings", inspect.getdoc(infill.Model.fill))
        self.assertIn("top", infill.FillSettings.__annotations__)


if __name__ == "__main__":
    unittest.main()
