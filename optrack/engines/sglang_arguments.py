"""The server arguments and variables that the installed SGLang knows, read without importing it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from optrack.engines.protocol import Arguments, flag
from optrack.judge.applied import ALIASES
from optrack.model.text import nearest
from optrack.model.value import Frozen


class Option(Frozen):
    """One server argument: its field in SGLang's ServerArgs, its spellings, its choices if listed."""

    field: str
    names: tuple[str, ...]
    choices: tuple[str, ...] = ()


class Known(Frozen):
    """What one installation of SGLang accepts; both are empty where its sources couldn't be read."""

    options: tuple[Option, ...] = ()
    variables: tuple[str, ...] = ()
    package: Path | None = None

    def option(self, name: str) -> Option | None:
        """Return the option of this spelling, or the only one it abbreviates as argparse allows."""
        wanted = flag(name)
        exact = next((option for option in self.options if wanted in option.names), None)
        if exact is not None:
            return exact
        begun = [option for option in self.options if any(n.startswith(wanted) for n in option.names)]
        return begun[0] if len(begun) == 1 else None


@lru_cache(maxsize=4)
def known_to(package: Path | None) -> Known:
    """Return what the SGLang in folder `package` accepts, from server_args.py, arg_groups/ and environ.py."""
    if package is None:
        return Known()
    sources = [package / "srt" / "server_args.py", *sorted((package / "srt" / "arg_groups").rglob("*.py"))]
    trees = [tree for tree in map(_parsed, sources) if tree is not None]
    lists = {name: values for tree in trees for name, values in _lists(tree)}
    options: dict[str, Option] = {}
    for tree in trees:
        for option in _options(tree, lists):
            before = options.get(option.field)
            names = tuple(dict.fromkeys((*(before.names if before else ()), *option.names)))
            options[option.field] = option.model_copy(update={"names": names})
    variables = _variables(package / "srt" / "environ.py")
    return Known(options=tuple(options.values()), variables=variables, package=package)


def canonical(arguments: Arguments, known: Known | None = None) -> dict[str, str]:
    """Return the field of ServerArgs that each argument sets, `{"tp": "tp_size"}`; else its own name."""
    found = {}
    for name in arguments:
        option = known.option(name) if known else None
        plain = option.field if option else name.lstrip("-").replace("-", "_")
        found[name] = ALIASES.get(plain, plain)
    return found


def problems(arguments: Arguments, env: Mapping[str, str | None], known: Known) -> tuple[str, ...]:
    """Return what is probably not meant: unknown or repeated arguments, bad values, unknown variables."""
    return (
        *_repeated(arguments, known),
        *_unknown(arguments, known),
        *_bad_choices(arguments, known),
        *_unknown_variables(env, known),
    )


def _repeated(arguments: Arguments, known: Known) -> Iterator[str]:
    fields = canonical(arguments, known)
    for field in dict.fromkeys(fields.values()):
        spellings = [name for name, of in fields.items() if of == field]
        if len(spellings) > 1:
            yield f"server arguments {' and '.join(spellings)} are the same one: {flag(field)}"


def _unknown(arguments: Arguments, known: Known) -> Iterator[str]:
    names = [name for option in known.options for name in option.names]
    for name in arguments if names else ():
        if known.option(name) is None:
            near = nearest(flag(name), names, cutoff=0.6)
            hint = f"; did you mean '{near.lstrip('-')}'?" if near else ""
            yield f"the installed SGLang has no server argument '{name}'{hint}"


def _bad_choices(arguments: Arguments, known: Known) -> Iterator[str]:
    for name, value in arguments.items():
        option = known.option(name)
        if option and option.choices and isinstance(value, str) and value not in option.choices:
            near = nearest(value, option.choices, cutoff=0.5)
            hint = f"; did you mean '{near}'?" if near else f" (choices: {', '.join(option.choices)})"
            yield f"server argument '{name}' can't be '{value}'{hint}"


def _unknown_variables(env: Mapping[str, str | None], known: Known) -> Iterator[str]:
    for name in env if known.variables else ():
        plain = name.replace("SGL_", "SGLANG_", 1) if name.startswith("SGL_") else name
        if not plain.startswith("SGLANG_") or plain in known.variables:
            continue
        if not _mentioned(plain, known.package):
            near = nearest(plain, known.variables, cutoff=0.8)
            hint = f"; did you mean '{near}'?" if near else ""
            yield f"the installed SGLang doesn't read {name}, and ignores it silently{hint}"


