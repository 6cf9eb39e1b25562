// test_capture.h - what a backend of annotations records of this process, as
// texts.
//
//   TestCapture capture(NewNvtxBackend());
//   push("work"); pop();
//   EXPECT_EQ(capture.Stop(), (std::vector<std::string>{"range work"}));
//
// A text for each event, in the order of their threads and starts: its kind,
// its name and its arguments. Then for each counter's sample, for the names of
// things, and for each loss.
#ifndef KYMO_BACKENDS_STREAM_TEST_CAPTURE_H_
#define KYMO_BACKENDS_STREAM_TEST_CAPTURE_H_

#include <unistd.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "profiler/model/loss_ledger.h"
#include "profiler/model/trace_shard.h"
#include "profiler/plugin/activity_backend.h"
#include "profiler/plugin/shared_parts.h"

namespace kymo::stream {

class TestCapture {
 public:
  explicit TestCapture(std::unique_ptr<ActivityBackend> backend)
      : backend_(std::move(backend)) {
    options_.shared = std::make_shared<SharedParts>();
    auto session = backend_->NewSession(options_);
    EXPECT_TRUE(session.ok()) << session.status();
    session_ = *std::move(session);
    EXPECT_TRUE(session_->Prepare(nullptr).ok());
    EXPECT_TRUE(session_->Start(getpid()).ok());
  }

  std::vector<std::string> Stop() {
    EXPECT_TRUE(session_->Stop().ok());
    EXPECT_TRUE(session_->Collect(shard_).ok());
    std::vector<std::string> texts;
    for (size_t row = 0; row < shard_.block.size(); ++row) {
      texts.push_back(TextOf(row));
    }
    for (const model::CounterSample& sample : shard_.counters) {
      texts.push_back(
          absl::StrCat("counter ", Text(sample.name), " = ", sample.value));
    }
    for (const model::Metadata& metadata : shard_.metadata) {
      texts.push_back(Text(metadata.json_value));
    }
    for (size_t i = 0; i < static_cast<size_t>(model::Loss::kCount); ++i) {
      const auto loss = static_cast<model::Loss>(i);
      if (shard_.ledger.Get(loss) == 0) continue;
      texts.push_back("lost " + std::string(model::LossName(loss)) + " " +
                      std::to_string(shard_.ledger.Get(loss)));
    }
    return texts;
  }

  // After Stop.
  const model::TraceShard& shard() const { return shard_; }
  std::string Text(model::NameId name) const {
    return std::string(shard_.strings.Get(name));
  }

 private:
  std::string TextOf(size_t row) const {
    const model::EventBlock& events = shard_.block;
    const bool is_async = (events.flags[row] & model::kEventAsync) != 0;
    std::string text = (events.flags[row] & model::kEventInstant) != 0 ? "mark "
                       : is_async ? "async "
                                  : "range ";
    text += Text(events.name[row]);
    if (events.end_ns[row] == 0) text += " (open)";
    const model::DetailIndex detail =
        events.detail.empty() ? model::kNoDetail : events.detail[row];
    if (detail == model::kNoDetail) return text;
    for (uint32_t i = shard_.details[detail].args_begin;
         i < shard_.details[detail].args_end; ++i) {
      const model::Arg& arg = shard_.args[i];
      absl::StrAppend(&text, ", ", Text(arg.key), "=");
      switch (arg.type) {
        case model::ArgType::kInt:
          absl::StrAppend(&text, arg.int_value());
          break;
        case model::ArgType::kDouble:
          absl::StrAppend(&text, "double ", arg.double_value());
          break;
        default:
          absl::StrAppend(&text, Text(arg.string_value()));
      }
    }
    return text;
  }

  const std::unique_ptr<ActivityBackend> backend_;
  SessionOptions options_;
  std::unique_ptr<ActivitySession> session_;
  model::TraceShard shard_;
};

}  // namespace kymo::stream

#endif  // KYMO_BACKENDS_STREAM_TEST_CAPTURE_H_
