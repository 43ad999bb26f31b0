"""Every single fault that could be put into a module."""

import ast
import re
from typing import NamedTuple

SWAPPED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr,
}  # fmt: skip
DROPPED = (ast.Expr, ast.Assign, ast.AugAssign, ast.Delete, ast.Raise, ast.Break, ast.Continue)
# What only a reader sees: a wrong word there is no wrong answer. Asserts check our own logic.
LEFT_OUT = (ast.Import, ast.ImportFrom, ast.JoinedStr, ast.Assert)
EMPTY = ("None", "False", "return")
TEXT_FUNCTIONS = ("__repr__", "_repr_html_")
# Sizes of blocks, caches and waits: they decide how fast an answer is, not what it is.
SIZES = re.compile(r"^\(?(MAX|MIN)_|PER_|_(ROWS|BYTES|SECONDS|WIDTH|SIZE|TIMEOUT)$")
TEXT_CALLS = ("warn", "Progress", "progress", "cast", "TypeVar", "overload")


class Fault(NamedTuple):
    """One change of one expression or statement of a source: where, in words, and what it gets."""

    source: bytes
    line: int
    text: str
    span: slice
    after: str
    compiled: bool = False  # in a branch that runs only where kernels are compiled

    @property
    def mutant(self):
        """The source with the fault in it."""
        first, last = self.source[: self.span.start], self.source[self.span.stop :]
        return first + self.after.encode() + last

    @property
    def source_line(self):
        """The line in which the fault begins."""
        return self.source.decode().splitlines()[self.line - 1].strip()


def find_faults(source):
    """Return all faults of a module, given as bytes, in the order of its lines."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    faults, tree = [], ast.parse(source)
    branches = [node for node in ast.walk(tree) if _is_compiled(node)]
    compiled = [range(node.body[0].lineno, node.body[-1].end_lineno + 1) for node in branches]
    for node, text, after in _walk(tree):
        first = starts[node.lineno - 1] + node.col_offset
        last = starts[node.end_lineno - 1] + node.end_col_offset
        inside = any(node.lineno in lines for lines in compiled)
        faults.append(Fault(source, node.lineno, text, slice(first, last), after, inside))
    return faults


def _is_compiled(node):
    return isinstance(node, ast.If) and ast.unparse(node.test) == "COMPILED"


def _walk(node):
    """Yield the node that is replaced, the fault in words, and the new source of the node."""
    if _is_left_out(node):
        return
    yield from _of_expression(node)
    yield from _of_statement(node)
    if isinstance(node, ast.Raise):  # what it says is a message
        return
    for name, value in ast.iter_fields(node):
        if name not in ("annotation", "returns", "decorator_list", "type_params", "bases"):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from _walk(child)


def _is_left_out(node):
    if isinstance(node, ast.If):
        return ast.unparse(node.test).endswith("TYPE_CHECKING")
    if isinstance(node, ast.FunctionDef):
        return node.name in TEXT_FUNCTIONS
    if isinstance(node, ast.Assign):
        name = ast.unparse(node.targets[0])
        return name.startswith("__") or bool(SIZES.search(name))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        return ast.unparse(node.left) == "2"  # a limit, such as 2**31
    if isinstance(node, ast.Call):
        return ast.unparse(node.func).split(".")[-1] in TEXT_CALLS
    return isinstance(node, LEFT_OUT)


def _becomes(node, after):
    """Return a fault that replaces an expression; brackets keep it one."""
    after = ast.parse(after) if isinstance(after, str) else after
    return node, f"{_short(node)} -> {_short(after)}", f"({ast.unparse(after)})"


def _short(node):
    text = " ".join(ast.unparse(node).split())
    return text if len(text) < 80 else text[:77] + "..."


def _of_expression(node):
    if isinstance(node, ast.Compare):
        for position, operator in enumerate(node.ops):
            ops = [*node.ops[:position], SWAPPED[type(operator)](), *node.ops[position + 1 :]]
            yield _becomes(node, ast.Compare(node.left, ops, node.comparators))
    elif isinstance(node, ast.BinOp) and type(node.op) in SWAPPED:
        yield _becomes(node, ast.BinOp(node.left, SWAPPED[type(node.op)](), node.right))
    elif isinstance(node, ast.BoolOp):
        yield _becomes(node, ast.BoolOp(SWAPPED[type(node.op)](), node.values))
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        yield _becomes(node, node.operand)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield _becomes(node, str(not node.value))
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        if node.value + 1 != node.value:  # not so for 1e300
            yield _becomes(node, str(node.value + 1))
    if isinstance(node, ast.If | ast.IfExp):
        yield _becomes(node.test, "True")
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        yield _becomes(node.test, "False")
    for test in node.ifs if isinstance(node, ast.comprehension) else ():
        yield _becomes(test, "True")


def _of_statement(node):
    # None is as false as False.
    if isinstance(node, ast.Return) and ast.unparse(node.value or node) not in EMPTY:
        yield node, f"{_short(node)} -> return None", "return None"
    elif isinstance(node, DROPPED) and not _is_harmless(node):
        yield node, f"{_short(node)} -> dropped", "pass"


def _is_harmless(node):
    """Is it a docstring, or the only value of a name (which breaks the next line)?"""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant | ast.Yield) or _is_left_out(node.value)
    return isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name | ast.Tuple)
