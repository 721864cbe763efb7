#!/usr/bin/env python3
"""Remakes the embedded fonts of VRAM Lab.

    pip install fonttools brotli
    apt-get install fonts-noto-cjk fonts-jetbrains-mono      # Debian; both under the SIL Open Font License 1.1
    python3 assets/fonts/build.py                            # writes the font files beside this script
    python3 assets/fonts/build.py --check                    # exit 1 when first.txt is behind the texts

Two weights of Noto Sans SC and one of JetBrains Mono, subset to: ASCII, Latin-1, Greek, punctuation, arrows, math,
box, block and geometric signs, GB 2312 level 1 (so that an author's own text works), and every character that the
interface or a built-in lesson uses. Each weight of Noto Sans SC comes as two files with no glyph in common:

    sans-first.otf, strong-first.otf   what the interface and the first chapter use (the heavier one: in titles and in
                                       bold): part of the first download
    sans-rest.otf, strong-rest.otf     the rest, fetched by the web page afterwards

`first.txt` and `all.txt` list the characters of the first files and of all files together; the second is what the
lesson checker knows as drawable. The desktop program embeds all of them. Ligatures are left out: `->` in code stays two characters.
"""

import argparse
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DEBIAN = "/usr/share/fonts"
NOTO_SC = 2  # face of Simplified Chinese in Noto's collection files

RANGES = [
    (0x20, 0x7E), (0xA0, 0xFF),            # ASCII, Latin-1
    (0x391, 0x3A9), (0x3B1, 0x3C9),        # Greek
    (0x2010, 0x2027), (0x2030, 0x203A),    # general punctuation
    (0x2070, 0x208E),                      # superscripts and subscripts
    (0x2190, 0x21FF), (0x2200, 0x22FF),    # arrows, mathematical operators
    (0x2300, 0x230B), (0x23CE, 0x23CE),    # ceilings and floors, return sign
    (0x2500, 0x257F), (0x2580, 0x259F),    # box drawing, blocks
    (0x25A0, 0x25FF), (0x2610, 0x2612), (0x2713, 0x2718),
    (0x2460, 0x2473),                      # circled numbers
    (0x3000, 0x3017), (0xFF01, 0xFF5E), (0xFFE5, 0xFFE5), (0x20AC, 0x20AC),
]  # fmt: skip
# In every first file, whatever the texts say.
FIRST_RANGES = [(0x20, 0x7E), (0xA0, 0xFF), (0x2010, 0x2027), (0x3000, 0x3011)]
FIRST_SIGNS = "αβγδεηθλμπρστφωΔΣΩ←↑→↓↔≤≥≠≈×÷±√∑∞−·■□▪▲△▼▶◀●○◆◇✓，。：；？！（）％～"
TEXT_SUFFIXES = {".rs", ".toml", ".html", ".md"}
FIRST_TEXTS = ["app", "web", "kernels", "lessons/02_access_patterns", "lessons/curriculum.toml", "lessons/routes.toml"]
ALL_TEXTS = ["app", "web", "kernels", "lessons", "assets"]


def chars(ranges):
    return {chr(code) for low, high in ranges for code in range(low, high + 1)}


def gb2312_level_1():
    """Rows 16 to 55 of GB 2312: the 3755 most used characters."""
    out = set()
    for row in range(16, 56):
        for cell in range(1, 95):
            try:
                out.add(bytes([0xA0 + row, 0xA0 + cell]).decode("gb2312"))
            except UnicodeDecodeError:
                pass  # row 55 ends at cell 89
    assert len(out) == 3755, len(out)
    return out


