// test_callbacks.h - a fixture for tests of callbacks.
//
//   AddGlobalCallback(Logging("c"));
//   { RecordFunction op("op"); }
//   EXPECT_EQ(log_, (Texts{"+c op", "-c op"}));
#ifndef KYMO_PROFILER_CALLBACKS_TEST_CALLBACKS_H_
#define KYMO_PROFILER_CALLBACKS_TEST_CALLBACKS_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "kymo/callbacks.h"
#include "kymo/record_function.h"
#include "kymo/warning.h"
#include "profiler/record/host/host.h"

namespace kymo {

using Texts = std::vector<std::string>;

struct Labelled : ObserverContext {
  explicit Labelled(std::string text) : label(std::move(text)) {}
  std::string label;
};

class CallbacksTest : public testing::Test {
 protected:
  CallbacksTest() {
    SetWarningHandler(
        [this](std::string_view text) { warnings_.emplace_back(text); });
  }
  ~CallbacksTest() override {
    ClearCallbacks();
    EXPECT_EQ(record::GateBits() & record::kGateObserved, 0);
    EnableRecordFunction(true);
    SetWarningHandler({});
  }

  // Writes "+LABEL NAME" at starts and "-LABEL NAME" at ends.
  RecordFunctionCallback Logging(const std::string& label) {
    return RecordFunctionCallback(
        [=, this](const OperationView& op) {
          log_.push_back("+" + label + " " + std::string(op.name));
          return std::make_unique<Labelled>(label);
        },
        [this](const OperationView& op, ObserverContext* context) {
          log_.push_back("-" + static_cast<Labelled*>(context)->label + " " +
                         std::string(op.name));
        });
  }

  // Calls `look` at each start.
  static RecordFunctionCallback AtStart(
      std::function<void(const OperationView&)> look) {
    return RecordFunctionCallback([=](const OperationView& op) {
      look(op);
      return nullptr;
    });
  }

  Texts log_;
  Texts warnings_;
};

}  // namespace kymo

#endif  // KYMO_PROFILER_CALLBACKS_TEST_CALLBACKS_H_
