"""tools/dev/check.py, the runner behind tools/test: it must not call a crash, a hang, a skip or an empty run a success."""
import contextlib
import io
import os
import pathlib
import re
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "dev"))
import check  # noqa: E402

BEGIN = "[==========] Running 3 tests from 1 test suite.\n"
OK = "[ RUN      ] A.good\n[       OK ] A.good (0 ms)\n"
BAD = "[ RUN      ] A.bad\nx.cc:1: Failure\n[  FAILED  ] A.bad (1 ms)\n"
SKIP = "[ RUN      ] A.skip\n[  SKIPPED ] A.skip (0 ms)\n"
END = "[==========] 3 tests from 1 test suite ran. (2 ms total)\n"


def sections_output(function, in_ci=False):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = check.run_sections(["one"], {"one": (function, "a section")}, in_ci)
    return code, out.getvalue()


class Counting(unittest.TestCase):
    def test_gtest_outputs(self):
        table = [
            ("all good", BEGIN + OK + OK + END, 0, (2, 0, 0, "")),
            ("one failed, named again at the end", BEGIN + OK + BAD + END + "[  FAILED  ] A.bad\n 1 FAILED TEST\n", 1, (1, 1, 0, "")),
            ("parameterised failure", BEGIN + OK + "[  FAILED  ] B.c/1, where GetParam() = 7 (1 ms)\n" + END, 1, (1, 1, 0, "")),
            ("skipped", BEGIN + OK + SKIP + END, 0, (1, 0, 1, "")),
            ("disabled", BEGIN + OK + END + "  YOU HAVE 2 DISABLED TESTS\n", 0, (1, 0, 2, "")),
            ("crash in a test", BEGIN + OK + "[ RUN      ] A.boom\n", -6, (1, 1, 0, "ended with -6 in A.boom")),
            ("hang", BEGIN + OK + "[ RUN      ] A.wait\n", None, (1, 1, 0, "ran out of time in A.wait")),
            ("leak found after the last test", BEGIN + OK + END, 23, (1, 1, 0, "ended with 23 in A.good")),
            ("exit 0 in the midst of a test", BEGIN + OK + "[ RUN      ] A.exit\n", 0, (1, 1, 0, "ended with 0 in A.exit")),
            ("no tests", "[==========] Running 0 tests from 0 test suites.\n[==========] 0 tests from 0 test suites ran. (0 ms total)\n", 0,
             (0, 1, 0, "tested nothing")),
            ("only skips", BEGIN + SKIP + END, 0, (0, 1, 1, "tested nothing")),
            ("not built", "not built\n", 127, (0, 1, 0, "ended with 127 in its start")),
        ]
        for name, output, code, want in table:
            with self.subTest(name):
                self.assertEqual(check.count_gtest(output, code), want)

    def test_the_last_line_and_the_exit_code(self):
        table = [
            ("passes", lambda tally: tally.add(passed=3), False, 0, "3 passed, 0 failed"),
            ("fails", lambda tally: (tally.add(passed=3), tally.fail("x")), False, 1, "3 passed, 1 failed"),
            ("skips", lambda tally: (tally.add(passed=3), tally.skip("x")), False, 0, "3 passed, 0 failed, 1 skipped"),
            ("skips in CI", lambda tally: (tally.add(passed=3), tally.skip("x")), True, 1, "3 passed, 0 failed, 1 skipped"),
            ("does nothing", lambda tally: None, False, 1, "0 passed, 0 failed"),
            ("cannot start something", lambda tally: os.stat("/no/such/file"), False, 1, "0 passed, 1 failed"),
        ]
        for name, function, in_ci, want_code, want_line in table:
            with self.subTest(name):
                code, output = sections_output(function, in_ci)
                self.assertEqual(code, want_code)
                self.assertEqual(output.splitlines()[-1], want_line)
                self.assertRegex(want_line, r"^\d+ passed, \d+ failed(, \d+ skipped)?$")

    def test_a_program_is_ended_at_its_limit_with_its_children(self):
        code, output = check.run(["sh", "-c", "echo begun; sleep 60 & sleep 60"], 0.5)
        self.assertIsNone(code)
        self.assertIn("begun", output)