def text_of(path):
    """What of a file can come on screen: all of a lesson; of Rust, neither comments nor tests."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".rs":
        return text
    if "test" in path.stem or "tests" in path.parts or "examples" in path.parts:
        return ""
    lines = text.split("#[cfg(test)]\nmod tests {")[0].splitlines()
    return "\n".join(line for line in lines if not line.lstrip().startswith("//"))


def texts(places):
    for place in places:
        for path in sorted((ROOT / place).rglob("*")) or [ROOT / place]:
            if path.suffix in TEXT_SUFFIXES and path.is_file():
                yield path, text_of(path)


def printable(characters):
    return {char for char in characters if ord(char) > 0x20}


def used(places):
    return printable(char for _, text in texts(places) for char in text)


def used_in_bold(places):
    """The interface, and of lessons what is a title or stands between double asterisks."""
    out = set()
    for path, text in texts(places):
        if path.suffix == ".toml":
            text = "".join(re.findall(r"\*\*(.+?)\*\*", text) + re.findall(r"(?m)^.*(?:title|name)\b.*$", text))
        out.update(text)
    return printable(out)


def first_glyphs():
    always = chars(FIRST_RANGES) | set(FIRST_SIGNS)
    return used(FIRST_TEXTS) | always, used_in_bold(FIRST_TEXTS) | always


def subset(source, face, wanted, target):
    from fontTools import subset as pyftsubset

    options = pyftsubset.Options()
    options.layout_features = ["kern"]
    options.name_IDs = [0, 1, 2, 4, 5, 6, 13, 14]
    options.desubroutinize = True
    options.notdef_outline = True
    options.font_number = face
    options.drop_tables += ["VORG", "vhea", "vmtx", "BASE", "DSIG", "GDEF"]
    font = pyftsubset.load_font(source, options)
    font["head"].modified = font["head"].created  # the same bytes on every day
    font.recalcTimestamp = False
    subsetter = pyftsubset.Subsetter(options)
    subsetter.populate(unicodes=[ord(char) for char in wanted])
    subsetter.subset(font)
    pyftsubset.save_font(font, target, options)
    return set(map(chr, font.getBestCmap()))


def report(path):
    import brotli

    raw = path.read_bytes()
    print(f"{path.name:20} {len(raw):9,} B   {len(brotli.compress(raw, quality=11)):8,} B brotli")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--regular", default=f"{DEBIAN}/opentype/noto/NotoSansCJK-Regular.ttc")
    parser.add_argument("--strong", default=f"{DEBIAN}/opentype/noto/NotoSansCJK-Bold.ttc")
    parser.add_argument("--mono", default=f"{DEBIAN}/truetype/jetbrains-mono/JetBrainsMono-Regular.ttf")
    parser.add_argument("--check", action="store_true", help="only say whether first.txt covers the texts of today")
    args = parser.parse_args()

    first, first_bold = first_glyphs()
    listed = HERE / "first.txt"
    if args.check:
        missing = sorted(first - set(listed.read_text(encoding="utf-8")) - {"\n", "\u200b"})
        if missing:
            print("first.txt lacks " + "".join(missing) + "; run assets/fonts/build.py", file=sys.stderr)
        return 1 if missing else 0

    everything = chars(RANGES) | gb2312_level_1() | used(ALL_TEXTS) | first
    for name, source, wanted in [("sans", args.regular, first), ("strong", args.strong, first_bold)]:
        got = subset(source, NOTO_SC, wanted, HERE / f"{name}-first.otf")
        drawn = got | subset(source, NOTO_SC, everything - got, HERE / f"{name}-rest.otf")
    mono = {char for char in chars(RANGES) | used(ALL_TEXTS) if ord(char) < 0x2E80}
    drawn |= subset(args.mono, 0, mono, HERE / "mono.ttf")
    listed.write_text("".join(sorted(first)) + "\n", encoding="utf-8")
    (HERE / "all.txt").write_text("".join(sorted(drawn)) + "\n", encoding="utf-8")
    if lost := sorted(used(ALL_TEXTS) - drawn):
        print("no font has " + " ".join(f"{char} U+{ord(char):04X}" for char in lost), file=sys.stderr)
    for path in sorted(HERE.glob("*.[ot]tf")):
        report(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
