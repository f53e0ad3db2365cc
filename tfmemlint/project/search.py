"""The file that a module is, by the rules by which Python finds it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping

from tfmemlint.project.listing import Listing, Listings

_LOADED = frozenset(sys.builtin_module_names) | {
    "__main__", "_collections_abc", "_sitebuiltins", "abc", "codecs", "encodings", "genericpath", "importlib", "io",
    "ntpath", "os", "posixpath", "runpy", "site", "stat", "zipimport",
}  # fmt: skip
"""Modules that are loaded, or frozen into Python, before the first line of a program: no file can take their place.
Source: `sys.modules` of ``python -I -c``, and `_imp._frozen_module_names`."""

_INSTALLED = frozenset(sys.stdlib_module_names) | {
    "PIL", "absl", "attr", "bs4", "cv2", "datasets", "diffusers", "flask", "flax", "gym", "gymnasium", "h5py",
    "horovod", "jax", "jaxlib", "keras", "keras_cv", "keras_nlp", "keras_tuner", "librosa", "lightgbm", "matplotlib",
    "nltk", "numpy", "onnx", "pandas", "pip", "pkg_resources", "psutil", "pynvml", "pytest", "ray", "requests", "scipy",
    "seaborn", "setuptools", "six", "skimage", "sklearn", "spacy", "tensorboard", "tensorflow", "tensorflow_addons",
    "tensorflow_datasets", "tensorflow_hub", "tensorflow_probability", "tensorflow_text", "tensorrt", "tf_keras",
    "tf_slim", "torch", "torchvision", "tqdm", "transformers", "tree", "trax", "wandb", "wrapt", "xgboost", "yaml",
}  # fmt: skip
"""Regular packages that stand behind the project's directories: a directory without ``__init__.py`` loses to them."""


def is_installed(module: str) -> bool:
    """True if a module is of the standard library, or of a package that projects install and do not bring."""
    return module.partition(".")[0] in _INSTALLED


_DEEPEST = 3
_LONGEST = 64


class Located:
    """A module of the project.

    Attributes:
        name: absolute. path: its file, a package's ``__init__.py``; None for a directory without one.
    """

    __slots__ = ("is_package", "name", "path")

    def __init__(self, name: str, path: str | None, is_package: bool) -> None:
        self.name = name
        self.path = path
        self.is_package = is_package

    def __repr__(self) -> str:
        return f"Located({self.name!r}, {self.path!r}, {self.is_package!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Located):
            return NotImplemented
        return (self.name, self.path, self.is_package) == (other.name, other.path, other.is_package)

    def __hash__(self) -> int:
        return hash((self.name, self.path, self.is_package))


class _Found:
    """``places``: where a package's modules are."""

    __slots__ = ("path", "places")

    def __init__(self, path: str | None, places: tuple[str, ...]) -> None:
        self.path = path
        self.places = places

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Found) and (self.path, self.places) == (other.path, other.places)

    def __hash__(self) -> int:
        return hash((self.path, self.places))


_UNKNOWN = _Found(None, ())
"""Something is there, or may be, of which nothing is known."""