def _mentioned(variable: str, package: Path | None) -> bool:
    """Whether any source of the package has the variable's name: not all of them are in environ.py."""
    name = re.compile(rb"\b" + variable.encode() + rb"\b")
    for source in sorted(package.rglob("*.py")) if package is not None else ():
        try:
            if name.search(source.read_bytes()):
                return True
        except OSError:
            continue
    return False


def _parsed(path: Path) -> ast.Module | None:
    try:
        return ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return None


def _lists(tree: ast.Module) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the lists of texts that a module defines by name, from which choices are taken."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            listed = _literal(node.value)
            if isinstance(listed, list | tuple) and listed and all(isinstance(x, str) for x in listed):
                yield node.targets[0].id, tuple(listed)


def _options(tree: ast.Module, lists: Mapping[str, tuple[str, ...]]) -> Iterator[Option]:
    """Yield the options that a module registers: annotated fields, and calls of add_argument."""
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            option = _from_field(node.target.id, node.annotation, lists)
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "add_argument":
            option = _from_call(node, lists)
        else:
            continue
        if option is not None:
            yield option


def _from_field(name: str, annotation: ast.expr, lists: Mapping[str, tuple[str, ...]]) -> Option | None:
    """Return the option of a field `name: A[T, "help"]` or `A[T, Arg(...)]`, or None for any other field."""
    if not (
        isinstance(annotation, ast.Subscript) and getattr(annotation.value, "id", "") in ("A", "Annotated")
    ):
        return None
    parts = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else []
    call = next((part for part in parts[1:] if isinstance(part, ast.Call)), None)
    keywords = {k.arg: k.value for k in call.keywords} if call is not None else {}
    if getattr(getattr(call, "func", None), "id", "Arg") != "Arg" or _literal(keywords.get("no_cli")) is True:
        return None
    cli_name = _literal(keywords.get("cli_name"))
    aliases = _literal(keywords.get("aliases"))
    names = [
        cli_name if isinstance(cli_name, str) else flag(name),
        *(aliases if isinstance(aliases, list) else []),
    ]
    choices = _choices(keywords.get("choices"), lists) or (_literal_type(parts[0]) if parts else ())
    return Option(field=name, names=tuple(names), choices=choices)


def _literal_type(annotation: ast.expr) -> tuple[str, ...]:
    """Return the values of a `Literal[...]` type, which are its choices."""
    for node in ast.walk(annotation):
        if isinstance(node, ast.Subscript) and getattr(node.value, "id", "") == "Literal":
            value = _literal(node.slice)
            return tuple(map(str, value)) if isinstance(value, tuple) else (str(value),)
    return ()


def _from_call(call: ast.Call, lists: Mapping[str, tuple[str, ...]]) -> Option | None:
    texts = [value for value in map(_literal, call.args) if isinstance(value, str)]
    names = [text for text in texts if text.startswith("--")]
    if not names:
        return None
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    dest = _literal(keywords.get("dest"))
    field = dest if isinstance(dest, str) else names[0].lstrip("-").replace("-", "_")
    return Option(field=field, names=tuple(names), choices=_choices(keywords.get("choices"), lists))


def _choices(node: ast.expr | None, lists: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    if isinstance(node, ast.Name):
        return lists.get(node.id, ())
    listed = _literal(node)
    return tuple(map(str, listed)) if isinstance(listed, list | tuple) else ()


def _literal(node: ast.expr | None) -> object:
    try:
        return ast.literal_eval(node) if node is not None else None
    except (ValueError, TypeError, SyntaxError):
        return None


def _variables(path: Path) -> tuple[str, ...]:
    """Return the variables of class Envs: `SGLANG_X = EnvBool(False)`."""
    tree = _parsed(path)
    found = []
    for node in ast.walk(tree) if tree else ():
        targets = node.targets if isinstance(node, ast.Assign) else []
        found += [t.id for t in targets if isinstance(t, ast.Name) and t.id.startswith(("SGLANG_", "SGL_"))]
    return tuple(dict.fromkeys(found))
