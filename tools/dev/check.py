#!/usr/bin/env python3
"""Runs karst's checks and tests, counts them, and says what was skipped. Started by tools/test.

A section is a function that adds to a Tally. What could not run is never counted as passed: it is skipped, loudly, and with
CI=true in the environment a skip makes the run fail.
"""
import argparse
import concurrent.futures
import glob
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ.update(CCACHE_BASEDIR=str(ROOT), CCACHE_NOHASHDIR="true")  # one cache for every checkout
PROGRAM_SECONDS_MAX = {"release": 900, "dev": 1800, "tsan": 1800}  # for one test program
LAW_SEED = 20261121  # of rapidcheck: the same problems in each run; RC_PARAMS= for others, tools/long-run laws for many
LAW_CASES = {"release": 100, "dev": 25, "tsan": 25}  # of each law
# What a sanitizer need not see again: these start `karst solve` 120 times, each with the whole catalogue of AWS, a fifth of all the
# time; its parts run under ASan in test_scheduling, test_providers, test_objects and test_oracle.
LEFT_OUT = {("dev", "test_tools"): "Solve.*:SolvePolicies.*"}
LONGEST_FIRST = ("test_tools", "test_simulation", "test_proof", "test_oracle", "test_scheduling", "test_kube")
BUILD_SECONDS_MAX = 3000
STORY_SECONDS_MAX = 2700
CLUSTER_TESTS = ("crds", "chart", "image", "bad_starts", "shadow", "story", "termination", "replicas", "canary")
AUDIT_SCRIPTS = ("proof", "exports", "readers")
AWS_STORIES = ("story", "narrow", "faults", "kills")
FUZZ_SECONDS = int(os.environ.get("KARST_FUZZ_SECONDS", "60"))
FUZZERS_A_CORE = 2
QUICKSTART_SECONDS = os.environ.get("KARST_QUICKSTART_SECONDS", "45")
THREADED = ("test_base", "test_daemon", "test_http", "test_kube")  # what the tsan section builds, of those that exist
JOBS = os.cpu_count() or 2
GO_FOLDERS = ["/usr/local/go/bin", *sorted(glob.glob("/usr/lib/go-1.*/bin"), reverse=True)]  # where installers leave it
OUTPUT_LINES_MAX = 200  # of a failed program, shown from its end; the whole is in the log file that is named


class Tally:
    def __init__(self):
        self.passed, self.failed, self.skipped, self.remarks = 0, 0, 0, []

    def add(self, passed=0, failed=0, skipped=0):
        self.passed, self.failed, self.skipped = self.passed + passed, self.failed + failed, self.skipped + skipped

    def fail(self, remark):
        self.failed += 1
        self.remarks.append(f"FAILED: {remark}")
        print(f"FAILED: {remark}", flush=True)

    def skip(self, remark):
        self.skipped += 1
        self.remarks.append(f"SKIPPED: {remark}")
        print(f"*** SKIPPED: {remark} ***", flush=True)

    def line(self):
        return f"{self.passed} passed, {self.failed} failed" + (f", {self.skipped} skipped" if self.skipped else "")

    def exit_code(self, in_ci):
        nothing = self.passed == 0
        return 1 if self.failed or nothing or (in_ci and self.skipped) else 0


def run(command, seconds_max, log=None, env=None):
    """(exit code or None after a timeout, output). The program's whole process group is ended at the timeout."""
    process = subprocess.Popen([str(part) for part in command], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               text=True, errors="replace", env={**os.environ, **(env or {})}, start_new_session=True)
    try:
        output, code = process.communicate(timeout=seconds_max)[0], process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        output, code = process.communicate()[0] + f"\n(ended after {seconds_max} s)\n", None
    except KeyboardInterrupt:
        os.killpg(process.pid, 9)
        raise
    if log:
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(output)
    return code, output


def show_end(output):
    print("\n".join(output.splitlines()[-OUTPUT_LINES_MAX:]), flush=True)


