// trace_reader.h - what tests of captured annotations ask of a trace.
//
//   const auto profile = RecordAll([] { nvtxMarkA("here"); });
//   EXPECT_EQ(ArgText(*profile->trace(), "here", "domain"), "io");
#ifndef KYMO_TESTS_NVTX_TRACE_READER_H_
#define KYMO_TESTS_NVTX_TRACE_READER_H_

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "kymo/profile.h"
#include "profiler/model/trace.h"

namespace kymo::testing {

// Records `work` in one session of all threads.
template <typename Work>
std::unique_ptr<Profile> RecordAll(Work work, ProfileOptions options = {}) {
  options.experimental_config.profile_all_threads = true;
  auto profile = std::make_unique<Profile>(std::move(options));
  EXPECT_TRUE(profile->Start().ok());
  work();
  const absl::Status status = profile->Stop();
  EXPECT_TRUE(status.ok()) << status;
  const absl::Status valid = model::ValidateTrace(*profile->trace());
  EXPECT_TRUE(valid.ok()) << valid;
  return profile;
}

inline std::vector<model::EventIndex> FindAll(const model::Trace& trace,
                                              std::string_view name) {
  std::vector<model::EventIndex> found;
  for (model::EventIndex i = 0; i < trace.event_count(); ++i) {
    if (trace.EventName(i) == name) found.push_back(i);
  }
  return found;
}

// The first event of that name.
inline model::EventIndex Find(const model::Trace& trace,
                              std::string_view name) {
  const auto found = FindAll(trace, name);
  if (!found.empty()) return found.front();
  ADD_FAILURE() << "no event named " << name;
  return 0;
}

inline std::string_view ParentName(const model::Trace& trace,
                                   std::string_view name) {
  const model::EventIndex parent = trace.parent()[Find(trace, name)];
  return parent == model::kNoEvent ? "" : trace.EventName(parent);
}

// An argument as text; "none" where the event has no such.
inline std::string ArgText(const model::Trace& trace, std::string_view event,
                           std::string_view key) {
  for (const model::Arg& arg : trace.args(Find(trace, event))) {
    if (trace.Name(arg.key) != key) continue;
    switch (arg.type) {
      case model::ArgType::kInt:
        return absl::StrCat(arg.int_value());
      case model::ArgType::kDouble:
        return absl::StrCat(arg.double_value());
      default:  // texts
        return std::string(trace.Name(arg.string_value()));
    }
  }
  return "none";
}

}  // namespace kymo::testing

#endif  // KYMO_TESTS_NVTX_TRACE_READER_H_
