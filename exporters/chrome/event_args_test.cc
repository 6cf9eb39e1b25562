#include "exporters/chrome/event_args.h"

#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exporters/chrome/input_texts.h"
#include "exporters/chrome/test_chrome.h"
#include "exporters/timeline/test_whole_trace.h"
#include "profiler/base/op_inputs.h"
#include "tests/support/test_trace.h"

namespace kymo {
namespace {

using model::StackId;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string Encode(const std::vector<Input>& inputs) {
  std::string bytes(EncodedInputBytes(inputs.data(), inputs.size()), '\0');
  EncodeInputs(inputs.data(), inputs.size(), bytes.data());
  return bytes;
}

// A frame, or the text of one: "FILE(LINE): FUNCTION" or "FUNCTION".
StackId Push(TestTrace& t, StackId stack, std::string_view entry) {
  model::Frame frame;
  const size_t line = entry.find('(');
  const size_t function = entry.find("): ");
  if (function != std::string_view::npos) {
    frame.file = t.Intern(entry.substr(0, line));
    frame.line =
        static_cast<uint32_t>(std::stoul(std::string(entry.substr(line + 1))));
    entry.remove_prefix(function + 3);
  }
  frame.function = t.Intern(entry);
  return t.data().stacks.Push(stack, t.data().stacks.AddFrame(frame));
}

model::Detail& LastDetail(TestTrace& t) { return t.data().details.back(); }

std::string WithOneArg(std::string_view key) {
  TestTrace t;
  t.AddThread(1, 1, "main");
  t.AddRange(0, "op", 0, 10, model::ActivityType::kCpuOp, model::kEventOpen);
  t.Describe(3, {model::Arg::Int(t.Intern(key), 77)});
  return ChromeText(std::move(t).Build());
}

TEST(EventArgsTest, WholeDoublesStayDoubles) {
  TestTrace t;
  t.AddProcess(1, "app");
  t.AddRange(t.AddThread(1, 1, "app"), "range", 0, 900);
  const auto number = [&](const char* key, double value) {
    return model::Arg::Double(t.Intern(key), value);
  };
  t.Describe(0,
             {number("ten", 10), number("none", -0.0), number("half", 0.5),
              number("large", 1e300), model::Arg::Int(t.Intern("count"), 10)});
  const std::string text = ChromeText(std::move(t).Build());
  EXPECT_NE(text.find("\"ten\":10.0,\"none\":-0.0,\"half\":0.5,"
                      "\"large\":1e+300,\"count\":10,"),
            std::string::npos)
      << text;
}

TEST(EventArgsTest, GoldenOperations) {
  TestTrace t;
  t.AddProcess(1, "app");
  const auto main = t.AddThread(1, 1, "app");
  t.data().tracks[main].logical_id = 1;
  t.AddRange(main, "Net", 0, 900, model::ActivityType::kUserAnnotation,
             model::kEventModule);
  t.AddRange(main, "Conv \"1\"", 100, 800, model::ActivityType::kUserAnnotation,
             model::kEventModule);
  t.AddRange(main, "conv", 200, 700);
  t.Describe(0, {model::Arg::Double(t.Intern("momentum"), 0.5),
                 model::Arg::String(t.Intern("mode"), t.Intern("a\"b"))});
  const int64_t sizes[] = {2, 3};
  const int64_t strides[] = {3, 1};
  const TensorMeta tensor = {
      .sizes = sizes, .dtype = DType::kFloat, .strides = strides};
  const TensorMeta tensors[] = {tensor, tensor};
  LastDetail(t).inputs = t.Intern(Encode(
      {tensor, std::span<const TensorMeta>(tensors), true, 0.5,
       std::span<const int64_t>(sizes), std::string_view("say \"no\"\n")}));
  LastDetail(t).sequence_nr = 4;
  StackId stack = Push(t, model::kEmptyStack, "main.cc(90): main");
  LastDetail(t).stack = Push(t, stack, "C:\\conv.cc(7): run(\"x\")");
  t.AddRange(main, "leaf", 300, 400);  // below a module, and nothing else
  t.AddRange(main, "back", 1'000, 1'500, model::ActivityType::kCpuOp,
             model::kEventOpen);
  t.Describe(0);
  LastDetail(t).sequence_nr = 4;
  t.SetRare({.forward_thread = 1});
  t.AddRange(main, "plain", 1'600, 1'700);
  CheckGolden(std::move(t).Build(), "operations");
}

// Sizes, a number or a list of numbers, as the reference writes them.
class ReferenceInputs {
 public:
  explicit ReferenceInputs(const JsonMap& args) {
    if (args.count("Input type") == 0) return;
    const auto list = [&](const char* key, int i) {
      return args.at(key).list_value().values(i);
    };
    for (int i = 0; i < args.at("Input type").list_value().values_size(); ++i) {
      const std::string type = list("Input type", i).string_value();
      const std::string concrete = list("Concrete Inputs", i).string_value();
      if (type == "Scalar") {
        inputs_.push_back(std::stoi(concrete));
      } else if (type == "ScalarList") {
        const auto json = ParseJson("{\"list\":" + concrete + "}");
        inputs_.push_back(
            std::span<const int64_t>(Keep(json.fields().at("list"))));
      } else {
        EXPECT_EQ(type, "float");
        inputs_.push_back(
            TensorMeta{.sizes = Keep(list("Input Dims", i)),
                       .dtype = DType::kFloat,
                       .strides = Keep(list("Input Strides", i))});
      }
    }
  }
  std::string encoded() const { return Encode(inputs_); }

