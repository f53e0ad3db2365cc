"""The results of an estate: two tables of Parquet, one log of SARIF."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tfmemlint import __version__
from tfmemlint.reporters.sarif import SCHEMA

Record = dict[str, Any]
_TEXT, _NUMBER = "string", "int32"
FINDINGS = {
    "repository": _TEXT, "commit": _TEXT, "path": _TEXT, "cell": _NUMBER, "row": _NUMBER, "column": _NUMBER,
    "end_row": _NUMBER, "end_column": _NUMBER, "code": _TEXT, "name": _TEXT, "severity": _TEXT, "message": _TEXT,
    "outcome": _TEXT, "advice": _TEXT, "intent": _TEXT, "fix": _TEXT, "fix_message": _TEXT, "withheld": _TEXT,
    "fingerprint": _TEXT,
}  # fmt: skip
"""The columns of the findings. ``fix``: safe, unsafe, display, or "" for none."""
REPOSITORIES = {
    "repository": _TEXT, "source": _TEXT, "commit": _TEXT, "outcome": _TEXT, "problem": _TEXT, "files": _NUMBER,
    "findings": _NUMBER, "errors": _NUMBER, "warnings": _NUMBER, "advice": _NUMBER, "safe_fixes": _NUMBER,
    "unsafe_fixes": _NUMBER,
}  # fmt: skip


def finding_rows(records: Sequence[Record]) -> list[Record]:
    """Return the rows of the table of findings, in the order of repositories and files."""
    return [
        {"repository": record["name"], "commit": record.get("commit", ""), **row}
        for record in records
        for row in record.get("findings", ())
    ]


def repository_rows(records: Sequence[Record]) -> list[Record]:
    """Return the rows of the table of repositories, in their order."""
    rows = []
    for record in records:
        findings = record.get("findings", ())
        severities = [row["severity"] for row in findings]
        fixes = [row["fix"] for row in findings]
        rows.append(
            {
                "repository": record["name"],
                "source": record["source"],
                "commit": record.get("commit", ""),
                "outcome": record["outcome"],
                "problem": record.get("problem", ""),
                "files": record.get("files", 0),
                "findings": len(findings),
                "errors": severities.count("error"),
                "warnings": severities.count("warning"),
                "advice": severities.count("advice"),
                "safe_fixes": fixes.count("safe"),
                "unsafe_fixes": fixes.count("unsafe"),
            }
        )
    return rows


def parquet(rows: Sequence[Record], columns: dict[str, str]) -> bytes:
    """Return a table of Parquet with these columns: the same bytes for the same rows."""
    import pyarrow
    from pyarrow import parquet as writer

    schema = pyarrow.schema([(name, getattr(pyarrow, kind)()) for name, kind in columns.items()])
    clean = [{name: _clean(row.get(name)) for name in columns} for row in rows]
    stream = io.BytesIO()
    writer.write_table(pyarrow.Table.from_pylist(clean, schema=schema), stream)
    return stream.getvalue()


def _clean(value: object) -> object:
    """Return a value without halves of characters, which names of files may have and Parquet does not."""
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


def read_findings(path: Path) -> list[Record] | None:
    """Return the rows of an earlier table of findings; None where there is none that can be read."""
    import pyarrow
    from pyarrow import parquet as reader

    try:
        rows = reader.read_table(path, columns=["repository", "code", "fingerprint"]).to_pylist()
    except (OSError, ValueError, KeyError, pyarrow.ArrowException):
        return None
    return [dict(row) for row in rows]


def sarif(records: Sequence[Record]) -> bytes:
    """Return one run of SARIF: an invocation for each repository, whose files are relative to a base of its own."""
    rules = {rule["id"]: rule for record in records for rule in record.get("rules", ())}
    numbers = {code: number for number, code in enumerate(sorted(rules))}
    results: list[Record] = []
    invocations: list[Record] = []
    bases: dict[str, Record] = {}
    for record in records:
        base = _base(record["name"])
        source = str(record["source"])
        bases[base] = {"description": {"text": source}}
        if source.startswith("/"):
            bases[base]["uri"] = Path(source).as_uri() + "/"
        notices = list(_moved(record.get("notifications", []), base))
        if record.get("problem"):
            notices.append({"level": "error", "message": {"text": f"{record['outcome']}: {record['problem']}"}})
        invocations.append(
            {
                "executionSuccessful": record["outcome"] == "checked",
                "workingDirectory": {"uri": "", "uriBaseId": base},
                "toolExecutionNotifications": notices,
                "properties": {"repository": record["name"], "commit": record.get("commit", "")},
            }
        )
        for result in _moved(record.get("results", []), base):
            if result["ruleId"] in numbers:
                result["ruleIndex"] = numbers[result["ruleId"]]
            result["properties"] = {**result.get("properties", {}), "repository": record["name"]}
            results.append(result)
    driver = {
        "name": "tfmemlint",
        "semanticVersion": __version__,
        "informationUri": "https://github.com/tfmemlint/tfmemlint",
        "rules": [rules[code] for code in sorted(rules)],
    }
    run = {
        "tool": {"driver": driver},
        "invocations": invocations,
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": bases,
        "results": results,
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1).encode()


def _base(name: str) -> str:
    return f"REPOSITORY:{name}"


def _moved(data: Any, base: str) -> Any:
    """Return a copy of SARIF's objects whose relative addresses count from another base."""
    if isinstance(data, dict):
        return {key: base if key == "uriBaseId" else _moved(value, base) for key, value in data.items()}
    return [_moved(value, base) for value in data] if isinstance(data, list) else data
