//! The macros that turn all cases into tests. A backend needs one line and a constructor.

/// Defines one `#[test]` per case of the contract. `$open` is a function `fn(Arc<dyn Clock>) ->
/// (impl Store, guard)` in scope; the guard is dropped after the store.
#[macro_export]
macro_rules! conformance {
    ($open:path) => {
        $crate::conformance! { @topics $open;
            commit: [
                records_are_numbered_in_order,
                a_commit_without_records_reports_the_next_number,
                an_empty_batch_is_accepted,
                commits_of_one_stream_are_judged_in_batch_order,
                a_refusal_does_not_affect_the_rest_of_the_batch,
                a_refused_commit_changes_nothing,
                a_closed_stream_accepts_no_commit,
                an_unknown_stream_is_refused,
                an_inbox_commit_cannot_write_executor_records,
                an_executor_gets_the_records_it_has_not_seen,
                an_executor_that_has_seen_all_records_gets_none,
            ];
            creation: [
                stream_numbers_follow_the_order_of_creation,
                an_existing_name_is_refused_with_its_number,
                of_two_creations_in_one_batch_the_first_wins,
                a_stream_is_found_by_name_and_number,
                a_refused_creation_leaves_no_stream,
                a_creation_can_claim_the_run,
                rows_of_a_creation_belong_to_the_new_stream,
                a_used_key_refuses_a_second_creation,
                an_empty_stream_exists,
            ];
            fencing: [
                a_run_without_a_holder_refuses_every_fence,
                stale_epoch_is_refused,
                wrong_nonce_is_refused,
                an_expired_holder_writes_until_it_is_replaced,
                a_gap_in_the_sequence_is_refused,
                a_repeated_sequence_returns_the_original_number,
                a_repetition_within_a_batch_is_a_duplicate,
                a_repeated_release_is_a_duplicate,
                a_repeated_close_is_a_duplicate,
                a_repeated_commit_without_records_is_a_duplicate,
                a_refused_executor_commit_refuses_its_successors,
                a_revoked_executor_is_refused,
                a_new_epoch_restarts_the_sequence,
            ];
            inbox_guard: [
                unseen_records_refuse_the_commit_and_are_reported,
                a_seen_inbox_passes,
                an_unseen_record_earlier_in_the_batch_refuses_the_commit,
                unconsumed_events_are_counted,
                too_many_events_are_refused,
            ];
            dedup: [
                a_repeated_id_returns_the_original_number,
                a_repeated_id_within_a_batch_is_a_duplicate,
                ids_are_distinct_by_stream_and_by_all_characters,
                a_refused_commit_does_not_use_its_id,
                a_known_id_is_a_duplicate_after_the_close,
            ];
            lease: [
                a_free_run_is_claimed,
                a_failed_claim_leaves_the_rest_of_the_commit,
                of_two_claims_in_one_batch_the_first_wins,
                a_lease_expires,
                a_renewed_lease_stays_alive,
                a_retired_node_holds_nothing,
                a_node_without_a_lease_is_dead,
                a_released_run_is_free,
                takeovers_without_progress_are_counted,
                nodes_that_did_nothing_count_twice_at_most,
                a_node_that_appended_no_records_counts,
                a_repeated_claim_gets_the_same_fence,
                progress_resets_the_takeovers,
                a_release_resets_the_takeovers,
                a_lost_executor_counts_as_a_takeover,
                a_claimed_run_is_running_unless_it_is_stopping,
            ];
            timers: [
                timers_are_ordered_by_due_time,
                a_timer_is_due_at_its_time_and_not_before,
                paging_returns_every_timer_once,
                a_deleted_timer_is_not_listed,
                an_earlier_timer_can_be_set_later,
                deletes_come_before_puts,
                a_batch_may_set_and_delete,
                purpose_and_location_are_part_of_a_timer,
            ];
            ready: [
                a_marked_run_is_found,
                a_run_without_a_mark_is_not_ready,
                a_commit_that_names_no_ready_mark_keeps_it,
                paging_returns_every_ready_run_once,
                a_ready_run_names_its_live_holder,
                a_woken_run_is_queued_until_it_is_claimed,
                a_run_that_a_node_holds_or_a_gate_stops_is_not_queued_when_it_is_woken,
                a_stream_without_a_run_is_not_listed,
            ];
            list: [
                runs_are_listed_newest_first,
                a_list_filters_by_workflow,
                a_list_filters_by_the_beginnings_of_ids,
                a_list_filters_by_status,
                a_run_must_match_all_filters,
                a_change_of_status_moves_the_run_between_lists,
                a_batch_may_move_a_run_twice,
                a_list_filters_by_tag,
                a_list_filters_by_time_of_creation,
                pages_join_without_gap_or_overlap,
                a_new_run_does_not_disturb_a_cursor,
                a_count_is_the_number_of_listed_runs,
            ];
            read: [
                reading_begins_anywhere,
                a_page_stops_near_its_limit,
                records_are_read_as_written,
                an_unknown_stream_is_none,
                a_page_reports_that_the_stream_is_closed,
                dropped_records_leave_gaps,
                drops_may_overlap_and_repeat,
                a_page_that_begins_in_a_gap_has_a_record,
                pages_skip_gaps,
                a_commit_drops_only_earlier_records,
                dropping_records_does_not_change_counts,
            ];
            removal: [
                a_removal_deletes_all_data_of_the_stream,
                a_removed_name_can_be_used_again,
                rows_of_a_removed_stream_can_be_deleted,
                concurrent_guards_hold_after_the_stream_is_gone,
                an_open_stream_is_not_removed,
                numbers_of_removed_streams_are_not_used_again,
                a_superseded_run_is_not_listed,
                only_a_closed_stream_is_superseded,
                a_creation_may_begin_with_a_copy,
                a_commit_to_a_stream_that_grew_is_refused,
                guards_are_judged_after_the_stream_is_removed,
            ];
            rows: [
                an_rpc_row_is_read_as_written,
                a_present_row_is_required_once,
                a_row_that_must_be_absent_refuses_the_commit,
                a_row_put_again_is_replaced,
                keys_with_common_prefixes_are_distinct,
                long_keys_are_distinct,
                deleting_nothing_is_no_error,
            ];
            user_streams: [
                stream_and_producer_rows_are_read_as_written,
                a_changed_row_refuses_the_commit,
                a_row_changed_earlier_in_the_batch_refuses_the_commit,
                a_creation_may_begin_at_any_number,
                a_commit_may_put_the_row_of_another_stream,
                a_closed_user_stream_accepts_rows_but_no_records,
                an_open_user_stream_is_removed_with_its_rows,
                a_removal_is_refused_by_its_guards,
                a_removal_may_change_rows_of_other_streams,
                a_page_stops_near_its_bytes,
            ];
            shared_rows: [
                a_shared_row_is_read_as_written,
                commits_of_all_streams_share_a_row,
                a_shared_row_is_deleted_by_value,
                a_commit_may_replace_what_it_deletes,
                the_store_fills_in_the_time_of_the_commit,
                a_removal_leaves_shared_rows,
                a_closed_stream_deletes_shared_rows,
                a_range_follows_the_order_of_keys,
                a_refused_commit_changes_no_shared_row,
                a_time_to_fill_in_equals_no_stored_row,
                a_range_begins_after_a_key_of_any_kind,
            ];
            gate: [
                a_held_run_accepts_only_records,
                a_commit_opens_the_gate_and_claims_the_run,
                a_run_that_needs_a_slot_is_marked_and_not_claimed,
                an_executor_sets_the_gate,
                a_run_that_has_begun_keeps_its_gate,
                a_revoked_run_that_has_not_begun_is_opened,
                a_held_run_can_be_terminated,
            ];
            time_guard: [
                a_commit_is_refused_before_its_time,
                every_kind_of_commit_waits_for_its_time,
            ];
            outbox: [
                an_effect_is_read_as_written,
                effects_are_ordered_by_stream_and_key,
                paging_returns_every_effect_once,
                a_deleted_effect_is_not_listed,
                a_closing_commit_may_leave_effects,
                rows_of_a_closed_stream_can_be_deleted,
                a_closed_stream_accepts_only_deletions,
                effects_of_a_creation_belong_to_the_new_stream,
                a_refused_commit_leaves_no_effect,
            ];
        }
    };
    (@topics $open:path; $($topic:ident: [$($case:ident),* $(,)?];)*) => {
        $(mod $topic {
            #[allow(unused_imports, reason = "the constructor may be named from the module above")]
            use super::*;
            $(#[test]
            fn $case() {
                $crate::run_case($open, |f| Box::pin($crate::cases::$topic::$case(f)));
            })*
        })*
    };
}

