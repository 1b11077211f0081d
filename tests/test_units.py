"""TMX, XLIFF and PO: what was written is read, what is hostile is refused, and users are told which and why."""

import gzip
import json
import tracemalloc
from xml.etree import ElementTree

import pytest
from command import invoke
from hypothesis import given
from hypothesis import strategies as st

from nungil.errors import CorpusError, UsageError
from nungil.runs.data import DataSettings, open_data
from nungil.text import elements
from nungil.text.cleaning import CleaningSettings, Tally, clean_pairs
from nungil.text.corpus import open_corpus, read_pairs
from nungil.text.languages import Languages, declared_tag, read_tag
from nungil.text.snow.corpus import snow_pairs
from nungil.text.source import CorpusSettings

# Every character that XML has, but for \r, which a reader of XML must make \n.
in_xml = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff") | st.just("\n"))
in_po = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)

TMX = '<tmx version="1.4"><header srclang="{srclang}"/><body>\n{body}\n</body></tmx>\n'
XLIFF = (
    '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">'
    '<file source-language="en" target-language="ko">\n<body>\n{body}\n</body></file></xliff>\n'
)
XLIFF_2 = (
    '<xliff version="2.0" xmlns="urn:oasis:names:tc:xliff:document:2.0" srcLang="en" trgLang="ko">\n'
    '<file id="f">\n{body}\n</file></xliff>\n'
)
PO_HEADER = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset={charset}\\n"\n"Language: {language}\\n"\n\n'


def tu(line_end="", **texts):
    """A unit of TMX; en_US=… is the tag en-US."""
    tuvs = (f'<tuv xml:lang="{tag.replace("_", "-")}"><seg>{text}</seg></tuv>' for tag, text in texts.items())
    return f"<tu>{line_end}{''.join(tuvs)}</tu>"


def memory(*units, srclang="en"):
    return TMX.format(srclang=srclang, body="\n".join(units))


def trans_unit(source, target, attributes=""):
    return f"<trans-unit {attributes}><source>{source}</source>{target}</trans-unit>"


def entry(source, target, before=""):
    return f'{before}msgid "{source}"\nmsgstr "{target}"\n\n'


def written(folder, name, text):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def rows(path, **said):
    return [(pair.source, pair.target) for pair in read_pairs([path], CorpusSettings(**said))]


def told(path, **said):
    """How a file is read, as the user is told it."""
    return open_corpus([path], CorpusSettings(**said)).describe()[0].removeprefix(f"{path}: ")


def sentence(folder, files, **said):
    with pytest.raises(CorpusError) as caught:
        list(open_corpus(files, CorpusSettings(**said)).rows())
    return str(caught.value).replace(f"{folder}/", "")


def cleaned(path):
    """What cleaning keeps, and why it drops the rest."""
    tally = Tally()
    kept = [pair[:2] for pair in clean_pairs(read_pairs([path]), CleaningSettings(), tally)]
    return kept, dict(tally.dropped)


# What was written is read


def tree(root, path, **attributes):
    """An element inside others: `tree(root, "body/tu")` is a new tu in the body that is there."""
    *above, last = path.split("/")
    for name in above:
        root = root.find(name)
    return ElementTree.SubElement(root, last, attributes)


@given(
    pairs=st.lists(st.tuples(in_xml, in_xml), min_size=1, max_size=5),
    encoding=st.sampled_from(["utf-8", "utf-16", "us-ascii", "cp949"]),
    packed=st.booleans(),
)
def test_tmx_gives_back_what_was_written(tmp_path_factory, pairs, encoding, packed):
    root = ElementTree.Element("tmx")
    tree(root, "header", srclang="en")
    tree(root, "body")
    for pair in pairs:
        unit = tree(root, "body/tu")
        for language, text in zip(("en-US", "ko"), pair, strict=True):
            tuv = ElementTree.SubElement(unit, "tuv", {"xml:lang": language})
            ElementTree.SubElement(tuv, "seg").text = text
    data = ElementTree.tostring(root, encoding, xml_declaration=True)
    path = written(tmp_path_factory.mktemp("tmx"), "a.tmx", gzip.compress(data) if packed else data)
    assert rows(path) == pairs


@given(pairs=st.lists(st.tuples(in_xml, in_xml), min_size=1, max_size=5), version=st.sampled_from([1, 2]))
def test_xliff_gives_back_what_was_written(tmp_path_factory, pairs, version):
    root = ElementTree.Element("xliff")
    if version == 1:
        tree(root, "file", **{"source-language": "en", "target-language": "ko"})
        tree(root, "file/body")
    else:
        root.attrib |= {"srcLang": "en", "trgLang": "ko"}
        tree(root, "file")
    for pair in pairs:
        unit = tree(root, "file/body/trans-unit") if version == 1 else tree(tree(root, "file/unit"), "segment")
        for side, text in zip(("source", "target"), pair, strict=True):
            tree(unit, side).text = text
    path = written(tmp_path_factory.mktemp("xliff"), "a.xlf", ElementTree.tostring(root, "utf-8"))
    assert rows(path) == pairs


