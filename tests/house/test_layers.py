"""tools/dev/layers.py on made-up trees: what it must find, and that a clean tree passes."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "dev"))
import layers  # noqa: E402

TABLE = """# Architecture
## Who may include whom
| folder | pure | may include | third party |
|---|---|---|---|
| base | | | openssl in 1 .cc |
| model | yes | base | boost |
| providers | yes | base, model | |
| engine | yes | base, model, providers/provider.h | |
| cloud | | base, kube | |
| kube | | base | |
| daemon | | all | |
| tools | | all | CLI in 1 .cc |

Pure folders never include: `<chrono>`, `<thread>`, `base/clock.h`.
## Next
"""
CLEAN = {
    "ARCHITECTURE.md": TABLE,
    "src/base/clock.h": "#include <chrono>\n",
    "src/base/hash.cc": "#include <openssl/evp.h>\n",
    "src/model/node.h": '#include <boost/container/small_vector.hpp>\n#include <vector>\n#include "base/hash.h"\n',
    "src/base/hash.h": "#include <array>\n",
    "src/providers/provider.h": '#include "model/node.h"\n',
    "src/providers/aws/encode.h": '#include "providers/provider.h"\n',
    "src/engine/engine.h": '#include "providers/provider.h"\n',
    "src/cloud/kwok/driver.cc": '#include "kube/writer.h"\n#include <unistd.h>\n#include <sys/stat.h>\n',
    "src/kube/writer.h": "",
    "src/daemon/daemon.h": '#include "engine/engine.h"\n',
    "tools/main.cc": '#include <CLI/CLI.hpp>\n#include "daemon/daemon.h"\n#include "tools/run.h"\n',
    "tools/run.h": "",
}


def violations_of(changes):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in {**CLEAN, **changes}.items():
            if text is not None:
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
        return layers.Check(root).run()


class Layers(unittest.TestCase):
    def test_a_clean_tree_passes(self):
        self.assertEqual(violations_of({}), [])

    def test_violations_are_found_each_alone(self):
        tables = [
            ("upwards", {"src/base/up.h": '#include "model/node.h"\n'}, "src/base/up.h:1: base may not include model/node.h"),
            ("a file of a folder of which another file is allowed", {"src/engine/x.cc": '\n#include "providers/aws/encode.h"\n'},
             "src/engine/x.cc:2: engine may not include providers/aws/encode.h"),
            ("third party not in the row", {"src/kube/x.cc": "#include <boost/url.hpp>\n"}, "kube may not include boost"),
            ("generated schema code", {"src/model/x.cc": '#include "schemas/pod_generated.h"\n'}, "model may not include flatbuffers"),
            ("third party in a header", {"src/base/hash.h": "#include <openssl/evp.h>\n"}, "base may include openssl in .cc files only"),
            ("too many files", {"src/base/sign.cc": "#include <openssl/evp.h>\n"}, "openssl is included by 2 files, at most 1"),
            ("too many files in tools", {"tools/other.cc": "#include <CLI/CLI.hpp>\n"}, "CLI is included by 2 files, at most 1"),
            ("banned standard header", {"src/model/x.h": "#include <chrono>\n"}, "model is pure and may not include chrono"),
            ("system header in a pure folder", {"src/model/x.h": "#include <unistd.h>\n"}, "model is pure"),
            ("banned header of ours", {"src/model/x.h": '#  include "base/clock.h"\n'}, "model is pure and may not include base/clock.h"),
            ("daemon", {"src/kube/x.cc": '#include "daemon/daemon.h"\n'}, "nobody includes daemon"),
            ("tools", {"src/daemon/x.cc": '#include "tools/run.h"\n'}, "nobody includes tools"),
            ("cloud beside kwok", {"src/cloud/aws/x.cc": '#include "kube/writer.h"\n'}, "only kwok may include kube"),
            ("unknown library", {"src/kube/x.cc": "#include <foo/bar.h>\n"}, "<foo/bar.h> belongs to no known library"),
            ("missing file", {"src/kube/x.cc": '#include "kube/gone.h"\n'}, '"kube/gone.h" does not exist'),
            ("include without its folder", {"src/kube/x.cc": '#include "writer.h"\n'}, '"writer.h" does not exist'),
            ("a row without a folder", {"src/kube/writer.h": None, "src/cloud/kwok/driver.cc": ""}, "there is no src/kube"),
            ("a folder without a row", {"src/util/x.h": ""}, "src/util: the folder has no row"),
        ]
        for name, changes, want in tables:
            with self.subTest(name):
                found = violations_of(changes)
                self.assertEqual(len(found), 1, found)
                self.assertIn(want, found[0])
                self.assertIn("Rule: ARCHITECTURE.md", found[0])
                self.assertIn("Mend: ", found[0])

    def test_a_missing_table_is_a_violation(self):
        self.assertIn("the layer table is missing", violations_of({"ARCHITECTURE.md": "# nothing\n"})[0])

    def test_a_third_party_name_it_does_not_know_is_refused(self):
        with self.assertRaises(ValueError):
            violations_of({"ARCHITECTURE.md": TABLE.replace("| boost |", "| bost |")})

    def test_the_real_table_is_read(self):
        known, never = layers.read_table((layers.HERE / "ARCHITECTURE.md").read_text())
        self.assertTrue(known["engine"].pure)
        self.assertFalse(known["engine"].allows("kube", "kube/list.h"))
        self.assertTrue(known["engine"].allows("providers", "providers/provider.h"))
        self.assertEqual(known["events"].third_party["rocksdb"], 2)
        self.assertIn("chrono", never)
        self.assertIn("base/clock.h", never)


if __name__ == "__main__":
    unittest.main()
