#!/usr/bin/env python3
"""House style: what no compiler checks. The rules and their reasons are in CONTRIBUTING.md, 'House style'.

tidy.py [ROOT]. Prints one line a violation: the place, the rule, where it is written, how to mend. Exit 1 if there is one.
"""
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import layers  # noqa: E402  (the pure folders are named by the layer table, once)

HERE = pathlib.Path(__file__).resolve().parents[2]
STYLE = "CONTRIBUTING.md, 'House style'"
MAX_LINES, MAX_COLUMNS, MAX_FUNCTION_LINES, MAX_README_LINES = 400, 100, 70, 30
CODE, TEXT = (".h", ".cc"), (".h", ".cc", ".md", ".py", ".sh", ".fbs", ".cmake", ".json", ".yaml", ".yml", ".txt", ".timeline", "")
SKIPPED_FOLDERS = {".git", "build", "__pycache__", ".cache", "node_modules"}
# (files as a regular expression on the path, what is banned in code, why, instead). Comments and strings are not looked at.
PURE = "src/(PURE)/"
BANNED = [
    (r"src/(?!daemon/|http/)", r"::now\s*\(", "time enters as data", "take the log time, or base::Clock at an edge"),
    (r"src/", r"<random>|\b(s?rand|random)\s*\(|std::(mt19937|random_device)", "chance must come from a seed",
     "hash the command and the attempt; in src/sim use its seeded generator"),
    (r"src/", r"std::(cout|cerr|clog)\b", "libraries do not talk", "return values; tools/ prints, daemon logs by its log writer"),
    (r"src/", r"\bthrow\b", "expected failures are values, bugs abort", "return fail(Kind, message), or KARST_CHECK"),
    (PURE, r"\b(double|float)\b", "floating point is not deterministic enough", "integers with units: millicores, bytes, nano-dollars"),
    (PURE, r"unordered_(?!.*\.hpp>)", "hash order must not show in a decision",
     "std::map or a sorted vector; where order never shows, say why in '// order never shows: …' there or above"),
    (PURE, r"\b(printf|fprintf|puts)\s*\(|std::(thread|mutex|jthread|atomic)\b", "pure folders neither log nor share",
     "return a value; the event is the log line"),
]
LEAKS = re.compile(r"/wor[k]/|\bshare[d]/|\bDESIG[N]\.md|\bhouse[s]\.md|\breliabilit[y]\.md|/home/[a-z]|/roo[t]/|deb[.]debian|registry[.]npm"
                   r"|proxy[.]golang|pypi[.]org")
MARKS = re.compile(r"\b(TOD[O]|FIXM[E]|XX[X])\b")
NOT_A_FUNCTION = re.compile(r"^\W*(namespace|class|struct|enum|union|extern|if|else|for|while|switch|do|try|catch|return|case)\b")


def code_only(text):
    """The text with comments and literals blanked, line by line as long as before."""
    keep_lines = lambda match: "\n" * match[0].count("\n") if match[0].startswith(("/", "R")) else '""'
    pattern = r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\''
    return re.sub(pattern, keep_lines, text, flags=re.DOTALL)


def long_functions(code):
    """(first line, lines) of each function above the limit, by following braces. `case` labels do not count."""
    stack, header, start, line, found = [], "", 1, 1, []
    code = re.sub(r"^ *(public|private|protected):", "", code, flags=re.MULTILINE).replace("operator=", "operator")
    code = re.sub(r"^\s*#.*(\\\n.*)*$", lambda m: "\n" * m[0].count("\n"), code, flags=re.MULTILINE)
    lines = code.splitlines()
    for character in code:
        if not header.strip():
            start = line
        if character == "{":
            function = "(" in header and not NOT_A_FUNCTION.match(header) and "=" not in header.partition("(")[0]
            stack.append((function and not any(inside for inside, _ in stack), start))
        elif character == "}" and stack:
            function, first = stack.pop()
            counted = sum(not text.lstrip().startswith("case ") for text in lines[first - 1 : line]) if function else 0
            if counted > MAX_FUNCTION_LINES:
                found.append((first, counted))
        header = "" if character in "{};" else header + character
        line += character == "\n"
    return found


