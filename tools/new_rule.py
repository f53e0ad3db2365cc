#!/usr/bin/env python3
"""Begin a rule: ``rules/tfmNNN_its_name.py`` and its fixtures, which work as they are and are there to be changed.

What is written finds one function by its name and puts another in its place (not with ``--no-fix``), so that each part
of a rule has an example that runs. ``tools/run.py rule`` makes the rule's page and snapshot besides, and tests it.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SEVERITIES = ("advice", "warning", "error")

RULE = '''\
"""{code}: an old name of get_logical_device_configuration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.model.finding import Finding, Severity
from tfmemlint.rulekit.rule import Rule

if TYPE_CHECKING:
{editor}    from tfmemlint.interpreter.program import Program

_OLD = "tf.config.experimental.get_virtual_device_configuration"
{new}

class {classname}(Rule):
    """An old name of get_logical_device_configuration.

    What it does
    ------------
    Finds ``tf.config.experimental.get_virtual_device_configuration``.

    Why it matters
    --------------
    Say what TensorFlow does with it, as measured, and what that costs.

    Example
    -------
    ```python
    import tensorflow as tf

    gpus = tf.config.list_physical_devices("GPU")
    print(tf.config.experimental.get_virtual_device_configuration(gpus[0]))
    ```

    Use instead
    -----------
    ```python
    import tensorflow as tf

    gpus = tf.config.list_physical_devices("GPU")
    print(tf.config.get_logical_device_configuration(gpus[0]))
    ```
    """

    code = "{code}"
    name = "{name}"
    severity = Severity.{severity}
    fixable = "{fixable}"
    # Regular expressions: a file in which none of them is found is not read for this rule.
    triggers = ("get_virtual_device_configuration",)

    def check(self, program: Program) -> Iterator[Finding]:
        """Calls of the old name. What is not known for sure gives no finding."""
        for call in program.calls(_OLD):
            yield self.finding(
                program,
                call,
                "get_virtual_device_configuration is an old name",
                outcome="Say what TensorFlow does",
                advice="Use tf.config.get_logical_device_configuration",
                details={{"name": call.name}},
            )
{fix}'''
EDITOR = "    from tfmemlint.fixes.editor import Editor\n"
NEW = '_NEW = "tf.config.get_logical_device_configuration"\n'
FIX = '''
    def fix(self, finding: Finding, editor: Editor) -> None:
        """Write the new name. The place is found anew in the concrete tree; `Withheld` says why nothing is changed."""
        from tfmemlint.fixes.unused_imports import drop_imports

        call = editor.call_at(finding.span, "get_virtual_device_configuration")
        new = editor.tf(_NEW)
        editor.replace(call.func, new)
        drop_imports(editor, {call.func}, new)
        editor.safe("Use the new name")
'''
ADVICE = "ADVICE  # runs only where it is selected; make it WARNING or ERROR when the rule is right"

BAD = """\
{header}import tensorflow as tf

gpus = tf.config.list_physical_devices("GPU")
print(tf.config.experimental.get_virtual_device_configuration(gpus[0]))  # expect: {code}
"""
FIXED = """\
import tensorflow as tf

gpus = tf.config.list_physical_devices("GPU")
print(tf.config.get_logical_device_configuration(gpus[0]))
"""
OK = """\
import tensorflow as tf


def get_virtual_device_configuration(gpu):
    return gpu.name


gpus = tf.config.list_physical_devices("GPU")
print(get_virtual_device_configuration(gpus[0]))
"""


def main() -> int:
    """Write the files; the exit code is 2 where the code or the name can't be taken."""
    parser = argparse.ArgumentParser(prog="tools/new_rule.py", description="Begin a rule.")
    parser.add_argument("code", help="its code, such as TFM318; the first digit is the group (docs/rules/README.md)")
    parser.add_argument("name", help="its name in lower case, such as limit-in-gigabytes")
    parser.add_argument("--severity", choices=SEVERITIES, default="advice", help="its severity (default: advice)")
    parser.add_argument("--no-fix", action="store_true", help="a rule that has no fix")
    arguments = parser.parse_args()
    problem = _problem(arguments.code, arguments.name)
    if problem:
        print(f"tools/new_rule.py: {problem}", file=sys.stderr)
        return 2
    for path, text in files(arguments.code, arguments.name, arguments.severity, with_fix=not arguments.no_fix).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
        print(f"written: {path.relative_to(ROOT).as_posix()}")
    print("All of it works as it is; now change it: CONTRIBUTING.md says what each part is for.")
    return 0


def files(code: str, name: str, severity: str = "advice", *, with_fix: bool = True) -> dict[Path, str]:
    """Return the texts of a new rule's files, by their paths."""
    parts = {
        "severity": ADVICE if severity == "advice" else severity.upper(),
        "fixable": "always" if with_fix else "never",
        **({"editor": EDITOR, "new": NEW, "fix": FIX} if with_fix else {"editor": "", "new": "", "fix": ""}),
    }
    classname = "".join(part.capitalize() for part in name.split("-"))
    fixtures = ROOT / "fixtures" / code
    return {
        ROOT / "rules" / f"{code.lower()}_{name.replace('-', '_')}.py": RULE.format(
            code=code, name=name, classname=classname, **parts
        ),
        fixtures / "bad_old_name.py": BAD.format(code=code, header="# fixed: runs\n" if with_fix else ""),
        **({fixtures / "bad_old_name.fixed.py": FIXED} if with_fix else {}),
        fixtures / "ok_own_function.py": OK,
    }


def _problem(code: str, name: str) -> str:
    """Why a code or a name can't be taken; "" where they can."""
    from tfmemlint.rulekit.rule import rules

    if not re.fullmatch(r"TFM[1-8]\d\d", code):
        return f"{code!r} is no code of a rule: TFM and three digits, the first of which is the group"
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        return f"{name!r} is no name of a rule: words in lower case with - between them"
    for rule in rules():
        if code == rule.code or name == rule.name:
            return f"there is {rule.code} ({rule.name}) already"
    if (ROOT / "fixtures" / code).exists():
        return f"there are fixtures of {code} already"
    return ""


if __name__ == "__main__":
    sys.exit(main())
