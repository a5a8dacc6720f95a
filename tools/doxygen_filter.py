#!/usr/bin/env python3
"""Shows doxygen our comments and pages as it wants to read them. Every line stays on its line, so that warnings name the
right one.

    tools/doxygen_filter.py FILE          prints the filtered header or page
    tools/doxygen_filter.py --self-test

In a header the contract block of STYLE.md becomes a table. An operation that shares the contract of another shows all
of it. The comment that opens a file becomes the documentation of the file. What looks like mark-up but is meant as text,
as in response<T...>, is escaped; `code` stays as it is. Overloads that only refuse their arguments are left out, and a
using-declaration with a comment becomes an alias, which doxygen shows.

On a page each heading gets a name that is unique among all pages, which links to it use. A link to an example leads to
the page that doxygen makes of it, one to a header to the documentation of the file, and one to a table to its copy.
"""

import posixpath
import re
import sys
from pathlib import Path

from check_contracts import code_of, declarations, operations, resolve
from check_text import LINK, prose, slug

# The lines of contract blocks, in whatever docstring.
TITLE = re.compile(r"(?:self |state )?(Completes|Errors|Cancel|Immediate|Lifetime|Threads|Allocates|Source|Throws|offers)  +")
DOCSTRING = re.compile(r"(\s*///)(?!<)(?: (.*)|$)")
TRAILING = re.compile(r"(.*///< )(.*)")
COLUMNS = re.compile(r"(\S.*?)  +(?=\S)|(error::\w+) ")  # What is meant, and what it means.
HEADING = re.compile(r"#{2,} (.*)")
USING = re.compile(r"(\s*using )((?:\w+::)+(\w+);.*)")


def escaped(text: str) -> str:
    def plain(part: str) -> str:
        part = re.sub(r"[\\@<>#&]|(?<!\w)::(?=\w)", r"\\\g<0>", part)
        part = re.sub(r"\b(e\.g|i\.e)\. ", r"\1.\\ ", part)  # No end of a sentence.
        part = re.sub(r"\*this\b", r"`*this`", part)
        return re.sub(r"(?<!`)\*", r"\\*", part)
    return "".join(part if part.startswith("`") else plain(part) for part in re.split(r"(`[^`]*`)", text))


def entry(lines: list[str]) -> str:
    """The second cell of a contract line: of errors each on a line of its own."""
    title = TITLE.match(lines[0])
    out = ""
    for line in lines:
        text = line[title.end():] if line is lines[0] else line.strip()
        is_new = line is lines[0] or len(line) - len(text) <= title.end() or line.startswith(title[1])
        if line is not lines[0] and line.startswith(title[1]):  # What an overload adds.
            text = line[title.end():]
        if title[1] in ("Errors", "Throws") and is_new:
            out += "<br>" if out else ""
            if found := COLUMNS.match(text):
                out += f"<b>{escaped((found[1] or found[2]))}</b>: {escaped(text[found.end():])}"
                continue
        out += (" " if out and not out.endswith("<br>") else "") + escaped(text)
    return out


def table(lines: dict[str, list[str]]) -> str:
    rows = "".join(f"<tr><th>{title[0].upper() + title[1:]}</th><td>{entry(of)}</td></tr>" for title, of in lines.items())
    return f'<table class="contract">{rows}</table>' if rows else ""


def split_block(doc: list[str]) -> tuple[list[str], dict[str, list[str]]]:
    """What is text, with empty lines in place of contract lines, and these."""
    text, lines, title = [], {}, None
    for line in doc:
        if found := TITLE.match(line):
            title = found[1]
            lines.setdefault(title, []).append(line)
        elif title and line.startswith(" "):
            lines[title].append(line)
        else:
            title = None
        text.append("" if title else line)
    return text, lines


def filtered_block(block: list[str], contract: dict[str, list[str]]) -> list[str]:
    indent = DOCSTRING.match(block[0])[1]
    text, lines = split_block([DOCSTRING.match(line)[2] or "" for line in block])
    first = next((n for n, line in enumerate(text) if not line and lines), len(text))
    out = [f"{indent} {escaped(line)}".rstrip() for line in text]
    shown = table(contract or lines)
    if first < len(out):
        out[first] = f"{indent} {shown}"
    elif shown:
        out[-1] += f" {shown}"
    return out


def refusals(text: str) -> set[int]:
    """The lines of overloads that nobody can call, which say what to write instead."""
    lines, out = text.splitlines(), set()
    for begun, _, statement, _ in declarations(text):
        if "FAIRLEAD_REFUSED" in statement:
            depth = 0
            for number in range(begun, len(lines) + 1):
                code = code_of(lines[number - 1])
                depth += code.count("{") - code.count("}")
                out.add(number)
                if depth == 0 and re.search(r"[;}]\s*$", code):
                    break
    return out