def quoted(text, width):
    """A text as gettext's tools write it, over several lines."""
    for letter, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t"), ("\r", "\\r")):
        text = text.replace(letter, escaped)
    pieces = [text[start : start + width] for start in range(0, len(text), width)]
    return text if any(piece.endswith("\\") for piece in pieces) else '"\n"'.join(["", *pieces])


@given(
    pairs=st.lists(st.tuples(in_po.filter(bool), in_po), min_size=1, max_size=5),
    width=st.integers(1, 40),
    line_end=st.sampled_from(["\n", "\r\n"]),
)
def test_po_gives_back_what_was_written(tmp_path_factory, pairs, width, line_end):
    body = "".join(entry(quoted(source, width), quoted(target, width)) for source, target in pairs)
    text = (PO_HEADER.format(charset="UTF-8", language="ko") + body).replace("\n", line_end)
    path = written(tmp_path_factory.mktemp("po"), "a.po", text)
    assert rows(path) == pairs


def test_records_stand_where_their_unit_begins(tmp_path):
    memories = written(tmp_path, "a.tmx", memory(tu("\n", en="a", ko="b"), tu(en="c", ko="d")))
    assert [pair.line for pair in read_pairs([memories])] == [2, 4]
    localised = written(tmp_path, "a.xlf", XLIFF.format(body=trans_unit("a", "\n<target>b</target>")))
    assert [pair.line for pair in read_pairs([localised])] == [3]
    segments = "<unit>\n<segment><source>a</source></segment>\n<segment><source>b</source></segment></unit>"
    assert [pair.line for pair in read_pairs([written(tmp_path, "b.xlf", XLIFF_2.format(body=segments))])] == [4, 5]
    entries = written(tmp_path, "ko.po", '# to\nmsgctxt "menu"\nmsgid "a"\nmsgstr "b"\n')
    assert [pair.line for pair in read_pairs([entries])] == [3]


@pytest.mark.parametrize(
    ("segment", "text"),
    [
        ("a <bpt i='1'>&lt;b></bpt>b<ept i='1'>&lt;/b></ept> c", "a b c"),
        ("a <hi type='term'>b <ph>{1}</ph></hi> c", "a b  c"),
        ("a<ph type='lb'>&lt;br></ph>b", "a\nb"),
        ("<it pos='begin'>&lt;a title='<sub>not <hi>this</hi></sub>'></it>b", "b"),
        ("<ut>\\par</ut>b &amp; c&#x20;&lt;d", "b & c <d"),
        ("<![CDATA[a <b> & c]]><!-- no --><?no no?>", "a <b> & c"),
    ],
)
def test_inline_codes_of_tmx_are_no_text(tmp_path, segment, text):
    assert rows(written(tmp_path, "a.tmx", memory(tu(en=segment, ko="x")))) == [(text, "x")]


@pytest.mark.parametrize(
    ("version", "segment", "text"),
    [
        (XLIFF, "a <g id='1'>b <mrk mtype='term'>c</mrk></g><x id='2'/>d", "a b cd"),
        (XLIFF, "a<x id='1' ctype='lb'/>b <bx id='2'/>c<ex id='2'/>", "a\nb c"),
        (XLIFF, "a <bpt id='1'>[</bpt>b<ept id='1'>]</ept><ph id='2'>%s<sub>no</sub></ph><it id='3'>no</it>", "a b"),
        (
            XLIFF_2,
            "a <pc id='1'>b <mrk id='m' type='term'>c</mrk></pc><sc id='2'/>d<ec startRef='2'/><ph id='3'/>",
            "a b cd",
        ),
        (XLIFF_2, "a<ph id='1' type='fmt' subType='xlf:lb'/>b", "a\nb"),
    ],
)
def test_inline_codes_of_xliff_are_no_text(tmp_path, version, segment, text):
    unit = f"<source>{segment}</source><target>x</target>"
    body = f"<trans-unit>{unit}</trans-unit>" if version is XLIFF else f"<unit><segment>{unit}</segment></unit>"
    assert rows(written(tmp_path, "a.xlf", version.format(body=body))) == [(text, "x")]


def test_alternatives_matches_and_other_vocabularies_are_no_pairs(tmp_path):
    alternative = "<alt-trans><source>no</source><target>no</target></alt-trans>"
    path = written(tmp_path, "a.xlf", XLIFF.format(body=trans_unit("a", f"<target>b</target>{alternative}")))
    assert rows(path) == [("a", "b")]
    segment = "<segment><source>a</source><target>b</target></segment><ignorable><source> </source></ignorable>"
    match = '<m:match xmlns:m="urn:m"><source>no</source><m:source>no</m:source><target>no</target></m:match>'
    path = written(tmp_path, "b.xlf", XLIFF_2.format(body=f"<unit><notes/>{match}{segment}</unit>"))
    assert rows(path) == [("a", "b")]


