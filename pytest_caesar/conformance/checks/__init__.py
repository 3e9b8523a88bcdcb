"""The checks of the kit by area; each judges what one scenario left behind, by one requirement.

They may use the values of the kit (requirements, scenarios, profile, judgement) and the scenarios
of one agent, and know nothing of pytest.
"""
