"""Reads what karst exports with other people's readers: exports.py BUILD_DIR WORK. A line a check; ends with "N passed, N failed"."""
import base64
import collections
import csv
import datetime
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys

import duckdb
import jsonschema
import pyarrow.compute
import pyarrow.parquet
from cloudevents.core.formats.json import JSONFormat
from cloudevents.core.v1.event import CloudEvent

HERE = pathlib.Path(__file__).resolve().parent
BUILD, WORK = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
DATA = WORK / "data"
VIEWS = ("events", "decisions", "nodeclaims")
LP4K_COLUMNS = 33
SAMPLE_ROWS = 250_000
csv.field_size_limit(1 << 24)  # a catalogue is one field
passed = failed = 0


def check(what, good, found=""):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    print(f"ok {what}" if good else f"not ok {what}: {str(found)[:600]}", flush=True)
    return good


def equal(what, got, want):
    return check(what, got == want, f"{got!r} instead of {want!r}")


def karst(*arguments):
    done = subprocess.run([str(BUILD / "karst"), *map(str, arguments)], capture_output=True, timeout=300)
    if done.returncode != 0:
        check(f"karst {' '.join(map(str, arguments))}", False, done.stderr.decode(errors="replace"))
    return done.stdout


def export(name, *arguments):
    path = WORK / name
    karst("audit", "export", "--data", DATA, "--out", path, *arguments)
    return path


def parquet_of(view):
    return export(f"{view}.parquet", "--format", "parquet", "--view", view)


def as_plain(value):
    """A cell of any reader in one form: times as ms."""
    if isinstance(value, datetime.datetime):
        value = value if value.tzinfo else value.replace(tzinfo=datetime.timezone.utc)
        return round(value.timestamp() * 1000)
    return int(value) if isinstance(value, bool) else value


def make_log():
    if not DATA.exists():
        karst("run", "--embedded", "--data", DATA, "--speed", 40, "--for", "12s", "--listen", "127.0.0.1:0")
    stat = json.loads(karst("log", "stat", "--data", DATA, "-o", "json"))
    check("the log has decisions and interruptions", "LaunchRequested" in stat["types"] and "InterruptionReceived" in stat["types"], stat)
    return stat