class SearchPath:
    """The directories in which Python looks for the modules of a program, in order.

    ``ambiguous``: the program may also be run without the first directory; a name for which that makes a difference is
    not located. ``only``: directories that aren't the project's own, each with the one package in it that is.
    """

    def __init__(
        self,
        directories: tuple[str, ...],
        *,
        ambiguous: bool = False,
        only: Mapping[str, str] | None = None,
        listings: Listings | None = None,
    ) -> None:
        self.directories = directories
        self.ambiguous = ambiguous
        self._only = {place: Listing([name]) for place, name in only.items()} if only else {}
        self._listings = listings if listings is not None else Listings()
        self._known: dict[str, _Found | None] = {}
        self._located: dict[str, Located | None] = {}

    @property
    def about(self) -> tuple[object, ...]:
        """All that the answers depend on besides what stands in directories, in an order that is always the same."""
        only = sorted((place, sorted(listing.directories)) for place, listing in self._only.items())
        return self.directories, self.ambiguous, only

    def certain(self) -> SearchPath:
        """The same, taking it for granted that the first directory is searched."""
        places = tuple(dict.fromkeys(self.directories))
        path = SearchPath(places, listings=self._listings)
        path._only = self._only
        return path

    def locate(self, name: str) -> Located | None:
        """The module of an absolute dotted name; None if it isn't the project's, or it can't be known which it is."""
        if name in self._located:
            return self._located[name]
        found = self._find(name)
        located = None if found is None or found is _UNKNOWN else Located(name, found.path, bool(found.places))
        self._located[name] = located
        return located

    def would_hide(self, directory: str) -> bool:
        """True if a directory, searched before all others, has another module of a name that is found without it."""
        listing = self._listings.of(directory)
        if not listing.known or listing.compiled:
            return True
        names = listing.directories | {name.removesuffix(".py") for name in listing.files if name.endswith(".py")}
        for name in sorted(names):
            without, here = self._find(name), self._in((directory,), name)
            if here is not None and without is not None and here != without and not self._is_empty(here):
                return True
        return False

    def _find(self, name: str) -> _Found | None:
        if name in self._known:
            return self._known[name]
        if name.count(".") > _LONGEST:
            return None
        found: _Found | None = None
        known = ""
        for last in name.split("."):
            places = self.directories if not known else found.places if found is not None else ()
            known = f"{known}.{last}" if known else last
            if known in self._known:
                found = self._known[known]
            else:
                found = self._known[known] = self._look(last, places, known) if last.isidentifier() else None
            if found is None or not found.places:
                break
        if known != name:
            found = self._known[name] = None
        return found

    def _look(self, last: str, places: tuple[str, ...], name: str) -> _Found | None:
        if last != name:
            found = self._in(places, last)
            return None if found is not None and self._is_empty(found) else found
        if name in _LOADED:
            return None
        found = self._in(places, name)
        if found is not None and found.path is None and found.places and (name in _INSTALLED or self._is_empty(found)):
            found = None
        if self.ambiguous and found is not None:
            other = self._in(places[1:], name)
            if other != found and (other is not None or name in _INSTALLED):
                return None
        return found

    def _in(self, places: tuple[str, ...], last: str) -> _Found | None:
        """The module of this name in the first directory that has one; else all directories of this name."""
        portions: list[str] = []
        for place in places:
            listing = self._only.get(place) or self._listings.of(place)
            if not listing.known:
                return _UNKNOWN
            if last in listing.directories:
                inside = os.path.join(place, last)
                files = self._listings.of(inside)
                if "__init__" in files.compiled:
                    return _UNKNOWN
                if "__init__.py" in files.files:
                    return _Found(os.path.join(inside, "__init__.py"), (inside,))
                portions.append(inside)
            if last in listing.compiled:
                return _UNKNOWN
            if f"{last}.py" in listing.files:
                return _Found(os.path.join(place, f"{last}.py"), ())
        return _Found(None, tuple(dict.fromkeys(portions))) if portions else None

    def _is_empty(self, found: _Found) -> bool:
        """Return True if a directory without ``__init__.py`` holds no code: such a thing isn't meant to be imported."""
        if found.path is not None or not found.places:
            return False
        return not any(self._listings.holds_python(place, _DEEPEST) for place in found.places)


def locate_relative(package: str, level: int, module: str) -> str | None:
    """The absolute name of what ``package`` imports with ``level`` dots; None beyond the top, as
    `importlib._bootstrap._resolve_name` has it."""
    if level == 0:
        return module or None
    parents = package.rsplit(".", level - 1)
    if not package or len(parents) < level:
        return None
    return f"{parents[0]}.{module}" if module else parents[0]


def prefixes(name: str) -> Iterator[str]:
    """Yield ``a``, ``a.b``, ``a.b.c``."""
    parts = name.split(".")
    for count in range(1, len(parts) + 1):
        yield ".".join(parts[:count])
