"""A language model on vLLM by Ray Serve's own deployment; needs the extra ``llm``, which has an image of its own."""

from __future__ import annotations

from typing import Any, Final

from infra.errors import ModelMissing
from infra.models.serving.config import LanguagePart

_EXTRA: Final = "pip install 'anabranch[llm]' into an environment of its own: vLLM pins its own torch"


def language_application(part: LanguagePart) -> Any:  # noqa: ANN401 - Ray's, absent without it
    """Return the application: OpenAI-compatible, with its own ``/v1`` below the prefix that it is served at.

    Raises:
        ModelMissing: if vLLM, or what Ray needs for it, is not installed.
    """
    try:
        from ray.serve.llm import LLMConfig, build_openai_app  # noqa: PLC0415 - an extra that few have
    except ImportError as error:
        reason = f"{error.name} is not installed"
        raise ModelMissing(part.model, reason, _EXTRA) from error
    return build_openai_app({"llm_configs": [LLMConfig(**part.llm_config)]})
