"""Saved web pages: what they show, and where it stands in the file."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tfmemlint.model.finding import Span
from tfmemlint.sources.documents.page import Page, read


def shown(html: str) -> list[str]:
    return [line for line in read(html).text.split("\n") if line.strip()]


def written(page: Page, html: str, row: int, column: int, length: int) -> str:
    span = page.span(Span(row, column, row, column + length))
    lines = html.split("\n")
    if span.row == span.end_row:
        return lines[span.row - 1][span.column - 1 : span.end_column - 1]
    return "\n".join(
        [
            lines[span.row - 1][span.column - 1 :],
            *lines[span.row : span.end_row - 1],
            lines[span.end_row - 1][: span.end_column - 1],
        ]
    )


def test_what_a_reader_does_not_see_is_not_there() -> None:
    assert shown(
        "<head><style>a{}</style><script>tf.config('<p>')</script></head><!-- no --><body><p>Yes</p>"
        "<button>Copy</button><svg><text>no</text></svg><span aria-hidden='true'>#</span></body>"
    ) == ["Yes"]


def test_entities_and_breaks() -> None:
    assert shown("<p>a &amp; b&nbsp;c<br>d&#39;e <wbr>f&shy;g &lt;x&gt; &bad;</p>") == ["a & b c", "d'e fg <x> &bad;"]


def test_spaces_count_in_code_only() -> None:
    assert shown("<p>a\n   b</p><pre>c\n   d</pre>") == ["a b", "c", "   d"]


def test_headings_lists_and_tables_show_as_such() -> None:
    html = "<h2>Gone</h2><ul><li>a<li>b</ul><table><tr><th>x<th>y</tr><tr><td>1</td><td>2</td></tr></table>"
    assert shown(html) == ["# Gone", "- a", "- b", "x | y", "1 | 2"]


def test_highlighting_and_gutters_are_left_aside() -> None:
    html = (
        '<table><tr><td class="gutter"><pre>1\n2</pre></td><td><pre><span class="k">import</span> tensorflow as tf\n'
        "<span>tf</span>.abs(<i>1</i>)</pre></td></tr></table>"
    )
    page = read(html)
    (block,) = page.blocks
    assert block.text == "import tensorflow as tf\ntf.abs(1)\n"
    assert not block.fixable
    assert page.code == frozenset(block.rows)
    row = block.rows[1]
    assert written(page, html, row, 1, len("tf.abs(1)")) == "<span>tf</span>.abs(<i>1</i>)".removeprefix("<span>")


def test_lines_of_one_row_of_the_file() -> None:
    html = "<pre>import tensorflow as tf<br>tf.abs(&quot;a&quot;)<br></pre>"
    page = read(html)
    (block,) = page.blocks
    assert written(page, html, block.rows[1], 8, 3) == "&quot;a&quot;"


def test_lines_in_elements_of_their_own() -> None:
    html = (
        '<table><tr><td class="blob-num" data-n="1"></td><td class="blob-code">import tensorflow as tf</td></tr>'
        '<tr><td class="blob-num"></td><td class="blob-code">if tf:</td></tr>'
        '<tr><td class="blob-num"></td><td class="blob-code">    tf.abs(1)</td></tr></table>'
    )
    (block,) = read(html).blocks
    assert block.text == "import tensorflow as tf\nif tf:\n    tf.abs(1)\n"


def test_the_language_that_a_page_names() -> None:
    page = read('<div class="highlight-bash"><pre>export TF_GPU_ALLOCATOR=x\n</pre></div>')
    (block,) = page.blocks
    assert (block.language, block.text) == ("shell", "export TF_GPU_ALLOCATOR=x\n")


def test_a_highlighter_that_makes_spaces_of_entities() -> None:
    html = (
        '<div class="syntaxhighlighter"><table><tr><td class="gutter"><div>1</div><div class="line">2</div></td><td'
        ' class="code"><div class="line"><code>for</code> <code>gpu</code> <code>in</code> '
        '<code>tf.config.list_gpus():</code></div><div class="line"><code>&nbsp;&nbsp;&nbsp;&nbsp;</code>'
        "<code>print(gpu)</code></div></td></tr></table></div>"
    )
    (block,) = read(html).blocks
    assert block.text == "for gpu in tf.config.list_gpus():\n    print(gpu)\n"


def test_a_notebook_that_was_exported() -> None:
    html = (
        '<div class="jp-InputPrompt">In&nbsp;[1]:</div><div class="highlight hl-ipython3"><pre><span></span>'
        '<span class="kn">import</span><span class="w"> </span><span class="nn">tensorflow</span>'
        '<span class="w"> </span><span class="k">as</span><span class="w"> </span><span class="nn">tf</span>\n'
        '<span class="n">tf</span>.<span class="n">abs</span>(<span class="mi">1</span>)\n</pre></div>'
    )
    (block,) = read(html).blocks
    assert block.text == "import tensorflow as tf\ntf.abs(1)\n"


PIECES = st.sampled_from(
    [
        *(
            "<p>",
            "</p>",
            "<pre>",
            "</pre>",
            "<br>",
            "<br/>",
            "<b class=x>",
            "</b>",
            "<td>",
            "</table>",
            "<li>",
            "<script>",
        ),
        *("</script>", "<!--", "-->", "&amp;", "&#0;", "&#x110000;", "&bad", "&", "<", ">", "\n", "  ", "\r\n", "\xa0"),
        *(
            "tf.config",
            "import tensorflow as tf\n",
            "x = tf.abs(1)\n",
            '<a href="',
            "'",
            '"',
            "<h1>",
            "</h1>",
            "<1>",
            "\u200b",
        ),
        *('<span class="gutter">', "</span>", "<button>", "<template>", "<td class='blob-code'>", "</td>", "&notit;"),
    ]
)


@settings(max_examples=400, deadline=None)
@given(st.lists(PIECES, max_size=30))
def test_every_character_that_is_shown_comes_from_somewhere(pieces: list[str]) -> None:
    html = "".join(pieces)
    page = read(html)
    lines = html.split("\n")
    last = (1, 1)
    for row, line in enumerate(page.text.split("\n"), 1):
        for column in range(1, len(line) + 2):
            span = page.span(Span(row, column, row, column + 1))
            assert 1 <= span.row <= span.end_row <= len(lines)
            assert 1 <= span.column <= len(lines[span.row - 1]) + 1
            assert (span.row, span.column) >= last
            last = (span.row, span.column)
    for block in page.blocks:
        assert all(1 <= row <= page.text.count("\n") + 1 for row in block.rows)
