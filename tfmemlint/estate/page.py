"""The summary of an estate as one page of HTML that needs no other file and runs nothing."""

from __future__ import annotations

import contextlib
import datetime
import os
from collections import Counter
from collections.abc import Sequence
from typing import Any

from tfmemlint import __version__
from tfmemlint.reporters.paint import in_html

Record = dict[str, Any]
_STYLE = """
body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem;color:#1c2733;background:#fff}
table{border-collapse:collapse;margin:.7rem 0 2rem;width:100%}th,td{padding:.3rem .6rem;text-align:left;
border-bottom:1px solid #d9dfe6;vertical-align:top}th{font-weight:600}td.n,th.n{text-align:right;
font-variant-numeric:tabular-nums}.bad{color:#a3241b}.good{color:#176639}small{color:#5b6875}
@media(prefers-color-scheme:dark){body{color:#dbe2ea;background:#14191f}th,td{border-color:#35404c}
.bad{color:#ff9a8f}.good{color:#7fd6a0}small{color:#93a1b0}}
"""


def page(repositories: Sequence[Record], findings: Sequence[Record], last: Sequence[Record] | None) -> str:
    """Return the page.

    Args:
        repositories: the rows of the table of repositories.
        findings: the rows of the table of findings.
        last: the findings of the last run; None if there was none.
    """
    failed = [row for row in repositories if row["outcome"] != "checked"]
    fixable = Counter(row["fix"] for row in findings if row["fix"] in ("safe", "unsafe"))
    lines = [
        f"{len(repositories)} repositories, {sum(row['files'] for row in repositories)} files.",
        f"{len(findings)} findings in {len({row['repository'] for row in findings})} repositories; "
        f"{fixable['safe']} have a safe fix, {fixable['unsafe']} one that a person should review.",
    ]
    if failed:
        lines.append(f"{len(failed)} repositories were not checked; they are named below.")
    parts = [f"<p>{in_html(line)}</p>" for line in lines]
    parts.append(f"<p>{_trend(findings, last)}</p>")
    parts += ["<h2>Rules</h2>", _rules(findings, last), "<h2>Repositories</h2>", _repositories(repositories, last)]
    made = _date()
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>GPU memory of an estate</title>'
        '<meta name="viewport" content="width=device-width"><meta http-equiv="Content-Security-Policy" '
        f"content=\"default-src 'none'; style-src 'unsafe-inline'\"><style>{_STYLE}</style></head><body>\n"
        f"<h1>GPU memory of an estate</h1>\n<p><small>tfmemlint {in_html(__version__)}, {made}</small></p>\n"
        + "\n".join(parts)
        + "\n</body></html>\n"
    )


def _date() -> str:
    """Return the day: that of ``SOURCE_DATE_EPOCH`` where it is set (https://reproducible-builds.org)."""
    stated = os.environ.get("SOURCE_DATE_EPOCH", "")
    now = datetime.datetime.now(datetime.timezone.utc)
    # A number that is no day, or of too many digits, is passed over.
    with contextlib.suppress(ValueError, OverflowError, OSError):
        now = datetime.datetime.fromtimestamp(int(stated), datetime.timezone.utc)
    return now.strftime("%Y-%m-%d")


def _names(rows: Sequence[Record]) -> Counter[tuple[str, str]]:
    return Counter((row["repository"], row["fingerprint"]) for row in rows)


def _trend(findings: Sequence[Record], last: Sequence[Record] | None) -> str:
    if last is None:
        return "This is the first run: there is none to compare with."
    now, before = _names(findings), _names(last)
    new, gone = (now - before).total(), (before - now).total()
    return f'Since the last run: <b class="bad">{new} new</b>, <b class="good">{gone} gone</b>.'


def _change(now: int, before: int | None) -> str:
    if before is None or now == before:
        return "" if before is None else "0"
    kind = "bad" if now > before else "good"
    return f'<span class="{kind}">{now - before:+}</span>'


def _rules(findings: Sequence[Record], last: Sequence[Record] | None) -> str:
    before = Counter(row["code"] for row in last) if last is not None else None
    by_code: dict[str, list[Record]] = {}
    for row in findings:
        by_code.setdefault(row["code"], []).append(row)
    rows = []
    for code in sorted(by_code.keys() | (before or {}).keys(), key=lambda code: (-len(by_code.get(code, ())), code)):
        found = by_code.get(code, [])
        fixes = Counter(row["fix"] for row in found)
        name = found[0]["name"] if found else ""
        numbers = (len(found), len({row["repository"] for row in found}), fixes["safe"], fixes["unsafe"])
        rows.append(
            (
                in_html(code),
                in_html(name),
                *map(str, numbers),
                _change(len(found), None if before is None else before[code]),
            )
        )
    heads = ("Rule", "", "Findings", "Repositories", "Safe fixes", "Unsafe fixes", "Change")
    return _table(heads, rows, texts=2)


def _repositories(repositories: Sequence[Record], last: Sequence[Record] | None) -> str:
    before = Counter(row["repository"] for row in last) if last is not None else None
    rows = []
    for row in sorted(repositories, key=lambda row: (row["outcome"] == "checked", -row["findings"], row["repository"])):
        place = f"<small>{in_html(row['source'])} {in_html(row['commit'][:12])}</small>"
        problem = f' <b class="bad">{in_html(row["outcome"])}</b>' if row["outcome"] != "checked" else ""
        problem += f" <small>{in_html(row['problem'])}</small>" if row["problem"] else ""
        numbers = [row[name] for name in ("files", "errors", "warnings", "advice", "safe_fixes", "unsafe_fixes")]
        change = _change(row["findings"], None if before is None else before[row["repository"]])
        rows.append((f"{in_html(row['repository'])} {place}{problem}", *map(str, numbers), change))
    heads = ("Repository", "Files", "Errors", "Warnings", "Advice", "Safe fixes", "Unsafe fixes", "Change")
    return _table(heads, rows, texts=1)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, texts: int) -> str:
    def cells(tag: str, values: Sequence[str]) -> str:
        kinds = ["" if number < texts else ' class="n"' for number in range(len(values))]
        return "".join(f"<{tag}{kind}>{value}</{tag}>" for kind, value in zip(kinds, values, strict=True))

    body = "\n".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    return f"<table><thead><tr>{cells('th', heads)}</tr></thead>\n<tbody>{body}</tbody></table>"
