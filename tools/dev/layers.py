#!/usr/bin/env python3
"""Who may include whom: holds the #include lines of src/ and tools/ against the table in ARCHITECTURE.md.

layers.py [ROOT]. Prints one line a violation: the place, the rule, where it is written, how to mend. Exit 1 if there is one.
"""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parents[2]
WHERE = "ARCHITECTURE.md, 'Who may include whom'"
# What a third-party name of the table stands for, by the beginning of the included path.
THIRD_PARTY = {
    "tl/": "tl", "openssl/": "openssl", "xxhash.h": "xxhash", "simdjson.h": "simdjson", "nlohmann/": "nlohmann",
    "yaml.h": "yaml", "flatbuffers/": "flatbuffers", "schemas/": "flatbuffers", "rocksdb/": "rocksdb", "curl/": "curl",
    "boost/": "boost", "fmt/": "fmt", "CLI/": "CLI", "pugixml.hpp": "pugixml", "zstd.h": "zstd", "sqlite3.h": "sqlite3",
}
SYSTEM = re.compile(r"(sys|netinet|arpa|linux|net)/\w+\.h$|(unistd|fcntl|signal|poll|netdb|pthread|sched|dirent|termios"
                    r"|errno|string|stdio|stdlib|stdint|time|limits|math|spawn|pwd|syslog|dlfcn)\.h$")
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')


class Layer:
    def __init__(self, pure, may_include, third_party):
        self.pure = pure == "yes"
        self.may_include = {name.strip() for name in may_include.split(",") if name.strip()}
        self.third_party = {}  # name -> most .cc files, or None for no limit
        for entry in filter(None, (part.strip() for part in third_party.split(","))):
            match = re.fullmatch(r"(\w+)(?: in (\d+) \.cc)?", entry)
            if not match or match[1] not in THIRD_PARTY.values():
                raise ValueError(f"'{entry}' is no third-party entry: NAME or NAME in N .cc, NAME known to layers.py")
            self.third_party[match[1]] = int(match[2]) if match[2] else None

    def allows(self, folder, path):
        return "all" in self.may_include or folder in self.may_include or path in self.may_include


def read_table(text):
    """The table, and the headers that pure folders never include."""
    section = text.partition("## Who may include whom")[2].partition("\n## ")[0]
    layers = {}
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("|") and len(cells) == 4 and cells[0] != "folder" and not cells[0].startswith("-"):
            layers[cells[0]] = Layer(*cells[1:])
    never = re.findall(r"`<?([\w/.]+)>?`", section.partition("never include:")[2])
    return layers, set(never)


class Check:
    def __init__(self, root):
        self.root = root
        self.layers, self.never_in_pure = read_table((root / "ARCHITECTURE.md").read_text())
        self.violations = []
        self.users = {}  # (folder, third party) -> files

    def say(self, place, rule, mend):
        self.violations.append(f"{place}: {rule}. Rule: {WHERE}. Mend: {mend}.")

    def run(self):
        if not self.layers:
            self.say("ARCHITECTURE.md", "the layer table is missing", "write it with the columns folder, pure, may include, third party")
        present = {path.name for path in (self.root / "src").iterdir() if path.is_dir()} | {"tools"}
        for name in sorted(set(self.layers) - present):
            self.say("ARCHITECTURE.md", f"the table names '{name}', but there is no src/{name}", "remove the row")
        for name in sorted(present - set(self.layers)):
            self.say(f"src/{name}", "the folder has no row in the table", "add a row, with a decision record")
        for base in ("src", "tools"):
            for path in sorted((self.root / base).rglob("*")):
                if path.suffix in (".h", ".cc") and path.is_file():
                    self.check_file(path)
        for (folder, name), files in sorted(self.users.items()):
            most = self.layers[folder].third_party[name]
            if most is not None and len(files) > most:
                self.say(f"src/{folder}" if folder != "tools" else folder, f"{name} is included by {len(files)} files, at most {most}: {', '.join(sorted(files))}",
                         "put what needs it into one of them, behind our own header")
        return self.violations

    def check_file(self, path):
        relative = path.relative_to(self.root)
        folder = relative.parts[1] if relative.parts[0] == "src" else "tools"
        layer = self.layers.get(folder)
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            match = INCLUDE.match(line)
            if match and layer:
                self.check_include(f"{relative}:{number}", relative, folder, layer, match[1] == '"', match[2])

    def check_include(self, place, relative, folder, layer, quoted, target):
        third = next((name for prefix, name in THIRD_PARTY.items() if target.startswith(prefix)), None)
        if layer.pure and (target in self.never_in_pure or SYSTEM.match(target)):
            self.say(place, f"{folder} is pure and may not include {target}", "take the value as an argument instead")
        elif third:
            self.check_third_party(place, relative, folder, layer, third)
        elif quoted:
            self.check_own(place, folder, layer, target)
        elif ("/" in target or "." in target) and not SYSTEM.match(target):
            self.say(place, f"<{target}> belongs to no known library", "use what is there, or add it to the table and to layers.py")

    def check_own(self, place, folder, layer, target):
        base = self.root if target.startswith("tools/") else self.root / "src"
        if not (base / target).is_file():
            self.say(place, f"\"{target}\" does not exist", "write includes as \"folder/file.h\", from src/")
            return
        other = target.split("/")[0]
        if other == folder:
            return
        if other in ("daemon", "tools") and folder != "tools":
            self.say(place, f"nobody includes {other}", "move what is needed down into the folder it belongs to")
        elif not layer.allows(other, target):
            self.say(place, f"{folder} may not include {target}", "turn the dependency round, or pass a value")
        elif other == "kube" and folder == "cloud" and not place.startswith("src/cloud/kwok"):
            self.say(place, "of src/cloud only kwok may include kube", "use src/ports")

    def check_third_party(self, place, relative, folder, layer, name):
        if name not in layer.third_party:
            self.say(place, f"{folder} may not include {name}", "use it where the table allows it, behind our own header")
        elif layer.third_party[name] is not None:
            if relative.suffix != ".cc":
                self.say(place, f"{folder} may include {name} in .cc files only", "hide it behind a forward declaration")
            else:
                self.users.setdefault((folder, name), set()).add(str(relative))


def main():
    violations = Check(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE).run()
    print("\n".join(violations) or "layers: every #include is in the table")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
