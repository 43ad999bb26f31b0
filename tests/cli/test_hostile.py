"""Names and cells written to do harm: every output shows them, and nothing obeys them."""

import csv
import io
import json
from html.parser import HTMLParser

import pytest

import lookalike as la
from cli.run import run
from lookalike.cli import output
from lookalike.leaderboard import diagnose
from lookalike.measures import Gower

MARKUP = '<script>alert(1)</script>"><img src=x onerror=alert(1)>'
CODES = "\x1b[31m\x1b]0;own\x07\x9b31m\x90q\x9c\x7f\x00\r\n\u202e\u2066\u2028\ud800"
EVIL = f"=1+1{CODES}{MARKUP}"
WRITTEN = EVIL.replace("\ud800", "\\ud800")  # in files, where a lone surrogate cannot be
N = 24


def row(i):
    return {
        f"{EVIL}id": f"{EVIL}{i}",
        f"{EVIL}number": float(i * i % 17),
        f"{EVIL}other": float(i % 5) - 2,
        f"{EVIL}category": f"{'ab'[i % 2]}{EVIL}",
        f"{EVIL}text": f"{EVIL} some words {i * 7 % 11} and more of them, {i % 3}",
        f"{EVIL}set": [f"{EVIL}{i % 3}", f"{EVIL}{i % 4}"],
        LABEL: f"{EVIL}{'xy'[i * i % 17 > 7]}",
    }


LABEL = f"@{CODES}{MARKUP}label"
KINDS = json.dumps({f"{EVIL}text": "text", f"{EVIL}id": "aside"})


@pytest.fixture
def file(tmp_path):
    name = "x" + EVIL.replace("/", "").replace("\x00", "").replace("\ud800", "") + ".jsonl"
    path = tmp_path / name
    path.write_text("\n".join(json.dumps(row(i)) for i in range(N)), encoding="utf-8")
    return path


COMMANDS = {
    "inspect": (),
    "search": ("--row", 0, "-k", 3, "--why"),
    "search a record": ("--like", json.dumps({f"{EVIL}number": 3, f"{EVIL}category": EVIL})),
    "cluster": ("-n", 2, "--label", LABEL, "--measure", "gower"),
    "classify": ("--label", LABEL, "--method", "forest:trees=5", "--folds", 2),
    "compare": ("--label", LABEL, "--measures", "gower", "-k", 2),
    "hubs": ("--label", LABEL, "-k", 2, "--reduce", "nicdm", "--measure", "gower"),
}


def words(name, file, form):
    verb = name.split()[0]
    extra = ("--predict", file) if verb == "classify" and form != "text" else ()
    return verb, file, *COMMANDS[name], "--kinds", KINDS, "--output", form, *extra


def assert_harmless(text):
    """Nothing in a text is obeyed by a terminal, or turns what is read."""
    odd = {letter for letter in text if not letter.isprintable() and letter != "\n"}
    assert not odd


@pytest.mark.parametrize("name", COMMANDS)
def test_tables_and_notes_hold_nothing_that_a_terminal_obeys(name, file):
    done = run(*words(name, file, "text"))
    assert done.exit_code == 0, done.output
    assert_harmless(done.stdout)
    assert_harmless(done.stderr)
    assert "=1+1" in done.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_json_is_escaped_and_reads_back_as_it_was(name, file):
    done = run(*words(name, file, "json"))
    assert done.exit_code == 0, done.output
    assert_harmless(done.stdout)
    assert_harmless(done.stderr)
    answer = json.loads(done.stdout)
    texts = list(strings(answer))
    if name not in ("compare", "hubs"):  # they tell of measures
        assert any(EVIL in text for text in texts)
    if name == "search":
        assert answer["query"]["row"][f"{EVIL}category"] == f"a{EVIL}"


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)


def text_cells(done):
    """Return the cells of CSV that are not numbers; all lines must have as many cells."""
    lines = list(csv.reader(io.StringIO(done.stdout_bytes.decode(), newline="")))
    assert len({len(line) for line in lines}) == 1
    return [cell for line in lines for cell in line if not is_number(cell)]


