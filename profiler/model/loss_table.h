// loss_table.h - the counters of the loss ledger, a row each.
//
//   ROW(kSamplesLost, "samples_lost", kLoss,
//       "samples dropped by the kernel before they were read",
//       "tests/reliability/lost_samples_test.py",
//       "test_collector_that_does_not_keep_up")
//
// The columns are:
//
//   1. the counter in code, Loss::kSamplesLost
//   2. its name in files and below tables, lower_snake; it never changes
//   3. kLoss: something is missing, so --strict fails; kNote: worth saying
//   4. what it counts, for people; it follows the number
//   5. the file of the test that forces the loss, from the workspace root
//   6. that test's name
//
// To add a counter, add its row and its test. The enum, names, texts and
// severities follow from the table (loss_ledger.h); ledger_test checks that the
// test exists and that every place that shows the ledger shows the counter.
// Losses and notes are shown in the order of the rows, losses first.
#ifndef KYMO_PROFILER_MODEL_LOSS_TABLE_H_
#define KYMO_PROFILER_MODEL_LOSS_TABLE_H_

#define KYMO_LOSS_TABLE(ROW)                                                   \
  ROW(kEventsDroppedArenaFull, "events_dropped_arena_full", kLoss,             \
      "events that the arena had no room for: not recorded, or "               \
      "overwritten sooner than a flight recorder was to keep them",            \
      "tests/e2e/profile_test.py", "test_full_arena_is_said")                  \
  ROW(kEventsOverwritten, "events_overwritten", kNote,                         \
      "older events that made room for the newest",                            \
      "tests/integration/profile_test.cc", "OverwriteKeepsTheNewest")          \
  ROW(kSamplesSummed, "samples_summed", kNote,                                 \
      "older samples that tables and stacks count, and no timeline shows",     \
      "backends/sampling/sample_store_test.cc", "TheOldestSamplesAreAddedUp")  \
  ROW(kCounterValuesSummed, "counter_values_summed", kNote,                    \
      "older values of counters that summary.json and the page count, and no " \
      "timeline shows",                                                        \
      "backends/stream/child_session_test.cc",                                 \
      "OldCounterValuesAreAddedUpAndCounted")                                  \
  ROW(kEventsDroppedInHandlers, "events_dropped_in_handlers", kLoss,           \
      "events of signal handlers that met the recorder in its slow path",      \
      "tests/reliability/forced_losses_test.cc",                               \
      "HandlersThatMeetTheSlowPath")                                           \
  ROW(kEventsDroppedNoStream, "events_dropped_no_stream", kLoss,               \
      "events of threads beyond the size of the stream table, or without "     \
      "memory",                                                                \
      "tests/reliability/forced_losses_test.cc", "MoreThreadsThanStreams")     \
  ROW(kNamesDroppedTableFull, "names_dropped_table_full", kLoss,               \
      "names not kept because the name table was full",                        \
      "tests/reliability/forced_losses_test.cc", "MoreNamesThanTheTableHolds") \
  ROW(kArgumentsTruncated, "arguments_truncated", kLoss,                       \
      "arguments or names cut at the size limit",                              \
      "tests/reliability/forced_losses_test.cc", "NamesLongerThanTheLimit")    \
  ROW(kRecordsCorrupt, "records_corrupt", kLoss,                               \
      "records that could not be read",                                        \
      "backends/stream/decode/decode_test.cc",                                 \
      "StreamsOutOfTheTableAreCounted")                                        \
  ROW(kEndsWithoutBegin, "ends_without_begin", kLoss,                          \
      "ends of ranges whose beginning was not recorded",                       \
      "backends/stream/decode/decode_test.cc",                                 \
      "EndsWithoutBeginAreCountedUnlessOfAnEarlierSession")                    \
  ROW(kEventsOutOfWindow, "events_out_of_window", kLoss,                       \
      "events outside of the session's window",                                \
      "profiler/normalize/normalize_test.cc",                                  \
      "OutOfWindowAndImpossibleTimesAreCounted")                               \
  ROW(kImpossibleTimestamps, "impossible_timestamps", kLoss,                   \
      "events that ended before they began; set to 0",                         \
      "profiler/normalize/normalize_test.cc",                                  \
      "OutOfWindowAndImpossibleTimesAreCounted")                               \
  ROW(kRangesOverlapping, "ranges_overlapping", kLoss,                         \
      "ranges of one thread that are neither nested nor apart",                \
      "tests/integration/profile_ranges_test.cc",                              \
      "RangesThatEndInTheWrongOrderAreShownBesideEachOther")                   \
  ROW(kDrainBytesLost, "drain_bytes_lost", kLoss,                              \
      "bytes of records that could not be written to disk",                    \
      "tests/reliability/kill_test.py",                                        \
      "test_disk_is_full_while_it_is_drained")                                 \
  ROW(kSamplesLost, "samples_lost", kLoss,                                     \
      "samples dropped by the kernel before they were read",                   \
      "tests/reliability/lost_samples_test.py",                                \
      "test_collector_that_does_not_keep_up")                                  \
  ROW(kSamplesNotDelivered, "samples_not_delivered", kLoss,                    \
      "samples that did not come, although threads ran",                       \
      "tests/reliability/lost_samples_test.py",                                \
      "test_child_that_no_timer_reaches")                                      \
  ROW(kSwitchesLost, "switches_lost", kLoss,                                   \
      "switches of threads dropped by the kernel before they were read: "      \
      "thread times have unknown parts",                                       \
      "backends/off_cpu/off_cpu_child_test.cc",                                \
      "SwitchesThatNobodyReadsAreCountedAsLost")                               \
  ROW(kThreadsNotTimed, "threads_not_timed", kLoss,                            \
      "threads without thread times: all are more than fit into memory",       \
      "backends/off_cpu/thread_clock_test.cc",                                 \
      "ThreadsBeyondTheLimitAreCounted")                                       \
  ROW(kWaitsNotRecorded, "waits_not_recorded", kLoss,                          \
      "threads whose single waits are missing: there are no perf events, so "  \
      "only their total times are known, and those of threads that live for "  \
      "milliseconds are missing",                                              \
      "backends/off_cpu/waits_child_test.cc",                                  \
      "WithoutPerfEventsThereAreTotals")                                       \
  ROW(kStacksTruncated, "stacks_truncated", kLoss,                             \
      "stacks of samples, waits, operations and allocations without their "    \
      "outermost callers, for which [truncated] stands in samples; self "      \
      "times are right. sampling_sampler=timer follows 1024 frames, perf as "  \
      "many as fit into sampling_stack_bytes (at most 65528); operations and " \
      "allocations keep 64",                                                   \
      "backends/sampling/sampling_child_test.cc",                              \
      "AStackDeeperThanTheCopyIsCountedAsTruncated")                           \
  ROW(kStacksIncomplete, "stacks_incomplete", kLoss,                           \
      "stacks whose unwinding stopped early",                                  \
      "backends/sampling/sample_store_test.cc",                                \
      "StackThatEndsNowhereIsCountedAsIncomplete")                             \
  ROW(kStacksBeyondLimit, "stacks_beyond_limit", kLoss,                        \
      "samples and waits that count for the innermost caller that is known: "  \
      "their stacks came after the first million of places in stacks",         \
      "backends/sampling/sample_store_test.cc",                                \
      "StacksBeyondTheLimitCountForTheirCallers")                              \
  ROW(kFramesUnresolved, "frames_unresolved", kNote,                           \
      "distinct frames shown as module+offset, or as [anon]",                  \
      "profiler/symbolize/raw_stack_names_test.cc",                            \
      "CountsUnresolvedFramesOnce")                                            \
  ROW(kProcessesNotRecorded, "processes_not_recorded", kLoss,                  \
      "processes that could not be followed",                                  \
      "tests/reliability/unrecorded_test.py",                                  \
      "test_static_children_however_they_are_started")                         \
  ROW(kHeapsNotWatched, "heaps_not_watched", kLoss,                            \
      "processes whose allocations were not seen: they bring their own "       \
      "malloc",                                                                \
      "tests/e2e/memory_test.py",                                              \
      "test_a_malloc_of_ones_own_is_said_and_counted")                         \
  ROW(kHeapSamplesLost, "heap_samples_lost", kLoss,                            \
      "sampled allocations beyond the size of the table of live ones",         \
      "tests/reliability/forced_heap_losses_test.cc",                          \
      "MoreLiveSamplesThanTheTableHolds")                                      \
  ROW(kMemoryRecordsLeftOut, "memory_records_left_out", kLoss,                 \
      "memory records left out: all are more than fit into memory, or than "   \
      "trace.json has one by one",                                             \
      "backends/stream/decode/decode_test.cc",                                 \
      "TooManyMemoryRecordsLoseTheLatestAndSaySo")                             \
  ROW(kEventsNotImported, "events_not_imported", kLoss,                        \
      "events of a file of kinds that no trace keeps",                         \
      "importers/chrome/import_document_test.cc",                              \
      "WhatATraceCannotKeepIsCounted")                                         \
  ROW(kCounterValuesDropped, "counter_values_dropped", kLoss,                  \
      "values of counters beyond the memory that they may take",               \
      "backends/host/counter_log_test.cc", "ValuesBeyondTheLimitAreCounted")   \
  ROW(kFilesCutOff, "files_cut_off", kLoss,                                    \
      "files that end in the middle: what came next is missing",               \
      "importers/chrome/import_document_broken_test.cc",                       \
      "AFileThatIsCutOffGivesEveryCompleteEvent")                              \
  ROW(kFreesNotSeen, "frees_not_seen", kLoss,                                  \
      "blocks whose address came again without a free",                        \
      "profiler/normalize/allocations_test.cc",                                \
      "ABlockWhoseFreeWasNotSeenEndsWithTheNextAtItsAddress")                  \
  ROW(kDeviceRecordsDropped, "device_records_dropped", kLoss,                  \
      "records of device activities for which CUPTI had no buffer",            \
      "backends/cupti/decode/decoded_log_test.cc",                             \
      "SaysWhatCuptiAndAKilledProgramLost")                                    \
  ROW(kDeviceBuffersLost, "device_buffers_lost", kLoss,                        \
      "buffers of device activities that had not been handed over when "       \
      "their program was killed, or were another client's",                    \
      "backends/cupti/child_session_test.cc",                                  \
      "AKilledProgramLosesOnlyWhatWasNotFlushed")                              \
  ROW(kDeviceTimesMissing, "device_times_missing", kLoss,                      \
      "device activities not shown: they have no times",                       \
      "backends/cupti/decode/decoded_log_test.cc",                             \
      "CountsWhatHasNoTimesOrBeginsBeforeItsLaunch")                           \
  ROW(kDeviceBeforeLaunch, "device_before_launch", kLoss,                      \
      "device activities not shown: they seem to begin before their "          \
      "launch",                                                                \
      "backends/cupti/decode/decoded_log_test.cc",                             \
      "CountsWhatHasNoTimesOrBeginsBeforeItsLaunch")                           \
  ROW(kBackendRecordsLost, "backend_records_lost", kLoss,                      \
      "records that a backend could not keep",                                 \
      "tests/integration/backend_library_test.cc",                             \
      "WhatItLosesIsInTheLedgerByName")                                        \
  ROW(kRanksAbsent, "ranks_absent", kLoss,                                     \
      "ranks of the job whose trace is missing", "tests/mpi/ranks_test.py",    \
      "test_a_rank_that_does_not_come_is_named")                               \
  ROW(kSamplesBiased, "samples_biased", kNote,                                 \
      "samples of threads that ran for less than 10 periods: they come at "    \
      "fixed times of a thread's life, so they are biased; raise "             \
      "sampling_hz, to 10000 for threads that live for a millisecond",         \
      "backends/sampling/sample_bias_test.cc",                                 \
      "SamplesOfShortThreadsAreBiased")                                        \
  ROW(kSamplesNotDue, "samples_not_due", kNote,                                \
      "periods of CPU time without a sample, because threads ended before "    \
      "their next sample was due: raise sampling_hz, to 10000 for threads "    \
      "that live for a millisecond",                                           \
      "backends/sampling/sampling_child_test.cc",                              \
      "ThreadsThatEndWithinAPeriodAreNoLoss")                                  \
  ROW(kSamplesRare, "samples_rare", kNote,                                     \
      "samples that stand for a longer time than was asked for: no CPU was "   \
      "free and the program switched threads often, where samples cost it "    \
      "most; with sampling_hz=1000, none do",                                  \
      "backends/sampling/sampling_child_test.cc",                              \
      "OfAServerWithoutAFreeCpuFewerAreTaken")                                 \
  ROW(kSamplesAtSwitches, "samples_at_switches", kNote,                        \
      "samples where the kernel switches threads: much of that time may be "   \
      "the cost of perf events at each switch; use sampling_hz=100 or "        \
      "sampling_sampler=timer, or record with CAP_PERFMON if you are not "     \
      "root",                                                                  \
      "backends/sampling/sample_bias_test.cc",                                 \
      "ManySamplesAtSwitchesAreNoted")                                         \
  ROW(kWaitsWithoutStack, "waits_without_stack", kNote,                        \
      "waits whose reason and stack are not known: most are shorter than the " \
      "time between two looks at a thread; root sees more of them",            \
      "backends/off_cpu/wait_log_test.cc",                                     \
      "ACauseBelongsToTheWaitThatHasItsTime")                                  \
  ROW(kRangesOpenAtEnd, "ranges_open_at_end", kNote,                           \
      "ranges still open when the recording ended",                            \
      "tests/reliability/scenarios_test.cc", "IsRecordedWhole")                \
  ROW(kFreesOfUnknownBlocks, "frees_of_unknown_blocks", kNote,                 \
      "frees of blocks that were not allocated within the recording",          \
      "profiler/normalize/allocations_test.cc",                                \
      "FreesOfBlocksFromBeforeAreCountedAndLeftOut")                           \
  ROW(kEventsFolded, "events_folded", kNote,                                   \
      "ranges that a timeline shows as one with others of their name, to "     \
      "stay within max_size: with 0, each is shown",                           \
      "exporters/chrome/file_size_test.cc",                                    \
      "RangesThatDoNotFitAreFoldedAndCounted")                                 \
  ROW(kTimelineLeftOut, "timeline_left_out", kNote,                            \
      "arguments of ranges, ranges, marks, values, samples, waits and memory " \
      "records that a timeline leaves out, to stay within max_size: with 0, "  \
      "it has each",                                                           \
      "exporters/timeline/thin_trace_test.cc", "WhatIsLeftOutIsCounted")       \
  ROW(kStacksFolded, "stacks_folded", kNote,                                   \
      "stacks that files show with [N frames folded] or as [other]: to see "   \
      "each whole, use stacks_max_frames=0, stacks_min_share=0 and "           \
      "max_size=0",                                                            \
      "exporters/stacks/folded_test.cc", "FoldedStacksAreCounted")             \
  ROW(kNamesLeftOut, "names_left_out", kNote,                                  \
      "names of ranges, those with the shortest self time, that "              \
      "summary.json and the page leave out: with row_limit=-1, the table has " \
      "a row for each",                                                        \
      "exporters/summary/summary_exporter_test.cc",                            \
      "NamesWithTheLongestTimesAreKept")

#endif  // KYMO_PROFILER_MODEL_LOSS_TABLE_H_