def count_gtest(output, code):
    """(passed, failed, skipped, remark) of a GoogleTest program. One that crashed, hung or tested nothing has failed."""
    passed = len(re.findall(r"^\[       OK \] .*\)$", output, re.MULTILINE))
    failed = len(re.findall(r"^\[  FAILED  \] .* ms\)$", output, re.MULTILINE))
    skipped = len(re.findall(r"^\[  SKIPPED \] .* ms\)$", output, re.MULTILINE))
    disabled = re.search(r"YOU HAVE (\d+) DISABLED TEST", output)
    skipped += int(disabled[1]) if disabled else 0
    if (code != 0 and not failed) or not re.search(r"^\[==========\] .* ran\.", output, re.MULTILINE):
        started = re.findall(r"^\[ RUN      \] (.*)$", output, re.MULTILINE)
        how = "ran out of time" if code is None else f"ended with {code}"
        return passed, failed + 1, skipped, f"{how} in {started[-1] if started else 'its start'}"
    if passed + failed == 0:
        return 0, 1, skipped, "tested nothing"
    return passed, failed, skipped, ""


def run_programs(tally, preset, names):
    """Runs test programs, as many at once as there are cores; prints a line each, and what a failed one said."""
    env = {"RC_PARAMS": os.environ.get("RC_PARAMS", f"seed={LAW_SEED} max_success={LAW_CASES[preset]}"), "ASAN_OPTIONS": "detect_stack_use_after_return=1:malloc_context_size=6",
           "UBSAN_OPTIONS": "print_stacktrace=1",
           "TSAN_OPTIONS": f"suppressions={ROOT}/tools/dev/tsan.supp second_deadlock_stack=1"}

    def one(name):
        began, program = time.monotonic(), ROOT / "build" / preset / "tests" / name
        log = ROOT / "build" / preset / "logs" / f"{name}.txt"
        command = [program] + ([f"--gtest_filter=-{LEFT_OUT[preset, name]}"] if (preset, name) in LEFT_OUT else [])
        code, output = run(command, PROGRAM_SECONDS_MAX[preset], log, env) if program.is_file() else (127, "not built\n")
        return name, count_gtest(output, code), output, time.monotonic() - began, log

    names = [name for name in LONGEST_FIRST if name in names] + [name for name in names if name not in LONGEST_FIRST]
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        for name, (passed, failed, skipped, remark), output, seconds, log in pool.map(one, names):
            tally.add(passed, 0, 0)
            print(f"  {name} ({preset}): {passed} passed, {failed} failed, {skipped} skipped, {seconds:.1f} s", flush=True)
            for number in range(failed):
                broken = re.findall(r"^\[  FAILED  \] (\S+).* ms\)$", output, re.MULTILINE)
                tally.fail(f"{name} ({preset}) {broken[number] if number < len(broken) else remark}; see {log.relative_to(ROOT)}")
            for _ in range(skipped):
                tally.skip(f"a test of {name} ({preset}); see {log.relative_to(ROOT)}")
            if failed:
                show_end(output)


def build(tally, preset, targets=()):
    code, output = run(["cmake", "--preset", preset], BUILD_SECONDS_MAX)
    if code == 0:
        command = ["cmake", "--build", f"build/{preset}", "--parallel", os.environ.get("KARST_JOBS", str(JOBS))]
        code, output = run(command + (["--target", *targets] if targets else []), BUILD_SECONDS_MAX)
    if code != 0:
        show_end(output)
        tally.fail(f"build of preset {preset}; again: tools/build {preset}")
        return False
    tally.add(passed=1)
    return True


def test_names():
    folders = {pathlib.Path(path).parent.name for path in glob.glob(str(ROOT / "tests/*/*.cc"))} - {"fuzz"}
    return sorted(f"test_{folder}" for folder in folders)


def check_house(tally):
    for command in (["tools/dev/layers.py"], ["tools/dev/tidy.py"], ["tools/dev/format", "--check"], ["tools/dev/conform"]):
        code, output = run(command, 300)
        show_end(output)
        if code == 0:
            tally.add(passed=1)
        else:
            tally.fail(" ".join(command))
    for path in sorted(glob.glob(str(ROOT / "tests/house/test_*.py"))):
        code, output = run([sys.executable, path], 300)
        ran = re.search(r"^Ran (\d+) test", output, re.MULTILINE)
        bad = sum(int(number) for number in re.findall(r"(?:failures|errors)=(\d+)", output))
        bad = bad if code == 0 or bad else 1
        total = int(ran[1]) if ran else 0
        print(f"  {os.path.basename(path)}: {total} tests", flush=True)
        tally.add(passed=max(total - bad, 0))
        if bad or not total:
            show_end(output)
            for _ in range(max(bad, 1)):
                tally.fail(os.path.basename(path))


