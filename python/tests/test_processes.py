"""What becomes of the program's processes: killed, interrupted, forked, left behind."""

import gc
import multiprocessing
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import infill_mlm as infill

TEXT = "The [MASK] went to the [MASK]."
SLOW = {"method": "sample", "chains": 10000, "steps": 1000000}  # never done
SECONDS = 60  # until a test gives up


def running(process):
    """Whether a process is there, and not only its exit code."""
    try:
        state = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def wait_for(happened):
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        if happened():
            return True
        time.sleep(0.02)
    return False


@unittest.skipUnless(os.path.isdir("/proc/self"), "/proc is missing")
class ProcessesTest(unittest.TestCase):
    def setUp(self):
        self.model = infill.Model("small", top=1)
        self.addCleanup(self.model.close)

    def child(self, kind="fill"):
        return self.model._children[kind].process_id

    def begin_slow(self, **settings):
        """Has a thread wait for a filling that takes forever."""
        result = []

        def work():
            try:
                self.model.fill(TEXT, **{**SLOW, **settings})
            except infill.ProgramError as err:
                result.append(err)

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        self.assertTrue(wait_for(
            lambda: "fill" in self.model._children and self.model._children["fill"]._waiting))
        return thread, result

    def test_killed_while_it_works(self):
        thread, result = self.begin_slow()
        os.kill(self.child(), signal.SIGKILL)
        thread.join(SECONDS)
        self.assertEqual([e.exit_code for e in result], [-signal.SIGKILL])
        self.assertIn("signal 9", str(result[0]))
        self.assertTrue(self.model.fill(TEXT)[0].text)  # by another process

    def test_killed_between_calls(self):
        want = self.model.fill(TEXT)
        killed = self.child()
        os.kill(killed, signal.SIGKILL)
        self.assertTrue(wait_for(lambda: not self.model._children["fill"].alive))
        self.assertEqual(self.model.fill(TEXT), want)
        self.assertNotEqual(self.child(), killed)

    def test_close(self):
        want = self.model.fill(TEXT)
        self.model.score("A text.")
        processes = [self.child(), self.child("score")]
        self.model.close()
        self.assertFalse(any(map(running, processes)))
        self.assertEqual(self.model.fill(TEXT), want)
        with infill.Model("small") as model:
            model.fill(TEXT)
            process = model._children["fill"].process_id
        self.assertFalse(running(process))

    def test_close_while_it_works(self):
        thread, result = self.begin_slow()
        self.model.close()
        thread.join(SECONDS)
        self.assertIn("closed", str(result[0]))

    def test_garbage(self):
        model = infill.Model("small")
        model.fill(TEXT)
        process = model._children["fill"].process_id
        del model
        gc.collect()
        self.assertFalse(running(process))

    def test_given_up(self):
        # A caller that takes no more does not leave work behind that the next one would wait for.
        some = self.model.fill_many([TEXT] * 3, **SLOW)
        threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()
        with self.assertRaises(KeyboardInterrupt):
            next(some)
        self.assertTrue(self.model.fill(TEXT))
        some = self.model.fill_many([TEXT] * 60)
        next(some)
        process = self.child()
        some.close()
        self.assertTrue(wait_for(lambda: not running(process)))
        self.assertTrue(self.model.fill(TEXT))

    def test_interrupted(self):
        self.model.fill(TEXT)
        process = self.child()
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        with self.assertRaises(KeyboardInterrupt):
            self.model.fill(TEXT, **SLOW)
        self.assertTrue(wait_for(lambda: not running(process)))
        self.assertTrue(self.model.fill(TEXT)[0].text)

    def test_interrupted_beside_another_thread(self):
        # The work of the other thread goes on, in the same process.
        thread, result = self.begin_slow()
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        with self.assertRaises(KeyboardInterrupt):
            self.model.fill(TEXT, **SLOW)
        self.assertTrue(running(self.child()))
        self.assertTrue(thread.is_alive())
        self.model.close()
        thread.join(SECONDS)
        self.assertEqual(len(result), 1)

    def test_interrupt_of_a_terminal(self):
        # Ctrl-C goes to all processes of a group, but not to the program's.
        self.model.fill(TEXT)
        self.assertNotEqual(os.getpgid(self.child()), os.getpgid(0))

    def test_fork(self):
        want = self.model.fill(TEXT)
        process = self.child()
        context = multiprocessing.get_context("fork")
        with context.Pool(2) as pool:
            got = pool.map(_filled, [(self.model, TEXT)] * 4)
        self.assertEqual([text for text, _ in got], [want[0].text] * 4)
        self.assertNotIn(process, [child for _, child in got])
        self.assertEqual(self.model.fill(TEXT), want)
        self.assertEqual(self.child(), process)

    def test_fork_without_pickling(self):
        want = self.model.fill(TEXT)[0].text
        out, into = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                text = self.model.fill(TEXT)[0].text
                self.model.close()
            except BaseException as err:
                text = repr(err)
            os.write(into, text.encode())
            os._exit(0)
        os.close(into)
        with open(out, "rb") as pipe:
            self.assertEqual(pipe.read().decode(), want)
        os.waitpid(child, 0)
        self.assertEqual(self.model.fill(TEXT)[0].text, want)

    def test_fork_in_the_middle(self):
        # What the parent waits for is not the child's, and the child does not wait for ever.
        some = self.model.fill_many([TEXT] * 3)
        next(some)
        child = os.fork()
        if child == 0:
            try:
                next(some)
                os._exit(1)
            except infill.ProgramError:
                os._exit(0)
            except BaseException:
                os._exit(2)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(len(list(some)), 2)

    def test_fork_lets_the_program_end(self):
        self.model.fill(TEXT)
        process = self.child()
        child = os.fork()
        if child == 0:
            time.sleep(SECONDS)
            os._exit(0)
        try:
            began = time.monotonic()
            self.model.close()
            self.assertLess(time.monotonic() - began, 4)  # by the end of its input
            self.assertFalse(running(process))
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)

    def test_python_is_gone(self):
        # A notebook's kernel that is killed or ends leaves no program behind.
        code = ("import infill_mlm, os, sys, time; m = infill_mlm.Model('small'); "
                "m.fill('The [MASK] went home.'); print(m._children['fill'].process_id, flush=True); "
                "sys.stdin.read()")
        for how in (lambda p: p.kill(), lambda p: p.send_signal(signal.SIGTERM),
                    lambda p: p.stdin.close()):
            with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True) as python:
                process = int(python.stdout.readline())
                self.assertTrue(running(process))
                how(python)
                python.wait(SECONDS)
            self.assertTrue(wait_for(lambda: not running(process)))

    def test_python_is_gone_while_it_works(self):
        code = ("import infill_mlm; m = infill_mlm.Model('small')\n"
                "m.fill('The [MASK] went home.'); print(m._children['fill'].process_id, flush=True)\n"
                f"m.fill('The [MASK] went to the [MASK].', **{SLOW!r})")
        with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE,
                              text=True) as python:
            process = int(python.stdout.readline())
            time.sleep(1)
            self.assertTrue(running(process))
            python.kill()
        self.assertTrue(wait_for(lambda: not running(process)))

    def test_not_our_program(self):
        with tempfile.TemporaryDirectory() as folder:
            other = os.path.join(folder, "other")
            pathlib.Path(other).write_text("#!/bin/sh\nread line\necho surprise\nsleep 60\n")
            before = os.environ.get("INFILL_PROGRAM")
            self.addCleanup(_set_program, before)
            _set_program(other)
            with self.assertRaisesRegex(infill.ProgramError, "cannot be started"):
                self.model.fill(TEXT)
            os.chmod(other, 0o755)
            with self.assertRaises(infill.ProgramError):
                self.model.fill(TEXT)


def _set_program(path):
    if path is None:
        os.environ.pop("INFILL_PROGRAM", None)
    else:
        os.environ["INFILL_PROGRAM"] = path


def _filled(work):
    model, text = work
    try:
        return model.fill(text)[0].text, model._children["fill"].process_id
    finally:
        model.close()


if __name__ == "__main__":
    unittest.main()
