"""extract_per_view: items of kind event, fact and attribute from each turn (AutoViewMem)."""

from stages.extract_per_view.stage import ExtractPerView
from stages.extract_per_view.state import ExtractState
from stages.extract_per_view.views import GENERAL, VIEWS

__all__ = ["GENERAL", "VIEWS", "ExtractPerView", "ExtractState"]
