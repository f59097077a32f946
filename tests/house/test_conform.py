"""tools/dev/conform on made-up schemas: a change that breaks old logs is refused, growth is not."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

CONFORM = pathlib.Path(__file__).resolve().parents[2] / "tools" / "dev" / "conform"
COMMON = "struct Id { low:ulong; high:ulong; }\n"
POD = """include "common.fbs";
enum Phase : ubyte { Pending, Running }
table Pod { id:Id; name:string; phase:Phase; cpu:long = 1; }  // what a pod is
table Old { x:int; }
"""
BODY = "enum class EventType : int {\n  kPodObserved = 1,\n  kPodGone = 2,\n};\nint k = 1;\n"


def run(changes):
    with tempfile.TemporaryDirectory() as folder:
        now = {"common.fbs": COMMON, "pod.fbs": POD, "../src/events/body.h": BODY, **changes}
        frozen = pathlib.Path(folder) / "schemas" / "frozen" / "0.1"
        frozen.mkdir(parents=True)
        (pathlib.Path(folder) / "src" / "events").mkdir(parents=True)
        (frozen / "event_types.txt").write_text("1 PodObserved\n2 PodGone\n")
        (frozen / "common.fbs").write_text(COMMON)
        (frozen / "pod.fbs").write_text(POD)
        for name, text in now.items():
            if text is not None:
                (frozen.parents[1] / name).write_text(text)
        return subprocess.run([sys.executable, CONFORM, folder], capture_output=True, text=True, check=False)


class Conform(unittest.TestCase):
    def test_growth_is_allowed(self):
        table = [
            ("nothing", POD),
            ("a field at the end", POD.replace("cpu:long = 1;", "cpu:long = 1; zone:string;")),
            ("a new table", POD + "table New { y:int; }\n"),
            ("a new enum value", POD.replace("Running", "Running, Gone")),
        ]
        for name, pod in table:
            with self.subTest(name):
                ran = run({"pod.fbs": pod})
                self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
                self.assertIn("2 frozen schemas of 1 releases hold", ran.stdout)

    def test_a_new_event_number_is_allowed(self):
        self.assertEqual(run({"../src/events/body.h": BODY.replace("};", "  kNodeObserved = 3,\n};")}).returncode, 0)

    def test_what_breaks_old_logs_is_refused(self):
        table = [
            ("retyped", {"pod.fbs": POD.replace("name:string", "name:long")}),
            ("renamed", {"pod.fbs": POD.replace("name:string", "title:string")}),
            ("removed", {"pod.fbs": POD.replace("cpu:long = 1;", "")}),
            ("moved", {"pod.fbs": POD.replace("id:Id; name:string;", "name:string; id:Id;")}),
            ("another default", {"pod.fbs": POD.replace("= 1", "= 2")}),
            ("table removed", {"pod.fbs": POD.replace("table Old { x:int; }", "")}),
            ("enum renumbered", {"pod.fbs": POD.replace("Pending, Running", "Running, Pending")}),
            ("enum value removed", {"pod.fbs": POD.replace("Pending, Running", "Pending")}),
            ("struct grew", {"common.fbs": COMMON.replace("high:ulong;", "high:ulong; more:ulong;")}),
            ("file gone", {"pod.fbs": None}),
            ("event renumbered", {"../src/events/body.h": BODY.replace("= 2", "= 3")}),
            ("event renamed", {"../src/events/body.h": BODY.replace("kPodGone", "kPodLeft")}),
            ("number given twice", {"../src/events/body.h": BODY.replace("};", "  kNodeObserved = 2,\n};")}),
        ]
        for name, changes in table:
            with self.subTest(name):
                ran = run(changes)
                self.assertEqual(ran.returncode, 1, ran.stdout + ran.stderr)
                self.assertIn("Mend: ", ran.stdout)


if __name__ == "__main__":
    unittest.main()
