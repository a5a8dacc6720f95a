#!/usr/bin/env python3
"""Every link of the generated reference (./dev docs) that stays inside it leads to a file, and to a place in it.

    tools/check_docs.py FOLDER        prints one line per broken link; exit status 1 if there is one
    tools/check_docs.py --self-test   plants every kind of broken link and expects it to be found
"""

import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    def __init__(self, text: str):
        super().__init__()
        self.links: list[tuple[int, str]] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src") and value:
                self.links.append((self.getpos()[0], value))
            elif value and (name == "id" or (name == "name" and tag == "a")):
                self.places.add(value)


def check(folder: Path) -> list[str]:
    pages = {path.relative_to(folder).as_posix(): Page(path.read_text()) for path in sorted(folder.rglob("*.html"))}
    found = [] if pages else [f"{folder}: no page"]
    for name, page in pages.items():
        for line, link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (folder / name).parent / unquote(parts.path) if parts.path else folder / name
            try:
                inside = target.resolve().relative_to(folder.resolve()).as_posix()
            except ValueError:
                found.append(f"{name}:{line}: {link} leads out of the reference")
                continue
            if not target.is_file():
                found.append(f"{name}:{line}: there is no {link}")
            elif parts.fragment and inside in pages and unquote(parts.fragment) not in pages[inside].places:
                found.append(f"{name}:{line}: there is no such place: {link}")
    return found


def self_test() -> list[str]:
    good = '<a id="here"></a><a href="#here"></a><a href="b.html"></a><a href="https://example.org/x"></a>'
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "a.html").write_text(good)
        (folder / "b.html").write_text('<a href="a.html#here">')
        failures = [f"planted nothing, found {found}"] if (found := check(folder)) else []
        for link in ("c.html", "#there", "a.html#there", "../c.html"):
            (folder / "b.html").write_text(f'<a href="{link}">')
            if len(found := check(folder)) != 1:
                failures.append(f"planted {link}, found {found}")
    return failures


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    problems = self_test() if sys.argv[1] == "--self-test" else check(Path(sys.argv[1]))
    print("\n".join(problems) or "no violation")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
