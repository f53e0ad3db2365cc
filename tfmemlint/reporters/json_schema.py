"""The JSON schema of ``--output-format json``: version 1.

Within a version keys are added, never taken away, and none changes its meaning.
"""

from __future__ import annotations

from typing import Any

from tfmemlint.model.finding import Applicability, Severity
from tfmemlint.model.intent import Purpose

VERSION = 1
SCHEMA_URL = f"https://github.com/tfmemlint/tfmemlint/blob/main/docs/schemas/findings-v{VERSION}.json"


def schema() -> dict[str, Any]:
    """Return the schema of the whole report; ``json-lines`` has one finding a line."""
    text = {"type": "string"}
    number = {"type": "integer", "minimum": 1}
    place = _object(row=number, column=number)
    places = {"location": place, "end_location": place}
    step = _object(filename=text, message=text, **places)
    edit = _object(content=text, filename=text, **places)
    fix = _object(
        applicability={"enum": [each.value for each in Applicability]},
        message=text,
        edits={"type": "array", "items": edit},
        needs={"type": "array", "items": text, "description": "packages that the fixed code imports"},
    )
    intent = _object(
        wish={"enum": [purpose.value for purpose in Purpose]},
        devices=text,
        value={"type": ["string", "number", "boolean", "null"]},
        text=text,
    )
    finding = _object(
        cell={"type": ["integer", "null"], "description": "the cell of a notebook, from 1; rows count from its start"},
        code={"type": ["string", "null"], "description": "the rule; null for a file that was not followed to its end"},
        name={"type": "string", "description": "the name of the rule"},
        severity={"enum": [*(severity.value for severity in Severity), "note"]},
        filename={"type": "string", "description": "an absolute path; - for standard input"},
        **places,
        message=text,
        fix={"anyOf": [fix, {"type": "null"}]},
        noqa_row={**number, "description": "the row whose comment silences it"},
        url={"type": ["string", "null"]},
        intent={"anyOf": [intent, {"type": "null"}]},
        outcome={"type": "string", "description": "what TensorFlow does instead"},
        advice=text,
        notes={"type": "array", "items": text},
        withheld={"type": "string", "description": "why there is no fix"},
        trace={"type": "array", "items": step},
    )
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": SCHEMA_URL,
        "title": f"Findings of tfmemlint, version {VERSION}",
        "type": "array",
        "items": {"$ref": "#/definitions/finding"},
        "definitions": {"finding": finding},
    }


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}