def test_sentences_that_both_sides_are_cut_into_are_pairs(tmp_path):
    cut = (
        '<seg-source><mrk mtype="seg" mid="1">One.</mrk> <g id="9"><mrk mtype="seg" mid="2">Two.</mrk></g></seg-source>'
    )
    target = '<target><mrk mtype="seg" mid="2">둘.</mrk> <mrk mtype="seg" mid="1">하나.</mrk></target>'
    half = '<target><mrk mtype="seg" mid="1">하나.</mrk></target>'
    body = trans_unit("One. Two.", cut + target) + trans_unit("One. Two.", cut + half)
    path = written(tmp_path, "a.sdlxliff", XLIFF.format(body=body))
    assert rows(path) == [("One.", "하나."), ("Two.", "둘."), ("One. Two.", "하나.")]


def test_plural_forms_are_a_pair_each(tmp_path):
    forms = "".join(f'msgstr[{number}] "{form}"\n' for number, form in enumerate(("plik", "pliki", "plików")))
    path = written(tmp_path, "pl.po", f'msgid "file"\nmsgid_plural "files"\n{forms}')
    assert rows(path) == [("file", "plik"), ("files", "plików")]


def test_escapes_are_those_of_c(tmp_path):
    path = written(tmp_path, "fr.po", entry(r"a\tb\\n\"c\"\q", r"caf\303\251 \x41\a"))
    assert rows(path) == [('a\tb\\n"c"\\q', "café A\a")]


def test_what_a_file_does_not_vouch_for_is_dropped_and_counted(tmp_path):
    unit = "<target {}>b</target>"
    kept = [trans_unit("a", unit.format(state)) for state in ("", 'state="final"', 'state="needs-review-translation"')]
    states = ['state="new"', 'state="needs-translation"', 'state-qualifier="leveraged-mt"']
    states += ['state-qualifier="fuzzy-match"', 'state-qualifier="rejected-grammar"']
    held = [trans_unit("c", unit.format(state)) for state in states]
    fixed = [f'<group translate="no">{trans_unit("d", unit.format(""))}</group>', trans_unit("d", "", 'translate="no"')]
    inside = trans_unit("e", unit.format(""), 'translate="yes"')
    fixed += [f'<group translate="no">{inside}</group>']
    approved = trans_unit("f", unit.format('state-qualifier="leveraged-mt"'), 'approved="yes"')
    empty = trans_unit("g", '<target state="new"/>') + trans_unit("g", "")
    path = written(tmp_path, "a.xlf", XLIFF.format(body="".join([*kept, *held, *fixed, approved, empty])))
    assert cleaned(path) == (
        [("a", "b"), ("e", "b"), ("f", "b")],
        {
            "duplicate": 2,
            "needs translation": 2,
            "machine translation": 1,
            "fuzzy": 1,
            "rejected": 1,
            "not to be translated": 2,
            "empty target": 2,
        },
    )
    segment = '<segment state="{}"><source>{}</source><target>b</target></segment>'
    body = f"<unit>{segment.format('initial', 'a')}{segment.format('reviewed', 'c')}</unit>"
    path = written(tmp_path, "b.xlf", XLIFF_2.format(body=body))
    assert cleaned(path) == ([("c", "b")], {"needs translation": 1})


def test_fuzzy_obsolete_and_untranslated_entries_are_dropped_and_counted(tmp_path):
    body = entry("a", "b") + entry("c", "d", "#, c-format, fuzzy\n") + entry("e", "")
    body += '#~| msgid "before"\n#~ msgid "f"\n#~ msgstr "g"\n\n#, fuzzy\nmsgid "h"\nmsgstr ""\n'
    assert cleaned(written(tmp_path, "ko.po", body)) == (
        [("a", "b")],
        {"fuzzy": 1, "empty target": 2, "obsolete": 1},
    )


# Which file is in which format, and which of its languages


FORMATS = {
    "tmx": memory(tu(en="a", ko="b")),
    "xliff": XLIFF.format(body=trans_unit("a", "<target>b</target>")),
    "po": "# Korean\n#, fuzzy\n" + PO_HEADER.format(charset="UTF-8", language="ko") + entry("a", "b"),
}


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize(
    "name", ["a", "a.txt", "a.TMX", "a.xlf", "a.xliff", "a.sdlxliff", "a.mqxliff", "a.po", "a.xml"]
)
@pytest.mark.parametrize("form", FORMATS)
def test_the_format_is_told_from_content_whatever_the_name(tmp_path, form, name, packed):
    data = FORMATS[form].encode()
    path = written(tmp_path, name + packed, gzip.compress(data) if packed else data)
    assert rows(path) == [("a", "b")]
    first = "msgid" if form == "po" else "en"
    assert told(path) == f"{form.upper()}; source from {first}, target from ko"