def is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("name", COMMANDS)
def test_csv_is_as_it_was_or_safe_for_spreadsheets(name, file, monkeypatch):
    safe = run(*words(name, file, "safe-csv"))
    assert safe.exit_code == 0, safe.output
    texts = text_cells(safe)
    assert not [cell for cell in texts if cell.startswith(output.FORMULA_STARTS)]
    as_they_were = text_cells(run(*words(name, file, "csv")))
    assert [cell.removeprefix("'") for cell in texts] == as_they_were
    if name not in ("compare", "hubs"):  # they tell of measures
        assert any(cell.startswith(WRITTEN) for cell in as_they_were)

    monkeypatch.setattr(output, "on_terminal", lambda: True)
    assert_harmless(run(*words(name, file, "csv")).stdout)


class Tags(HTMLParser):
    """Collects what a browser would take for elements."""

    def __init__(self, text):
        super().__init__()
        self.found, self.attributes, self.text = set(), set(), ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data):
        self.text += data


def assert_harmless_page(text):
    assert_harmless(text)
    page = Tags(text)
    assert not page.found & {"script", "img", "iframe", "object", "link", "a"}
    assert not [name for name in page.attributes if name.startswith("on")]
    return page


@pytest.mark.parametrize("name", ["compare", "hubs"])
def test_pages_show_markup_as_text(name, file, tmp_path):
    page = tmp_path / "page.html"
    done = run(*words(name, file, page))
    assert done.exit_code == 0, done.output
    assert_harmless_page(page.read_text(encoding="utf-8"))


def test_reports_of_the_library_show_markup_as_text():
    columns = {name: [row(i)[name] for i in range(N)] for name in row(0)}
    measure = Gower(kinds=json.loads(KINDS)).fit(columns)
    explanation = measure.explain(0, 1)
    assert MARKUP in assert_harmless_page(explanation.to_html()).text
    assert_harmless(str(explanation))
    index = la.Index(Gower(), kinds=json.loads(KINDS)).fit(columns)
    assert_harmless(str(index.search(0, 3)))
    found = diagnose(Gower(kinds=json.loads(KINDS)), columns, LABEL, k=2)
    assert_harmless_page(found.to_html())
    assert_harmless_page(found._repr_html_())


@pytest.mark.parametrize(
    "wrong",
    [
        ("search", "{file}", "--row", 99),
        ("search", "{file}", "--row", 0, "--columns", f"{EVIL}nowhere"),
        ("search", "{file}", "--like", json.dumps({EVIL: 1})),
        ("search", "{file}", "--row", 0, "--weight", f"{EVIL}=2"),
        ("cluster", "{file}", "-n", EVIL),
        ("cluster", "{file}", "--label", f"{EVIL}x"),
        ("classify", "{file}", "--label", f"{EVIL}x"),
        ("hubs", "{file}", "--measure", EVIL),
        ("compare", "{file}", "--measures", EVIL),
        ("inspect", "{file}", "--kinds", f"{EVIL}number={EVIL}"),
        ("inspect", f"{EVIL}.csv"),
        ("hubs", "{file}", "--output", f"{CODES[:5]}/no/{MARKUP}.html"),
    ],
    ids=lambda wrong: f"{wrong[0]} {wrong[2] if len(wrong) > 2 else ''}",
)
def test_errors_hold_nothing_that_a_terminal_obeys(wrong, file):
    done = run(*(file if word == "{file}" else word for word in wrong))
    assert done.exit_code == 1, done.output
    assert done.stderr.count("\n") == 1
    assert_harmless(done.stderr)
    assert done.stdout == ""


@pytest.mark.parametrize("verb", ["compare", "hubs"])
def test_a_page_that_cannot_be_written_is_refused_before_the_table_is_read(verb, tmp_path):
    done = run(verb, tmp_path / "no table.csv", "-o", tmp_path / "nowhere" / "page.html")
    assert done.exit_code == 1
    assert "Make the folder first" in done.stderr
