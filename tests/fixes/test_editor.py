"""Places are found anew, expressions and statements replaced, and no comment is lost."""

from __future__ import annotations

import libcst as cst
import pytest

from tests.fixes.helpers import GROW, editor, span
from tfmemlint.fixes.concrete_tree import ConcreteTree
from tfmemlint.fixes.editor import Editor, Withheld
from tfmemlint.knowledge.releases import Target


def test_a_text_that_is_not_changed_comes_out_as_it_was() -> None:
    text = "# a\n\n\nx = (1,\n  2) # b\n\tif_ = 3".replace("\tif_", "if_")
    assert editor(text).finish() == text


def test_a_call_of_another_name_is_not_rewritten() -> None:
    text = "f(1)\n"
    with pytest.raises(Withheld, match="differently in line 1"):
        editor(text).call_at(span(text, "f(1)"), "g")


def test_a_place_that_holds_no_call_is_not_rewritten() -> None:
    text = "f(1)\n"
    with pytest.raises(Withheld):
        editor(text).call_at(span(text, "f(1"))


def test_a_text_that_cannot_be_read_is_withheld() -> None:
    with pytest.raises(Withheld, match="can't read"):
        Editor("f(\n", Target.newest())


def test_code_that_would_not_parse_is_withheld() -> None:
    text = "f(1).x = 2\n"
    one = editor(text)
    one.replace(one.node_at(span(text, "f(1).x"), cst.Attribute), "3")
    with pytest.raises(Withheld, match="would not parse"):
        one.finish()


def test_two_changes_to_the_same_code_are_withheld() -> None:
    text = "x = f(g(1))\n"
    one = editor(text)
    one.replace(one.call_at(span(text, "g(1)")), "h(1)")
    one.replace(one.call_at(span(text, "f(g(1))")), "k(2)")
    with pytest.raises(Withheld, match="same code"):
        one.finish()


def test_columns_count_characters_not_bytes() -> None:
    text = 'x = "äöü"; f(1)\n'
    one = editor(text)
    one.replace(one.call_at(span(text, "f(1)"), "f"), "g(2)")
    assert one.finish() == 'x = "äöü"; g(2)\n'


def test_comments_inside_a_replaced_call_get_lines_of_their_own() -> None:
    text = "def f():\n    x = g(\n        1,  # one\n    )  # end\n"
    one = editor(text)
    one.replace(one.call_at(span(text, "g(\n        1,  # one\n    )")), "h()")
    assert one.finish() == "def f():\n    # one\n    x = h()  # end\n"


def test_a_lower_precedence_gets_parentheses() -> None:
    text = "x = 2 * f(1)\ny = g(f(2))\n"
    one = editor(text)
    one.replace(one.call_at(span(text, "f(1)")), "a + b")
    one.replace(one.call_at(span(text, "f(2)")), "a if b else c")
    assert one.finish() == "x = 2 * (a + b)\ny = g(a if b else c)\n"


def test_the_quotes_of_an_f_string_are_minded() -> None:
    text = 'print(f"{f(1)}")\n'
    one = editor(text)
    one.replace(one.call_at(span(text, "f(1)")), 'g("GPU")')
    assert one.finish() == "print(f\"{g('GPU')}\")\n"
    other = editor(text)
    with pytest.raises(Withheld, match="f-string"):
        other.replace(other.call_at(span(text, "f(1)")), "g(\"a\", 'b')")


def test_a_removed_statement_leaves_its_comments() -> None:
    text = "def f():\n    # why\n    g()  # what\n    # after\n\nh()\n"
    one = editor(text)
    one.remove(one.statement_at(span(text, "g()")))
    assert one.finish() == "def f():\n    # why\n    # what\n    pass\n    # after\n\nh()\n"


def test_the_comments_within_a_removed_block_stay() -> None:
    text = "a()\nfor x in y:  # one\n    # two\n    g(x)\nb()\n"
    one = editor(text)
    one.remove(one.statement_at(span(text, "for x in y:  # one\n    # two\n    g(x)")))
    assert one.finish() == "a()\n# one\n# two\nb()\n"


def test_the_last_statement_leaves_its_comments_at_the_foot() -> None:
    text = "a()\n# why\ng()  # what\n"
    one = editor(text)
    one.remove(one.statement_at(span(text, "g()")))
    assert one.finish() == "a()\n# why\n# what\n"


