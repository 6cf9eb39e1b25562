#include <optional>

#include "profiler/tables/declarations.h"
#include "profiler/tables/define_column.h"
#include "profiler/tables/source.h"

namespace kymo::tables {
namespace {

using model::Frame;
using model::kEmptyName;
using model::kEmptyStack;
using model::StackId;

size_t SampleCount(const Source& s) { return s.trace().samples().size(); }

// Samples come first, then the sums of older ones.
model::SampleSum SampleSumOf(const Source& s, size_t row) {
  if (row >= SampleCount(s))
    return s.trace().sample_sums()[row - SampleCount(s)];
  const model::StackSample& sample = s.trace().samples()[row];
  return {sample.track, sample.stack, 1, sample.weight_ns};
}

constexpr Column kSamples[] = {
    Define("id", "Number of the row",
           [](const Source&, size_t row) { return row; }),
    Define(
        "track_id", "The thread that was on the CPU",
        [](const Source& s, size_t row) { return SampleSumOf(s, row).track; })
        .Of("tracks.id"),
    Define("time_ns", "When it was taken, since the epoch; NULL of a sum",
           [](const Source& s, size_t row) {
             return row < SampleCount(s)
                        ? std::optional(s.trace().samples()[row].time_ns)
                        : std::nullopt;
           })
        .In("ns"),
    Define("stack_id", "What the thread was doing",
           [](const Source& s, size_t row) {
             return Index(SampleSumOf(s, row).stack);
           })
        .Of("stacks.id"),
    Define("function", "The innermost function of that stack",
           [](const Source& s, size_t row) -> std::optional<model::NameId> {
             const StackId stack = SampleSumOf(s, row).stack;
             if (stack == kEmptyStack) return std::nullopt;
             const model::StackTable& stacks = s.trace().stacks();
             return stacks.frame(stacks.leaf(stack)).function;
           }),
    Define(
        "count", "How many samples the row stands for",
        [](const Source& s, size_t row) { return SampleSumOf(s, row).count; }),
    Define("weight_ns", "The CPU time that it stands for",
           [](const Source& s, size_t row) {
             return SampleSumOf(s, row).weight_ns;
           })
        .In("ns"),
};

StackId StackOf(size_t row) { return StackId{static_cast<uint32_t>(row)}; }

constexpr Column kStacks[] = {
    Define("id", "Number of the stack; 0 is the empty one",
           [](const Source&, size_t row) { return row; }),
    Define("parent_id", "The stack without its innermost frame",
           [](const Source& s, size_t row) -> std::optional<uint32_t> {
             if (row == 0) return std::nullopt;
             return Index(s.trace().stacks().parent(StackOf(row)));
           })
        .Of("stacks.id"),
    Define("frame_id", "The innermost frame",
           [](const Source& s, size_t row) -> std::optional<uint32_t> {
             if (row == 0) return std::nullopt;
             return Index(s.trace().stacks().leaf(StackOf(row)));
           })
        .Of("frames.id"),
    Define("depth", "How many frames it has",
           [](const Source& s, size_t row) {
             return s.trace().stacks().depth(StackOf(row));
           }),
};

const Frame& FrameOf(const Source& s, size_t row) {
  return s.trace().stacks().frame(model::FrameId{static_cast<uint32_t>(row)});
}

constexpr Column kFrames[] = {
    Define("id", "Number of the frame",
           [](const Source&, size_t row) { return row; }),
    Define(
        "function", "The function, or module+0x1f if it has no name",
        [](const Source& s, size_t row) { return FrameOf(s, row).function; }),
    Define("file", "The source file",
           [](const Source& s, size_t row) {
             return Unless(FrameOf(s, row).file, kEmptyName);
           }),
    Define("line", "The line in it",
           [](const Source& s, size_t row) {
             return Unless(FrameOf(s, row).line, 0);
           }),
    Define("module", "The program or library, [kernel] or [vdso]",
           [](const Source& s, size_t row) {
             return Unless(FrameOf(s, row).module, kEmptyName);
           }),
    Define("address", "The address within the module",
           [](const Source& s, size_t row) {
             return Unless(FrameOf(s, row).address, 0);
           }),
    Define(
        "is_inlined", "The compiler inlined it into the frame below it",
        [](const Source& s, size_t row) { return FrameOf(s, row).is_inlined; }),
    Define(
        "is_kernel", "It is code of the kernel",
        [](const Source& s, size_t row) { return FrameOf(s, row).is_kernel; }),
    Define("is_resolved", "The function's name is known",
           [](const Source& s, size_t row) {
             return FrameOf(s, row).is_resolved;
           }),
};

}  // namespace

Table SamplesTable() {
  return {.name = "samples",
          .meaning = "A sample of a thread on a CPU, or a sum of older ones",
          .order = "samples by track and time, then sums by track and stack",
          .example =
              "select function, sum(count), sum(weight_ns) from samples "
              "group by function order by 3 desc limit 10",
          .columns = kSamples,
          .row_count = [](const Source& s) {
            return SampleCount(s) + s.trace().sample_sums().size();
          }};
}

Table StacksTable() {
  return {.name = "stacks",
          .meaning = "A stack of calls: another stack and one more frame",
          .order = "parents before children",
          .example =
              "select stack_text(stack_id), sum(weight_ns) from samples "
              "group by stack_id order by 2 desc limit 3",
          .columns = kStacks,
          .row_count = [](const Source& s) {
            return s.trace().stacks().stack_count();
          }};
}

Table FramesTable() {
  return {.name = "frames",
          .meaning = "A place in code: function, line, module",
          .order = "first use",
          .example = "select module, count(*) from frames group by module",
          .columns = kFrames,
          .row_count = [](const Source& s) {
            return s.trace().stacks().frame_count();
          }};
}

}  // namespace kymo::tables
