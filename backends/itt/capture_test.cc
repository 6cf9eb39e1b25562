// Each function of ITT, called as a program's copy of ITT does: what Kymo
// records, and what a tool behind Kymo hears. The same test runs without that
// tool, too. tests/nvtx/itt_test.cc has the same seen from a user's trace.
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "backends/itt/itt_backend.h"
#include "backends/itt/target/itt_abi.h"
#include "backends/stream/test_capture.h"
#include "gtest/gtest.h"
#include "profiler/base/clock.h"
#include "profiler/record/tool_variables.h"

extern "C" void __itt_api_init(kymo::itt::Global* global, int groups);

namespace kymo::itt {
namespace {

using Texts = std::vector<std::string>;

// Set by the target that runs this with a tool.
const char* const kToolPath = getenv("KYMO_TEST_TOOL");

const char* const kFunctions[] = {
    "__itt_domain_create",
    "__itt_string_handle_create",
    "__itt_task_begin",
    "__itt_task_begin_fn",
    "__itt_task_end",
    "__itt_task_begin_overlapped",
    "__itt_task_end_overlapped",
    "__itt_region_begin",
    "__itt_region_end",
    "__itt_frame_begin_v3",
    "__itt_frame_end_v3",
    "__itt_marker",
    "__itt_metadata_add",
    "__itt_metadata_str_add",
    "__itt_counter_create",
    "__itt_counter_create_typed",
    "__itt_counter_set_value",
    "__itt_counter_inc",
    "__itt_counter_inc_delta",
    "__itt_counter_dec",
    "__itt_counter_dec_delta",
    "__itt_counter_inc_v3",
    "__itt_counter_inc_delta_v3",
    "__itt_counter_dec_v3",
    "__itt_counter_dec_delta_v3",
    "__itt_thread_set_name",
    "__itt_stack_caller_create",
    "__itt_stack_callee_enter",
    "__itt_stack_callee_leave",
    "__itt_get_timestamp",
    "__itt_suppress_push"};  // which Kymo does not know

// The part of ITT that is in each program.
class Program {
 public:
  static Program& Get() {
    static Program& program = *new Program;
    return program;
  }
  template <typename Result, typename... Arguments>
  Result Call(const std::string& name, Arguments... arguments) {
    void* const function = functions_.at("__itt_" + name);
    EXPECT_NE(function, nullptr) << name;
    return reinterpret_cast<Result (*)(Arguments...)>(function)(arguments...);
  }
  void* function(const std::string& name) { return functions_.at(name); }
  void* null_function() { return &null_function_; }

 private:
  Program() {
    if (kToolPath != nullptr) {
      setenv(record::kNextIttToolVariable, kToolPath, 1);
      void* const tool = dlopen(kToolPath, RTLD_LAZY);
      EXPECT_NE(tool, nullptr) << dlerror();
      *static_cast<void (**)(Global*, int)>(dlsym(tool, "init_of_kymo")) =
          __itt_api_init;
    }
    for (const char* const name : kFunctions) {
      entries_.push_back(
          {name, &functions_[name], nullptr, &null_function_, 0});
    }
    entries_.push_back({});
    global_.api_list = entries_.data();
    __itt_api_init(&global_, 77);
    EXPECT_EQ(global_.library, nullptr);
  }

  std::map<std::string, void*> functions_;
  char null_function_ = 0;
  std::vector<ApiEntry> entries_;
  Global global_ = {};
};

class IttCaptureTest : public testing::Test {
 protected:
  IttCaptureTest() {
    domain_ = Call<Domain*>("domain_create", "io");
    if (kToolPath == nullptr) return;
    void* const tool = dlopen(kToolPath, RTLD_LAZY);
    take_log_ = reinterpret_cast<const char* (*)()>(dlsym(tool, "TakeToolLog"));
    Told();
  }

  template <typename Result = void, typename... Arguments>
  Result Call(const std::string& name, Arguments... arguments) {
    return Program::Get().Call<Result>(name, arguments...);
  }
  // Clears the log.
  StringHandle* Text(const char* text) {
    auto* const handle = Call<StringHandle*>("string_handle_create", text);
    Told();
    return handle;
  }
  // What the tool was told since the last call; without a tool, `expected`.
  std::string Told(const std::string& expected = "") const {
    return take_log_ == nullptr ? expected : take_log_();
  }