class Sections(unittest.TestCase):
    def in_tree(self, files, function):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(check, "ROOT", pathlib.Path(folder)):
            for name, text in files.items():
                path = pathlib.Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
                path.chmod(0o755)
            return sections_output(function)

    def test_programs_are_found_run_and_counted(self):
        files = {
            "tests/model/x.cc": "", "tests/events/x.cc": "", "tests/gone/x.cc": "", "tests/fuzz/x.cc": "", "tests/house/test_x.py": "",
            "build/release/tests/test_model": f"#!/bin/sh\ncat <<'E'\n{BEGIN}{OK}{OK}{END}E\n",
            "build/release/tests/test_events": f"#!/bin/sh\ncat <<'E'\n{BEGIN}{OK}{BAD}{END}E\nexit 1\n",
        }
        code, output = self.in_tree(files, lambda tally: check.run_programs(tally, "release", check.test_names()))
        self.assertEqual(code, 1)
        self.assertIn("test_events (release) A.bad", output)
        self.assertIn("test_gone (release) ended with 127", output)
        self.assertNotIn("test_fuzz", output)
        self.assertNotIn("test_house", output)
        self.assertEqual(output.splitlines()[-1], "3 passed, 2 failed")

    def test_the_story_is_counted_by_its_last_line(self):
        table = [
            ("good", "echo 7 passed, 0 failed", 0, "7 passed, 0 failed"),
            ("bad", "echo 7 passed, 2 failed; exit 1", 1, "7 passed, 2 failed"),
            ("good words, bad exit", "echo 7 passed, 0 failed; exit 3", 1, "7 passed, 1 failed"),
            ("dies without a last line", "echo on the way; exit 1", 1, "0 passed, 1 failed"),
            ("silent", "exit 0", 1, "0 passed, 1 failed"),
            ("skips a part", "echo 7 passed, 0 failed, 1 skipped", 0, "7 passed, 0 failed, 1 skipped"),
        ]
        for name, script, want_code, want_line in table:
            with self.subTest(name), mock.patch("shutil.which", return_value="/bin/true"), mock.patch.object(check, "CLUSTER_TESTS", ["story"]):
                files = {"tests/cluster/story.sh": f"#!/bin/sh\n{script}\n", "tests/cluster/build.sh": "#!/bin/sh\n", "build/release/karst": ""}
                code, output = self.in_tree(files, check.check_cluster)
                self.assertEqual((code, output.splitlines()[-1]), (want_code, want_line))

    def test_without_a_control_plane_no_story_passes(self):
        with mock.patch("shutil.which", return_value="/bin/true"):
            files = {"tests/cluster/build.sh": "#!/bin/sh\necho no network; exit 1\n", "build/release/karst": ""}
            code, output = self.in_tree(files, check.check_cluster)
        self.assertEqual((code, output.splitlines()[-1]), (1, "0 passed, 1 failed"))
        self.assertIn("no network", output)

    def test_what_runs_beside_is_counted_once(self):
        table = [
            ("good", "echo 7 passed, 0 failed", False, 0, "8 passed, 0 failed"),
            ("bad", "echo 7 passed, 2 failed; exit 1", False, 1, "8 passed, 2 failed"),
            ("killed", "kill -9 $$", False, 1, "1 passed, 1 failed"),
            ("skips", "echo 7 passed, 0 failed, 1 skipped", False, 0, "8 passed, 0 failed, 1 skipped"),
            ("skips in CI", "echo 7 passed, 0 failed, 1 skipped; exit 1", True, 1, "8 passed, 0 failed, 1 skipped"),
        ]
        for name, script, in_ci, want_code, want_line in table:
            with self.subTest(name):
                out = io.StringIO()
                with contextlib.redirect_stdout(out):
                    code = check.run_sections(["cluster"], {"cluster": (lambda tally: tally.add(passed=1), "waits")}, in_ci,
                                              lambda: check.Beside(["dev", "fuzz"], ("sh", "-c", script)))
                self.assertEqual((code, out.getvalue().splitlines()[-1]), (want_code, want_line))
                self.assertRegex(out.getvalue(), r"  dev\+fuzz +\d+ checks")

    def test_a_story_that_cannot_run_is_skipped_loudly(self):
        with mock.patch("shutil.which", return_value=None):
            _, output = self.in_tree({"tests/cluster/story.sh": ""}, check.check_cluster)
        self.assertRegex(output, r"\*\*\* SKIPPED: the tests on a real control plane: they need go")
        self.assertTrue(re.search(r", 1 skipped$", output))

    def test_a_fuzzer_that_does_not_run_fails(self):
        table = [
            ("runs", "#!/bin/sh\necho 'Done 12 runs in 1 second(s)'\n", "2 passed, 0 failed"),
            ("runs nothing", "#!/bin/sh\necho 'Done 0 runs in 1 second(s)'\n", "1 passed, 1 failed"),
            ("finds something", "#!/bin/sh\necho 'ERROR: libFuzzer: deadly signal'\nexit 77\n", "1 passed, 1 failed"),
            ("not built", None, "1 passed, 1 failed"),
        ]
        for name, program, want in table:
            with self.subTest(name), mock.patch.object(check, "build", lambda tally, *_: tally.add(passed=1) or True):
                files = {"tests/fuzz/codec.cc": ""} | ({"build/fuzz/tests/fuzz_codec": program} if program else {})
                _, output = self.in_tree(files, check.check_fuzz)
                self.assertEqual(output.splitlines()[-1], want)

    def test_every_command_of_the_quickstart_is_run(self):
        show = "#!/bin/sh\necho story\necho '  build/release/karst replay --verify'\necho '  build/release/karst explain x'\n"
        table = [
            ("all work", "#!/bin/sh\necho fine\n", show, "3 passed, 0 failed"),
            ("one is silent", "#!/bin/sh\n[ $1 = explain ] || echo fine\n", show, "2 passed, 1 failed"),
            ("one fails", "#!/bin/sh\necho fine\n[ $1 = explain ]\n", show, "2 passed, 1 failed"),
            ("it prints no verify", "#!/bin/sh\necho fine\n", show.replace("--verify", ""), "3 passed, 1 failed"),
            ("no interruption was seen", "#!/bin/sh\necho fine\n", show.replace("explain", "log"), "3 passed, 1 failed"),
            ("it fails itself", "", "#!/bin/sh\nexit 4\n", "0 passed, 1 failed"),
        ]
        for name, karst, quickstart, want in table:
            with self.subTest(name):
                _, output = self.in_tree({"tools/quickstart": quickstart, "build/release/karst": karst}, check.check_quickstart)
                self.assertEqual(output.splitlines()[-1], want)


if __name__ == "__main__":
    unittest.main()
