#include <string_view>

#include "importers/parquet/row_group.h"
#include "importers/parquet/shard_tables.h"
#include "profiler/base/status_macros.h"

namespace kymo::parquet_import {
namespace {

using parquet::Type;

enum FrameColumn {
  kFunction,
  kFile,
  kLine,
  kModule,
  kAddress,
  kInlined,
  kKernel,
  kResolved
};
constexpr ColumnWish kFrames[] = {{"function", Type::kText},
                                  {"file", Type::kText},
                                  {"line"},
                                  {"module", Type::kText},
                                  {"address"},
                                  {"is_inlined", Type::kBool},
                                  {"is_kernel", Type::kBool},
                                  {"is_resolved", Type::kBool}};

enum StackColumn { kParent, kFrame };
constexpr ColumnWish kStacks[] = {{"parent_id"}, {"frame_id"}};

enum SampleColumn { kTrack, kTime, kStack, kCount, kWeight };
constexpr ColumnWish kSamples[] = {
    {"track_id"}, {"time_ns"}, {"stack_id"}, {"count"}, {"weight_ns"}};

absl::Status ReadFrames(const parquet::FileReader& file,
                        model::TraceShard& shard,
                        std::vector<model::FrameId>& frames) {
  return ForEachRowGroup(
      file, kFrames, shard.strings, [&](const RowGroup& group) {
        for (size_t row = 0; row < group.rows(); ++row) {
          frames.push_back(shard.stacks.AddFrame(
              {.function = group.Name(kFunction, row),
               .file = group.Name(kFile, row),
               .module = group.Name(kModule, row),
               .line = static_cast<uint32_t>(group.Int(kLine, row)),
               .address = static_cast<uint64_t>(group.Int(kAddress, row)),
               .is_inlined = group.Bool(kInlined, row),
               .is_kernel = group.Bool(kKernel, row),
               .is_resolved = group.Bool(kResolved, row)}));
        }
        return absl::OkStatus();
      });
}

}  // namespace

absl::Status ReadStacks(Reading& reading) {
  const parquet::FileReader* const frames_file = reading.files.Find("frames");
  const parquet::FileReader* const file = reading.files.Find("stacks");
  if (frames_file == nullptr || file == nullptr) return absl::OkStatus();
  model::TraceShard& shard = reading.shard;
  std::vector<model::FrameId> frames;
  KYMO_RETURN_IF_ERROR(ReadFrames(*frames_file, shard, frames));
  return ForEachRowGroup(
      *file, kStacks, shard.strings, [&](const RowGroup& group) {
        for (size_t row = 0; row < group.rows(); ++row) {
          if (reading.stacks.empty()) {
            reading.stacks.push_back(model::kEmptyStack);
            continue;
          }
          // Parents come before their children.
          const auto parent = static_cast<uint64_t>(group.Int(kParent, row));
          const auto frame = static_cast<uint64_t>(group.Int(kFrame, row));
          if (parent >= reading.stacks.size() || frame >= frames.size()) {
            return Wrong(*file, "a stack has no parent or no frame");
          }
          reading.stacks.push_back(
              shard.stacks.Push(reading.stacks[parent], frames[frame]));
        }
        return absl::OkStatus();
      });
}

absl::Status ReadSamples(Reading& reading) {
  const parquet::FileReader* const file = reading.files.Find("samples");
  if (file == nullptr || !reading.has_tracks) return absl::OkStatus();
  model::TraceShard& shard = reading.shard;
  int64_t total = 0;
  return ForEachRowGroup(
      *file, kSamples, shard.strings, [&](const RowGroup& group) {
        for (size_t row = 0; row < group.rows(); ++row) {
          const auto track = reading.Track(group.Int(kTrack, row));
          const auto stack = reading.Stack(group.Int(kStack, row));
          const int64_t weight = group.Int(kWeight, row);
          const int64_t count = group.Int(kCount, row);
          if (!track || !stack || !IsTime(group.Int(kTime, row)) || count < 1 ||
              weight > kMostTime || weight < -kMostTime ||
              __builtin_add_overflow(total, weight, &total)) {
            return Wrong(*file, "a sample has no track, stack or time");
          }
          if (group.Has(kTime, row)) {
            shard.samples.push_back(
                {*track, *stack, group.Int(kTime, row), weight});
          } else {
            shard.sample_sums.push_back(
                {*track, *stack, static_cast<uint64_t>(count), weight});
          }
        }
        return absl::OkStatus();
      });
}

}  // namespace kymo::parquet_import
