#!/usr/bin/env python3
"""Sentences that are read once: none of a page or a comment has more than 25 words, none has a clause as its subject
("What waits ..."), and "The same" says as what ("The same operation, with flags.", not "The same with flags."). What was there
before stands in tools/sentences.tsv, which may only get shorter.

    tools/check_sentences.py [--root DIR]     prints one line per file with more of them than listed
    tools/check_sentences.py --list [FILE]    all of them, with their lines
    tools/check_sentences.py --write          lowers what tools/sentences.tsv lists to what there is
    tools/check_sentences.py --self-test      plants every kind of both, and what is none

Of pages it reads paragraphs, items of lists and cells of tables, of sources the comments. Not read: code, headings, links'
targets, raw runs of benchmarks, and drawings. `code` counts as one word. A sentence ends with a full stop, a question mark or an
exclamation mark, at an item's end, and before what a colon introduces on lines of its own.
"""

import argparse
import re
import sys
from collections import Counter
from pathlib import Path

WORDS_MAX = 25
LIST = Path("tools/sentences.tsv")
PAGES = ("*.md", "docs/**/*.md", "examples/*.md", "tests/**/*.md", "bench/*.md")
SOURCES = ("include/**/*.hpp", "src/**/*.?pp", "examples/**/*.?pp", "bench/**/*.?pp", "tests/**/*.?pp")
NOT_READ = ("docs/benchmarks-runs.md",)
TITLE = re.compile(r"(?:self |state )?(?:Completes|Errors|Cancel|Immediate|Lifetime|Threads|Allocates|Source|Throws|offers)  +")
COMMENT = re.compile(r"(///?<?)(?: (.*)|$)")
ITEM = re.compile(r"^(?:[-*]|\d+\.) +")
END = re.compile(r"(?<=[.?!])[)\"*]*\s+(?=[A-Z`\"(*0-9]|\[)")
ABBREVIATION = re.compile(r"\b(e\.g|i\.e|vs|cf)\.")
CLAUSE = re.compile(r"(?:What|Who|Whoever|Whatever|Whose|Whichever)\b(?!.*\?$)")
NAMELESS = re.compile(r"The same(?:[.,;:]| (?:with|without|where|for|from|until|in|into|on|beside|but|once|again)\b)")


