#!/usr/bin/env python3
"""How the solver's time grows: growth.py BUILD_DIR FOLDER. Runs bench_growth and writes FOLDER/growth.svg, four panels with both axes
logarithmic (karst in blue, a copy of the problem in grey for scale), and FOLDER/growth.csv. Standard library alone."""
import csv
import math
import pathlib
import subprocess
import sys

PANEL, GAP, LEFT, TOP = (300, 200), 70, 60, 40
TITLES = {"pods": "pods (300 shapes, 1,400 types, 1,000 nodes)", "shapes": "shapes (30,000 pods)", "types": "instance types (30,000 pods)",
          "nodes": "nodes that are there (30,000 pods)"}


def ticks(low, high):
    return [10 ** power for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]


def panel(axis, rows, at):
    width, height = PANEL
    left, top = LEFT + at % 2 * (width + GAP), TOP + at // 2 * (height + GAP)
    xs = [max(int(row["value"]), 10) for row in rows]  # no nodes at all: where ten would be
    across, up = ticks(min(xs), max(xs)), ticks(min(float(row["copy_ms"]) for row in rows), max(float(row["solve_ms"]) for row in rows))

    def place(x, y):
        part = lambda value, marks: (math.log10(value) - math.log10(marks[0])) / (math.log10(marks[-1]) - math.log10(marks[0]))
        return f"{left + part(x, across) * width:.1f},{top + height - part(max(y, up[0]), up) * height:.1f}"

    out = [f'<text x="{left}" y="{top - 10}" class="t">{TITLES[axis]}</text>',
           f'<rect x="{left}" y="{top}" width="{width}" height="{height}" class="f"/>']
    for x in across:
        out.append(f'<text x="{place(x, up[0]).split(",")[0]}" y="{top + height + 16}" text-anchor="middle">{x:,}</text>')
    for y in up:
        out.append(f'<text x="{left - 6}" y="{place(across[0], y).split(",")[1]}" text-anchor="end" dy="4">{y:g} ms</text>')
        out.append(f'<polyline points="{place(across[0], y)} {place(across[-1], y)}" class="g"/>')
    for column, kind in (("copy_ms", "l"), ("solve_ms", "k")):
        points = [place(x, float(row[column])) for x, row in zip(xs, rows)]
        out.append(f'<polyline points="{" ".join(points)}" class="{kind}"/>')
        out += [f'<circle cx="{point.split(",")[0]}" cy="{point.split(",")[1]}" r="3" class="{kind}p"/>' for point in points]
    return "\n".join(out)


def main(build, folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    text = subprocess.run([f"{build}/bench/bench_growth"], check=True, capture_output=True, text=True).stdout
    (folder / "growth.csv").write_text(text)
    rows = list(csv.DictReader(text.splitlines()))
    panels = [panel(axis, [row for row in rows if row["axis"] == axis], at) for at, axis in enumerate(TITLES)]
    width, height = LEFT + 2 * PANEL[0] + GAP + 30, TOP + 2 * (PANEL[1] + GAP)
    style = ("text{font:11px sans-serif;fill:#444}.t{font-weight:bold}.f,.g,.l,.k{fill:none;stroke:#ddd}.l{stroke:#aaa;stroke-width:1.5}"
             ".k{stroke:#1f6feb;stroke-width:2}.lp{fill:#aaa}.kp{fill:#1f6feb}")
    legend = f'<text x="{LEFT}" y="{height - 14}">blue: problem to answer, median; grey: a copy of the problem in memory, for scale</text>'
    (folder / "growth.svg").write_text(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
                                       f'<style>{style}</style><rect width="100%" height="100%" fill="#fff"/>\n' + "\n".join(panels) + f"\n{legend}\n</svg>\n")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
