"""Lines of a config text: a first word, then ``key=value`` pairs, each of which is read as some type."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from .._errors import error_text

T = TypeVar("T")
Value = TypeVar("Value")
NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
INTEGER: Final = re.compile(r"[+-]?[0-9]+")
REQUIRED: Final[Any] = object()
"""The default of a key that has none."""


class Keys:
    """The pairs of one line. Each getter marks its key as read; ``finish`` raises if there are others."""

    def __init__(self, pairs: Mapping[str, str], subject: str = "") -> None:
        self.pairs = dict(pairs)
        self.subject = subject
        self._read: set[str] = set()

    def __contains__(self, key: str) -> bool:
        return key in self.pairs

    def error(self, expected: str, got: object, advice: str) -> ValueError:
        """The error to raise, with the line and what it declares in front."""
        where = f"from_config: {self.subject}" if self.subject else "from_config"
        return ValueError(error_text(expected, got, advice, op=where))

    def without(self, *names: str) -> "Keys":
        """The other keys, of the same subject."""
        return Keys({key: value for key, value in self.pairs.items() if key not in names}, self.subject)

    def text(self, key: str, default: T = REQUIRED) -> str | T:
        """The value as written."""
        return self._get(key, default, str, "a value")

    def integer(self, key: str, default: T = REQUIRED, *, at_least: int | None = None) -> int | T:
        """A whole number written without point or exponent."""
        value = self._get(key, default, _integer, "an integer")
        if at_least is not None and isinstance(value, int) and key in self.pairs and value < at_least:
            raise self.error(f"{key} >= {at_least}", f"{key}={value}", f"Give {key}={at_least} or more.")
        return value

    def real(self, key: str, default: T = REQUIRED) -> float | T:
        """A number."""
        return self._get(key, default, float, "a number")

    def boolean(self, key: str, default: T = REQUIRED) -> bool | T:
        """True or false; only the first letter counts."""
        return self._get(key, default, _boolean, "true or false")

    def integers(self, key: str, default: T = REQUIRED, *, separators: str = ":,") -> tuple[int, ...] | T:
        """Whole numbers between separators."""

        def numbers(value: str) -> tuple[int, ...]:
            return tuple(_integer(item) for item in re.split(f"[{separators}]", value))

        return self._get(key, default, numbers, f"integers separated by one of {separators!r}")

    def finish(self) -> None:
        """Raise if there are keys that nothing has read."""
        unused = [f"{key}={value}" for key, value in self.pairs.items() if key not in self._read]
        if unused:
            read = ", ".join(sorted(self._read)) or "none"
            raise self.error("keys that mean something here", ", ".join(unused), f"Keys read: {read}.")

    def _get(self, key: str, default: T, convert: Callable[[str], Value], what: str) -> Value | T:
        self._read.add(key)
        if key not in self.pairs:
            if default is REQUIRED:
                raise self.error(f"a key {key!r}", f"keys {sorted(self.pairs)}", f"Add {key}=... to the line.")
            return default
        try:
            return convert(self.pairs[key])
        except ValueError:
            got = f"{key}={self.pairs[key]}"
            raise self.error(f"{what} for {key!r}", got, f"Write {key} as {what}.") from None


@dataclass(frozen=True)
class Line:
    """One item of a config: its line number from 1, its first word and its pairs."""

    number: int
    kind: str
    keys: Keys


def parse_lines(text: str) -> Iterator[Line]:
    """The lines of a config that are not blank; ``#`` starts a comment, even inside quotes."""
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.split("#", 1)[0].strip()
        if line:
            kind, rest = _first_word(line)
            yield Line(number, kind, parse_pairs(rest, f"line {number}"))


def parse_pairs(text: str, subject: str = "") -> Keys:
    """``key=value`` pairs. A value in quotes ends at the quote, any other at the last blank before the next ``=``.

    >>> parse_pairs("name=a input=Offset(b, -1) dim=3").pairs
    {'name': 'a', 'input': 'Offset(b, -1)', 'dim': '3'}
    """
    keys = Keys({}, subject)
    rest = text.strip()
    while rest:
        key, equals, after = rest.partition("=")
        if not equals or not NAME.fullmatch(key):
            raise keys.error(
                "pairs key=value", repr(text), f"Write {rest!r} as a name, =, a value, no blanks around =."
            )
        if after[:1] in ("'", '"'):
            value, closed, rest = after[1:].partition(after[0])
            if not closed or (rest and not rest[0].isspace()):
                raise keys.error(f"a value in quotes for {key!r}", repr(after), "Close the quote before a blank.")
        else:
            value, rest = _unquoted(after)
            if value != value.lstrip():
                raise keys.error(f"a value right after {key}=", repr(value), "Write no blanks around =.")
        keys.pairs.setdefault(key, value.strip())
        rest = rest.lstrip()
    return keys


def _unquoted(text: str) -> tuple[str, str]:
    end = text.find("=")
    if end < 0:
        return text, ""
    cut = max(text.rfind(blank, 0, end) for blank in " \t")
    return (text[:cut], text[cut + 1 :]) if cut >= 0 else (text[:0], text)


def _first_word(line: str) -> tuple[str, str]:
    word, *rest = line.split(None, 1)
    return ("", line) if "=" in word else (word, rest[0] if rest else "")


def _integer(value: str) -> int:
    if not INTEGER.fullmatch(value.strip()):
        raise ValueError(value)
    return int(value)


def _boolean(value: str) -> bool:
    if value[:1] not in ("t", "T", "f", "F"):
        raise ValueError(value)
    return value[0] in "tT"
