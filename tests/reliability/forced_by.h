// forced_by.h - for each counter of the loss ledger, the test that forces it.
//
// Whoever adds a counter adds its line here, or ledger_test fails.
#ifndef KYMO_TESTS_RELIABILITY_FORCED_BY_H_
#define KYMO_TESTS_RELIABILITY_FORCED_BY_H_

#include "profiler/model/loss_ledger.h"

namespace kymo::reliability {

struct ForcedBy {
  model::Loss loss;
  const char* file;
  const char* test;  // as it stands in the file
};

using enum model::Loss;

inline constexpr char kForcedLosses[] =
    "tests/reliability/forced_losses_test.cc";
inline constexpr char kDecode[] = "backends/cpu/decode/decode_test.cc";
inline constexpr char kDocument[] = "importers/chrome/import_document_test.cc";
inline constexpr char kNormalize[] = "profiler/normalize/normalize_test.cc";
inline constexpr char kDecodedLog[] =
    "backends/cupti/decode/decoded_log_test.cc";

inline constexpr ForcedBy kForcedBy[] = {
    {kEventsDroppedArenaFull, "tests/e2e/profile_test.py",
     "test_full_arena_is_said"},
    {kEventsOverwritten, "tests/integration/profile_test.cc",
     "OverwriteKeepsTheNewest"},
    {kEventsDroppedInHandlers, kForcedLosses, "HandlersThatMeetTheSlowPath"},
    {kEventsDroppedNoStream, kForcedLosses, "MoreThreadsThanStreams"},
    {kNamesDroppedTableFull, kForcedLosses, "MoreNamesThanTheTableHolds"},
    {kArgumentsTruncated, kForcedLosses, "NamesLongerThanTheLimit"},
    {kRecordsCorrupt, kDecode, "StreamsOutOfTheTableAreCounted"},
    {kEndsWithoutBegin, kDecode, "EndsWithoutBeginAreCounted"},
    {kEventsOutOfWindow, kNormalize, "OutOfWindowAndImpossibleTimesAreCounted"},
    {kImpossibleTimestamps, kNormalize,
     "OutOfWindowAndImpossibleTimesAreCounted"},
    {kRangesOverlapping, "tests/integration/profile_test.cc",
     "RangesThatEndInTheWrongOrderAreShownBesideEachOther"},
    {kDrainBytesLost, "tests/reliability/kill_test.py",
     "test_disk_is_full_while_it_is_drained"},
    {kSamplesLost, "tests/reliability/lost_samples_test.py",
     "test_collector_that_does_not_keep_up"},
    {kSamplesNotDelivered, "tests/reliability/lost_samples_test.py",
     "test_child_that_no_timer_reaches"},
    {kStacksTruncated, "backends/sampling/sampling_child_test.cc",
     "AStackDeeperThanTheCopyIsCountedAsTruncated"},
    {kStacksIncomplete, "backends/sampling/sample_store_test.cc",
     "StackThatEndsNowhereIsCountedAsIncomplete"},
    {kFramesUnresolved, "profiler/symbolize/raw_stack_names_test.cc",
     "CountsUnresolvedFramesOnce"},
    {kProcessesNotRecorded, "tests/reliability/unrecorded_test.py",
     "test_static_children_however_they_are_started"},
    {kHeapsNotWatched, "tests/e2e/memory_test.py",
     "test_a_malloc_of_ones_own_is_said_and_counted"},
    {kHeapSamplesLost, "tests/reliability/forced_heap_losses_test.cc",
     "MoreLiveSamplesThanTheTableHolds"},
    {kMemoryRecordsLeftOut, kDecode,
     "TooManyMemoryRecordsLoseTheLatestAndSaySo"},
    {kEventsNotImported, kDocument, "WhatATraceCannotKeepIsCounted"},
    {kFilesCutOff, kDocument, "AFileThatIsCutOffGivesEveryCompleteEvent"},
    {kFreesNotSeen, "profiler/normalize/allocations_test.cc",
     "ABlockWhoseFreeWasNotSeenEndsWithTheNextAtItsAddress"},
    {kDeviceRecordsDropped, kDecodedLog, "SaysWhatCuptiAndAKilledProgramLost"},
    {kDeviceBuffersLost, "backends/cupti/child_session_test.cc",
     "AKilledProgramLosesOnlyWhatWasNotFlushed"},
    {kDeviceTimesMissing, kDecodedLog,
     "CountsWhatHasNoTimesOrBeginsBeforeItsLaunch"},
    {kDeviceBeforeLaunch, kDecodedLog,
     "CountsWhatHasNoTimesOrBeginsBeforeItsLaunch"},
    {kRangesOpenAtEnd, "tests/reliability/scenarios_test.cc",
     "IsRecordedWhole"},
    {kFreesOfUnknownBlocks, "profiler/normalize/allocations_test.cc",
     "FreesOfBlocksFromBeforeAreCountedAndLeftOut"},
};

}  // namespace kymo::reliability

#endif  // KYMO_TESTS_RELIABILITY_FORCED_BY_H_