@pytest.mark.parametrize(
    ("text", "gone", "left"),
    [
        ("a(); b(); c()  # d\n", "b()", "a(); c()  # d\n"),
        ("a(); b(); c()  # d\n", "c()", "a(); b()  # d\n"),
        ("if x: a(); b()\n", "a()", "if x: b()\n"),
        ("if x: a()  # d\n", "a()", "if x: pass  # d\n"),
        ("class A:\n\tdef f(self):\n\t\ta()\n", "a()", "class A:\n\tdef f(self):\n\t\tpass\n"),
        ("if x:\n    pass\nelif y:\n    a()\n", "a()", "if x:\n    pass\nelif y:\n    pass\n"),
    ],
)
def test_only_the_statement_itself_is_removed(text: str, gone: str, left: str) -> None:
    one = editor(text)
    one.drop(one.statement_at(span(text, gone)))
    assert one.finish() == left


def test_a_replaced_statement_keeps_comments_and_indentation() -> None:
    text = "if x:\n    # why\n    a(  # in\n    )  # what\n    b()\n"
    one = editor(text)
    one.replace_statement(one.statement_at(span(text, "a(")), "for y in z:\n    c(y)\nd()\n")
    assert one.finish() == "if x:\n    # why\n    # in\n    for y in z:\n        c(y)\n    d()  # what\n    b()\n"


def test_new_statements_stand_above_and_below() -> None:
    text = "if x: a(); b()\n"
    one = editor(text)
    one.insert_before(one.statement_at(span(text, "b()")), "c()")
    one.insert_after(one.statement_at(span(text, "b()")), "d()")
    assert one.finish() == "if x:\n    a()\n    c()\n    b()\n    d()\n"


def test_an_elif_is_no_statement_of_its_own() -> None:
    text = "if x:\n    pass\nelif f(1):\n    pass\n"
    one = editor(text)
    one.insert_before(one.statement_at(span(text, "f(1)")), "g()")
    assert one.finish() == "g()\n" + text


def test_a_decorated_function_is_a_statement_with_its_decorators() -> None:
    text = "@d(1)\ndef f():\n    pass\n"
    one = editor(text)
    one.insert_before(one.statement_at(span(text, "d(1)")), "x = 1")
    assert one.finish() == "x = 1\n" + text


def test_changes_inside_a_moved_statement_are_made() -> None:
    text = "a = 1\nb = int(2)  # two\n"
    one = editor(text)
    one.replace(one.call_at(span(text, "int(2)")), "int(3)")
    one.hoist([one.statement_at(span(text, "b"))], one.statement_at(span(text, "a")))
    assert one.finish() == "b = int(3)  # two\na = 1\n"


def test_code_gives_what_has_been_asked_for() -> None:
    text = "x = f(g(1))\n"
    one = editor(text)
    one.replace(one.call_at(span(text, "g(1)")), "h(1)")
    outer = one.call_at(span(text, "f(g(1))"))
    assert one.code(outer) == "f(h(1))"


@pytest.mark.parametrize(
    ("head", "spelled", "new"),
    [
        ("import tensorflow as tf\n", "tf.config.x", ""),
        ("import tensorflow\n", "tensorflow.config.x", ""),
        ("import tensorflow.keras\n", "tensorflow.config.x", ""),
        ("import tensorflow.compat.v2 as t\n", "t.config.x", ""),
        ("from tensorflow import config\n", "config.x", ""),
        ('"""Doc."""\nfrom __future__ import annotations\nimport os\n', "tf.config.x", "import tensorflow as tf\n"),
        ("tf = 3\n", "tf_.config.x", None),
    ],
)
def test_tensorflow_is_spelled_as_the_file_does(head: str, spelled: str, new: str | None) -> None:
    text = f"{head}f(1)\n"
    one = editor(text)
    call = one.call_at(span(text, "f(1)"))
    assert one.tf("tf.config.x") == spelled
    one.replace(call, f"{spelled}()")
    if new is None:
        assert one.finish() == f"import tensorflow as tf_\n\n{head}tf_.config.x()\n"
    else:
        gap = "\n" if new else ""
        assert one.finish() == f"{head}{new}{gap}{spelled}()\n"


