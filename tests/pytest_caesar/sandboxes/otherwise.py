"""What cannot be the same in a sandbox, by the name of the test and with the reason.

``make test-sandbox`` runs the tests of hostile agents in bubblewrap, but for these.
"""

from __future__ import annotations

ACTS_ON_OTHERS = "its agent acts on processes outside, which it does not see in a sandbox"
REACHES_IN = "it reaches into the monitor, which is another process inside"
BY_NUMBER = "it looks for processes by the numbers that they have outside"
CANNOT_BE_MOVED = "its agent puts another folder in the place of one that is mounted inside"
IS_CLOSED = "its agent writes what is closed inside, or has the network where it is closed"
IN_THIS_PROCESS = "its agent is in this process, where no sandbox can be"
BEFORE_THE_TRAP = "its agent is ended before it comes to set its trap, which starts later inside"

OTHERWISE_INSIDE = {
    "test_an_agent_that_cannot_be_killed_is_told": REACHES_IN,
    "test_what_is_left_and_cannot_be_killed_is_told": REACHES_IN,
    "test_a_monitor_that_breaks_leaves_nobody": REACHES_IN,
    "test_what_a_monitor_cannot_see_any_more_is_ended_all_the_same": REACHES_IN,
    "test_a_monitor_that_is_stopped_again_and_again_is_given_up": ACTS_ON_OTHERS,
    "test_a_daemon_that_left_its_session_is_found_and_ended": BY_NUMBER,
    "test_a_daemon_is_found_by_its_environment": BY_NUMBER,
    "test_a_cancelled_run_stays_cancelled_whatever_the_agent_says": BEFORE_THE_TRAP,
    "test_killing_its_parent_gains_an_agent_nothing": ACTS_ON_OTHERS,
    "test_a_run_that_was_cancelled_stays_so_where_its_parent_was_killed": ACTS_ON_OTHERS,
    "test_killing_the_reaper_too_leaves_the_next_run_unharmed": ACTS_ON_OTHERS,
    "test_stopping_its_parent_gains_an_agent_nothing": ACTS_ON_OTHERS,
    "test_an_agent_that_delegates_is_ended_with_its_own_agents": BY_NUMBER,
    "test_an_agent_that_takes_its_folder_away_is_no_trouble": CANNOT_BE_MOVED,
    "test_nothing_is_written_through_a_link_in_the_place_of_a_folder": CANNOT_BE_MOVED,
    "test_no_report_is_read_through_a_link_in_the_place_of_a_folder": CANNOT_BE_MOVED,
    "test_no_event_is_read_through_a_link_in_the_place_of_a_folder": CANNOT_BE_MOVED,
    "test_a_hard_link_in_the_place_of_the_log_is_not_appended_to": CANNOT_BE_MOVED,
    "test_the_network_of_copilot_is_told_as_it_is": IS_CLOSED,
    "test_a_network_that_nobody_can_close_is_told_and_stays_true": IS_CLOSED,
    "test_a_workspace_that_is_adopted_is_what_it_is": IS_CLOSED,
    "test_configuration_that_changes_beside_the_workspace_is_told": IS_CLOSED,
    "test_configuration_that_changes_in_the_workspace_is_a_change_like_any_other": IS_CLOSED,
    "test_what_a_function_started_does_not_survive_a_killed_harness": BY_NUMBER,
    "test_a_function_is_an_agent_in_this_process": IN_THIS_PROCESS,
}
