"""What every test starts from: no setting of the user who runs them, least of all their cluster."""

from __future__ import annotations

import os

for _name in [name for name in os.environ if name.startswith("ANABRANCH_") and not name.endswith("_TEST")]:
    del os.environ[_name]
