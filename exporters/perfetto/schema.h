// schema.h - the part of Perfetto's trace schema that is written here.
//
// Field numbers, by message; all are stable. The schema is proto2: repeated
// numbers are never packed.
#ifndef KYMO_EXPORTERS_PERFETTO_SCHEMA_H_
#define KYMO_EXPORTERS_PERFETTO_SCHEMA_H_

#include <cstdint>

namespace kymo::perfetto {

// A file is the concatenation of its packets; so is any part of one.
inline constexpr uint32_t kTracePacket = 1;

// Everything is written on one sequence.
inline constexpr uint32_t kSequence = 1;

namespace packet {
inline constexpr uint32_t kClockSnapshot = 6;
inline constexpr uint32_t kTimestamp = 8;
inline constexpr uint32_t kSequenceId = 10;
inline constexpr uint32_t kTrackEvent = 11;
inline constexpr uint32_t kInternedData = 12;
inline constexpr uint32_t kSequenceFlags = 13;
inline constexpr uint32_t kTrackDescriptor = 60;
inline constexpr uint32_t kPerfSample = 66;
}  // namespace packet

// Values of packet::kSequenceFlags.
inline constexpr uint64_t kStateCleared = 1;
inline constexpr uint64_t kNeedsState = 2;

namespace clocks {
inline constexpr uint32_t kClock = 1;  // of the snapshot
inline constexpr uint32_t kPrimary = 2;
inline constexpr uint32_t kId = 1;  // of the clock
inline constexpr uint32_t kTimestamp = 2;
inline constexpr uint64_t kRealtime = 1;  // ids
inline constexpr uint64_t kBoottime = 6;
}  // namespace clocks

namespace track {
inline constexpr uint32_t kUuid = 1;
inline constexpr uint32_t kName = 2;
inline constexpr uint32_t kProcess = 3;
inline constexpr uint32_t kThread = 4;
inline constexpr uint32_t kParentUuid = 5;
inline constexpr uint32_t kCounter = 8;
inline constexpr uint32_t kChildOrdering = 11;
inline constexpr uint32_t kRank = 12;
inline constexpr uint32_t kDescription = 14;
inline constexpr uint32_t kMergeBehavior = 15;
inline constexpr uint64_t kOrderExplicit = 3;
inline constexpr uint64_t kMergeNone = 2;
}  // namespace track

namespace process {
inline constexpr uint32_t kPid = 1;
inline constexpr uint32_t kCommandLine = 2;
inline constexpr uint32_t kName = 6;
}  // namespace process

namespace thread {
inline constexpr uint32_t kPid = 1;
inline constexpr uint32_t kTid = 2;
inline constexpr uint32_t kName = 5;
}  // namespace thread

namespace counter {
inline constexpr uint32_t kUnit = 3;
inline constexpr uint64_t kUnitBytes = 3;
}  // namespace counter

namespace event {
inline constexpr uint32_t kCategoryId = 3;
inline constexpr uint32_t kAnnotation = 4;
inline constexpr uint32_t kType = 9;
inline constexpr uint32_t kNameId = 10;
inline constexpr uint32_t kTrackUuid = 11;
inline constexpr uint32_t kName = 23;
inline constexpr uint32_t kCounterValue = 30;
inline constexpr uint32_t kSourceLocationId = 34;
inline constexpr uint32_t kDoubleCounterValue = 44;
inline constexpr uint32_t kFlowId = 47;
inline constexpr uint32_t kTerminatingFlowId = 48;
inline constexpr uint32_t kCallstackId = 56;
// Values of kType.
inline constexpr uint64_t kBegin = 1;
inline constexpr uint64_t kEnd = 2;
inline constexpr uint64_t kInstant = 3;
inline constexpr uint64_t kCounter = 4;
}  // namespace event

namespace annotation {
inline constexpr uint32_t kNameId = 1;
inline constexpr uint32_t kBool = 2;
inline constexpr uint32_t kUint = 3;
inline constexpr uint32_t kInt = 4;
inline constexpr uint32_t kDouble = 5;
inline constexpr uint32_t kString = 6;
inline constexpr uint32_t kName = 10;
inline constexpr uint32_t kStringId = 17;
}  // namespace annotation

// Lists of InternedData; each entry has its id in field 1.
namespace interned {
inline constexpr uint32_t kCategories = 1;
inline constexpr uint32_t kEventNames = 2;
inline constexpr uint32_t kAnnotationNames = 3;
inline constexpr uint32_t kSourceLocations = 4;
inline constexpr uint32_t kFunctionNames = 5;
inline constexpr uint32_t kFrames = 6;
inline constexpr uint32_t kCallstacks = 7;
inline constexpr uint32_t kMappingPaths = 17;
inline constexpr uint32_t kSourcePaths = 18;
inline constexpr uint32_t kMappings = 19;
inline constexpr uint32_t kAnnotationStrings = 29;
inline constexpr uint32_t kId = 1;
inline constexpr uint32_t kText = 2;  // of names, paths and strings
}  // namespace interned

namespace source_location {
inline constexpr uint32_t kFile = 2;
inline constexpr uint32_t kFunction = 3;
inline constexpr uint32_t kLine = 4;
}  // namespace source_location

namespace frame {
inline constexpr uint32_t kFunctionNameId = 2;
inline constexpr uint32_t kMappingId = 3;
inline constexpr uint32_t kRelativePc = 4;
inline constexpr uint32_t kSourcePathId = 5;
inline constexpr uint32_t kLine = 6;
}  // namespace frame

namespace callstack {
inline constexpr uint32_t kFrameId = 2;  // outermost first
}

namespace mapping {
inline constexpr uint32_t kPathId = 7;
}

namespace sample {
inline constexpr uint32_t kPid = 2;
inline constexpr uint32_t kTid = 3;
inline constexpr uint32_t kCallstackId = 4;
inline constexpr uint32_t kCpuMode = 5;
inline constexpr uint64_t kModeKernel = 1;
inline constexpr uint64_t kModeUser = 2;
}  // namespace sample

}  // namespace kymo::perfetto

#endif  // KYMO_EXPORTERS_PERFETTO_SCHEMA_H_
