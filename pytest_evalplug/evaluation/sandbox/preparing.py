"""A test as the sandbox takes it: compiled, its checks counted, its free names known."""

from __future__ import annotations

__all__ = ["prepare"]

import ast
import builtins
import sys

from pytest_evalplug.errors import EvalplugError, one_line
from pytest_evalplug.evaluation.sandbox.inside.checker import FILE_NAME
from pytest_evalplug.evaluation.sandbox.inside.job import Test

_CHECK, _SEEN = "evalplug check", "evalplug seen"  # no program text can name these


def prepare(test: str, setup: str = "") -> Test:
    """Compile a test, and the trusted code before it.

    Every ``assert`` of something, every ``if`` and ``try`` that may raise by itself and every call
    of an ``assert...`` function is counted when it is reached. Raises EvalplugError for code that
    doesn't compile: the data are wrong then, no answer is.
    """
    try:
        tree = ast.parse(test, FILE_NAME)
        names = _free_names(tree)
        code = compile(ast.fix_missing_locations(_Counting().visit(tree)), FILE_NAME, "exec")
        before = compile(setup, "<setup>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise EvalplugError(
            f"the test is not Python: {one_line(error)}", where="sandbox", fix="Check the data."
        ) from None
    tools = [n for n in names if n in vars(builtins) or n in sys.stdlib_module_names]
    return Test(setup=before, code=code, names=names, tools=tools, check_names=(_CHECK, _SEEN))


def _free_names(tree: ast.Module) -> list[str]:
    """Return the names that the test reads; of those that it also binds, its own come first."""
    bound = {n.name for n in tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    read = (n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
    return [name for name in dict.fromkeys(read) if name not in bound]


class _Counting(ast.NodeTransformer):
    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.test, ast.Constant):
            node.test = _call(_CHECK, node.test)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name.startswith("assert"):
            node.func = _call(_SEEN, node.func)
        return node

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        return self._counted(node)

    def visit_Try(self, node: ast.Try) -> ast.AST | list[ast.stmt]:
        return self._counted(node)

    def _counted(self, node: ast.stmt) -> ast.AST | list[ast.stmt]:
        raises = any(isinstance(part, ast.Raise) for part in ast.walk(node))
        self.generic_visit(node)
        return [ast.copy_location(ast.Expr(_call(_SEEN)), node), node] if raises else node


def _call(name: str, *arguments: ast.expr) -> ast.Call:
    call = ast.Call(ast.Name(name, ast.Load()), list(arguments), [])
    return ast.copy_location(call, arguments[0]) if arguments else call