def check_release(tally):
    if build(tally, "release"):
        run_programs(tally, "release", test_names())


def check_dev(tally):
    names = test_names()
    if build(tally, "dev", names):
        run_programs(tally, "dev", names)


def check_tsan(tally):
    names = [name for name in test_names() if name in THREADED]
    if build(tally, "tsan", names):
        run_programs(tally, "tsan", names)


def check_fuzz(tally):
    sources = sorted(glob.glob(str(ROOT / "tests/fuzz/*.cc")))
    names = [name if name.startswith("fuzz_") else f"fuzz_{name}" for name in (pathlib.Path(path).stem for path in sources)]
    if not names:
        print("  there are no fuzzers (tests/fuzz has no sources)")
        return
    if not build(tally, "fuzz", names):
        return
    built = {path.name: path for path in (ROOT / "build/fuzz").rglob("fuzz_*") if path.is_file() and os.access(path, os.X_OK)}

    def one(name):
        with tempfile.TemporaryDirectory() as corpus:
            seeds = ROOT / "tests/fuzz/corpus" / name
            command = [built[name], f"-max_total_time={FUZZ_SECONDS}", "-timeout=40", "-rss_limit_mb=2048",
                       f"-artifact_prefix={ROOT}/build/fuzz/{name}-", corpus] + ([seeds] if seeds.is_dir() else [])
            return run(command, FUZZ_SECONDS + 120, ROOT / "build/fuzz/logs" / f"{name}.txt")

    with concurrent.futures.ThreadPoolExecutor(FUZZERS_A_CORE * JOBS) as pool:
        results = pool.map(lambda name: (name, *(one(name) if name in built else (127, "not built\n"))), names)
        for name, code, output in results:
            runs = re.search(r"^Done (\d+) runs", output, re.MULTILINE)
            if code == 0 and runs and int(runs[1]) > 0:
                print(f"  {name}: {runs[1]} runs", flush=True)
                tally.add(passed=1)
            else:
                show_end(output)
                tally.fail(f"{name}; the input is build/fuzz/{name}-crash-…, again: {name} FILE")


def add_go_to_path():
    os.environ["PATH"] += "".join(f":{folder}" for folder in GO_FOLDERS if os.path.isfile(f"{folder}/go") and folder not in os.environ["PATH"])


def has_control_plane():
    """Whether tests/cluster/build.sh and its scripts can run."""
    add_go_to_path()
    return bool(shutil.which("go") and shutil.which("kubectl"))


def check_cluster(tally):
    """The tests on a real control plane; each is a script that ends with "N passed, N failed[, N skipped]"."""
    if not has_control_plane():
        return tally.skip("the tests on a real control plane: they need go (1.21 or newer) and kubectl in PATH; tools/dev/install says how")
    if not (ROOT / "build/release/karst").is_file() and not build(tally, "release"):
        return None
    code, output = run(["nice", "-n", COMPUTING_NICE, "tests/cluster/build.sh"], BUILD_SECONDS_MAX)
    if code != 0:
        show_end(output)
        return tally.fail("tests/cluster/build.sh: the control plane was not built")
    for name in CLUSTER_TESTS:
        script(tally, f"tests/cluster/{name}.sh")
    return None


def script(tally, name):
    """Runs tests/…/NAME.sh BUILD_DIR, whose last line says "N passed, N failed[, N skipped]"."""
    path, log = ROOT / name, ROOT / "build/release/logs" / (name.removeprefix("tests/").removesuffix(".sh").replace("/", "-") + ".txt")
    if not path.is_file():
        return tally.skip(f"{name} is not there")
    code, output = run([path, ROOT / "build/release"], STORY_SECONDS_MAX, log)
    show_end(output)
    add_last_line(tally, output, code, name, f"see {log}")
    return None


