"""Code in Markdown, and what looks like it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.sources.documents import check, read_with, texts, told
from tfmemlint.sources.documents.blocks import Block
from tfmemlint.sources.documents.markdown import blocks
from tfmemlint.sources.documents.markdown_rules import code_of

CODE = "import tensorflow as tf\n"


def read(document: str) -> list[Block]:
    """The blocks of a document that stands in a test; all of them where they say to be."""
    return read_with(blocks, document)


def only(document: str) -> Block:
    (block,) = read(document)
    return block


# What is no code


@pytest.mark.parametrize(
    "document",
    [
        "",
        "\n",
        "Call `tf.config.list_physical_devices()` first.\n",
        "Call ```tf.config``` first.\n",
        "    \n\t\n",
        "<!--\n```python\nimport tensorflow as tf\n```\n-->\n",
        "<!-- ```python\nimport tensorflow as tf\n\n``` -->\n",
        "{/*\n```python\nimport tensorflow as tf\n```\n*/}\n",
        "<script>\n```python\nimport tensorflow as tf\n```\n</script>\n",
        "---\ntitle: x\ncode: |\n\n    import tensorflow as tf\n---\n\nText.\n",
        "+++\ntitle = '''\n\n    import tensorflow as tf\n'''\n+++\n",
        "A paragraph\n    import tensorflow as tf\n",
        "- a point\n\n    that goes on: import tensorflow as tf\n",
        "1. a point\n\n    that goes on here\n",
        "```python\n```\n",
        "```python\n\n   \n```\n",
        '!!! note "Tensors"\n    import of tensorflow\n',
        "[^1]: A note\n    of two lines.\n",
        "::: warning\nText.\n:::\n",
        "```{note}\nText.\n```\n",
        "```{figure} a.png\n:alt: b\n```\n",
        "\\```python\nimport\n\\```\n",
        "<pre>\nx = tf.zeros(&quot;a&quot;)\n</pre>\n",
        "<pre>\nx = tf.<b>zeros</b>(1)\n</pre>\n",
    ],
)
def test_no_code(document: str) -> None:
    assert read(document) == []


@pytest.mark.parametrize(
    ("document", "language"),
    [
        ("```text\nimport tensorflow as tf\n```\n", "text"),
        ("```diff\n-import tensorflow\n+import tensorflow as tf\n```\n", "diff"),
        ("```none\ntf.zeros(1)\n```\n", "none"),
        ("```c++\ntensorflow::Scope s;\n```\n", "c++"),
        ("```json\n{}\n```\n", "json"),
        ("```{r}\nx <- tf$zeros(1)\n```\n", "r"),
        ("```{=html}\n<b>tf</b>\n```\n", "raw"),
        ("```{literalinclude} a.py\n:lines: 1-2\n```\n", "literalinclude"),
        ("```\ntensorflow>=2.4\ntensorflow-probability\n```\n", ""),
        ("```\ntensorflow>=2.4\n```\n", ""),
        ("```\ntf.Tensor\n```\n", ""),
        ("```\nRuntimeError: tf.zeros(1) came first\n```\n", ""),
        ("```\nx = 1\n```\n", ""),
        ("```\nimport the model of tensorflow (tf.keras)\n```\n", ""),
        ("```\nFROM what we know\n```\n", ""),
        ("```\nsource of all that goes wrong\n```\n", ""),
        ("```\nmake\n```\n", ""),
        ("Output:\n\n    [1, 2] tf.Tensor\n", ""),
        ("```{code-cell} ir\nlibrary(tensorflow)\n```\n", "ir"),
    ],
)
def test_code_in_which_no_python_is_looked_for(document: str, language: str) -> None:
    assert only(document).language == language


# Languages


@pytest.mark.parametrize(
    "info",
    [
        "python", "Python", "py", "python3", "py3", "python3.12", "ipython", "ipython3", " python ", "python\t",
        "python title=\"x\" hl_lines=\"2\"", "python{1,3}", "python {1,3}", "python:train.py", "python, ignore",
        "{.python}", "{.python .numberLines}", "{#listing .python startFrom=\"3\"}", "{.numberLines .py}",
        "{python}", "{python, echo=FALSE}", "{python name, eval = TRUE}", "{{python}}", "lang-python",
        "language-python", "train.py", "src/train.py title", "{code-block} python", "{code} python",
        "{sourcecode} python3", "{code-cell}", "{ .python }",
        "{code-cell} ipython3", "{testcode}", "{jupyter-execute}", "python title='a=b'", "py linenums=\"1\"",
    ],
)  # fmt: skip
def test_ways_to_say_python(info: str) -> None:
    assert told(read(f"```{info}\n{CODE}```\n")) == [("python", CODE)]
    assert told(read(f"~~~~~{info}\n{CODE}~~~~~\n")) == [("python", CODE)]


@pytest.mark.parametrize(
    ("info", "language"),
    [
        ("bash", "shell"), ("sh", "shell"), ("shell", "shell"), ("zsh", "shell"), ("{bash}", "shell"),
        ("console", "shell"), ("shell-session", "shell"), ("docker", "dockerfile"), ("Dockerfile", "dockerfile"),
        ("yaml", "yaml"), ("yml", "yaml"), ("docker-compose.yml", "yaml"), ("dotenv", "env"), (".env", "env"),
        ("env", "env"), ("{.yaml filename=\"a.yml\"}", "yaml"), ("{prompt} bash $", "shell"),
    ],
)  # fmt: skip
def test_other_languages(info: str, language: str) -> None:
    assert only(f"```{info}\nA: 1\n```\n").language == language


@pytest.mark.parametrize(
    ("code", "language"),
    [
        ("import tensorflow as tf\n", "python"),
        ("gpus = tf.config.list_physical_devices('GPU')\n", "python"),
        ("!pip install tensorflow\nimport tensorflow as tf\n", "python"),
        ("%env TF_FORCE_GPU_ALLOW_GROWTH=true\n", "python"),
        ("$ pip install tensorflow\n", "shell"),
        ("(venv) $ pip install tensorflow\n", "shell"),
        ("pip install tensorflow\npython train.py\n", "shell"),
        ("# first\nexport CUDA_VISIBLE_DEVICES=0\n", "shell"),
        ("CUDA_VISIBLE_DEVICES=0 TF_X=1 python train.py \\\n  --lr 0.1\n", "shell"),
        ("FROM tensorflow/tensorflow:2.15.0\nENV A=1\nRUN pip install x\n", "dockerfile"),
    ],
)
def test_what_nothing_is_said_of_is_told_by_what_it_is(code: str, language: str) -> None:
    assert only(f"```\n{code}```\n").language == language
    indented = "".join(f"    {line}\n" for line in code.splitlines())
    assert only(f"Text:\n\n{indented}\nMore.\n").language == language


def test_commands_that_are_said_to_be_python() -> None:
    assert told(read("```python\npython setup.py install\n```\n")) == [("shell", "python setup.py install\n")]
    assert told(read("```python\n$ export A=1\n```\n")) == [("shell", "export A=1\n")]


# Containers


@pytest.mark.parametrize(
    ("document", "rows", "starts"),
    [
        ("```python\nif x:\n    y\n```\n", (2, 3), (0, 0)),
        ("  ```python\n  if x:\n      y\n  ```\n", (2, 3), (2, 2)),
        ("- a\n\n  ```python\n  if x:\n      y\n  ```\n", (4, 5), (2, 2)),
        ("1. a\n   - b\n\n     ```python\n     if x:\n         y\n     ```\n", (5, 6), (5, 5)),
        ("> ```python\n> if x:\n>     y\n> ```\n", (2, 3), (2, 2)),
        (">```python\n>if x:\n>     y\n>```\n", (2, 3), (1, 2)),
        ("> - a\n>\n>   ~~~ python\n>   if x:\n>       y\n", (4, 5), (4, 4)),
        ("> > ```python\n> > if x:\n> >     y\n\nText\n", (2, 3), (4, 4)),
        ("- > ```python\n  > if x:\n  >     y\n", (2, 3), (4, 4)),
        ("- ```python\n  if x:\n      y\n  ```\n", (2, 3), (2, 2)),
        ("```python\nif x:\n    y\n", (2, 3), (0, 0)),
        ("<details>\n<summary>Code</summary>\n\n```python\nif x:\n    y\n```\n\n</details>\n", (5, 6), (0, 0)),
        ("<details>\n```python\nif x:\n    y\n```\n</details>\n", (3, 4), (0, 0)),
        ("<Tabs>\n  <Tab>\n\n    ```python\n    if x:\n        y\n    ```\n\n  </Tab>\n</Tabs>\n", (5, 6), (4, 4)),
        ("!!! note\n\n    ```python\n    if x:\n        y\n    ```\n\nText\n", (4, 5), (4, 4)),
        ("!!! note\n    ```python\n    if x:\n        y\n    ```\n", (3, 4), (4, 4)),
        ("??? tip\n    === \"A\"\n        ``` py\n        if x:\n            y\n        ```\n", (4, 5), (8, 8)),
        ("=== \"Python\"\n\n    ```python\n    if x:\n        y\n    ```\n", (4, 5), (4, 4)),
        ("[^1]: A note\n\n    ```python\n    if x:\n        y\n    ```\n", (4, 5), (4, 4)),
        (":::tip\n```python\nif x:\n    y\n```\n:::\n", (3, 4), (0, 0)),
        (":::{code-block} python\n:linenos:\n\nif x:\n    y\n:::\n", (4, 5), (0, 0)),
        ("````{tab-set}\n```{tab-item} A\n~~~python\nif x:\n    y\n~~~\n```\n````\n", (4, 5), (0, 0)),
        ("````{note}\n- a\n\n  ```python\n  if x:\n      y\n  ```\n````\n", (5, 6), (2, 2)),
        ("````markdown\nText\n```python\nif x:\n    y\n```\n````\n", (4, 5), (0, 0)),
        ("{% highlight python %}\nif x:\n    y\n{% endhighlight %}\n", (2, 3), (0, 0)),
        ("{% highlight python linenos %}\nif x:\n    y\n{% endhighlight %}\n", (2, 3), (0, 0)),
        ("{% codeblock lang:python %}\nif x:\n    y\n{% endcodeblock %}\n", (2, 3), (0, 0)),
        ("{{< highlight python \"linenos=true\" >}}\nif x:\n    y\n{{< /highlight >}}\n", (2, 3), (0, 0)),
        ("Text\n\n    :::python\n    if x:\n        y\n", (4, 5), (4, 4)),
        ("```python\n    if x:\n        y\n```\n", (2, 3), (4, 4)),
        ("- a\n\n\t```python\n\tif x:\n\t    y\n\t```\n", (4, 5), (1, 1)),
    ],
)  # fmt: skip
def test_where_code_stands(document: str, rows: tuple[int, ...], starts: tuple[int, ...]) -> None:
    block = only(document)
    assert (block.language, block.text, block.rows, block.starts) == ("python", "if x:\n    y\n", rows, starts)
    assert block.fixable


@pytest.mark.parametrize(
    ("document", "language", "code", "fixable"),
    [
        ('<pre lang="python">\ntf.zeros(1)\n</pre>\n', "python", "tf.zeros(1)\n", True),
        ('<pre><code class="language-python">tf.f(\n  1)\n</code></pre>\n', "python", "tf.f(\n  1)\n", True),
        ('<pre class="brush: python">\ntf.zeros(1)</pre>\n', "python", "tf.zeros(1)\n", False),
        ('<pre class="prettyprint lang-bsh">\n<code class="a">pip list</code>\n</pre>\n', "shell", "pip list\n", False),
        ("- <pre>\n  x = tf.zeros(1)\n\n  y\n  </pre>\n", "python", "x = tf.zeros(1)\n\ny\n", True),
    ],
)
def test_preformatted_html(document: str, language: str, code: str, fixable: bool) -> None:
    block = only(document)
    assert (block.language, block.text, block.fixable) == (language, code, fixable)


def test_lines_that_are_indented_less_begin_where_they_begin() -> None:
    block = only("   ```python\n   x = '''\n a\n'''\n   ```\n")
    assert (block.text, block.starts) == ("x = '''\na\n'''\n", (3, 1, 0))


def test_empty_lines_and_those_of_spaces() -> None:
    block = only("> ```python\n> x\n>\n>  \n>   \n> y\n> ```\n")
    assert (block.text, block.starts) == ("x\n\n \n  \ny\n", (2, 1, 2, 2, 2))


def test_a_tab_that_is_half_indentation_is_left_as_it_is() -> None:
    block = only("  ```python\n\tif x:\n  \t    y\n  z\n  ```\n")
    assert not block.fixable


def test_several_blocks_in_their_order() -> None:
    document = """
        ```python
        a
        ```
        - ```sh
          b
          ```

              c
        """
    assert told(read(document)) == [("python", "a\n"), ("shell", "b\n"), ("", "c\n")]


def test_an_indented_fence_below_no_container_that_is_known() -> None:
    assert told(read("Term\n:   Text\n\n    ```python\n    x\n    ```\n")) == [("python", "x\n")]


def test_indented_python_with_a_fence_in_a_string() -> None:
    code = 'def f():\n    """Doc.\n\n    ```\n    x\n    ```\n    """\n    return tf.zeros(1)\n'
    indented = "".join(f"    {line}".rstrip() + "\n" for line in code.splitlines())
    assert told(read(f"Text\n\n{indented}")) == [("python", code)]


def test_front_matter_of_an_hr_is_none() -> None:
    assert told(read("---\n\n```python\nx\n```\n\n---\n")) == [("python", "x\n")]


def test_restructured_text_that_is_shown() -> None:
    assert told(read("```rst\n.. code:: python\n\n   x\n```\n")) == [("python", "x\n")]


def test_restructured_text_within() -> None:
    document = """
        - ```{eval-rst}
          .. note::

             .. code-block:: python

                x
          ```
        """
    block = only(document)
    assert (block.language, block.text, block.rows, block.starts) == ("python", "x\n", (6,), (8,))


# Sessions


def test_an_interactive_session_is_what_was_typed() -> None:
    document = """
        ```pycon
        >>> import tensorflow as tf
        >>> for gpu in gpus:
        ...     print(gpu)
        ...
        PhysicalDevice(name='/physical_device:GPU:0')
        ... more
        >>>
        >>> tf.zeros(1)
        <tf.Tensor>
        ```
        """
    block = only(document)
    assert block.text == "import tensorflow as tf\nfor gpu in gpus:\n    print(gpu)\n\n\ntf.zeros(1)\n"
    assert (block.language, block.rows, block.starts) == ("python", (2, 3, 4, 5, 8, 9), (4, 4, 4, 3, 3, 4))


@pytest.mark.parametrize("info", ["python", "pycon", "", "ipython", "console", "doctest"])
def test_sessions_by_any_name(info: str) -> None:
    assert told(read(f"```{info}\n>>> x = 1\n>>> x\n1\n```\n")) == [("python", "x = 1\nx\n")]


def test_what_raises_on_purpose_is_left_out() -> None:
    document = """
        ```python
        >>> a()
        >>> b(
        ... c)
        Traceback (most recent call last):
          ...
        RuntimeError: no
        >>> d()
        ```
        """
    assert only(document).text == "a()\nd()\n"


def test_a_session_of_ipython() -> None:
    document = """
        ```
        In [1]: for x in y:
           ...:     print(x)
           ...:
        Out[1]: 3
        In [2]: %env A=1
        ```
        """
    block = only(document)
    assert block.text == "for x in y:\n    print(x)\n\n%env A=1\n"
    assert block.starts == (8, 8, 7, 8)


def test_an_example_in_a_string_of_a_program_is_no_session() -> None:
    code = 'def f():\n    pass\n"""\n>>> f()\n"""\n'
    assert told(read(f"```python\n{code}```\n")) == [("python", code)]


@pytest.mark.parametrize(
    ("session", "commands"),
    [
        ("$ pip install x\nCollecting x\n$ python a.py\n", "pip install x\npython a.py\n"),
        ("$ docker run \\\n    -e A=1 \\\n    image\noutput\n", "docker run \\\n    -e A=1 \\\n    image\n"),
        ("$ docker run \\\n> image\noutput\n", "docker run \\\nimage\n"),
        ("(venv) $ pip install x\n", "pip install x\n"),
        ("me@host:~/dir$ nvidia-smi\n+---+\n", "nvidia-smi\n"),
        ("# docker run x\n", "docker run x\n"),
        ("% pip install x\n", "pip install x\n"),
        ("# Install\n$ pip install x\n", "pip install x\n"),
        ("$ cat > .env <<EOF\nA=1\nEOF\n$ b\n", "cat > .env <<EOF\nA=1\nEOF\nb\n"),
        ("pip install x\n", "pip install x\n"),
    ],
)
def test_a_session_of_a_shell_is_what_was_typed(session: str, commands: str) -> None:
    assert told(read(f"```console\n{session}```\n")) == [("shell", commands)]


def test_comments_of_a_shell_are_no_prompts() -> None:
    assert told(read("```bash\n# install it\npip install x\n```\n")) == [("shell", "# install it\npip install x\n")]


# Programs of several blocks


def chains(document: str) -> list[str]:
    return [block.chain for block in read(document)]


def test_cells_of_myst_are_one_program() -> None:
    document = """
        ---
        kernelspec:
          name: python3
        ---
        ```{code-cell} ipython3
        :tags: [hide-input]
        :mystnb:
        :  number_source_lines: true

        a
        ```
        ```python
        b
        ```
        ```{code-cell}
        ---
        tags: [remove-cell]
        ---
        c
        ```
        ```{code-cell}
        :tags: [skip-execution]
        d
        ```
        """
    assert told(read(document)) == [("python", f"{name}\n") for name in "abcd"]
    assert chains(document) == ["cells", "", "cells", ""]


def test_cells_of_another_kernel() -> None:
    assert only("---\nkernelspec:\n  name: ir\n---\n\n```{code-cell}\ntf.x <- 1\n```\n").language == ""


def test_chunks_of_quarto_are_one_program() -> None:
    document = """
        ```{python}
        #| label: a
        a
        ```
        ```{r}
        b
        ```
        ```{python}
        #| eval: false
        c
        ```
        ```{python name, eval=FALSE}
        d
        ```
        ```{python, echo=FALSE}
        e
        ```
        ```{{python}}
        f
        ```
        """
    assert chains(document) == ["chunks", "", "", "", "chunks", ""]


def test_a_notebook_of_jupytext_is_one_program() -> None:
    front = "---\njupyter:\n  jupytext:\n    text_representation:\n      format_name: markdown\n---\n"
    cells = "```python\na\n```\n\n```python .noeval\nb\n```\n\n```python tags=[]\nc\n```\n"
    assert chains(front + cells) == ["cells", "", "cells"]
    assert chains(cells) == ["", "", ""]


# Comments


@pytest.mark.parametrize(
    ("above", "codes"),
    [
        ("<!-- tfmemlint: ignore[TFM101] -->\n", ("TFM101",)),
        ("<!-- tfmemlint: ignore[TFM101, tfm2] -->\n\n", ("TFM101", "TFM2")),
        ("<!-- tfmemlint: ignore -->\n", ("*",)),
        ("<!-- tfmemlint: ignore[TFM101] it shows what goes wrong -->\n", ("TFM101",)),
        ("<!--\ntfmemlint: ignore[TFM101]\nIt shows what goes wrong.\n-->\n", ("TFM101",)),
        ("<!-- tfmemlint: ignore[TFM101] -->\n<!-- prettier-ignore -->\n", ("TFM101",)),
        ("<!-- tfmemlint: ignore[TFM101] -->\n<!-- tfmemlint: ignore[TFM102] -->\n", ("TFM102", "TFM101")),
        ("{/* tfmemlint: ignore */}\n", ("*",)),
        ("<!-- tfmemlint: ignore[TFM101 -->\n", ("TFM101",)),
        ("<!-- tfmemlint: ignore\uff3bTFM101\uff3d -->\n", ("TFM101",)),
        ("<!-- tfmemlint: ignore[ -->\n", ()),
        ("<!-- tfmemlint: ignored -->\n", ()),
        ("% tfmemlint: ignore[TFM101]\n", ("TFM101",)),
        ("[//]: # (tfmemlint: ignore[TFM101])\n", ("TFM101",)),
        ("<!-- tfmemlint: ignore[TFM101] -->\nText\n", ()),
        ("<!-- tfmemlint: ignore[TFM101] -->\n```sh\nx\n```\n", ()),
        ("`<!-- tfmemlint: ignore[TFM101] -->`\n", ()),
        ("tfmemlint: ignore\n", ()),
    ],
)
def test_comments_that_silence_a_block(above: str, codes: tuple[str, ...]) -> None:
    assert read(f"{above}```python\nx\n```\n")[-1].silenced == codes


def test_comments_within_containers() -> None:
    assert only("- a\n\n  <!-- tfmemlint: ignore[TFM1] -->\n  ```python\n  x\n  ```\n").silenced == ("TFM1",)
    assert only("> <!-- tfmemlint: ignore[TFM1] -->\n> ```python\n> x\n> ```\n").silenced == ("TFM1",)
    assert only("<!-- tfmemlint: ignore[TFM1] -->\n\n    import tensorflow\n").silenced == ("TFM1",)


# Any text


@given(texts)
@settings(max_examples=400, deadline=None)
def test_lines_are_where_blocks_say(text: str) -> None:
    check(text, blocks(text))


plain = st.lists(
    st.sampled_from(
        ["```\n", "```py\n", "````\n", "~~~\n", "> ", "- ", "1. ", "  ", "    ", "\t", "a", "\n", "\n\n", "---\n"]
    ),
    max_size=40,
).map("".join)


def bare(code: str) -> str:
    """Code without what nobody sees of it."""
    return "\n".join(line.rstrip() for line in code.split("\n")).rstrip()


@given(plain)
@settings(max_examples=400, deadline=None)
def test_code_is_what_commonmark_says(text: str) -> None:
    """Where nothing of other dialects is in it: a fence that is indented by four is code for CommonMark."""
    parser = MarkdownIt("commonmark")
    tokens = [token for token in parser.parse(text) if token.type in ("fence", "code_block")]
    expected = [bare(token.content) for token in tokens if "```" not in token.content]
    if len(expected) != len(tokens) or "~~~" in "".join(expected):
        return
    found = [bare("\n".join(line.text for line in one.lines)) for one in code_of(text)]
    assert found == expected


@pytest.mark.parametrize(
    "piece",
    [
        "```python\nx\n", "- a\n  - b\n    - c\n", "> a\nb\n", "[a\n", "<div>\n", "<!-- ", "{/* a\n", "::: a\n",
        "{% highlight python %}\n", "!!! a\n", "> {% highlight python %}\n> a\n\n", "\t- x\n", "    ", "````{note}\n",
        "<!-- tfmemlint: ignore -->\n\n", "    ```\n", ":::{code-block} python\n", "$ a \\\n",
    ],
)  # fmt: skip
def test_no_text_takes_long(piece: str) -> None:
    """Time goes up with the length alone: this would take minutes otherwise."""
    text = piece * 3000
    check(text, blocks(text))