def test_the_v1_module_has_the_same_configuration() -> None:
    text = "import tensorflow.compat.v1 as tf\nf(1)\n"
    one = editor(text)
    one.call_at(span(text, "f(1)"))
    assert one.tf("tf.config.list_physical_devices") == "tf.config.list_physical_devices"
    assert one.finish() == text


def test_an_import_inside_the_function_is_used_there_only() -> None:
    text = "def f():\n    import tensorflow as t\n    g(1)\nh(2)\n"
    one = editor(text)
    one.call_at(span(text, "g(1)"))
    assert one.tf("tf.config.x") == "t.config.x"
    call = one.call_at(span(text, "h(2)"))
    one.replace(call, f"{one.tf('tf.config.x')}()")
    assert one.finish().startswith("import tensorflow as tf\n\ndef f():")


def test_an_import_below_the_code_is_not_relied_on() -> None:
    text = "f(1)\nimport tensorflow as tf\n"
    one = editor(text)
    call = one.call_at(span(text, "f(1)"))
    one.replace(call, f"{one.tf('tf.config.x')}()")
    assert one.finish() == "import tensorflow as tf\n\ntf.config.x()\nimport tensorflow as tf\n"


def test_an_import_for_type_checkers_is_not_relied_on() -> None:
    text = "if TYPE_CHECKING:\n    import tensorflow as t\nf(1)\n"
    one = editor(text)
    one.call_at(span(text, "f(1)"))
    assert one.tf("tf.config.x") == "tf.config.x"


def test_an_import_is_added_once() -> None:
    text = "import os\nfrom os import path as p\nf(1)\n"
    one = editor(text)
    assert (one.add_import("os"), one.add_import("os", "path"), one.add_import("sys")) == ("os", "p", "sys")
    assert one.add_import("sys") == "sys"
    assert one.finish() == "import os\nimport sys\nfrom os import path as p\nf(1)\n"


@pytest.mark.parametrize(
    ("head", "new", "after"),
    [
        ("from tensorflow import keras\n", "tensorflow", "import tensorflow\nfrom tensorflow import keras\n"),
        ("import sys\nimport tensorflow\n", "os", "import os\nimport sys\nimport tensorflow\n"),
        ("import sys\n\nimport zoo\n", "pynvml", "import sys\n\nimport pynvml\nimport zoo\n"),
        ("# Head\nimport zoo\n", "os", "# Head\nimport os\n\nimport zoo\n"),
        ("import sys\n", "zoo", "import sys\nimport zoo\n\n"),
        ("from . import a\n", "tensorflow", "import tensorflow\n\nfrom . import a\n"),
        ("import zoo\nfrom . import a\n", "zzz", "import zoo\nimport zzz\nfrom . import a\n"),
        ("import sys\n\nfrom . import a\n", "zoo", "import sys\n\nimport zoo\n\nfrom . import a\n"),
        ("try:\n    import b\nexcept ImportError:\n    b = None\n", "a", None),
    ],
)
def test_a_new_import_has_its_place_among_the_others(head: str, new: str, after: str | None) -> None:
    text = f"{head}f(1)\n"
    one = editor(text)
    one.replace(one.call_at(span(text, "f(1)")), f"{one.add_import(new)}.f()")
    assert one.finish() == (f"{after}{new}.f()\n" if after is not None else f"{head}import {new}\n\n{new}.f()\n")


def test_a_comment_goes_to_the_end_of_the_statement() -> None:
    text = f"{GROW}  # noqa: TFM101\n"
    one = editor(text)
    one.comment(one.call_at(span(text, GROW)), "why")
    assert one.finish() == f"{GROW}  # noqa: TFM101  # why\n"


@pytest.mark.parametrize("operator", ["and", "+", "or"])
def test_a_chain_of_operators_is_rewritten_or_said_to_be_nested_too_deeply(operator: str) -> None:
    # LibCST nests each further operand, which Python does for `+` only; both are counted before LibCST is asked.
    some, many = (f"x = {f' {operator} '.join('a' for _ in range(count))}\n" for count in (280, 320))
    assert ConcreteTree(some).module.code == some
    with pytest.raises(Withheld, match="nested more than 300 deep"):
        ConcreteTree(many)
