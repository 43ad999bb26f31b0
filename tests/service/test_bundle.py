"""Bundled modules: the same names, each module once, and nothing that cannot be read."""

import json
import re
import shutil
import subprocess

import pytest

from lookalike.errors import InvalidInput
from lookalike.service.site import WEB, bundle

FILES = {
    "main.js": """import { say, twice as double } from "./words.js";
import { count } from "./draw/count.js";
const KEPT = 3;
const seen = [say(KEPT), double(4), count()];
const later = () => import("./views/late.js");
later().then((late) => console.log(JSON.stringify([...seen, late.default(), late.where])));
""",
    "words.js": """import { count } from "./draw/count.js";
const KEPT = "words";
export const twice = (x) => 2 * x;
export function say(n) {
  return `${KEPT} ${n} ${count()}`;
}
""",
    "draw/count.js": """let n = 0;
export function count() {
  n += 1;
  return n;
}
""",
    "views/late.js": """import { count } from "../draw/count.js";
import { tool } from "../draw/tool.js";
const address = new URL("../style/x.css", import.meta.url);
export const where = address.pathname.split("/").slice(-2).join("/");
export default function late() {
  return [count(), tool()];
}
""",
    "draw/tool.js": """import { count } from "./count.js";
export class Tool {}
export const tool = () => [count(), new Tool().constructor.name];
""",
}


def run(files, folder):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (folder / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    command = [shutil.which("node"), str(folder / "main.js")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert not done.stderr
    return json.loads(done.stdout)


@pytest.mark.skipif(shutil.which("node") is None, reason="no Node.js on this machine")
def test_they_do_what_they_did(tmp_path):
    """Shared state is shared still: a module that comes later counts on."""
    sent = bundle(FILES)
    assert set(sent) == {"main.js", "views/late.js"}
    plain = run(FILES, tmp_path / "plain")
    assert plain == ["words 3 1", 8, 2, [3, [4, "Tool"]], "style/x.css"]
    assert run({**FILES, **sent}, tmp_path / "sent") == plain
    alone = dict(sent)  # nothing of what is in a bundle is asked for again
    assert run(alone, tmp_path / "alone") == plain


@pytest.mark.parametrize(
    "text",
    [
        'import * as all from "./words.js";',
        'import "./words.js";',
        'import words from "./words.js";',
        'import { say } from "./nowhere.js";',
        'import { say } from "elsewhere";',
        'export * from "./words.js";',
        "export { say };",
        "export let n = 0;",
        "export var n = 0;",
    ],
)
def test_other_forms_are_refused(text):
    with pytest.raises(InvalidInput, match=r"main\.js"):
        bundle({**FILES, "main.js": f"{text}\n"})


def test_circles_are_refused():
    files = {
        **FILES,
        "draw/count.js": 'import { say } from "../words.js";\nexport const count = say;\n',
    }
    with pytest.raises(InvalidInput, match=r"draw/count\.js -> words\.js -> draw/count\.js"):
        bundle({**files, "main.js": 'import { count } from "./draw/count.js";\n'})


def test_the_page_is_bundled_whole():
    texts = {p.relative_to(WEB).as_posix(): p.read_text("utf-8") for p in WEB.rglob("*.js")}
    sent = bundle(texts)
    for name, text in sent.items():
        for path in re.findall(r' from "([^"]+)"', re.sub(r"/\*.*?\*/", "", text, flags=re.S)):
            base = (WEB / name).parent / path
            assert base.resolve().relative_to(WEB).as_posix() in sent, (name, path)
    exported = set(re.findall(r"^export const (\$\w+)", sent["main.js"], re.M))
    for name, text in sent.items():
        for names in re.findall(r"^import \{ ([^}]+) \} from", text, re.M):
            assert set(names.split(", ")) <= exported, name