 private:
  const std::vector<int64_t>& Keep(const google::protobuf::Value& list) {
    auto numbers = std::make_unique<std::vector<int64_t>>();
    for (const auto& value : list.list_value().values()) {
      numbers->push_back(static_cast<int64_t>(value.number_value()));
    }
    kept_.push_back(std::move(numbers));
    return *kept_.back();
  }

  std::vector<Input> inputs_;
  std::vector<std::unique_ptr<std::vector<int64_t>>> kept_;
};

void AddReferenceOperation(TestTrace& t, const JsonMap& op) {
  const JsonMap& args = op.at("args").struct_value().fields();
  const TimeNs start_ns = std::llround(1'000 * Number(op, "ts"));
  t.AddRange(0, Text(op, "name"), start_ns,
             start_ns + std::llround(1'000 * Number(op, "dur")),
             *model::ParseActivityType(Text(op, "cat")));
  t.Describe(static_cast<uint64_t>(Number(args, "External id")));
  LastDetail(t).inputs = t.Intern(ReferenceInputs(args).encoded());
  if (args.count("Sequence number") != 0) {
    LastDetail(t).sequence_nr =
        static_cast<int64_t>(Number(args, "Sequence number"));
    t.SetRare({.forward_thread =
                   static_cast<uint64_t>(Number(args, "Fwd thread id"))});
  }
  if (args.count("Call stack") == 0) return;
  std::string rest = Text(args, "Call stack");  // the innermost frame first
  StackId stack = model::kEmptyStack;
  while (!rest.empty()) {
    rest.pop_back();
    const size_t at = rest.rfind(';') + 1;
    stack = Push(t, stack, rest.substr(at));
    rest.resize(at);
  }
  LastDetail(t).stack = stack;
}

TEST(EventArgsTest, KeysAndValuesAreThoseOfPyTorch) {
  const auto theirs = Events(ReadTestJson("pytorch_operations.json"), "X");
  TestTrace t;
  t.AddThread(1, 1, "main");
  for (const JsonMap& op : theirs) AddReferenceOperation(t, op);
  std::vector<JsonMap> ours =
      Events(ParseJson(ChromeText(std::move(t).Build())), "X");
  ASSERT_EQ(ours.size(), theirs.size() + 1);  // and the trace's own mark
  for (size_t i = 0; i < theirs.size(); ++i) {
    auto expected = Texts(theirs[i].at("args").struct_value().fields());
    auto found = Texts(ours[i].at("args").struct_value().fields());
    // Positions: these operations were cut from longer traces.
    EXPECT_EQ(expected.erase("Ev Idx"), 1u);
    EXPECT_EQ(found.erase("Ev Idx"), 1u);
    EXPECT_EQ(found, expected) << Text(theirs[i], "name");
  }
}

TEST(EventArgsTest, GivenArgumentsCountBeforeOwnKeys) {
  for (const char* key :
       {"External id", "Record function id", "Ev Idx", "finished"}) {
    const std::string member = std::string("\"") + key + "\":";
    const std::string text = WithOneArg(key);
    EXPECT_THAT(text, HasSubstr(member + "77"));
    EXPECT_EQ(text.find(member), text.rfind(member)) << text;
  }
  EXPECT_THAT(WithOneArg("k"),
              HasSubstr("\"args\":{\"External id\":3,\"Record function id\":0,"
                        "\"k\":77,\"finished\":false,\"Ev Idx\":0}"));
}

TEST(EventArgsTest, OperationsHaveIdsWhereATraceHasNone) {
  TestTrace t;
  t.AddThread(1, 1, "main");
  t.AddRange(0, "plain", 0, 10);
  t.AddRange(0, "op", 20, 30);
  t.Describe(0);
  t.AddRange(0, "kernel", 40, 50, model::ActivityType::kConcurrentKernel);
  t.Describe(0);
  EXPECT_THAT(ChromeText(std::move(t).Build()),
              AllOf(HasSubstr("\"External id\":2,"),
                    Not(HasSubstr("\"External id\":3")),
                    HasSubstr("\"dur\":0.010},\n"),  // of `plain`: no args
                    Not(HasSubstr("\"args\":{}"))));
}

TEST(EventArgsTest, OperationsHaveIdsWhereDevicesNameThem) {
  TestTrace t;
  t.AddThread(1, 1, "main");
  t.AddRange(0, "plain", 0, 10);
  t.AddRange(t.AddStream(0, 7, 1), "kernel", 40, 50,
             model::ActivityType::kConcurrentKernel);
  EXPECT_THAT(ChromeText(std::move(t).Build()),
              HasSubstr("\"args\":{\"External id\":1,"
                        "\"Record function id\":0,\"Ev Idx\":0}"));
}

TEST(EventArgsTest, EncodedInputsMayBeANameToo) {
  TestTrace t;
  t.AddThread(1, 1, "main");
  const std::string encoded = Encode({7});
  t.AddRange(0, encoded, 0, 10);
  t.Describe(0);
  LastDetail(t).inputs = t.Intern(encoded);
  EXPECT_THAT(ChromeText(std::move(t).Build()),
              AllOf(HasSubstr("\"Concrete Inputs\":[\"7\"]"),
                    HasSubstr("\\u0000\\u0000\",\"pid\":1")));
}

TEST(InputTextsTest, MakesWhatItDoesNotKeep) {
  TestTrace t;
  t.AddThread(1, 1, "main");
  const auto inputs = t.Intern(Encode({int64_t{7}, false}));
  t.AddRange(0, "op", 0, 10);
  t.Describe(0);
  LastDetail(t).inputs = inputs;
  const model::Trace trace = std::move(t).Build();
  chrome::InputText scratch;
  for (const size_t kept_bytes :
       {size_t{0}, chrome::InputTexts::kMaxKeptBytes}) {
    const chrome::InputTexts texts(trace, kept_bytes);
    const chrome::InputText& text = texts.Get(inputs, scratch);
    EXPECT_EQ(&text == &scratch, kept_bytes == 0);
    EXPECT_EQ(text.concrete, R"(["7", "False"])");
    EXPECT_EQ(text.types, R"(["Scalar", "Scalar"])");
    EXPECT_EQ(text.strides, "[[], []]");
    EXPECT_EQ(text.dims, "[[], []]");
  }
}

TEST(EventArgsTest, GoldenWhole) { CheckGolden(WholeTrace(), "whole"); }

}  // namespace
}  // namespace kymo