def add_last_line(tally, output, code, name, where):
    """Counts what the last line says, "N passed, N failed[, N skipped]". Returns how many checks it tells of."""
    last = re.fullmatch(r"(\d+) passed, (\d+) failed(?:, (\d+) skipped)?", output.rstrip().rpartition("\n")[2])
    passed, failed, skipped = (int(number or 0) for number in last.groups()) if last else (0, 0, 0)
    tally.add(passed=passed)
    if not failed and (code != 0 or not passed + skipped):
        failed = 1
    for _ in range(failed):
        tally.fail(f"{name} (exit {code}); {where}")
    for _ in range(skipped):
        tally.skip(f"a part of {name}; {where}")
    return passed + failed


def check_aws(tally):
    """The AWS client and the whole of karst, against a server of its shape on loopback."""
    if not (ROOT / "build/release/karst_aws_calls").is_file() and not build(tally, "release"):
        return None
    code, output = run([ROOT / "tests/aws/build.sh"], BUILD_SECONDS_MAX)
    if code != 0:
        show_end(output)
        return tally.skip("the tests on an AWS-shaped server: tests/aws/build.sh could not install it (python3 with venv, and pip)")
    script(tally, "tests/aws/calls.sh")
    if not has_control_plane():
        return tally.skip(f"tests/aws/*.sh of {', '.join(AWS_STORIES)}: they need go (1.21 or newer) and kubectl in PATH; tools/dev/install says how")
    for name in AWS_STORIES:
        script(tally, f"tests/aws/{name}.sh")
    return None


def check_audit(tally):
    """What karst exports, read by other people's programs."""
    add_go_to_path()
    if not shutil.which("go"):
        return tally.skip("the tests with Go's transparency log packages: they need go (1.24 or newer) in PATH; tools/dev/install says how")
    if not shutil.which("sqlite3"):
        return tally.skip("the tests of exports: they need sqlite3; tools/dev/install installs it")
    if not (ROOT / "build/release/karst_parquet_sample").is_file() and not build(tally, "release"):
        return None
    for name in AUDIT_SCRIPTS:
        script(tally, f"tests/audit/{name}.sh")
    return None


def check_quickstart(tally):
    """The quickstart as a newcomer runs it, and then every command that it prints."""
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "data")
        code, output = run(["tools/quickstart", data, QUICKSTART_SECONDS], int(QUICKSTART_SECONDS) + BUILD_SECONDS_MAX)
        show_end(output)
        if code != 0:
            return tally.fail(f"tools/quickstart ended with {code}")
        tally.add(passed=1)
        commands = sorted(set(re.findall(r"^  (build/release/karst .*)$", output, re.MULTILINE)))
        for word, meaning in ((" --verify", "verifies the run"), (" explain ", "explains a spot interruption: none was seen?")):
            if not any(word in command for command in commands):
                tally.fail(f"tools/quickstart prints no command that {meaning}")
        for command in commands:
            code, output = run(["bash", "-c", command], 300)
            if code == 0 and output.strip():
                tally.add(passed=1)
            else:
                show_end(output)
                tally.fail(f"a command that tools/quickstart printed ended with {code}: {command}")
    return None


SECTIONS = {
    "house": (check_house, "layers, style, format, frozen schemas, and the tests of these checks"),
    "release": (check_release, "release build, every test program"),
    "dev": (check_dev, "ASan and UBSan build, every test program"),
    "tsan": (check_tsan, f"ThreadSanitizer build, the threaded test programs ({', '.join(THREADED)})"),
    "fuzz": (check_fuzz, f"each fuzzer for {FUZZ_SECONDS} s (KARST_FUZZ_SECONDS)"),
    "cluster": (check_cluster, f"a real control plane: tests/cluster/*.sh of {', '.join(CLUSTER_TESTS)}"),
    "aws": (check_aws, f"karst on an AWS-shaped server on loopback: tests/aws/calls.sh, and {', '.join(AWS_STORIES)} with a real control plane"),
    "audit": (check_audit, f"exports read by other people's programs: tests/audit/*.sh of {', '.join(AUDIT_SCRIPTS)}"),
    "quickstart": (check_quickstart, "tools/quickstart, and every command that it prints"),
}
QUICK = ("house", "release")
WAITING = ("cluster", "aws", "audit", "quickstart")  # they wait for servers most of the time
COMPUTING = ("dev", "tsan", "fuzz")  # run beside those, at lower priority, in a process of their own
COMPUTING_NICE = 10
COMPUTING_SECONDS_MAX = 7200


