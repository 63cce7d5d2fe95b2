"""The gate: what enters the record as text, and what leaves the process, has its secrets masked here.

Beside what a secret's name or look gives away, it masks the values that are known to be secret (those of the
process's environment and of the plan's recipes), wherever they turn up. The values stay in the process.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, partial
from typing import Any, TypeVar
from urllib.parse import quote

from pydantic import BaseModel

from optrack.model.judgement import Difference
from optrack.model.metrics import Sample
from optrack.model.plan import Plan
from optrack.model.secrets.formats import has_known_format
from optrack.model.secrets.masking import MASK, looks_secret, masked, scan_data, scan_text
from optrack.model.secrets.names import is_plain, looks_random, telling_name
from optrack.model.snapshot import Snapshot

T = TypeVar("T")

_LEAST = 6
_WITHIN_WORDS = 10
_COMMON = frozenset(
    """password passwd secret secrets changeme change-me default example examples localhost postgres postgresql
    mysql mariadb redis mongodb rabbitmq admin administrator guest public private server client sglang pytorch
    python nvidia tensor cluster system service basic bearer digest string number object unknown enabled disabled
    required optional testing tester development production staging token tokens api-key api_key apikey empty EMPTY
    baseline candidate output input memory docker ubuntu runner worker master session cookie strict secure""".split()
)
_FIXED = frozenset(
    "id run item plan parent needs name path baseline candidate digest recipe_digest plan_digest fingerprint kind "
    "outcome stage status role verdict comparison host actor unit".split()
)
"""Fields that name things: the record's keys, and words of a closed list."""


def known_secrets(environment: Mapping[str, str], plan: Plan | None = None) -> frozenset[str]:
    """Return the values that are secret by their variable's or argument's name, in an environment and a plan."""
    found: set[str] = set()
    for name, value in environment.items():
        if not looks_secret(name, value):
            scan_text(value, partial(_add, found))
        elif telling_name(name) or looks_random(value) or has_known_format(value):
            found.add(value)
    layers = (plan.recipe, *(item.recipe for item in plan.items)) if plan is not None else ()
    for layer in layers:
        if layer is not None:
            scan_data(layer.data, partial(_add, found))
    return frozenset(filter(_worth_looking_for, found))


def _add(found: set[str], value: str) -> str:
    found.add(value)
    return value


def _worth_looking_for(value: str) -> bool:
    """Whether a value is long and uncommon enough not to stand in text for another reason."""
    plain = is_plain(value) and not (value.isdigit() and len(value) >= 8)
    return len(value) >= _LEAST and value.lower() not in _COMMON and not plain and not MASK.search(value)


class Gate:
    """Masks text, plain data and values; `salt` and `known` are asked for when they are first needed."""

    def __init__(self, salt: Callable[[], bytes], known: Callable[[], Iterable[str]] = tuple) -> None:
        self._salt = salt
        self._known = known

    @cached_property
    def _key(self) -> bytes:
        return self._salt()

    @cached_property
    def _values(self) -> tuple[tuple[str, str], ...]:
        """The texts to look for, longest first, each with the value that it stands for."""
        found: dict[str, str] = {}
        for value in self._known():
            lines = [line for line in value.split("\n") if len(line) >= _LEAST] if "\n" in value else []
            for form in (value, json.dumps(value)[1:-1], quote(value, safe="", errors="replace"), *lines):
                found.setdefault(form, value)
        return tuple(sorted(found.items(), key=lambda pair: -len(pair[0])))

    def _put(self, value: str) -> str:
        return masked(value, self._key)

    def known(self, text: str) -> str:
        """Return text with only the values that are known to be secret masked."""
        for form, value in self._values:
            if form in text:
                text = _replaced(text, form, self._put(value))
        return text

    def text(self, text: str) -> str:
        """Return text with its secrets masked."""
        return scan_text(self.known(text), self._put)

    def data(self, data: Any, name: str = "") -> Any:
        """Return nested plain data with its secrets masked, by the key that each value stands under."""
        return scan_data(self._known_in(data) if self._values else data, self._put, name)

    def value(self, value: T) -> T:
        """Return a core value with the secrets in all its texts and data masked; captured snapshots are already."""
        done: Any = self._of(value)
        result: T = done
        return result

    def _known_in(self, data: Any) -> Any:
        if isinstance(data, str):
            return self.known(data)
        if isinstance(data, Mapping):
            return {key: self._known_in(value) for key, value in data.items()}
        return type(data)(map(self._known_in, data)) if isinstance(data, (list, tuple)) else data

    def _of(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Snapshot) or (isinstance(value, Sample) and value.invalid is None):
            return value
        if isinstance(value, Difference):
            return self._difference(value)
        if isinstance(value, BaseModel):
            return self._model(value)
        if isinstance(value, Mapping):
            return {key: self._under(str(key), inner) for key, inner in value.items()}
        if type(value) in (list, tuple):
            return type(value)(map(self._of, value))
        return value

    def _under(self, key: str, value: Any) -> Any:
        holds_models = isinstance(value, (list, tuple)) and any(isinstance(v, BaseModel) for v in value)
        return self._of(value) if isinstance(value, BaseModel) or holds_models else self.data(value, key)

    def _model(self, model: BaseModel) -> BaseModel:
        changed = {}
        for field in type(model).model_fields:
            before = getattr(model, field)
            if field in _FIXED and not isinstance(before, (BaseModel, tuple)):
                continue
            after = self._of(before)
            if after is not before and after != before:
                changed[field] = after
        if not changed:
            return model
        copy = model.model_copy(update=changed)
        for derived in set(copy.__dict__) - set(type(model).model_fields):
            del copy.__dict__[derived]
        return copy

    def _difference(self, found: Difference) -> Difference:
        leaf = found.field
        before, after = self.data(found.baseline, leaf), self.data(found.candidate, leaf)
        meaning = found.meaning
        for plain, hidden in ((found.baseline, before), (found.candidate, after)):
            if isinstance(plain, str) and plain != hidden:
                meaning = meaning.replace(plain, hidden)
        update = {"baseline": before, "candidate": after, "meaning": self.text(meaning)}
        return found.model_copy(update=update)


def _replaced(text: str, form: str, mask: str) -> str:
    """Replace a value; a short word only where it stands by itself."""
    if len(form) >= _WITHIN_WORDS or not form.isalnum():
        return text.replace(form, mask)
    return re.sub(rf"(?<![A-Za-z0-9]){re.escape(form)}(?![A-Za-z0-9])", mask, text)