def filtered(text: str) -> str:
    of_header = operations("", text)
    resolve(of_header)
    at = {int(op.where.lstrip(":")): op for op in of_header}
    refused = refusals(text)
    lines, out = text.splitlines(), []
    heading = True  # Still in the comment that opens the file.
    block: list[str] = []
    union_end = None  # doxygen loses the members of anonymous unions; here they are members like others.
    for number, line in enumerate(lines, 1):
        if DOCSTRING.match(line):
            block.append(line)
            heading = False
            continue
        op = at.get(number)
        if number in refused:
            out += [""] * (len(block) + 1)
            block = []
            continue
        if using := USING.fullmatch(line):
            line = f"{using[1]}{using[3]} = {using[2]}" if block or TRAILING.match(line) else line
        if block:
            out += filtered_block(block, op.contract if op else {})
            block = []
        elif op:
            indent = line[:len(line) - len(line.lstrip())]
            line = f"{indent}/** The same in another form. {table(op.contract)} */ {line.lstrip()}"
        if line.strip() == "union {":
            line, union_end = "", line.replace("union {", "};")
        elif line == union_end:
            line, union_end = "", None
        elif line.startswith("template <> struct fairlead::impl::"):  # doxygen knows no alias of a namespace.
            line = ""
        elif heading and line.startswith("//"):
            line = f"/// {escaped(line[2:].strip())}"
        elif heading and line == "#pragma once":
            line, heading = "/// @file", False
        elif trailing := TRAILING.match(line):
            line = trailing[1] + escaped(trailing[2])
        out.append(line)
    return "\n".join(out) + "\n"


def anchor_of(page: str, heading: str) -> str:
    return re.sub(r"\W", "-", f"{posixpath.splitext(page)[0]}--{heading}")


def filtered_page(page: str, text: str) -> str:
    """`page`: its path below the root."""
    def follow(link: re.Match) -> str:
        target, _, heading = link[2].partition("#")
        if ":" in target:
            return link[0]
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), target)) if target else page
        if heading:
            return f"{link[1]}#{anchor_of(path, heading)})"
        if path.startswith("examples/") and not path.endswith(".md"):
            name = posixpath.basename(path).replace(".", "_8")
            return f"{link[1]}{name}-example.html)"
        if path.endswith(".tsv"):  # HTML_EXTRA_FILES lie beside the pages.
            return f"{link[1]}{posixpath.basename(path)})"
        if path.startswith("include/"):
            return f"{link[1]}@ref {path.removeprefix('include/')})"
        return link[0]

    out = []
    for line, is_prose in zip(text.splitlines(), prose(text)):
        if is_prose and (heading := HEADING.match(line)):
            line += f" {{#{anchor_of(page, slug(heading[1]))}}}"
        out.append(LINK.sub(follow, line) if is_prose else line)
    return "\n".join(out) + "\n"


HEADER = """\
// What it is.
#pragma once
namespace n {
/// Makes a response<T>, e.g. this.
/// Completes  (error_code ec)
/// Errors     error::eof  the end,
///                        really
///            error::no   never
/// Cancel     none; *this and `*that`
/// Lifetime   -
/// Threads    -
/// Allocates  -
int async_f();
int async_f(int); ///< a *b
/// The same.
/// Errors     also error::late  soon
int async_f(char);
/// None.
template <class T> FAIRLEAD_REFUSED("no, {")
int async_f(T) {
    return {};
}
using m::undocumented;
/// An alias.
using m::k::code;
    union {
        int x;
    };
}
template <> struct fairlead::impl::base::error_codes::is_x<int> : std::true_type {};
"""
REST = "<tr><th>Cancel</th><td>none; `*this` and `*that`</td></tr>" + "".join(
    f"<tr><th>{title}</th><td>-</td></tr>" for title in ("Lifetime", "Threads", "Allocates")) + "</table>"
ERRORS = ('<table class="contract"><tr><th>Completes</th><td>(error_code ec)</td></tr><tr><th>Errors</th><td>'
          "<b>error::eof</b>: the end, really<br><b>error::no</b>: never")
FILTERED_HEADER = f"""\
/// What it is.
/// @file
namespace n {{
/// Makes a response\\<T\\>, e.g.\\ this.
/// {ERRORS}</td></tr>{REST}
///
///
///
///
///
///
///
int async_f();
/** The same in another form. {ERRORS}</td></tr>{REST} */ int async_f(int); ///< a \\*b
/// The same.
/// {ERRORS}<br><b>also error::late</b>: soon</td></tr>{REST}
int async_f(char);





using m::undocumented;
/// An alias.
using code = m::k::code;

        int x;

}}

"""
PAGE = """\
# A
## B, c
[b](#b-c) [d](../d.md#e) [f](../examples/f_g.cpp) [h](h.md) [i](../include/j/k.hpp) [l](../m/n.tsv)
```
## [l](#l)
```
"""
FILTERED_PAGE = """\
# A
## B, c {#docs-a--b-c}
[b](#docs-a--b-c) [d](#d--e) [f](f_g_8cpp-example.html) [h](h.md) [i](@ref j/k.hpp) [l](n.tsv)
```
## [l](#l)
```
"""


def self_test() -> list[str]:
    return [f"filtered to\n{is_}" for is_, ought in
            ((filtered(HEADER), FILTERED_HEADER), (filtered_page("docs/a.md", PAGE), FILTERED_PAGE)) if is_ != ought]


def main() -> int:
    if sys.argv[1] == "--self-test":
        problems = self_test()
        print("\n".join(problems) or "no violation")
        return 1 if problems else 0
    path = Path(sys.argv[1]).resolve()
    text = path.read_text()
    page = path.relative_to(Path(__file__).resolve().parent.parent).as_posix()
    sys.stdout.write(filtered_page(page, text) if path.suffix == ".md" else filtered(text))
    return 0


if __name__ == "__main__":
    sys.exit(main())