def test_formats_can_be_said(tmp_path):
    path = written(tmp_path, "a.tmx", FORMATS["xliff"])
    assert sentence(tmp_path, [path], format="tmx") == (
        "a.tmx:1: the root element is <xliff>, where <tmx> is expected; is it in this format?"
    )
    table = written(tmp_path, "a.tsv", 'msgid "a"\tx\nmsgid "b"\ty\n')
    assert rows(table, format="tsv") == [('msgid "a"', "x"), ('msgid "b"', "y")]


def test_what_is_beside_translations_says_so(tmp_path):
    for name in ("app.pot", "app.pot.gz"):
        assert sentence(tmp_path, [written(tmp_path, name, entry("a", ""))]) == (
            f"{name}: a template has no translations (.pot); give the .po files that were made from it"
        )
    assert sentence(tmp_path, [written(tmp_path, "app.mo", b"\xde\x12\x04\x95\0\0\0\0")]) == (
        "app.mo: this is made for programs (.mo); give the .po file that it was made from"
    )
    assert sentence(tmp_path, [written(tmp_path, "a.xml", '<?xml version="1.0"?><TS/>')]) == (
        "a.xml: XML whose root element is <TS>; of XML, TMX and XLIFF are read"
    )
    written(tmp_path, "po/ko.po", entry("a", "b"))
    written(tmp_path, "po/app.pot", entry("a", ""))
    written(tmp_path, "po/app.mo", b"\xde\x12\x04\x95")
    assert rows(tmp_path / "po") == [("a", "b")]
    assert rows(f"{tmp_path}/**/*.po") == [("a", "b")]


def test_several_files_of_several_formats_are_one_corpus(tmp_path):
    for form, name in (("po", "a.po"), ("xliff", "b.xlf"), ("tmx", "c.tmx")):
        written(tmp_path, name, FORMATS[form].replace(">a<", f">{form}<").replace('"a"', f'"{form}"'))
    written(tmp_path, "d.tsv", "en\tko\nsnow\t눈\n")
    assert rows(tmp_path) == [("po", "b"), ("xliff", "b"), ("tmx", "b"), ("snow", "눈")]


THREE = (tu(en_US="a", ko="b", ja="c"), tu(en_US="d", ko="e"), tu(EN_us="f", ja="g"))


def test_languages_of_a_memory_are_chosen_by_name(tmp_path):
    path = written(tmp_path, "a.tmx", memory(*THREE))
    assert rows(path, columns=("en", "ko")) == [("a", "b"), ("d", "e"), ("f", "")]
    assert rows(path, columns=("JA", "EN-us")) == [("c", "a"), ("", "d"), ("g", "f")]
    assert rows(written(tmp_path, "b.tmx", memory(*THREE, tu(zxx="x"))), source="ko", target="ja")[0] == ("b", "c")
    assert rows(path, columns=("2", "3")) == [("b", "c"), ("e", ""), ("", "g")]
    assert told(path, columns=("eng", "Korean")) == "TMX; source from en-US, target from ko"
    assert sentence(tmp_path, [path]) == (
        "a.tmx: units are in en-US (3), ko (2), ja (2); choose two: --columns en-US,ko"
    )
    assert sentence(tmp_path, [path], columns=("en", "de")) == (
        "a.tmx: there is no language 'de' in it; there is en-US, ja, ko"
    )
    assert sentence(tmp_path, [path], columns=("en", "en-US")) == "a.tmx: en and en-US are one language in it, en-US"


@pytest.mark.parametrize(
    ("said", "pair"),
    [
        ({"source": "en", "target": "ko"}, ("a", "b")),
        ({"source": "ko", "target": "ja"}, ("b", "c")),
        ({"target": "ja"}, ("a", "c")),  # from the language that the header names
    ],
)
def test_from_and_to_choose_the_languages_of_a_memory(tmp_path, said, pair):
    assert rows(written(tmp_path, "a.tmx", memory(*THREE)), **said)[0] == pair


@pytest.mark.parametrize(
    ("srclang", "units", "decision"),
    [
        ("EN_us", [tu(ko="b", en_US="a")], "source from en-US, target from ko"),
        ("en", [tu(ko="b", en_US="a")], "source from en-US, target from ko"),
        ("en-US", [tu(ko="b", en="a")], "source from en, target from ko"),
        ("en", [tu(en_US="a", ko="b"), tu(en_GB="a", ko="b")], "source from en, target from ko"),
        ("en-US", [tu(en_US="a", en_GB="b")], "source from en-US, target from en-GB"),
    ],
)
def test_the_header_says_what_was_translated_from(tmp_path, srclang, units, decision):
    path = written(tmp_path, "a.tmx", memory(*units, srclang=srclang))
    assert told(path) == f"TMX; {decision}"
    assert ("", "") not in rows(path)