  Domain* domain_ = nullptr;
  const char* (*take_log_)() = nullptr;
};

// Or the program would hang in its first call.
TEST_F(IttCaptureTest, AToolThatUsesIttItselfIsNotHeard) {
  if (kToolPath == nullptr) GTEST_SKIP() << "there is no tool";
  void* const tool = dlopen(kToolPath, RTLD_LAZY);
  EXPECT_EQ(*static_cast<void**>(dlsym(tool, "function_within_tool")), nullptr);
}

TEST_F(IttCaptureTest, Tasks) {
  stream::TestCapture capture(NewIttBackend());
  StringHandle* const name = Text("task");
  StringHandle* const mark = Text("mark");
  Call("task_begin", static_cast<const Domain*>(domain_), Id{1}, Id{2}, name);
  Call("task_begin_fn", static_cast<const Domain*>(domain_), Id{3}, Id{4},
       reinterpret_cast<void (*)()>(dlsym(RTLD_DEFAULT, "abort")));
  Call("marker", static_cast<const Domain*>(domain_), Id{5}, mark, 6);
  for (int i = 0; i < 3; ++i) {
    Call("task_end", static_cast<const Domain*>(domain_));
  }
  const std::string told =
      "task_begin io 1 2 task\ntask_begin_fn io 3 4 function\n"
      "marker io 5 mark 6\ntask_end io\ntask_end io\ntask_end io\n";
  EXPECT_EQ(Told(told), told);
  EXPECT_EQ(capture.Stop(),
            (Texts{"range task, domain=io", "range abort, domain=io",
                   "mark mark, domain=io", "lost ends_without_begin 1"}));
  // Nobody records.
  Call("task_begin", static_cast<const Domain*>(domain_), Id{}, Id{}, name);
  Call("marker", static_cast<const Domain*>(domain_), Id{}, mark, 6);
  Call("task_end", static_cast<const Domain*>(domain_));
  Call("task_end", static_cast<const Domain*>(domain_));
}

TEST_F(IttCaptureTest, RangesById) {
  stream::TestCapture capture(NewIttBackend());
  const Domain* const d = domain_;
  const Id id = {7, 8, 9};
  StringHandle* const overlapped = Text("overlapped");
  StringHandle* const region = Text("region");
  StringHandle* const open = Text("open");
  Call("task_begin_overlapped", d, id, Id{2}, overlapped);
  Call("region_begin", d, id, Id{3}, region);
  Call("frame_begin_v3", d, &id);
  Call("frame_begin_v3", d, static_cast<const Id*>(nullptr));
  Call("region_begin", d, Id{7, 8, 10}, Id{3}, open);
  Call("task_end_overlapped", d, id);
  Call("region_end", d, id);
  Call("frame_end_v3", d, &id);
  Call("frame_end_v3", d, static_cast<const Id*>(nullptr));
  // They are not open any more.
  Call("task_end_overlapped", d, id);
  Call("region_end", d, id);
  Call("frame_end_v3", d, &id);
  const std::string told =
      "task_begin_overlapped io 7 2 overlapped\nregion_begin io 7 3 region\n"
      "frame_begin_v3 io id\nframe_begin_v3 io null\n"
      "region_begin io 7 3 open\ntask_end_overlapped io 7\nregion_end io 7\n"
      "frame_end_v3 io id\nframe_end_v3 io null\n"
      "task_end_overlapped io 7\nregion_end io 7\nframe_end_v3 io id\n";
  EXPECT_EQ(Told(told), told);
  EXPECT_EQ(
      capture.Stop(),
      (Texts{"async overlapped, domain=io", "async region, domain=io",
             "async frame, domain=io", "async frame, domain=io",
             "async open (open), domain=io", "lost ends_without_begin 3"}));
  Call("region_end", d, Id{7, 8, 10});
  Call("region_end", d, id);  // nobody records
}

TEST_F(IttCaptureTest, Metadata) {
  const Domain* const d = domain_;
  const auto add = [&](const char* key, int type, auto value, size_t count = 1,
                       Id id = {}) {
    Call("metadata_add", d, id, Text(key), type, count,
         static_cast<void*>(&value));
  };
  stream::TestCapture capture(NewIttBackend());
  Call("region_begin", d, Id{1}, Id{}, Text("region"));
  Call("task_begin_overlapped", d, Id{2}, Id{}, Text("overlapped"));
  const Id frame = {3};
  Call("frame_begin_v3", d, &frame);
  Call("task_begin", d, Id{}, Id{}, Text("task"));
  add("i64", kMetadataInt64, int64_t{-1});
  add("u64", kMetadataUint64, uint64_t{5});
  add("i32", kMetadataInt32, int64_t{0xffffffff});
  add("u32", kMetadataUint32, int64_t{-1});
  add("i16", kMetadataInt16, int64_t{0xffff});
  add("u16", kMetadataUint16, int64_t{-1});
  add("float", kMetadataFloat, 0.5f);
  add("double", kMetadataDouble, 0.25);
  add("word", 0, uint64_t{6});
  add("none", kMetadataInt64, int64_t{6}, 0);
  Call("metadata_add", d, Id{}, Text("null"), int{kMetadataInt64}, size_t{1},
       static_cast<void*>(nullptr));
  Call("metadata_str_add", d, Id{}, Text("text"), "whole", size_t{0});
  Call("metadata_str_add", d, Id{}, Text("null"),
       static_cast<const char*>(nullptr), size_t{0});
  add("of it", kMetadataInt64, int64_t{1}, 1, {1});
  add("of it", kMetadataInt64, int64_t{2}, 1, {2});
  add("of it", kMetadataInt64, int64_t{3}, 1, {3});
  Call("metadata_str_add", d, Id{1}, Text("text"), "partly", size_t{4});
  // Of no open range: the innermost task has it.
  add("other", kMetadataInt64, int64_t{4}, 1, {4});
  Call("task_end", d);
  add("late", kMetadataInt64, int64_t{5});
  Call("region_end", d, Id{1});
  Call("task_end_overlapped", d, Id{2});
  Call("frame_end_v3", d, &frame);
  EXPECT_EQ(
      capture.Stop(),
      (Texts{"async region, domain=io, of it=1, text=part",
             "async overlapped, domain=io, of it=2",
             "async frame, domain=io, of it=3",
             "range task, domain=io, i64=-1, u64=5, i32=-1, u32=4294967295, "
             "i16=-1, u16=65535, float=double 0.5, double=double 0.25, word=6, "
             "text=whole, other=4"}));
  StringHandle* const key = Text("key");
  int64_t six = 6;
  Call("metadata_str_add", d, Id{5}, key, "text", size_t{2});
  Call("metadata_add", d, Id{5}, key, 2, size_t{1}, static_cast<void*>(&six));
  const std::string told =
      "metadata_str_add io 5 key text 2\nmetadata_add io 5 key 2 1 pointer\n";
  EXPECT_EQ(Told(told), told);
}

TEST_F(IttCaptureTest, Counters) {
  const Domain* const d = domain_;
  void* const items = Call<void*>("counter_create", "items", "queue");
  void* const level =
      Call<void*>("counter_create_typed", "level",
                  static_cast<const char*>(nullptr), int{kMetadataDouble});
  EXPECT_EQ(Told("-"), kToolPath == nullptr
                           ? "-"
                           : "counter_create items queue\n"
                             "counter_create_typed level null 8\n");
  StringHandle* const steps = Text("steps");
  stream::TestCapture capture(NewIttBackend());
  double half = 0.5;
  Call("counter_set_value", level, static_cast<void*>(&half));
  Call("counter_set_value", level, static_cast<void*>(nullptr));
  Call("counter_set_value", static_cast<void*>(nullptr),
       static_cast<void*>(&half));
  Call("counter_inc", items);
  Call("counter_inc_delta", items, uint64_t{10});
  Call("counter_dec", items);
  Call("counter_dec_delta", items, uint64_t{5});
  Call("counter_inc", static_cast<void*>(&half));  // no counter
  Call("counter_inc_v3", d, steps);
  Call("counter_inc_delta_v3", d, steps, uint64_t{10});
  Call("counter_dec_v3", d, steps);
  Call("counter_dec_delta_v3", d, steps, uint64_t{5});
  Call("counter_inc_v3", static_cast<const Domain*>(nullptr), steps);
  const std::string told =
      "counter_set_value pointer pointer\ncounter_set_value pointer null\n"
      "counter_set_value null pointer\ncounter_inc pointer\n"
      "counter_inc_delta pointer 10\ncounter_dec pointer\n"
      "counter_dec_delta pointer 5\ncounter_inc pointer\n"
      "counter_inc_v3 io steps\ncounter_inc_delta_v3 io steps 10\n"
      "counter_dec_v3 io steps\ncounter_dec_delta_v3 io steps 5\n"
      "counter_inc_v3 null steps\n";
  EXPECT_EQ(Told(told), told);
  EXPECT_EQ(capture.Stop(),
            (Texts{"counter level = 0.5", "counter queue::items = 1",
                   "counter queue::items = 11", "counter queue::items = 10",
                   "counter queue::items = 5", "counter io::steps = 1",
                   "counter io::steps = 11", "counter io::steps = 10",
                   "counter io::steps = 5", "counter steps = 1"}));
  // Increments count while nobody records.
  Call("counter_inc", items);
  stream::TestCapture later(NewIttBackend());
  Call("counter_inc", items);
  EXPECT_EQ(later.Stop(), (Texts{"counter queue::items = 7"}));
}

TEST_F(IttCaptureTest, ThreadsAndCallers) {
  stream::TestCapture capture(NewIttBackend());
  Call("thread_set_name", "librarian");
  Call("thread_set_name", static_cast<const char*>(nullptr));
  void* const first = Call<void*>("stack_caller_create");
  void* const second = Call<void*>("stack_caller_create");
  EXPECT_EQ(reinterpret_cast<uintptr_t>(second),
            reinterpret_cast<uintptr_t>(first) + 1);
  Call("stack_callee_enter", first);
  Call("stack_callee_leave", first);
  Call("stack_callee_leave", first);
  const std::string told =
      "thread_set_name librarian\nthread_set_name null\n"
      "stack_caller_create\nstack_caller_create\n"
      "stack_callee_enter pointer\nstack_callee_leave pointer\n"
      "stack_callee_leave pointer\n";
  EXPECT_EQ(Told(told), told);
  EXPECT_EQ(capture.Stop(),
            (Texts{"range task, caller=" +
                       std::to_string(reinterpret_cast<uintptr_t>(first)),
                   "lost ends_without_begin 1"}));
  EXPECT_EQ(capture.Text(capture.shard().tracks.at(0).name), "librarian");
}

TEST_F(IttCaptureTest, TheClockIsTheRecorders) {
  const stream::TestCapture capture(NewIttBackend());
  const auto ticks = Call<uint64_t>("get_timestamp");
  if (kToolPath == nullptr) {
    EXPECT_NE(ticks, 0u);
    EXPECT_GE(Call<uint64_t>("get_timestamp"), ticks);
  } else {
    EXPECT_EQ(Told(), "get_timestamp\n");
    EXPECT_EQ(Call<uint64_t>("get_timestamp"), ticks + 1);
  }
}

TEST_F(IttCaptureTest, ObjectsAreTheToolsOrOnesOfTheirText) {
  const bool is_alone = kToolPath == nullptr;
  EXPECT_EQ(Call<Domain*>("domain_create", "io") == domain_, is_alone);
  EXPECT_NE(Call<Domain*>("domain_create", "other"), domain_);
  EXPECT_EQ(Text("text") == Text("text"), is_alone);
  EXPECT_STREQ(Text("text")->text, "text");
  EXPECT_EQ(domain_->flags, 1);
  EXPECT_STREQ(domain_->name, "io");
  if (is_alone) {
    EXPECT_STREQ(Text(nullptr)->text, "(no name)");
  }
  // A function that Kymo does not know stays what it was.
  EXPECT_EQ(Program::Get().function("__itt_suppress_push"),
            Program::Get().null_function());
}

TEST_F(IttCaptureTest, NothingToAttachToIsNoError) {
  __itt_api_init(nullptr, 0);
  Global empty = {};
  __itt_api_init(&empty, 0);
  // Names come without their prefix, too.
  void* end = nullptr;
  void* other = nullptr;
  ApiEntry entries[] = {{"task_end", &end, nullptr, nullptr, 0},
                        {"__itt_task_end_", &other, nullptr, nullptr, 0},
                        {}};
  empty.api_list = entries;
  __itt_api_init(&empty, 0);
  EXPECT_NE(end, nullptr);
  EXPECT_EQ(other, nullptr);
}

}  // namespace
}  // namespace kymo::itt