def without_markup(text: str) -> str:
    text = re.sub(r"`[^`]*`", "`code`", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return ABBREVIATION.sub(lambda found: found[0].replace(".", ""), text)


def sentences(units: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Of each unit (a line's number, text) its sentences; all are said to begin where the unit does."""
    return [(number, sentence.strip()) for number, text in units
            for sentence in END.split(without_markup(" ".join(text.split()))) if sentence.strip()]


def is_drawing(text: str) -> bool:
    return bool(re.search(r"\S {3,}\S|[│─►▼└]|<-|-->", text))


def units_of_page(text: str) -> list[tuple[int, str]]:
    units: list[tuple[int, str]] = []
    inside, is_open = False, False
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if stripped.startswith("```"):
            inside, is_open = not inside, False
        elif inside:
            continue
        elif not stripped or stripped.startswith("#"):
            is_open = False
        elif stripped.startswith("|"):
            units += [(number, cell) for cell in re.split(r"(?<!\\)\||<br>", stripped) if cell.strip(" -")]
            is_open = False
        elif is_open and not ITEM.match(stripped):
            units[-1] = units[-1][0], units[-1][1] + " " + stripped
        else:
            units.append((number, ITEM.sub("", stripped, 1)))
            is_open = True
    return units


def units_of_source(text: str) -> list[tuple[int, str]]:
    units: list[tuple[int, str]] = []
    is_open, column = False, 0
    for number, line in enumerate(text.splitlines(), 1):
        at = re.search(r"(?<![:\"'\w(])///?<?(?: |$)", line)
        if not at:
            is_open = False
            continue
        is_alone = not line[:at.start()].strip()
        content = line[at.end():].rstrip()
        if is_open and at.start() != column or (not is_alone and is_open):
            is_open = False
        column = at.start()
        plain = content.strip()
        begins = TITLE.match(plain)
        if not plain or (is_drawing(plain) and not begins and not content.startswith("          ")):
            is_open = False
        elif not is_open or begins or ITEM.match(plain) or re.match(r"-{4} |error::\w+ ", plain):
            for part in re.split(r" {2,}", TITLE.sub("", plain)) if begins or "  " in plain else [ITEM.sub("", plain, 1)]:
                units.append((number, part))
            is_open = True
        elif re.search(r" {2,}", plain):
            units.append((number, re.split(r" {2,}", plain)[-1]))
        else:
            units[-1] = units[-1][0], units[-1][1] + " " + plain
    return units


def findings(units: list[tuple[int, str]], is_page: bool = False) -> list[tuple[int, str, str]]:
    """(line, kind, sentence)"""
    out = []
    for number, sentence in sentences(units):
        words = sum(bool(re.search(r"\w", word)) for word in sentence.split())
        if words > WORDS_MAX:
            out.append((number, f"{words} words", sentence))
        if CLAUSE.match(sentence) and (not is_page or sentence.endswith(".")):  # On a page it may be the name of a link.
            out.append((number, "a clause as subject", sentence))
        if NAMELESS.match(sentence):
            out.append((number, "the same as what?", sentence))
    return out


def findings_of_file(path: Path) -> list[tuple[int, str, str]]:
    text = path.read_text(errors="replace")
    return findings(units_of_page(text), True) if path.suffix == ".md" else findings(units_of_source(text))


def files(root: Path) -> list[Path]:
    return sorted({path for pattern in PAGES + SOURCES for path in root.glob(pattern)
                   if path.relative_to(root).as_posix() not in NOT_READ and "build" not in path.relative_to(root).parts})


def read_list(root: Path) -> Counter:
    lines = (root / LIST).read_text().splitlines() if (root / LIST).exists() else []
    return Counter({name: int(count) for name, count in (line.split("\t") for line in lines[1:])})


def write_list(root: Path, counts: Counter) -> None:
    rows = [f"{name}\t{count}" for name, count in sorted(counts.items()) if count]
    (root / LIST).write_text("\n".join(["file\tsentences", *rows]) + "\n")


def check(root: Path, counts: Counter) -> list[str]:
    listed = read_list(root)
    return [f"{name}: {counts[name]} sentences that are hard to read, {listed[name]} are listed: --list {name} shows all"
            for name in sorted(counts) if counts[name] > listed[name]]


LONG = " ".join(["word"] * WORDS_MAX)


def self_test() -> list[str]:
    page = {
        "one more word": (f"{LONG} more.\n", 1),
        "no more": (f"{LONG}.\n", 0),
        "two sentences": (f"{LONG}. {LONG.capitalize()}.\n", 0),
        "two lines": (f"{LONG}\nmore.\n", 1),
        "items": (f"- {LONG}\n- {LONG}\n", 0),
        "cells": (f"| {LONG} | {LONG} |\n", 0),
        "code": (f"```\n{LONG} {LONG}\n```\n`{LONG}` {LONG[5:]}\n", 0),
        "a heading": (f"# {LONG} more\n", 0),
        "a link": (f"[{LONG[5:]}](target) end\n", 0),
        "a clause": ("What waits goes on.\n", 1),
        "a question": ("What waits?\n", 0),
        "the same": ("The same with flags.\n", 1),
        "the same as something": ("The same operation, with flags.\n", 0),
    }
    source = {
        "one more word": (f"// {LONG}\n// more\nint a;\n", 1),
        "two comments": (f"// {LONG}\nint a;\n// more\n", 0),
        "a docstring": (f"/// {LONG} more\nint a;\n", 1),
        "lines of a contract": (f"/// Does it.\n/// Cancel     {LONG}\n/// Threads    {LONG}\n", 0),
        "a long line of a contract": (f"/// Does it.\n/// Cancel     {LONG}\n///            more\n", 1),
        "behind code": (f"int a; // {LONG} more\n", 1),
        "slashes in a string": (f'auto a = "x://{LONG} more";\n', 0),
        "a drawing": (f"// a --> {LONG} more\n", 0),
        "a clause": ("int a; ///< what runs\n/// What runs next.\nint b;\n", 1),
    }
    failures = [f"page, {name}: found {found}" for name, (text, ought) in page.items()
                if len(found := findings(units_of_page(text), True)) != ought]
    return failures + [f"source, {name}: found {found}" for name, (text, ought) in source.items()
                       if len(found := findings(units_of_source(text))) != ought]


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    arguments.add_argument("--list", nargs="?", const="")
    arguments.add_argument("--write", action="store_true")
    arguments.add_argument("--self-test", action="store_true")
    options = arguments.parse_args()
    if options.self_test:
        problems = self_test()
    else:
        by_file = {path.relative_to(options.root).as_posix(): findings_of_file(path) for path in files(options.root)}
        if options.list is not None:
            for name, found in by_file.items():
                for number, kind, sentence in found if name.startswith(options.list) else ():
                    print(f"{name}:{number}: {kind}: {sentence}")
            return 0
        counts = Counter({name: len(found) for name, found in by_file.items()})
        if options.write:
            listed = read_list(options.root)
            is_first = not (options.root / LIST).exists()
            write_list(options.root, counts if is_first else Counter({n: min(c, listed[n]) for n, c in counts.items()}))
        problems = check(options.root, counts)
    print("\n".join(problems) or "no violation")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