@pytest.mark.parametrize("srclang", ["*all*", "", "fr"])
def test_without_a_source_language_users_are_asked(tmp_path, srclang):
    path = written(tmp_path, "a.tmx", memory(tu(en="a", ko="b"), srclang=srclang))
    assert sentence(tmp_path, [path]) == "a.tmx: units are in en (1), ko (1); choose two: --columns en,ko"
    assert rows(path, source="ko") == [("b", "a")]
    assert rows(path, target="en") == [("b", "a")]


def test_kinds_of_one_language_in_one_unit_are_told_apart(tmp_path):
    path = written(tmp_path, "a.tmx", memory(tu(en_US="a", en_GB="b", ko="c"), srclang="*all*"))
    assert sentence(tmp_path, [path], columns=("en", "ko")) == (
        "a.tmx: 'en' may be en-US or en-GB; name one of them in --columns"
    )
    assert rows(path, columns=("en-GB", "ko")) == [("b", "c")]
    path = written(tmp_path, "b.tmx", memory(tu(en_US="a", en="b"), tu(en_US="c"), srclang="en-US"))
    assert rows(path) == rows(path, columns=("en-US", "en")) == [("a", "b"), ("c", "")]


def test_old_memories_and_several_translations(tmp_path):
    old = '<tu><tuv lang="EN"><seg>a</seg></tuv><tuv lang="KO"><seg>b</seg></tuv><tuv lang="KO"><seg>c</seg></tuv></tu>'
    assert rows(written(tmp_path, "a.tmx", memory(old))) == [("a", "b"), ("a", "c")]


def test_a_memory_needs_two_languages(tmp_path):
    assert sentence(tmp_path, [written(tmp_path, "a.tmx", memory(tu(en="a")))]) == (
        "a.tmx: units are in en (1) only; a text needs its translation beside it"
    )
    header = written(tmp_path, "ko.po", PO_HEADER.format(charset="UTF-8", language="ko"))
    assert sentence(tmp_path, [header]) == "ko.po: there is no translation in it, or none that says its language"
    assert sentence(tmp_path, [written(tmp_path, "b.tmx", memory())]) == (
        "b.tmx: there is no translation in it, or none that says its language"
    )


def languages(*files, **said):
    opened = open_data(DataSettings(train=tuple(map(str, files)), **said))
    return opened.languages, [(pair.source, pair.target) for pair in opened.train.pairs()]


def test_languages_of_files_are_those_of_the_model(tmp_path):
    path = written(tmp_path, "a.tmx", memory(tu(it_IT="a", id="b"), srclang="it"))
    assert languages(path) == (Languages("it", "id"), [("a", "b")])
    assert languages(path, source="id", target="it-IT") == (Languages("id", "it"), [("b", "a")])
    assert languages(path, columns=("id", "it")) == (Languages("id", "it"), [("b", "a")])
    path = written(tmp_path, "a.xlf", FORMATS["xliff"])
    assert languages(path) == (Languages("en", "ko"), [("a", "b")])
    assert languages(path, target="en") == (Languages("ko", "en"), [("b", "a")])
    unknown = written(tmp_path, "b.xlf", FORMATS["xliff"].replace(' target-language="ko"', ""))
    assert languages(unknown) == (Languages("en", ""), [("a", "b")])
    told = written(tmp_path, "c.xlf", unknown.read_text().replace("<target>", '<target xml:lang="ko">'))
    assert languages(told) == (Languages("en", "ko"), [("a", "b")])
    assert languages(unknown, source="ko") == (Languages("ko", "en"), [("b", "a")])


def test_po_does_not_know_what_it_was_translated_from(tmp_path):
    path = written(tmp_path, "a.po", FORMATS["po"])
    assert languages(path) == (Languages("", "ko"), [("a", "b")])
    assert languages(path, source="en") == (Languages("en", "ko"), [("a", "b")])
    assert languages(path, source="ko", target="en") == (Languages("ko", "en"), [("b", "a")])
    assert languages(path, target="en") == (Languages("ko", "en"), [("b", "a")])
    said = FORMATS["po"].replace('"Language:', '"X-Source-Language: de\\n"\n"Language:')
    assert languages(written(tmp_path, "b.po", said))[0] == Languages("de", "ko")


@pytest.mark.parametrize(
    ("name", "tag"),
    [("ko.po", "ko"), ("app.pt_BR.po.gz", "pt"), ("it/LC_MESSAGES/app.po", "it"), ("app.po", ""), ("my.po", "")],
)
def test_po_without_a_language_has_it_from_its_name(tmp_path, name, tag):
    assert languages(written(tmp_path, name, entry("a", "b")))[0] == Languages("", tag)