class Beside:
    """Sections run by a second tools/dev/check.py, beside this one's; what it says is shown, and counted, when it has ended."""

    def __init__(self, names, command=(sys.executable, __file__)):
        self.names, self.began = names, time.monotonic()
        self.output = tempfile.TemporaryFile("w+", errors="replace")
        print(f"\n=== {' '.join(names)}: begun beside what follows, told at its end", flush=True)
        self.process = subprocess.Popen([*command, *names], cwd=ROOT, stdout=self.output, stderr=subprocess.STDOUT,
                                        preexec_fn=lambda: os.nice(COMPUTING_NICE))

    def label(self):
        return "+".join(self.names)

    def end(self):
        """What it started has process groups of its own, which it ends itself when it is interrupted."""
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def finish(self, tally):
        """(checks, seconds from its start to here)"""
        try:
            code = self.process.wait(max(1, COMPUTING_SECONDS_MAX - (time.monotonic() - self.began)))
        except subprocess.TimeoutExpired:
            self.end()
            code = None
        self.output.seek(0)
        said = self.output.read()
        self.output.close()
        print(said, end="", flush=True)
        only_skipped = code == 1 and re.search(r"\b0 failed, \d+ skipped$", said.rstrip())
        checks = add_last_line(tally, said, 0 if only_skipped else code, " ".join(self.names), "a part of it is above")
        return checks, time.monotonic() - self.began


def run_sections(names, sections, in_ci, beside=None):
    """Runs the sections in turn. What beside() starts runs along with those that wait for servers, and is counted at the end."""
    total, times, other = Tally(), [], None
    for name in names:
        function, meaning = sections[name]
        if beside and not other and name in WAITING:
            other = beside()
        print(f"\n=== {name}: {meaning}", flush=True)
        began, before = time.monotonic(), total.passed + total.failed
        try:
            function(total)
        except OSError as error:
            total.fail(f"section {name}: {error}")
        times.append((name, total.passed + total.failed - before, time.monotonic() - began))
        print(f"=== {name}: {times[-1][1]} checks in {times[-1][2]:.0f} s", flush=True)
    if other:
        times.append((other.label(), *other.finish(total)))
    print("\n=== summary")
    for name, checks, seconds in times:
        print(f"  {name:<14}{checks:>6} checks {seconds:>7.0f} s")
    print("\n".join(f"  {remark}" for remark in total.remarks))
    if total.skipped and in_ci:
        print("  CI=true: what is skipped counts as a failure of this run")
    print(total.line(), flush=True)
    return total.exit_code(in_ci)


def main():
    parser = argparse.ArgumentParser(prog="tools/test", formatter_class=argparse.RawDescriptionHelpFormatter, epilog="sections:\n" + "\n".join(
        f"  {name:<12}{meaning}" for name, (_, meaning) in SECTIONS.items()))
    parser.add_argument("--quick", action="store_true", help=f"only {' and '.join(QUICK)}")
    parser.add_argument("section", nargs="*", metavar="SECTION", help="only these")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.section if name not in SECTIONS]
    if unknown:
        parser.error(f"no section {unknown[0]}; there are: {', '.join(SECTIONS)}")
    for folder in ("/usr/local/go/bin", *sorted(glob.glob("/usr/lib/go-1.*/bin"))):
        os.environ["PATH"] += os.pathsep + folder
    names = arguments.section or (QUICK if arguments.quick else list(SECTIONS))
    aside = [name for name in names if name in COMPUTING] if any(name in WAITING for name in names) else []
    return run_sections([name for name in names if name not in aside], SECTIONS, os.environ.get("CI", "") not in ("", "0", "false"),
                        (lambda: Beside(aside)) if aside else None)


if __name__ == "__main__":
    sys.exit(main())
