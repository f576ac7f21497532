"""How much property tests try: little each time, much with ``HYPOTHESIS_PROFILE=thorough``.

``tests/properties/conftest.py`` registers both profiles; none is loaded for the whole run, since other tests set their
own.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, settings

QUICK, THOROUGH = "quick", "thorough"
_PHASES = (Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink)
"""Without ``explain``: it traces every line of runs that are long enough as they are."""

_TIMES = 25
"""Examples of the thorough profile for one of the quick one: some minutes for the folder."""


def register() -> None:
    """Register the profiles: ``quick`` tries the same examples each time, ``thorough`` draws new ones."""
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large]
    common = settings(deadline=None, phases=_PHASES, suppress_health_check=slow)
    settings.register_profile(QUICK, common, derandomize=True)
    settings.register_profile(THOROUGH, common, print_blob=True)


def chosen() -> str:
    """Return the name of the profile that the environment asks for."""
    return os.environ.get("HYPOTHESIS_PROFILE", QUICK)


def effort(examples: int, steps: int = 12) -> settings:
    """Return the settings of a test that tries ``examples`` in the quick profile; ``steps`` are those of a machine."""
    return settings(settings.get_profile(chosen()), max_examples=examples * _times(), stateful_step_count=steps)


def strides(step: int) -> int:
    """Return how far apart the places are at which something is tried: ``step`` in the quick profile."""
    return max(1, step // _times())


def _times() -> int:
    return _TIMES if chosen() == THOROUGH else 1
