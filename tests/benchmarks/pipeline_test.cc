// From chunks to averages, the answer is the same for any number of threads.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "backends/stream/decode/decode.h"
#include "profiler/analysis/averages/key_averages.h"
#include "profiler/base/parallel.h"
#include "profiler/model/trace.h"
#include "profiler/model/trace_shard.h"
#include "profiler/normalize/normalize.h"
#include "tests/benchmarks/synthetic_chunks.h"

namespace kymo::benchmarks {
namespace {

model::Trace MakeTrace(const SyntheticChunks& chunks) {
  model::TraceShard shard = chunks.NewShard();
  stream::DecodeChunks(chunks.input(), shard);
  std::vector<model::TraceShard> shards;
  shards.push_back(std::move(shard));
  return *Normalize(std::move(shards),
                    {.start_ns = 1, .end_ns = INT64_MAX / 2});
}

// Everything that is promised not to depend on threads.
struct Answers {
  explicit Answers(const SyntheticChunks& chunks)
      : trace(MakeTrace(chunks)),
        by_name(analysis::KeyAverages(trace)),
        merged(analysis::KeyAverages(trace, analysis::Duplicates::kMerge)),
        by_shape_and_stack(analysis::KeyAverages(
            trace, {.by_input_shapes = true, .by_stack_n = 5})) {}

  model::Trace trace;
  std::vector<analysis::KeyAverage> by_name;
  std::vector<analysis::KeyAverage> merged;
  std::vector<analysis::KeyAverage> by_shape_and_stack;
};

// Limits of nested scopes do not add up to a larger one: one at a time.
Answers AnswersOf(const SyntheticChunks& chunks, int threads) {
  const ParallelismLimit limit(threads);
  return Answers(chunks);
}

template <typename Columns>
void ExpectEqualColumns(const Columns& a, const Columns& b) {
  EXPECT_EQ(a.start, b.start);
  EXPECT_EQ(a.end, b.end);
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.track, b.track);
  EXPECT_EQ(a.parent, b.parent);
  EXPECT_EQ(a.detail, b.detail);
  EXPECT_EQ(a.type, b.type);
  EXPECT_EQ(a.scope, b.scope);
  EXPECT_EQ(a.flags, b.flags);
}

class PipelineTest : public testing::TestWithParam<uint32_t> {
 protected:
  // More than a segment, a chunk and a grain of any pass.
  static constexpr size_t kRanges = 300'000;
};

TEST_P(PipelineTest, AnswersAreTheSameForAnyNumberOfThreads) {
  const SyntheticChunks chunks({.ranges = kRanges, .threads = GetParam()});
  const Answers expected = AnswersOf(chunks, /*threads=*/1);
  ASSERT_TRUE(ValidateTrace(expected.trace).ok());
  ASSERT_EQ(expected.trace.event_count(), chunks.ranges());
  ASSERT_EQ(expected.by_name.size(), 200);
  for (const int threads : {2, 3, 8}) {
    SCOPED_TRACE(threads);
    const Answers answers = AnswersOf(chunks, threads);
    ExpectEqualColumns(answers.trace.data(), expected.trace.data());
    EXPECT_EQ(answers.by_name, expected.by_name);
    EXPECT_EQ(answers.merged, expected.merged);
    EXPECT_EQ(answers.by_shape_and_stack, expected.by_shape_and_stack);
  }
}

INSTANTIATE_TEST_SUITE_P(RecordedThreads, PipelineTest, testing::Values(1, 8));

}  // namespace
}  // namespace kymo::benchmarks
