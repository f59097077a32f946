"""docs/crash-points.md: the places that it names are in the code, the code's are on the page, and the scripts that it names play them."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "crash-points.md").read_text()
HEADER = (ROOT / "src" / "daemon" / "kill_points.h").read_text()
KILLS = (ROOT / "tests" / "aws" / "kills.sh").read_text()
CALLS = ("CreateLaunchTemplate", "CreateFleet", "TerminateInstances")  # what a launch and a removal change in the account
EVENTS = set(re.findall(r"\bk(\w+) = \d+,", (ROOT / "src" / "events" / "body.h").read_text()))
UPKEEP = ("trim", "expir", "snapshot")  # their own tests kill at them; the account's cluster is too short a story for a snapshot

LAUNCH = ("demand seen|plan|intent append|fsync|lease check|send|bytes out|cloud acts|answer in|answer append|fsync|claim status patch|node joins|"
          "register patch|taint removal|bind seen")
REMOVAL = ("candidate|budget reserve append|taint patch|taint seen|re-check|evict each pod|all gone|volumes detached|terminate intent append|send|answer|"
           "proof of absence|finalizer patch|object gone|budget release append")


def names_of_code():
    return re.findall(r'"([a-z-]+)"', re.search(r"kKillPointNames = \{(.*?)\};", HEADER, re.S).group(1))


def rows(title):
    """Of the table below a title: its cells, without the head."""
    table = PAGE.split("\n## " + title + "\n")[1].split("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


class CrashPoints(unittest.TestCase):
    def test_places_of_the_page_are_the_codes(self):
        page = set(re.findall(r"`((?:before|after)-[a-z-]+)`", PAGE))
        self.assertEqual(sorted(page), sorted(names_of_code()))

    def test_every_step_has_a_place(self):
        for title, steps in (("A launch", LAUNCH), ("A removal", REMOVAL)):
            table = rows(title)
            self.assertEqual([row[0] for row in table], steps.split("|"), title)
            for step, _, places, at, tests in table:
                with self.subTest(f"{title}: {step}"):
                    self.assertTrue(re.search("`(before|after)-", places) or places == "*calls on their way*")
                    self.assertTrue(tests)
                    struck = re.fullmatch(r"`(?:((?:before|after)-[a-z-]+)@(\w+)(?:,(\w+))?|(?:sent|done):(\w+))`", at)
                    self.assertTrue(struck, "kills.sh has no place to strike it at")
                    name, *types, call = struck.groups()
                    self.assertIn(f"`{name}`" if name else "*calls on their way*", places)
                    self.assertLessEqual({one for one in types if one}, EVENTS)
                    self.assertIn(call, (None, *CALLS))

    def test_the_account_kills_at_every_place_of_a_round(self):
        played = set(re.findall(r"\b((?:before|after)-[a-z-]+):\d", KILLS))
        played |= {row[3].strip("`").partition("@")[0] for title in ("A launch", "A removal") for row in rows(title) if "@" in row[3]}
        self.assertEqual(played, {name for name in names_of_code() if not any(word in name for word in UPKEEP)})

    def test_the_account_strikes_each_step_and_fails_for_one_that_it_did_not(self):
        steps = len(rows("A launch")) + len(rows("A removal"))
        self.assertRegex(KILLS, r"\n    at_each_step\n")
        self.assertIn(f'[ "$struck $all" = "{steps} {steps}" ]', KILLS)

    def test_files_of_the_page_are_there(self):
        for name in re.findall(r"`((?:tests|src)/[\w/.]+)`", PAGE):
            self.assertTrue((ROOT / name).exists(), name)


if __name__ == "__main__":
    unittest.main()
