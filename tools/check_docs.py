#!/usr/bin/env python3
"""Every link of the generated reference (./dev docs) that stays inside it leads to a file, and to a place in it; and
every public name (tools/check_names.py) has a page, or a place on one.

    tools/check_docs.py FOLDER        prints one line per broken link and missing name; exit status 1 if there is one
    tools/check_docs.py --self-test   plants every kind of both and expects it to be found

Beside FOLDER lies what doxygen wrote about it, fairlead.tag.
"""

import sys
import tempfile
import xml.etree.ElementTree
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from check_names import Name, public_names


ROOT = Path(__file__).resolve().parent.parent


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


def places_of_names(tags: Path) -> dict[str, list[tuple[str, str]]]:
    """For each name the pages, and the places on them, that doxygen says to have made."""
    out: dict[str, list[tuple[str, str]]] = {}
    for compound in xml.etree.ElementTree.parse(tags).getroot():
        kind, name = compound.get("kind"), compound.findtext("name")
        if kind in ("class", "struct", "union", "concept"):
            page = compound.findtext("filename")  # Of a concept without its suffix.
            out.setdefault(name, []).append((page if page.endswith(".html") else page + ".html", ""))
        for member in compound.findall("member"):
            if kind == "namespace" or member.get("kind") == "define":
                of = f"{name}::" if kind == "namespace" else ""
                out.setdefault(of + member.findtext("name"), []).append(
                    (member.findtext("anchorfile"), member.findtext("anchor")))
    return out


def check_names(pages: dict[str, Page], tags: Path, names: dict[str, list[Name]]) -> list[str]:
    places = places_of_names(tags)
    return [f"{of[0].where}: {name} has no place in the reference" for name, of in names.items()
            if not any(page in pages and (not place or place in pages[page].places)
                       for page, place in places.get(name, ()))]


def check(folder: Path, root: Path) -> list[str]:
    pages = {path.relative_to(folder).as_posix(): Page(path.read_text()) for path in sorted(folder.rglob("*.html"))}
    if not pages:
        return [f"{folder}: no page"]
    return check_links(folder, pages) + check_names(pages, folder.parent / "fairlead.tag", public_names(root))


def check_links(folder: Path, pages: dict[str, Page]) -> list[str]:
    found = []
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


HEADER = """\
#define FAIRLEAD_MACRO
namespace fairlead {
class type {};
template <class T>
concept small = true;
void function();
}
"""
TAGS = """\
<tagfile>
<compound kind="file"><name>a.hpp</name>
<member kind="define"><name>FAIRLEAD_MACRO</name><anchorfile>a.html</anchorfile><anchor>macro</anchor></member></compound>
<compound kind="class"><name>fairlead::type</name><filename>type.html</filename></compound>
<compound kind="concept"><name>fairlead::small</name><filename>small</filename></compound>
<compound kind="namespace"><name>fairlead</name>
<member kind="function"><name>function</name><anchorfile>a.html</anchorfile><anchor>function</anchor></member></compound>
</tagfile>
"""


def self_test() -> list[str]:
    return self_test_of_links() + self_test_of_names()


def self_test_of_names() -> list[str]:
    with tempfile.TemporaryDirectory() as name:
        root, folder = Path(name), Path(name) / "docs/html"
        header, tags = root / "include/fairlead/a.hpp", folder.parent / "fairlead.tag"
        for path in (header, folder / "a.html"):
            path.parent.mkdir(parents=True)
        pages = {"a.html": '<a id="macro"></a><a id="function"></a>', "type.html": "", "small.html": ""}
        header.write_text(HEADER)

        def found(expected: int, what: str, tags_text: str = TAGS, **planted: str) -> list[str]:
            tags.write_text(tags_text)
            for page in pages:
                (folder / page).unlink(missing_ok=True)
            for page, text in pages.items():
                if (text := planted.get(page.removesuffix(".html"), text)) != "none":
                    (folder / page).write_text(text)
            is_ = check(folder, root)
            return [] if len(is_) == expected else [f"{what}: expected {expected}, found {is_}"]

        return (found(0, "nothing") + found(1, "no page of a class", type="none")
                + found(1, "no page of a concept", small="none") + found(1, "no place", a='<a id="macro"></a>')
                + found(1, "a class unknown to doxygen", TAGS.replace("fairlead::type", "fairlead::other"))
                + found(1, "a macro unknown to doxygen", TAGS.replace("FAIRLEAD_MACRO", "FAIRLEAD_OTHER")))


def self_test_of_links() -> list[str]:
    good = '<a id="here"></a><a href="#here"></a><a href="b.html"></a><a href="https://example.org/x"></a>'
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "a.html").write_text(good)
        (folder / "b.html").write_text('<a href="a.html#here">')

        def links() -> list[str]:
            return check_links(folder, {page.name: Page(page.read_text()) for page in folder.glob("*.html")})

        failures = [f"planted nothing, found {found}"] if (found := links()) else []
        for link in ("c.html", "#there", "a.html#there", "../c.html"):
            (folder / "b.html").write_text(f'<a href="{link}">')
            if len(found := links()) != 1:
                failures.append(f"planted {link}, found {found}")
    return failures


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    problems = self_test() if sys.argv[1] == "--self-test" else check(Path(sys.argv[1]), ROOT)
    print("\n".join(problems) or "no violation")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
