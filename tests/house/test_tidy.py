"""tools/dev/tidy.py on made-up trees: what it must find, and that a clean tree passes."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools" / "dev"))
import tidy  # noqa: E402

TABLE = """## Who may include whom
| folder | pure | may include | third party |
|---|---|---|---|
| model | yes | | |
| daemon | | all | |
"""
HEADER = "// What it is.\n#pragma once\n"
CLEAN = {
    "ARCHITECTURE.md": TABLE + "\nIt begins in `src/model/node.h`.\n",
    "README.md": "[how](ARCHITECTURE.md) [far](https://example.com/x) `[not](a-link.md)`\n",
    "src/model/README.md": "Values.\n",
    "src/model/node.h": HEADER + "// a double, std::cout, rand() and x::now() in words\nstruct Node { int x = 1'000; };\n",
    "src/model/map.h": HEADER + "#include <boost/unordered/unordered_flat_map.hpp>\nusing M = boost::unordered_flat_map<int, int>;  // order never shows: looked up only\n",
    "src/daemon/README.md": "Wiring.\n",
    "src/daemon/clock.cc": "double f() { return g(std::chrono::steady_clock::now()); }\n",
    "tools/main.cc": "void f() { std::cout << 1; }\n",
    "build/junk.h": "no rules here \n",
}


def violations_of(changes):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in {**CLEAN, **changes}.items():
            if text is not None:
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
        return tidy.Tidy(root).run()


def function_of(lines, head="int f(int a,\n      int b) {"):
    return head + "\n" + "  a += b;\n" * (lines - 1 - len(head.splitlines())) + "}\n"


class Style(unittest.TestCase):
    def test_a_clean_tree_passes(self):
        self.assertEqual(violations_of({}), [])

    def test_a_worktree_has_a_file_named_git(self):
        self.assertEqual(violations_of({".git": "gitdir: /wor" + "k/main/.git/worktrees/x"}), [])

    def test_violations_are_found_each_alone(self):
        cc = "src/model/x.cc"
        table = [
            ("clock", {cc: "auto t = Clock::now();\n"}, "time enters as data"),
            ("random header", {cc: "#include <random>\n"}, "chance must come from a seed"),
            ("rand", {"src/daemon/x.cc": "int r = rand();\n"}, "chance must come from a seed"),
            ("hash order", {cc: "std::unordered_map<int, int> m;\n"}, "hash order must not show"),
            ("hash order without its reason", {cc: "unordered_flat_map<int, int> m;  // fast\n"}, "hash order must not show"),
            ("double", {cc: "double price;\n"}, "floating point"),
            ("float", {cc: "float price;\n"}, "floating point"),
            ("talking library", {"src/daemon/x.cc": "void f() { std::cout << 1; }\n"}, "libraries do not talk"),
            ("logging in a pure folder", {cc: 'void f() { std::fprintf(stderr, "x"); }\n'}, "neither log nor share"),
            ("exception", {"src/daemon/x.cc": "void f() { throw 1; }\n"}, "expected failures are values"),
            ("pragma", {"src/model/x.h": "// What.\nint x;\n"}, "no #pragma once"),
            ("opening comment", {"src/model/x.h": "#pragma once\n"}, "opens with a comment"),
            ("long file", {cc: "int x;\n" * 401}, "401 lines, at most 400"),
            ("wide line", {cc: "//" + " x" * 50 + "\n"}, "102 columns"),
            ("note to oneself", {cc: "// TO" + "DO later\n"}, "a note to oneself"),
            ("leaked path", {"tools/x.sh": "cd /wor" + "k/main\n"}, "names a path or host"),
            ("leaked document", {"docs/x.md": "see DESI" + "GN.md\n"}, "names a path or host"),
            ("tab", {"tools/x.sh": "\techo\n"}, "a tab"),
            ("blanks", {"docs/x.md": "word \n"}, "blanks at the end"),
            ("no last end of line", {"docs/x.md": "word"}, "no end of line"),
            ("long function", {cc: function_of(71)}, "a function of 71 lines"),
            ("long member", {cc: "class A {\n public:\n" + function_of(71, "  void f() const {") + "};\n"}, "a function of 71 lines"),
            ("long function in a namespace", {cc: "namespace a {\n" + function_of(71) + "}\n"}, "src/model/x.cc:2: a function"),
            ("dead link", {"docs/x.md": "[a](../gone.md)\n"}, "names ../gone.md"),
            ("dead path in the architecture", {"ARCHITECTURE.md": TABLE + "`src/model/gone.h`\n"}, "names src/model/gone.h"),
            ("no README", {"src/model/README.md": None}, "src/model/README.md: is missing"),
            ("long README", {"src/model/README.md": "x\n" * 31}, "longer than 30 lines (31)"),
        ]
        for name, changes, want in table:
            with self.subTest(name):
                found = violations_of(changes)
                self.assertEqual(len(found), 1, found)
                self.assertIn(want, found[0])
                self.assertIn("Rule: ", found[0])
                self.assertIn("Mend: ", found[0])

    def test_what_is_within_the_limits_passes(self):
        table = [
            ("function of 70 lines", {"src/model/x.cc": function_of(70)}),
            ("switch of 60 cases", {"src/model/x.cc": function_of(70).replace("  a += b;\n", "    case 1:\n      return;\n")}),
            ("file of 400 lines", {"src/model/x.cc": "int x;\n" * 400}),
            ("long table is no function", {"src/model/x.cc": "const int t[] = {\n" + "  1,\n" * 100 + "};\n"}),
            ("long class is no function", {"src/model/x.cc": "class A {\n" + "  int f(int x);\n" * 100 + "};\n"}),
            ("long macro is no function", {"src/model/x.h": HEADER + "#define X(a) { \\\n" + "  b(a); \\\n" * 80 + "}\nint x;\n"}),
            ("words in strings", {"src/model/x.cc": 'auto s = "double rand() ::now(";\nauto r = R"(float\n{{{)";\n'}),
            ("clock in the daemon", {"src/daemon/x.cc": "auto t = Clock::now();\n"}),
            ("time-outs of the transport", {"src/http/README.md": "x\n", "src/http/x.cc": "auto t = Clock::now();\n"}),
            ("tables of a test", {"tests/model/x.cc": function_of(100)}),
            ("hash order, said above", {"src/model/x.cc": "// order never shows: looked up\nunordered_flat_map<int, int> m;\n"}),
            ("double in the daemon", {"src/daemon/x.cc": "double x;\n"}),
            ("README of 30 lines", {"src/model/README.md": "x\n" * 30}),
            ("columns are characters, not bytes", {"src/model/x.cc": "// " + "→" * 97 + "\n"}),
        ]
        for name, changes in table:
            with self.subTest(name):
                self.assertEqual(violations_of(changes), [])


if __name__ == "__main__":
    unittest.main()