/// Defines one `#[test]` per case of repeated commits, for backends that are not exclusive. `$open`
/// is as in [`conformance!`].
#[macro_export]
macro_rules! resending {
    ($open:path) => {
        $crate::conformance! { @topics $open;
            resending: [
                a_creation_sent_again_has_the_same_outcome,
                a_timer_sent_again_fires_once,
                an_event_sent_again_is_appended_once,
                a_batch_sent_again_has_the_same_outcomes,
                the_rest_of_a_batch_may_be_sent_again_with_more,
                a_late_commit_is_refused,
                a_late_commit_discards_no_outcome,
                shared_rows_sent_again_change_once,
                a_gate_sent_again_is_opened_once,
                a_commit_that_was_too_early_stays_refused,
            ];
        }
    };
}

/// Defines one `#[test]` per case of reopening, for backends whose data survives the process.
/// `$storage` is a function `fn(Arc<dyn Clock>) -> impl Reopen` in scope.
#[macro_export]
macro_rules! reopening {
    ($storage:path) => {
        $crate::reopening! { @cases $storage;
            all_acknowledged_data_survives_reopening,
            the_last_sequence_survives_reopening,
            a_last_commit_without_records_survives_reopening,
            counts_survive_reopening,
            takeovers_and_progress_survive_reopening,
            leases_of_an_exclusive_store_end_with_the_process,
            a_revocation_survives_reopening,
            stream_numbers_continue_after_reopening,
            a_removal_survives_reopening,
            deleted_data_stays_deleted,
            a_status_change_alone_survives_reopening,
            effects_survive_reopening,
            user_streams_survive_reopening,
            shared_rows_and_gates_survive_reopening,
        }
    };
    (@cases $storage:path; $($case:ident),* $(,)?) => {
        mod reopen {
            #[allow(unused_imports, reason = "the constructor may be named from the module above")]
            use super::*;
            $(#[test]
            fn $case() {
                $crate::run_reopening($storage, |storage, clock| Box::pin($crate::cases::reopen::$case(storage, clock)));
            })*
        }
    };
}
