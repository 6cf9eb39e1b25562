// test_normalize.h - normalises shards and checks the trace, for tests.
//
//   EXPECT_EQ(Tree(Build(std::move(builder))), "outer inner<outer");
#ifndef KYMO_PROFILER_NORMALIZE_TEST_NORMALIZE_H_
#define KYMO_PROFILER_NORMALIZE_TEST_NORMALIZE_H_

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "profiler/normalize/normalize.h"
#include "tests/support/test_shard.h"

namespace kymo {

inline model::Trace Build(std::vector<model::TraceShard> shards,
                          NormalizeOptions options = {}) {
  auto trace = Normalize(std::move(shards), options);
  EXPECT_TRUE(trace.ok()) << trace.status();
  const absl::Status valid = ValidateTrace(*trace);
  EXPECT_TRUE(valid.ok()) << valid;
  return *std::move(trace);
}

inline model::Trace Build(TestShard builder, NormalizeOptions options = {}) {
  std::vector<model::TraceShard> shards;
  shards.push_back(std::move(builder).Build());
  return Build(std::move(shards), options);
}

// "name<parent" for every event, in order.
inline std::string Tree(const model::Trace& trace) {
  std::string text;
  for (model::EventIndex i = 0; i < trace.event_count(); ++i) {
    if (!text.empty()) text += ' ';
    text += trace.EventName(i);
    const model::EventIndex parent = trace.parent()[i];
    if (parent != model::kNoEvent) {
      text += '<';
      text += trace.EventName(parent);
    }
  }
  return text;
}

}  // namespace kymo

#endif  // KYMO_PROFILER_NORMALIZE_TEST_NORMALIZE_H_