def sample():
    """What the writer does with more than a small log asks of it."""
    path = WORK / "sample.parquet"
    subprocess.run([str(BUILD / "karst_parquet_sample"), str(path)], check=True, timeout=300)
    n = range(SAMPLE_ROWS)
    want = {"rows": SAMPLE_ROWS, "n": sum(n), "sparse": sum(i for i in n if i % 7 == 0), "sparse_count": len([i for i in n if i % 7 == 0]),
            "flags": len([i for i in n if i % 3 == 0 and i % 5]), "flag_count": len([i for i in n if i % 5]),
            "few": len("xxxxxxxxxx") * SAMPLE_ROWS // 5, "many": sum(len(f"row-{i}") for i in n), "long": sum(i % 2001 for i in n)}
    file = pyarrow.parquet.ParquetFile(path)
    check("sample, pyarrow: several row groups", file.metadata.num_row_groups > 2, file.metadata.num_row_groups)
    equal("sample, pyarrow: the key-value metadata is there", file.metadata.metadata.get(b"key"), b"value")
    columns = {file.schema_arrow.field(i).name: i for i in range(len(file.schema_arrow))}
    encodings = {name: set(file.metadata.row_group(0).column(i).encodings) for name, i in columns.items()}
    check("sample, pyarrow: repeated values have a dictionary, others not",
          "RLE_DICTIONARY" in encodings["few"] and "RLE_DICTIONARY" not in encodings["many"], encodings)
    statistics = file.metadata.row_group(0).column(columns["n"]).statistics
    equal("sample, pyarrow: statistics of numbers", (statistics.min, statistics.null_count), (0, 0))
    statistics = file.metadata.row_group(0).column(columns["few"]).statistics
    equal("sample, pyarrow: statistics of text", (statistics.min, statistics.max), ("", "xxxx"))
    table = file.read()
    c = pyarrow.compute
    total = lambda name: c.sum(table[name]).as_py()  # noqa: E731
    lengths = lambda name: c.sum(c.binary_length(table[name])).as_py()  # noqa: E731
    got = {"rows": table.num_rows, "n": total("n"), "sparse": total("sparse"), "sparse_count": c.count(table["sparse"]).as_py(),
           "flags": total("flag"), "flag_count": c.count(table["flag"]).as_py(), "few": lengths("few"), "many": lengths("many"), "long": lengths("long")}
    equal("sample, pyarrow: sums and counts", got, want)
    row = table.slice(123_456, 1).to_pylist()[0]
    at = lambda i: {"n": i, "extreme": (-2**63, 2**63 - 1, 0)[i % 3], "sparse": i if i % 7 == 0 else None, "nothing": None,  # noqa: E731
                    "flag": None if i % 5 == 0 else i % 3 == 0, "time": datetime.datetime(2026, 11, 21, tzinfo=datetime.timezone.utc) +
                    datetime.timedelta(seconds=i), "tenths": i / 10, "few": "x" * (i % 5), "many": f"row-{i}", "long": chr(97 + i % 26) * (i % 2001), "one": "ä"}
    equal("sample, pyarrow: one row in the middle", row, at(123_456))
    equal("sample, pyarrow: the last row", table.slice(SAMPLE_ROWS - 1, 1).to_pylist()[0], at(SAMPLE_ROWS - 1))
    got = duckdb.sql(f"""select count(*), sum(n), sum(sparse), count(sparse), count(*) filter (flag), count(flag), sum(length(few)), sum(length(many)),
        sum(length("long")) from '{path}'""").fetchall()[0]
    equal("sample, DuckDB: sums and counts", dict(zip(want, map(int, got))), want)
    got = duckdb.sql(f"select count(*), min(extreme), max(extreme), count(nothing), min(one) from '{path}' where n between 99990 and 100010").fetchall()[0]
    equal("sample, DuckDB: a range over two row groups", got, (21, -2**63, 2**63 - 1, 0, "ä"))
    equal("sample, DuckDB: by a value of a dictionary", duckdb.sql(f"select count(*) from '{path}' where few = 'xxx'").fetchall()[0][0], SAMPLE_ROWS // 5)


def agree_with_stat(reader, rows, stat):
    """rows: type, count, sum of bytes."""
    equal(f"{reader}: rows and bytes of every type as 'log stat' has them", {kind: (count, size) for kind, count, size in rows},
          {kind: (of["events"], of["bytes"]) for kind, of in stat["types"].items()})


BY_TYPE = "select type, count(*), cast(sum(bytes) as bigint) from {} group by type"


def parquet(stat):
    paths = {view: parquet_of(view) for view in VIEWS}
    agree_with_stat("Parquet, DuckDB", duckdb.sql(BY_TYPE.format(f"'{paths['events']}'")).fetchall(), stat)
    table = pyarrow.parquet.read_table(paths["events"])
    equal("Parquet, pyarrow: rows and bytes in all", (table.num_rows, pyarrow.compute.sum(table["bytes"]).as_py()), (stat["events"], stat["bytes"]))
    equal("Parquet, pyarrow: positions without a gap", table["position"].to_pylist(), list(range(1, stat["events"] + 1)))
    metadata = pyarrow.parquet.read_metadata(paths["events"]).metadata
    equal("Parquet: the file names its log, and that it is whole", (metadata[b"log"].decode(), metadata[b"whole"]), (stat["log"], b"yes"))
    equal("Parquet: the file has the head of the log's tree", metadata[b"checkpoint"], karst("audit", "checkpoint", "--data", DATA))
    check("Parquet: every payload is JSON", all(isinstance(json.loads(text), dict) for text in table["payload"].to_pylist()))
    untold = duckdb.sql(f"select type, count(*) from '{paths['decisions']}' where evidence is null or code is null group by type").fetchall()
    equal("Parquet: every decision says why, and which events it rests on", untold, [])
    alternatives(paths, table)
    return paths


def alternatives(paths, events):
    """Every type that is sold is one that a claim may become, or is ruled out with a reason; never both."""
    catalogues = [json.loads(payload) for kind, payload in zip(events["type"].to_pylist(), events["payload"].to_pylist()) if kind == "CatalogueObserved"]
    sold = sorted(of["name"] for of in catalogues[-1]["types"])
    claims = duckdb.sql(f"select alternatives, ruled_out from '{paths['decisions']}' where type = 'NodeClaimCreateRequested'").fetchall()
    told, reasons = [], collections.Counter()
    for may_become, ruled_out in claims:
        told.append(sorted([one["instance_type"] for one in json.loads(may_become)] + [name for one in json.loads(ruled_out) for name in one["instance_types"]]))
        reasons.update(one["why"] for one in json.loads(ruled_out))
    check("Parquet: claims were made, and one catalogue was on sale", len(claims) > 0 and len({json.dumps(of["types"]) for of in catalogues}) == 1, len(claims))
    equal("Parquet: each claim may become a type or has it ruled out, once", [types for types in told if types != sold], [])
    check("Parquet: what is too small is called so", reasons["resource cpu"] + reasons["resource memory"] > 0, reasons)


def sqlite(stat):
    path = export("log.db", "--format", "sqlite")
    shell = lambda sql: subprocess.run(["sqlite3", "-json", str(path), sql], capture_output=True, text=True, check=True).stdout  # noqa: E731
    ask = lambda sql: json.loads(shell(sql) or "[]")  # noqa: E731
    agree_with_stat("sqlite3 shell", [tuple(row.values()) for row in ask(BY_TYPE.format("events"))], stat)
    equal("sqlite3 shell: the file is sound", ask("pragma integrity_check"), [{"integrity_check": "ok"}])
    equal("sqlite3 shell: strict tables", [row["name"] for row in ask("select name from pragma_table_list where strict order by name")],
          ["decisions", "events", "meta", "nodeclaims"])
    meta = {row["key"]: row["value"] for row in ask("select * from meta")}
    equal("sqlite3 shell: meta says which log and how much", (meta["log"], meta["events"], meta["event_bytes"], meta["rows_events"], meta["whole"]),
          (stat["log"], str(stat["events"]), str(stat["bytes"]), str(stat["events"]), "yes"))
    equal("sqlite3 shell: and the head of its tree", meta["checkpoint"].encode(), karst("audit", "checkpoint", "--data", DATA))
    plan = shell("explain query plan select * from events where stream = 'log'")
    check("sqlite3 shell: an object is found by an index", "USING INDEX events_stream" in plan, plan)
    return path


def trail(stat):
    """Each event once, and its stored bytes: what 'log stat' counts, filled up to whole words."""
    lines = [json.loads(line) for line in karst("audit", "export", "--data", DATA, "--format", "jsonl").splitlines()]
    counts, sizes = collections.Counter(), collections.Counter()
    for line in lines:
        if "event" in line:
            counts[line["event"]["type"]] += 1
            sizes[line["event"]["type"]] += len(base64.b64decode(line["bytes"]))
    equal("trail: types as 'log stat' has them", counts, {kind: of["events"] for kind, of in stat["types"].items()})
    over = {kind: size - stat["types"][kind]["bytes"] for kind, size in sizes.items()}
    check("trail: stored bytes as 'log stat' counts them, and less than a word of filling an event",
          all(0 <= over[kind] < 8 * counts[kind] for kind in over), over)


def progress():
    """On a terminal, and nowhere else."""
    terminal, end = os.openpty()
    command = [str(BUILD / "karst"), "audit", "export", "--data", str(DATA)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=end, timeout=300)
    os.close(end)
    shown = os.read(terminal, 1 << 16).decode(errors="replace")
    os.close(terminal)
    check("progress is shown on a terminal, up to the end, and taken away", "exporting 100%" in shown and shown.endswith("\r\x1b[K"), shown[-200:])
    silent = subprocess.run(command, capture_output=True, timeout=300)
    equal("progress is shown on a terminal only, and the output is the same", (silent.stderr, silent.stdout == done.stdout), (b"", True))


def csv_files(stat, paths):
    with open(export("events.csv", "--format", "csv"), newline="") as file:
        rows = list(csv.DictReader(file, strict=True))
    counts = collections.Counter(row["type"] for row in rows)
    sizes = collections.Counter()
    for row in rows:
        sizes[row["type"]] += int(row["bytes"])
    agree_with_stat("CSV", [(kind, counts[kind], sizes[kind]) for kind in counts], stat)
    for view in VIEWS:
        path = export(f"{view}.csv", "--format", "csv", "--view", view)
        raw = path.read_bytes()
        check(f"CSV, {view}: every line ends with CRLF", raw.endswith(b"\r\n") and raw.count(b"\n") == raw.count(b"\r\n"))
        ours = duckdb.sql(f'''select * from read_csv('{path}', all_varchar = true, header = true, delim = ',', quote = '"', escape = '"')''')
        theirs = duckdb.sql(f"select * from '{paths[view]}'")
        equal(f"CSV, {view}: as many rows and the same columns as Parquet", (len(ours.fetchall()), ours.columns), (len(theirs.fetchall()), theirs.columns))
    header = (WORK / "nodeclaims.csv").read_text().splitlines()[0].split(",")
    equal("CSV, nodeclaims: as many columns as lp4k", (len(header), header[0], header[-1]), (LP4K_COLUMNS, "nodeclaim", "deleted"))
    with open(WORK / "nodeclaims.csv", newline="") as file:
        claims = list(csv.DictReader(file))
    there = set(stat["types"]) & {"NodeClaimGone"}
    equal("CSV, nodeclaims: a row for each claim that went", sum(row["deleted"] == "true" for row in claims), stat["types"]["NodeClaimGone"]["events"] if there else 0)
    check("CSV, nodeclaims: claims came up", any(row["initialized"] == "true" and float(row["nodereadytimesec"]) > 0 for row in claims), claims[:2])


def cloud_events(stat):
    schema = json.loads((HERE / "cloudevents.schema.json").read_text())
    validator = jsonschema.Draft7Validator(schema, format_checker=jsonschema.Draft7Validator.FORMAT_CHECKER)
    for form in ("date-time", "uri-reference", "uri"):  # without their packages these would be no checks at all, and silently
        check(f"the schema's format {form} is checked", form in validator.format_checker.checkers, sorted(validator.format_checker.checkers))
    for broken in ({}, {"id": ""}, {"Bad": "x"}, {"time": "yesterday"}, {"time": "2026-13-21T00:00:00Z"}, {"recordedtime": "2026-02-30T00:00:00Z"},
                   {"source": "karst://a b/c"}, {"dataschema": "no uri"}, {"sequence": "12"}):  # the judge can say no
        good = {"id": "1", "source": "karst://a/b", "specversion": "1.0", "type": "sh.karst.Any", "sequence": "0" * 19 + "1", "partitionkey": "a",
                "recordedtime": "2026-11-21T00:00:00Z", "correlationid": "1"}
        equal(f"the schema {'takes a good event' if not broken else f'refuses {broken}'}", validator.is_valid({**good, **broken}), not broken)
    lines = export("events.ce.jsonl", "--format", "cloudevents").read_text().splitlines()
    events = [json.loads(line) for line in lines]
    equal("CloudEvents: as many as the log has", len(events), stat["events"])
    wrong = [f"{event['id']}: {error.message}" for event in events for error in validator.iter_errors(event)]
    check("CloudEvents: every one is as the rules demand", not wrong, wrong[:3])
    counts = collections.Counter(event["type"].removeprefix("sh.karst.") for event in events)
    equal("CloudEvents: types as 'log stat' has them", counts, {kind: of["events"] for kind, of in stat["types"].items()})
    check("CloudEvents: in order, by sequence too", [e["sequence"] for e in events] == sorted({e["sequence"] for e in events}))
    read = [JSONFormat().read(CloudEvent, line) for line in lines]
    equal("CloudEvents: their own SDK reads the same", [(r.get_id(), r.get_type(), r.get_data()) for r in read],
          [(e["id"], e["type"], e["data"]) for e in events])
    batch = json.loads(export("events.ce.json", "--format", "cloudevents-batch").read_text())
    check("CloudEvents: the batch is the same events", batch == events)


def questions(paths, database):
    """Each question of docs/export.md, asked of both; the answers must be the same."""
    for view, path in paths.items():
        duckdb.sql(f"create or replace view {view} as select * from '{path}'")
    connection = sqlite3.connect(database)
    texts = re.findall(r"^\d+\. ([^\n]*)\n```sql\n(.*?)```", (HERE.parents[1] / "docs/export.md").read_text(), re.MULTILINE | re.DOTALL)
    check("docs/export.md has ten questions or more", len(texts) >= 10, len(texts))
    answered = 0
    for question, sql in texts:
        ours = [[as_plain(cell) for cell in row] for row in connection.execute(sql)]
        theirs = [[as_plain(cell) for cell in row] for row in duckdb.sql(sql).fetchall()]
        equal(f"SQLite and DuckDB agree: {question} ({len(ours)} rows)", ours, theirs)
        answered += bool(ours)
    check("most questions have an answer here", answered >= 10, answered)


def parts(stat):
    """Filters and redaction, by what a reader sees."""
    path = export("facts.parquet", "--format", "parquet", "--kind", "facts", "--redact", "PodObserved")
    kinds = duckdb.sql(f"select distinct kind from '{path}'").fetchall()
    equal("only facts were asked for", kinds, [("facts",)])
    rows = duckdb.sql(f"select distinct type, length(commitment) from '{path}' where withheld or payload is null").fetchall()
    equal("withheld payloads are null and have a commitment", rows, [("PodObserved", 64)])
    whole = pyarrow.parquet.read_metadata(path).metadata
    equal("the file says what was asked for", (whole[b"filter"], whole[b"withheld"], whole[b"whole"]), (b"kind=facts", b"PodObserved", b"no"))
    middle = stat["events"] // 2
    path = export("range.csv", "--format", "csv", "--from", middle, "--to", middle + 9)
    with open(path, newline="") as file:
        equal("a range of positions", [int(row["position"]) for row in csv.DictReader(file)], list(range(middle, middle + 10)))
    lines = karst("audit", "export", "--data", DATA, "--format", "cloudevents", "--from", middle, "--to", middle, "--redact", "all").decode().splitlines()
    event = json.loads(lines[0])
    check("a withheld event has no data, and its commitment", event["data"] is None and len(event["payloadcommitment"]) == 64, event)


def main():
    stat = make_log()
    sample()
    paths = parquet(stat)
    database = sqlite(stat)
    trail(stat)
    progress()
    csv_files(stat, paths)
    cloud_events(stat)
    questions(paths, database)
    parts(stat)


if __name__ == "__main__":
    try:
        os.environ.pop("NO_COLOR", None)
        main()
    except Exception as error:  # a judge that stumbles has not passed
        check(f"exports.py came to its end ({type(error).__name__})", False, error)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)
