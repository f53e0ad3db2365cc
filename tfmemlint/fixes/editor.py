"""The editor by which a rule rewrites code: find a place in the concrete tree, change it, get the new text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import ClassVar

import libcst as cst

from tfmemlint.fixes.add_imports import ImportAdder
from tfmemlint.fixes.concrete_tree import ConcreteTree, Statement, comments_in, comments_of, tree_of
from tfmemlint.fixes.f_strings import fit_quotes
from tfmemlint.fixes.hoist import Hoist
from tfmemlint.fixes.hoist_out_of_function import plan_move_above_start
from tfmemlint.fixes.import_sorter_guards import (
    E402,
    ENVIRONMENT_SET,
    GPU_MEMORY_CONFIGURED,
    add_guards,
    is_sortable_import,
)
from tfmemlint.fixes.imports import is_import
from tfmemlint.fixes.line_length import usual_length
from tfmemlint.fixes.new_text import text_of
from tfmemlint.fixes.place_finder import PlaceFinder
from tfmemlint.fixes.rewrites import memory_sizes
from tfmemlint.fixes.rewrites.memory_sizes import SIZE_UNKNOWN, TOTAL_UNKNOWN
from tfmemlint.fixes.size_notes import SizeNotes
from tfmemlint.fixes.transformer import Changes, ChangeTransformer
from tfmemlint.fixes.trivia import parse
from tfmemlint.fixes.withheld import Withheld, already_set
from tfmemlint.knowledge.releases import Target
from tfmemlint.model.finding import Applicability, Edit, Finding
from tfmemlint.sources.magics import joined_settings

__all__ = ["Editor", "Statement", "Withheld"]


class Editor(PlaceFinder):
    """One rewrite of one text. Nodes and statements stay valid until `finish` makes all changes at once.

    Attributes:
        module: the concrete tree; it never changes. target: the release that the new code is for.
        gpu_memory_mib: the memory of a GPU in MiB, where the user has told it.
        read_gpu_memory: code may ask NVML for the memory of a GPU, where the user has not.
        line_length: the characters that a new line may have: as the project says, else as the file has them.
        applicability, message, needs: as in `Fix`. edits: the changes, once `finish` has made them.
    """

    Withheld: ClassVar[type[Withheld]] = Withheld
    ENVIRONMENT_SET: ClassVar[tuple[str, str, str]] = ENVIRONMENT_SET

    def __init__(
        self,
        text: str,
        target: Target,
        gpu_memory_mib: float | None = None,
        *,
        read_gpu_memory: bool = False,
        line_length: int | None = None,
        tree: ConcreteTree | None = None,
    ) -> None:
        r"""Parse ``text``, whose line ends are ``\n``, unless its ``tree`` is given.

        Raises:
            Withheld: the concrete parser can't read the text.
        """
        super().__init__(tree or tree_of(text))
        self.text = text
        self.target = target
        self.gpu_memory_mib = gpu_memory_mib
        self.read_gpu_memory = read_gpu_memory
        self.line_length = line_length or usual_length(text, self._tree.quote)
        self.applicability = Applicability.SAFE
        self.message = ""
        self.needs: set[str] = set()
        self.edits: tuple[Edit, ...] | None = None
        self._changes = Changes()
        self._imports_added = ImportAdder(self._tree, self._imports)
        self._put_up = False
        self._forgotten: Counter[str] = Counter()
        self._notes = SizeNotes()
        self._rendered: set[cst.CSTNode] = set()
        self._named: dict[tuple[cst.CSTNode, str], str] = {}

    # Applicability

    def safe(self, message: str) -> None:
        """Mark the rewrite as safe. ``message`` says what it does, as a sentence without a full stop."""
        self.applicability, self.message = Applicability.SAFE, message

    def unsafe(self, message: str) -> None:
        """Mark the rewrite as unsafe: a person should look at it. ``message`` is as in `safe`."""
        self.applicability, self.message = Applicability.UNSAFE, message

    # Changes

    def code(self, node: cst.CSTNode) -> str:
        """Return the text of ``node``, with the changes that were made inside it."""
        transformer = ChangeTransformer(self._changes, self._tree.parents)
        new = node.visit(transformer)
        assert isinstance(new, cst.CSTNode)
        self._rendered |= transformer.done
        return self.module.code_for_node(new)

    def code_before(self, line: cst.CSTNode) -> str:
        """Return the text of a statement as it is in the file."""
        return self._tree.code_of_line(line)

    def replace(self, node: cst.CSTNode, new: str | cst.CSTNode) -> None:
        """Replace ``node`` (an expression, or the value of an argument) by another expression.

        Text gets parentheses where it needs them. Comments that would be lost get a line above the statement.
        """
        text = new if isinstance(new, str) else self.module.code_for_node(new)
        if isinstance(new, str):
            new = cst.parse_expression(fit_quotes(self._tree, node, new).strip())
        statement = self._tree.statement_of(node)
        if isinstance(node, cst.Arg) and isinstance(new, cst.BaseExpression):
            new = node.with_changes(value=new)
        elif isinstance(new, cst.BaseExpression) and isinstance(node, cst.BaseExpression):
            new = self._bracketed(node, new)
        lost = Counter(comments_in(node)) - Counter(comments_in(new))
        if lost:
            self._changes.above.setdefault(statement, []).extend(lost.elements())
        self._changes.replaced[node] = new
        self._attach_notes(statement, text)

    def replace_args(self, call: cst.Call, *args: str) -> None:
        """Replace the arguments of ``call`` by these (``"device"``, ``"enable=True"``)."""
        func = self.code(call.func)
        self.replace(call, f"{func}({', '.join(args)})")

    def remove(self, statement: Statement) -> None:
        """Remove a statement. Its comments stay, on lines of their own."""
        self._changes.removed.add(self._whole(statement))

    drop = remove

    def discard(self, statement: Statement, *, forget: bool = False) -> None:
        """Remove a statement with its comments: they are part of code that is put elsewhere, or, with ``forget``, of
        nothing any more.
        """
        whole = self._whole(statement)
        self._changes.moved.add(whole)
        if forget:
            holder = whole if hasattr(whole, "leading_lines") else self.parent(whole)
            self._forgotten.update(comments_in(holder) if holder is not None else ())

    def keep(self, statement: Statement) -> None:
        """Take back that a statement is removed."""
        whole = self._whole(statement)
        self._changes.moved.discard(whole)
        self._changes.removed.discard(whole)

    def drop_with_what_is_empty(self, statement: Statement) -> None:
        """Remove a statement, and the loops, conditions and handlers around it that would do nothing without it."""
        self.remove(self._tree.emptied_by(self._whole(statement)))

    def insert_before(self, statement: Statement, lines: str, *, apart: bool = False) -> None:
        """Insert new statements above ``statement``, with blank lines around them if ``apart``."""
        whole = self._whole(statement)
        new = parse(self._notes.above(lines))
        if apart:
            self._changes.apart.add(whole)
            if all(line.comment is not None for line in getattr(whole, "leading_lines", ())):
                new[0] = new[0].with_changes(leading_lines=[cst.EmptyLine(indent=False)])
        self._changes.before.setdefault(whole, []).extend(new)

    def set_apart(self, statement: Statement) -> None:
        """Put a blank line above a statement, if there is none."""
        self._changes.spaced.add(self._whole(statement))

    def insert_tidily(self, statement: Statement, lines: str) -> None:
        """Insert new statements above one of the top level, with the blank lines that the file has elsewhere."""
        self._put_up = True
        self.insert_before(statement, lines, apart=True)

    def named_above(self, statement: Statement, value: str, name: str) -> str:
        """Return the variable that has ``value`` at ``statement``.

        It is ``name``, assigned on a line above, or the variable that this rewrite has already assigned there.
        """
        place = self._whole(statement), value
        if place not in self._named:
            self._named[place] = name
            self.insert_before(statement, f"{name} = {value}\n")
        return self._named[place]

    def insert_after(self, statement: Statement, lines: str, *, apart: bool = False) -> None:
        """Insert new statements below ``statement``, with a blank line above them if ``apart``."""
        new = parse(self._notes.above(lines))
        if apart:
            new[0] = new[0].with_changes(leading_lines=[cst.EmptyLine(indent=False)])
        self._changes.after.setdefault(self._whole(statement), []).extend(new)

    def replace_statement(self, statement: Statement, lines: str) -> None:
        """Replace ``statement`` by new statements. Its comments and indentation stay."""
        self._changes.swapped[self._whole(statement)] = self._notes.above_each(parse(lines))
        self._attach_notes(statement, lines)

    def put_in_place(self, lines: str, definition: Statement) -> None:
        """Replace a definition of the top level by new code, with blank lines as they are around that."""
        self._put_up = True
        self.replace_statement(definition, lines)

    def comment(self, place: cst.CSTNode, text: str) -> None:
        """Add a comment at the end of the statement that is ``place`` or contains it (above a compound statement)."""
        note = text if text.startswith("#") else f"# {text}"
        notes = self._changes.trailing.setdefault(self._whole(self._tree.statement_of(place)), [])
        if note not in notes:
            notes.append(note)

    def explain_numbers(self, place: cst.CSTNode, text: str) -> None:
        """Explain the numbers of `mib_of_share` in ``text`` at the statement that contains ``place``.

        It is for text that was put into a node by other means than `replace` with text.
        """
        self._attach_notes(place, text)

    # Moves

    def hoist(self, statements: Sequence[Statement], above: Statement) -> None:
        """Move whole statements, with all that they need, above another statement in the same block or around ``with``
        blocks.

        Raises:
            Withheld: it can't be done, or another thing would come out.
        """
        whole = [self._whole(statement) for statement in statements]
        self._move(Hoist(self._tree, self._imports).plan(whole, self._whole(above)), above)

    def _move(self, moved: Sequence[Statement], above: Statement) -> None:
        # The first of two moves takes along what both need.
        moved = [statement for statement in moved if statement not in self._changes.moved]
        self._changes.moved.update(moved)
        if any(line.comment is None for statement in moved for line in getattr(statement, "leading_lines", ())):
            # A blank line that separated them stays.
            self._changes.apart.add(self._whole(above))
        self._changes.before.setdefault(self._whole(above), []).extend(moved)

    def move_up(self, moved: Sequence[Statement], above: Statement, why: tuple[str, str, str]) -> None:
        """Move statements above another one. If that is an import, comments say ``why`` they are above it."""
        self._move(moved, above)
        if is_sortable_import(above):
            add_guards(self._tree, self._changes, moved, above, why)

    def carry_up(self, moved: Sequence[Statement], above: Statement) -> None:
        """Move statements that new code above ``above`` needs; to be called before `put_up`."""
        if moved:
            self._move(moved, above)

    def put_up(self, lines: str, above: Statement, why: tuple[str, str, str]) -> None:
        """Insert new code above a statement. If that is an import, comments say ``why`` the code is above it."""
        self._put_up = True
        top = self._tree.block_of(above) is self._tree.module
        self.insert_before(above, lines, apart=top)
        if is_sortable_import(above):
            add_guards(self._tree, self._changes, [], above, why, new_code=True)

    def move_above_start(self, finding: Finding, why: tuple[str, str, str] = GPU_MEMORY_CONFIGURED) -> None:
        """Move the configuration of ``finding`` above what starts the runtime (``finding.anchors["start"]``).

        If an import starts it, comments say ``why`` the configuration is above it.

        Raises:
            Withheld: as `hoist`; or the two are in different functions, or more than configuration would move.
        """
        if finding.details.get("before") is not None:
            raise Withheld(already_set(finding))
        if finding.details.get("training"):
            raise Withheld("it is meant to change the memory during training, and no call can")
        moved, above, message = plan_move_above_start(Hoist(self._tree, self._imports), finding)
        self.unsafe(message)
        self._move(moved, above)
        if is_sortable_import(self._tree.statement_at(finding.anchors["start"])):
            add_guards(self._tree, self._changes, moved, above, why)

    # Names

    def tf(self, name: str, at: cst.CSTNode | None = None) -> str:
        """Return the spelling of the canonical name ``tf.config.X`` at ``at`` (by default, where the rule looked last).

        An import is added if the file has none that can be used.
        """
        return self._imports_added.tf(name, at or self._focus, self.target)

    def add_import(self, module: str, name: str | None = None, asname: str | None = None) -> str:
        """Import ``module`` (or ``name`` from it) at the top level if it isn't yet, and return the text to use it
        by.
        """
        return self._imports_added.add(module, name, asname)

    def quoted(self, text: str) -> str:
        """Return ``text``, which has no quotes in it, as a string in the quotes that the file uses."""
        return f"{self._tree.quote}{text}{self._tree.quote}"

    # Memory

    def mib_of_share(self, device_text: str, share_text: str) -> str:
        """Return the code for a share (``0.5``, or any expression) of a device's memory in MiB.

        It is a number if the memory is known, explained by a comment on the statement that gets it. Otherwise it is a
        call of a function that asks NVML, which is added to the file, if the user wants that.

        Raises:
            Withheld: the memory isn't known, and the user did not ask for code that reads it.
        """
        if self.gpu_memory_mib is None:
            return memory_sizes.product(self._memory_read(device_text, SIZE_UNKNOWN), share_text)
        size = memory_sizes.format_mib(self.gpu_memory_mib)
        share = memory_sizes.number(share_text)
        if share is None:
            return memory_sizes.product(size, share_text)
        limit = str(int(self.gpu_memory_mib * share))
        self._notes.add(limit, f"# {share_text.strip()} of {size} MiB")
        return limit

    def total_mib(self, device_text: str) -> str:
        """Return the code for a device's total memory in MiB, in the way of `mib_of_share`."""
        if self.gpu_memory_mib is not None:
            return memory_sizes.format_mib(self.gpu_memory_mib)
        return self._memory_read(device_text, TOTAL_UNKNOWN)

    def _memory_read(self, device_text: str, otherwise: str) -> str:
        """Return the code that asks NVML for a device's memory in MiB.

        Raises:
            Withheld: ``otherwise``, where the user did not ask for it.
        """
        if not self.read_gpu_memory:
            raise Withheld(otherwise)
        self.needs.add("pynvml")
        return f"{self._imports_added.memory_helper()}({device_text.strip()})"

    # Result

    def finish(self) -> str:
        """Make all changes, and return the new text.

        Raises:
            Withheld: two changes conflict, a comment would be lost, or the new code is not valid.
        """
        # A removed import needs no other import above it.
        touched = {node for node in self._changes.nodes() if not is_import(node)}
        self._changes.top = self._imports_added.top_lines(touched)
        for new_import in self._imports_added.sorted_imports:
            new = self._changes.after if new_import.below else self._changes.before
            lines = parse(new_import.text)
            if new_import.apart:
                self._changes.apart.add(new_import.beside)
            elif new_import.beside in self._changes.apart and not new_import.below:
                self._changes.apart.remove(new_import.beside)
                lines[0] = lines[0].with_changes(leading_lines=[cst.EmptyLine(indent=False)])
            new.setdefault(new_import.beside, []).extend(lines)
        self._changes.gap = self._imports_added.blank_lines_below()
        transformer = ChangeTransformer(self._changes, self._tree.parents)
        module = transformer.transform(self.module)
        if self._changes.nodes() - transformer.done - self._rendered:
            raise Withheld("two of its changes concern the same code")
        tidy = bool(self._changes.moved) or self._put_up
        made = text_of(self._tree, module, tidy=tidy, characters=self.line_length)
        text = joined_settings(made.text)
        if _lines_with_comments(self.text) - _lines_with_comments(text):
            after = comments_of(text)
            lost = Counter(comments_of(self.text)) - Counter(after) - self._forgotten
            # A code may have been added to those of a comment.
            kept = "  ".join([*after, *(comment.replace(f", {E402}", "") for comment in after)])
            if any(comment not in kept for comment in lost):
                raise Withheld("a comment would be lost")
        self.edits = made.edits if text == made.text else None
        return text

    def _whole(self, statement: Statement) -> Statement:
        return self._tree.statement_of(statement)

    def _attach_notes(self, place: cst.CSTNode, text: str) -> None:
        """Explain the numbers of `mib_of_share` at the statement that gets them."""
        for note in self._notes.take(text):
            self.comment(place, note)

    def _bracketed(self, old: cst.BaseExpression, new: cst.BaseExpression) -> cst.BaseExpression:
        """Return ``new`` with the parentheses of ``old``, or with new ones if it would be parsed differently
        without.
        """
        if new.lpar:
            return new
        if old.lpar and not isinstance(old, cst.GeneratorExp):
            return new.with_changes(lpar=old.lpar, rpar=old.rpar)
        plain = (cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.SimpleString, cst.FormattedString)
        if isinstance(new, (*plain, cst.List, cst.Dict, cst.Set, cst.Integer, cst.Float, cst.ListComp)):
            return new
        parent = self._tree.parents.get(old)
        alone = isinstance(
            parent, (cst.Arg, cst.Assign, cst.AnnAssign, cst.Expr, cst.Return, cst.Element, cst.While, cst.If)
        )
        if alone and not isinstance(new, (cst.Tuple, cst.NamedExpr, cst.Yield)):
            return new
        if isinstance(parent, cst.BooleanOperation) and isinstance(new, cst.Comparison):
            return new
        if isinstance(parent, (cst.Index, cst.FormattedStringExpression)) and isinstance(new, cst.BinaryOperation):
            return new
        return new.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def _lines_with_comments(text: str) -> Counter[str]:
    """Return the lines that may have a comment: to find the comments themselves takes much longer."""
    return Counter(line.strip() for line in text.strip("\n").split("\n") if "#" in line)
