"""Settings for property tests whose outcome does not depend on how fast the machine is."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

STEADY = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
FEWER = settings(STEADY, max_examples=50)
"""The same, for examples that are costly to make."""