def test_files_into_other_languages_are_not_mixed(tmp_path):
    files = [written(tmp_path, f"{tag}.po", entry("a", tag)) for tag in ("de", "ko")]
    with pytest.raises(CorpusError) as caught:
        languages(*files)
    assert str(caught.value) == (f"{tmp_path}/ko.po: it declares unknown and ko, but unknown and de are wanted")


def test_declared_tags_are_never_english_words():
    assert [declared_tag(tag) for tag in ("it-IT", "id", "NO", "pt_BR", "sr@latin", "zxx", "msgid", "<target>")] == [
        *("it", "id", "no", "pt", "sr", "", "", "")
    ]
    assert read_tag("it-IT") == "it"
    with pytest.raises(UsageError, match="there is no language 'Koreen'; did you mean korean"):
        read_tag("Koreen")


# Encodings


@pytest.mark.parametrize(
    ("declared", "bytes_in"),
    [
        ("utf-8", "utf-8-sig"),
        ("utf-16", "utf-16"),
        ("UTF-16", "utf-16-le"),
        ("utf-16", "utf-16-be"),
        ("utf-16", "utf-8"),  # written as text first, then saved
        ("EUC-KR", "euc-kr"),
        ("euc-kr", "cp949"),
        ("utf-32", "utf-32"),
    ],
)
def test_xml_is_read_in_the_encoding_it_declares(tmp_path, declared, bytes_in):
    text = f'<?xml version="1.0" encoding="{declared}"?>\n' + memory(tu(en="snow", ko="눈길"))
    assert rows(written(tmp_path, "a.tmx", text.encode(bytes_in))) == [("snow", "눈길")]


@pytest.mark.parametrize("charset", ["EUC-KR", "euc-kr", "cp949", "CHARSET", "ASCII"])
def test_po_is_read_in_the_encoding_it_declares(tmp_path, charset):
    text = PO_HEADER.format(charset=charset, language="ko") + entry("snow", "눈길")
    data = text.encode("utf-8" if charset in ("CHARSET", "ASCII") else charset)
    assert rows(written(tmp_path, "a.po", data)) == [("snow", "눈길")]


def test_a_wrong_encoding_is_named_with_its_line(tmp_path):
    korean = memory(tu(en="snow", ko="눈길 하나")).encode("cp949")
    path = written(tmp_path, "a.tmx", korean)
    assert sentence(tmp_path, [path]) == "a.tmx:2: not UTF-8, but it reads as Korean CP949: give --encoding cp949"
    assert rows(path, encoding="cp949") == [("snow", "눈길 하나")]
    declared = b'<?xml version="1.0" encoding="shift_jis"?>\n' + memory(tu(en="snow", ko="눈길 하나")).encode()
    assert sentence(tmp_path, [written(tmp_path, "b.tmx", declared)]) == (
        "b.tmx:3: not shift_jis, but it reads as UTF-8: mend what the file declares, shift_jis"
    )
    for name in ("none", "undefined", "hex"):
        unknown = f'<?xml version="1.0" encoding="{name}"?>\n'.encode() + memory(tu(en="a", ko="b")).encode()
        assert sentence(tmp_path, [written(tmp_path, "c.tmx", unknown)]) == (
            f"c.tmx:1: there is no encoding '{name}', which the file declares; give --encoding"
        )


# What is broken or hostile


LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">\n' for n in range(1, 10))
ENTITY = (
    "a.tmx:{line}: the file defines an entity, '{name}', which is refused: entities can grow without end, and read "
    "other files; write its text where it is used"
)
HOSTILE = {
    "billion laughs": (
        f'<!DOCTYPE tmx [\n<!ENTITY l0 "lol">\n{LAUGHS}]>\n' + memory(tu(en="&l9;", ko="b")),
        ENTITY.format(line=2, name="l0"),
    ),
    "a file of this machine": (
        '<!DOCTYPE tmx [<!ENTITY x SYSTEM "file:///etc/hostname">]>\n' + memory(tu(en="&x;", ko="b")),
        ENTITY.format(line=1, name="x"),
    ),
    "entities from elsewhere": (
        '<!DOCTYPE tmx [<!ENTITY % x SYSTEM "http://127.0.0.1:9/x.dtd"> %x;]>\n' + memory(tu(en="a", ko="b")),
        ENTITY.format(line=1, name="x"),
    ),
    "nested without end": (
        memory("<a>" * 200),
        "a.tmx:2: more than 100 elements inside each other; that cannot be meant",
    ),
    "a tag without end": (
        memory(f'<tu x="{"y" * 2_000_000}"/>'),
        "a.tmx:2: a tag or a comment of more than 1,000,000 bytes; is a quote left open?",
    ),
    "a text without end": (
        memory(tu(), tu("\n", en="y" * 2_000_000, ko="b")),
        "a.tmx:3: a unit of more than 1,000,000 characters",
    ),
    "a unit without end": (
        memory(f"<tu>{'<tuv/>' * 1_000_001}</tu>"),
        "a.tmx:2: a unit of more than 1,000,000 characters",
    ),
    "names without end": (
        memory(*(f"<a{number}/>" for number in range(1_000))),
        "a.tmx:999: more than 1,000 kinds of elements; that cannot be meant",
    ),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_xml_is_refused(tmp_path, kind):
    text, message = HOSTILE[kind]
    assert sentence(tmp_path, [written(tmp_path, "a.tmx", text)]) == message


def test_a_dtd_that_is_named_is_not_read(tmp_path):
    written(tmp_path, "tmx14.dtd", '<!ENTITY nbsp "no">')
    for address in ("tmx14.dtd", f"file://{tmp_path}/tmx14.dtd", "http://127.0.0.1:9/tmx14.dtd"):
        doctype = f'<!DOCTYPE tmx SYSTEM "{address}">\n'
        assert rows(written(tmp_path, "a.tmx", doctype + memory(tu(en="a", ko="b")))) == [("a", "b")]
        assert sentence(tmp_path, [written(tmp_path, "b.tmx", doctype + memory(tu(en="&nbsp;", ko="b")))]) == (
            "b.tmx:3: an entity that is not XML's own, such as HTML's &nbsp;; write the character itself"
        )


BROKEN = [
    (
        memory(tu(en="a", ko="b"))[:-30],
        "a.tmx:2: the XML ends here inside <seg>, before it is complete; fetch or copy the file again",
    ),
    (
        memory(tu(en="a", ko="b"))[:-1][:-10],
        "a.tmx:3: the XML ends here inside <body>, before it is complete; fetch or copy the file again",
    ),
    (
        memory(tu(en="R&D", ko="b")),
        "a.tmx:2: not XML: is a < or & meant as text here? Write &lt; or &amp;; and no control characters",
    ),
    (
        memory(tu(en="a\0", ko="b")),
        "a.tmx:2: not XML: is a < or & meant as text here? Write &lt; or &amp;; and no control characters",
    ),
    (
        memory(tu(en="&#31;", ko="b")),
        "a.tmx:2: not XML: a number stands here for a character that XML does not have; remove it",
    ),
    (
        memory(tu(en="&nbsp;", ko="b")),
        "a.tmx:2: an entity that is not XML's own, such as HTML's &nbsp;; write the character itself",
    ),
    (memory("<tu><tuv></tu>"), "a.tmx:2: not XML: <tuv> is open, and another element is closed here"),
    (memory(tu(en="a", ko="b")) * 2, "a.tmx:4: not XML: something follows after the end; are these two files in one?"),
    (
        "\n<?xml version='1.0'?>\n" + memory(tu(en="a")),
        "a.tmx:2: not XML: <?xml …?> must be the very first in the file",
    ),
    (memory("<x:tu/>"), "a.tmx:2: not XML: unbound prefix"),
    ("snow\n", "a.tmx:1: not XML: XML begins with <, and this does not"),
    ("<html>\n</html>", "a.tmx:1: the root element is <html>, where <tmx> is expected; is it in this format?"),
    (" \n", "a.tmx:2: the XML ends here, before it is complete; fetch or copy the file again"),
    ("", "a.tmx: the file is empty"),
]


@pytest.mark.parametrize(("text", "message"), BROKEN, ids=[message[:50] for _, message in BROKEN])
def test_broken_xml_is_named_with_its_line(tmp_path, text, message):
    path = written(tmp_path, "a.tmx", text)
    assert sentence(tmp_path, [path]) == message
    assert invoke("check", str(path)) == (3, "", f"nungil: {tmp_path}/{message}\n")


def test_a_packed_file_that_is_cut_off_says_so(tmp_path):
    for name, text in (
        ("a.tmx", memory(*(tu(en=f"a{n}", ko=f"b{n * n}") for n in range(9_000)))),
        ("a.po", entry("a", "b")),
    ):
        packed = gzip.compress(text.encode())
        found = sentence(tmp_path, [written(tmp_path, name, packed[: len(packed) * 2 // 3])])
        assert found.startswith(f"{name}:")
        assert found.endswith(": the gzip file is cut off here; fetch or copy it again")


MISTAKES = [
    ('msgid "a"\nmsgstr "b\n', 'ko.po:2: a text stands between two quotes, and a quote inside it is written \\"'),
    ('msgid "a"\nmsgstr "b"c"\n', 'ko.po:2: a text stands between two quotes, and a quote inside it is written \\"'),
    ('msgid "a"\nmsgid "b"\nmsgstr "c"\n', "ko.po:2: msgid a second time in one entry; is a msgstr missing above it?"),
    (
        'msgid "a"\nmsgstr "b"\nmsgstr "c"\n',
        "ko.po:3: msgstr a second time in one entry; is a msgstr missing above it?",
    ),
    (
        'msgid "a"\nmsgstr "b"\n\nmsgstr "c"\n',
        "ko.po:4: msgstr a second time in one entry; is a msgstr missing above it?",
    ),
    ('msgctxt "a"\nmsgstr "b"\n', "ko.po:2: msgstr without a msgid before it"),
    ('"a"\n', "ko.po:1: a text that belongs to nothing; msgid or msgstr should stand before it"),
    ('msgid "a"\nmsgstr "b"\nsnow\n', 'ko.po:3: not PO: a line begins with #, with a quote, or as `msgid "…"` does'),
    ('msgid "a"\n', "ko.po:1: the file ends before this entry has its msgstr; is it whole?"),
    ('msgid "a"\nmsgstr "\\377"\n', "ko.po:2: bytes written as numbers, such as \\303, that are no text in utf-8"),
    (
        'msgid "a"\nmsgstr ""\n' + ('"' + "b" * 999 + '"\n') * 1_100,
        "ko.po:1002: an entry of more than 1,000,000 characters; is a msgid missing?",
    ),
]


@pytest.mark.parametrize(("text", "message"), MISTAKES, ids=[message[:50] for _, message in MISTAKES])
def test_broken_po_is_named_with_its_line(tmp_path, text, message):
    assert sentence(tmp_path, [written(tmp_path, "ko.po", text)]) == message


def test_every_bad_file_is_named_at_once(tmp_path):
    files = [written(tmp_path, "a.tmx", "<tmx>"), written(tmp_path, "b.po", "snow\n")]
    assert len(sentence(tmp_path, files).splitlines()) == 2


def test_memory_does_not_grow_with_the_file(tmp_path):
    path = tmp_path / "a.tmx"
    beginning, end = memory("\n").split("\n\n")
    peaks = []
    for count in (5_000, 50_000):
        with path.open("w") as file:
            file.write(f"{beginning}\n")
            file.writelines(tu("\n", en=f"snow {number}", ko=f"눈 {number}") + "\n" for number in range(count))
            file.write(end)
        tracemalloc.start()
        assert sum(1 for _ in read_pairs([path])) == count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]


def test_the_beginning_of_a_file_is_enough_to_know_it():
    assert elements.root_of('<?xml version="1.0"?><!-- c --><x:xliff xmlns:x="u"><x:fi') == "xliff"
    assert elements.root_of("snow") == elements.root_of("<!DOCTYPE tmx [<!ENTITY a 'b'>") == ""


# As a user meets it


@pytest.mark.parametrize("form", FORMATS)
def test_check_counts_what_is_in_a_file(tmp_path, form):
    path = written(tmp_path, "a", FORMATS[form])
    code, out, err = invoke("check", str(path), "--json")
    found = json.loads(out)
    assert (code, found["task"], found["ok"]) == (0, "translate", True)
    assert found["tally"] == {"read": 1, "kept": 1, "dropped": {}, "changed": {}}
    assert err.splitlines()[-1] == f"Next: nungil train --train {path} --out runs/mine"


def test_check_writes_out_what_a_file_does_not_vouch_for(tmp_path):
    path = written(tmp_path, "ko.po", entry("a", "b") + entry("c", "d", "#, fuzzy\n"))
    code, out, _ = invoke("check", str(path), "--format", "po", "--rejected", str(tmp_path / "d.tsv"))
    assert code == 0
    assert out.startswith("2 pairs read, 1 left by cleaning.\nIt would drop 1: fuzzy 1.\n")
    assert (tmp_path / "d.tsv").read_text().splitlines()[1:] == [f"fuzzy\t{path}\t5\tc\td"]


def test_the_next_command_names_the_columns_too(tmp_path):
    path = written(tmp_path, "a.tmx", memory(*THREE[:2]))
    _, _, err = invoke("check", str(path), "--columns", "ko,en")
    assert err.splitlines()[-1] == f"Next: nungil train --train {path} --columns ko,en --out runs/mine"


def test_a_memory_is_not_data_to_classify(tmp_path):
    path = written(tmp_path, "a.tmx", FORMATS["tmx"])
    code, _, err = invoke("check", str(path), "--task", "classify")
    assert (code, err) == (3, f"nungil: {path}: holds pairs of sentences; that is not data to classify\n")


def test_a_translator_is_trained_on_a_memory(tmp_path):
    units = [tu(en_US=pair.english, ja="x", ko=pair.korean) for pair in snow_pairs(30, lengths=(3, 5))]
    path = written(tmp_path, "a.tmx", memory(*units))
    small = ["--steps", "1", "--set", "model.width=8", "--set", "model.heads=2", "--set", "tokenizer.unit=word"]
    asked = ["--train", str(path), "--from", "ko", "--to", "en", "--out", str(tmp_path / "run")]
    found = invoke("train", *asked, *small)
    assert found.returncode == 0, found.stderr
    assert f"{path}: TMX; source from ko, target from en-US\nFrom ko to en.\n" in found.stderr
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert (config["source"], config["target"]) == ("ko", "en")