class Tidy:
    def __init__(self, root):
        self.root, self.violations = root, []
        table = root / "ARCHITECTURE.md"
        known = layers.read_table(table.read_text())[0] if table.is_file() else {}
        pure = "|".join(name for name, layer in known.items() if layer.pure) or "(?!)"
        self.banned = [(re.compile(files.replace("PURE", pure)), re.compile(what), why, instead) for files, what, why, instead in BANNED]

    def say(self, place, rule, mend, where=STYLE):
        self.violations.append(f"{place}: {rule}. Rule: {where}. Mend: {mend}.")

    def run(self):
        for folder, below, names in os.walk(self.root):
            below[:] = sorted(name for name in below if name not in SKIPPED_FOLDERS)
            for name in sorted(names):
                path = pathlib.Path(folder) / name
                if path.suffix in TEXT and not path.is_symlink() and name not in ("go.sum", "LICENSE", ".git"):
                    self.check_text(path, path.relative_to(self.root).as_posix())
        for folder in sorted(path for path in (self.root / "src").glob("*") if path.is_dir()):
            readme = folder / "README.md"
            lines = len(readme.read_text().splitlines()) if readme.is_file() else 0
            if not 0 < lines <= MAX_README_LINES:
                self.say(f"src/{folder.name}/README.md", f"is missing or longer than {MAX_README_LINES} lines ({lines})",
                         "say what the folder is for, where to start reading, what is deliberately absent")
        return self.violations

    def check_text(self, path, name):
        text = path.read_text(errors="replace")
        for number, line in enumerate(text.splitlines(), 1):
            place = f"{name}:{number}"
            if line.rstrip() != line:
                self.say(place, "blanks at the end of the line", "remove them")
            if "\t" in line and not name.endswith(".mod"):
                self.say(place, "a tab", "use spaces")
            if MARKS.search(line):
                self.say(place, "a note to oneself in the code", "do it now, or write it where work is planned")
            if LEAKS.search(line):
                self.say(place, "names a path or host of one machine", "the project stands alone: say it without the path")
            if path.suffix in CODE and len(line) > MAX_COLUMNS:
                self.say(place, f"{len(line)} columns, at most {MAX_COLUMNS}", "run tools/dev/format")
        if text and not text.endswith("\n"):
            self.say(name, "no end of line at the end", "add one")
        if path.suffix in CODE:
            self.check_code(path, name, text)
        if path.suffix == ".md":
            self.check_links(path, name, text)

    def check_code(self, path, name, text):
        lines, code = text.splitlines(), code_only(text)
        if len(lines) > MAX_LINES:
            self.say(name, f"{len(lines)} lines, at most {MAX_LINES}", "look for the second idea in the file")
        if path.suffix == ".h" and "#pragma once" not in lines:
            self.say(name, "no #pragma once", "add it below the opening comment")
        if path.suffix == ".h" and not text.startswith("//"):
            self.say(f"{name}:1", "a header is the manual: it opens with a comment", "say what it is, who owns it, which thread, units")
        for first, count in [] if name.startswith("tests/") else long_functions(code):
            self.say(f"{name}:{first}", f"a function of {count} lines, at most {MAX_FUNCTION_LINES}", "split it by idea")
        for number, line in enumerate(code.splitlines(), 1):
            for files, what, why, instead in self.banned:
                found = what.search(line) if files.match(name) else None
                if found and not (found[0] == "unordered_" and "// order never shows: " in "".join(lines[max(0, number - 2) : number])):
                    self.say(f"{name}:{number}", f"'{found[0].strip()}': {why}", instead)

    def check_links(self, path, name, text):
        prose = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)
        targets = [(path.parent, link) for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", prose) if "://" not in link and not link.startswith("mailto:")]
        if name == "ARCHITECTURE.md":
            targets += [(self.root, source) for source in re.findall(r"\b((?:src|tools|tests|schemas|docs)/[\w./-]*\w)", text)]
        for base, target in targets:
            if not (base / target).exists():
                self.say(name, f"names {target}, which does not exist", "name the file that is there now")


def main():
    violations = Tidy(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE).run()
    print("\n".join(violations) or "tidy: the house is tidy")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
