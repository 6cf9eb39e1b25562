// Sessions as PyTorch has them: of one thread, following work, step by step.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "kymo/callbacks.h"
#include "kymo/coverage.h"
#include "kymo/events.h"
#include "kymo/flops.h"
#include "kymo/future.h"
#include "kymo/memory.h"
#include "kymo/profile.h"
#include "kymo/record_function.h"
#include "kymo/sequence_number.h"
#include "kymo/tbb.h"
#include "kymo/thread_state.h"
#include "kymo/warning.h"
#include "oneapi/tbb/parallel_for.h"

namespace kymo {
namespace {

using Counts = std::map<std::string, int64_t>;

Counts CountsOf(const KeyAverages& averages) {
  EXPECT_TRUE(averages.status().ok()) << averages.status();
  Counts counts;
  for (const FunctionEventAvg& row : averages) counts[row.key] = row.count;
  return counts;
}

template <typename Work>
std::unique_ptr<Profile> Record(ProfileOptions options, Work work) {
  auto profile = std::make_unique<Profile>(std::move(options));
  absl::Status status = profile->Start();
  EXPECT_TRUE(status.ok()) << status;
  work();
  status = profile->Stop();
  EXPECT_TRUE(status.ok()) << status;
  return profile;
}

const FunctionEvent* Find(Profile& profile, std::string_view name) {
  const absl::StatusOr<const EventList*> events = profile.events();
  EXPECT_TRUE(events.ok()) << events.status();
  if (!events.ok()) return nullptr;
  for (const FunctionEvent& event : **events) {
    if (event.name == name) return &event;
  }
  ADD_FAILURE() << "no event " << name;
  return nullptr;
}

// Keeps warnings from standard error.
class Warnings {
 public:
  Warnings() {
    SetWarningHandler(
        [this](std::string_view text) { texts_.emplace_back(text); });
  }
  ~Warnings() { SetWarningHandler({}); }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::vector<std::string> texts_;
};

// --- threads ---

TEST(SessionTest, RecordsTheThreadThatStartsItAndNoOther) {
  const auto profile = Record({}, [] {
    RecordFunction mine("mine");
    std::thread([] { RecordFunction others("others"); }).join();
  });
  EXPECT_EQ(CountsOf(profile->key_averages()), (Counts{{"mine", 1}}));
}

TEST(SessionTest, FollowsWorkThatIsHandedOver) {
  const auto profile = Record({}, [] {
    std::thread(Propagate([] { RecordFunction range("thread"); })).join();
    Async([] { RecordFunction range("async"); }).get();
    EXPECT_EQ(Async(
                  std::launch::deferred, [](int i) { return i + 1; }, 2)
                  .get(),
              3);
    const ThreadState state = ThreadState::Capture();
    std::thread([&] {
      RecordFunction before("before");
      {
        ThreadStateGuard guard(state);
        RecordFunction within("within");
      }
      RecordFunction after("after");
    }).join();
  });
  EXPECT_EQ(CountsOf(profile->key_averages()),
            (Counts{{"thread", 1}, {"async", 1}, {"within", 1}}));
}

TEST(SessionTest, WorkThatWasMadeBeforeTheSessionIsNotInIt) {
  auto early = Propagate([] { RecordFunction range("early"); });
  const auto profile = Record({}, [&] {
    std::thread(early).join();
    RecordFunction range("mine");
  });
  EXPECT_EQ(CountsOf(profile->key_averages()), (Counts{{"mine", 1}}));
}

TEST(SessionTest, WorkThatOutlivesTheSessionDoesNothing) {
  std::promise<void> stopped;
  std::future<void> late;
  const auto profile = Record({}, [&] {
    late = Async([done = stopped.get_future()]() mutable {
      RecordFunction during("during");
      done.wait();
      RecordFunction after("after");
    });
    while (true) {
      usleep(1000);
      break;
    }
  });
  stopped.set_value();
  late.get();
  EXPECT_EQ(CountsOf(profile->key_averages()).count("after"), 0);
}

TEST(SessionTest, FollowsTaskGroupsAndArenasOfTbb) {
  const auto profile = Record({}, [] {
    TaskGroup group;
    for (int i = 0; i < 20; ++i) {
      group.run([] { RecordFunction range("task"); });
    }
    group.wait();
    oneapi::tbb::task_arena arena(2);
    const ArenaState state(arena);
    arena.execute([] {
      oneapi::tbb::parallel_for(0, 100,
                                [](int) { RecordFunction range("iteration"); });
    });
  });
  EXPECT_EQ(CountsOf(profile->key_averages()),
            (Counts{{"task", 20}, {"iteration", 100}}));
}

TEST(SessionTest, ThreadsHaveSessionsOfTheirOwnAtTheSameTime) {
  const auto profile = Record({}, [] {
    RecordFunction mine("mine");
    std::thread([] {
      const auto other = Record({}, [] { RecordFunction range("other"); });
      EXPECT_EQ(CountsOf(other->key_averages()), (Counts{{"other", 1}}));
    }).join();
  });
  EXPECT_EQ(CountsOf(profile->key_averages()), (Counts{{"mine", 1}}));
}

TEST(SessionTest, ChildThreadsJoinAndLeaveByThemselves) {
  Profile profile;
  std::thread([&] {
    EXPECT_EQ(profile.EnableInChildThread().message(),
              "Profiler is not enabled in main thread.");
  }).join();
  ASSERT_TRUE(profile.Start().ok());
  std::thread([&] {
    EXPECT_TRUE(profile.EnableInChildThread().ok());
    EXPECT_EQ(profile.EnableInChildThread().message(),
              "Profiler is already enabled in this thread.");
    { RecordFunction range("child"); }
    EXPECT_TRUE(profile.DisableInChildThread().ok());
    EXPECT_FALSE(profile.DisableInChildThread().ok());
    RecordFunction range("after");
  }).join();
  ASSERT_TRUE(profile.Stop().ok());
  EXPECT_EQ(CountsOf(profile.key_averages()), (Counts{{"child", 1}}));
}

TEST(SessionTest, SecondSessionsAreRefusedWithPyTorchsWords) {
  Profile first;
  ASSERT_TRUE(first.Start().ok());
  EXPECT_EQ(first.Start().message(),
            "Profiler context manager is not reentrant");
  Profile second;
  EXPECT_NE(second.Start().message().find(
                "Profiler is already enabled on this thread."),
            std::string::npos);
  std::thread([&] {
    EXPECT_EQ(first.Stop().code(), absl::StatusCode::kFailedPrecondition);
    Profile all({.experimental_config = {.profile_all_threads = true}});
    EXPECT_NE(all.Start().message().find("Profiler is already enabled."),
              std::string::npos);
  }).join();
  EXPECT_TRUE(first.Stop().ok());
  EXPECT_TRUE(second.Start().ok());
  EXPECT_TRUE(second.Stop().ok());
}

TEST(SessionTest, DisabledProfileDoesNothing) {
  const auto profile =
      Record({.enabled = false}, [] { RecordFunction range("range"); });
  EXPECT_EQ(profile->key_averages().table(), "");
  EXPECT_TRUE(profile->cycles().empty());
}

TEST(SessionTest, ScopeStartsAndStops) {
  Profile profile;
  {
    ProfileScope scope(profile);
    ASSERT_TRUE(scope.status().ok());
    RecordFunction range("range");
    EXPECT_TRUE(scope.Stop().ok());
  }
  EXPECT_EQ(CountsOf(profile.key_averages()), (Counts{{"range", 1}}));
}

TEST(SessionTest, TogglingLeavesOutWhatHappensMeanwhile) {
  Profile profile;
  ASSERT_TRUE(profile.Start().ok());
  { RecordFunction range("first"); }
  EXPECT_TRUE(profile.toggle_collection_dynamic(false, {"cpu"}).ok());
  { RecordFunction range("off"); }
  EXPECT_TRUE(profile.toggle_collection_dynamic(true, {"cpu"}).ok());
  { RecordFunction range("last"); }
  ASSERT_TRUE(profile.Stop().ok());
  EXPECT_EQ(CountsOf(profile.key_averages()),
            (Counts{{"first", 1}, {"last", 1}}));
}

// --- steps ---

TEST(SessionTest, ScheduleRecordsItsStepsAndKeepsCycles) {
  std::vector<int64_t> ready;
  ProfileOptions options;
  options.schedule =
      *MakeSchedule({.wait = 1, .warmup = 1, .active = 2, .repeat = 2});
  options.keep_cycles = true;
  options.on_trace_ready = [&](Profile& p) {
    ready.push_back(p.step_num());
    EXPECT_EQ(CountsOf(p.key_averages()),
              (Counts{{"ProfilerStep*", 2}, {"work", 2}}));
    return absl::OkStatus();
  };
  Profile profile(options);
  ASSERT_TRUE(profile.Start().ok());
  for (int i = 0; i < 12; ++i) {
    { RecordFunction range("work"); }
    ASSERT_TRUE(profile.Step().ok());
  }
  ASSERT_TRUE(profile.Stop().ok());
  EXPECT_EQ(ready, (std::vector<int64_t>{4, 8}));
  ASSERT_EQ(profile.cycles().size(), 2);
  EXPECT_EQ(profile.cycles()[0]->number(), 1);
  EXPECT_EQ(profile.cycles()[1]->number(), 2);
  EXPECT_NE(profile.cycles()[0]->trace_id(), profile.cycles()[1]->trace_id());
  EXPECT_EQ(profile.cycles()[0]->trace_id().size(), 32);
}

TEST(SessionTest, AccumulatedEventsAreOfAllCyclesOldestFirst) {
  ProfileOptions options;
  options.schedule = *MakeSchedule({.warmup = 1, .active = 1});
  options.acc_events = true;
  Profile profile(options);
  ASSERT_TRUE(profile.Start().ok());
  for (int i = 0; i < 6; ++i) {
    { RecordFunction range(std::string("step ") + std::to_string(i)); }
    ASSERT_TRUE(profile.Step().ok());
  }
  ASSERT_TRUE(profile.Stop().ok());
  EXPECT_EQ(
      CountsOf(profile.key_averages()),
      (Counts{
          {"ProfilerStep*", 3}, {"step 1", 1}, {"step 3", 1}, {"step 5", 1}}));
  const auto events = profile.events();
  ASSERT_TRUE(events.ok());
  std::vector<std::string> names;
  for (const FunctionEvent& event : **events) {
    if (event.cpu_parent) {
      names.push_back(event.name);
      EXPECT_EQ((**events)[*event.cpu_parent].name, "ProfilerStep*");
    }
  }
  EXPECT_EQ(names, (std::vector<std::string>{"step 1", "step 3", "step 5"}));
}

TEST(SessionTest, ProgramThatEndsBeforeAnActiveStepIsWarned) {
  const Warnings warnings;
  Profile profile({.schedule = *MakeSchedule({.wait = 5, .warmup = 1})});
  ASSERT_TRUE(profile.Start().ok());
  ASSERT_TRUE(profile.Step().ok());
  ASSERT_TRUE(profile.Stop().ok());
  ASSERT_EQ(warnings.texts().size(), 1);
  EXPECT_NE(warnings.texts()[0].find("before any that its schedule records"),
            std::string::npos);
  EXPECT_FALSE(profile.key_averages().status().ok());
}

TEST(SessionTest, HandlersErrorIsTheStepsError) {
  const Warnings no_warmup;
  Profile profile({.schedule = *MakeSchedule({.active = 1}),
                   .on_trace_ready = [](Profile&) {
                     return absl::UnavailableError("the disk is on fire");
                   }});
  ASSERT_TRUE(profile.Start().ok());
  EXPECT_EQ(profile.Step().message(), "the disk is on fire");
  // The next cycle was begun all the same.
  EXPECT_EQ(profile.Stop().message(), "the disk is on fire");
}

TEST(SessionTest, TensorboardHandlerWritesNumberedFiles) {
  const std::filesystem::path directory =
      std::filesystem::path(testing::TempDir()) / "a" / "log";
  std::filesystem::remove_all(directory);
  ProfileOptions options;
  options.schedule = *MakeSchedule({.warmup = 1, .active = 1, .repeat = 2});
  options.on_trace_ready =
      TensorboardTraceHandler(directory, "worker0", /*use_gzip=*/true);
  Profile profile(options);
  ASSERT_TRUE(profile.Start().ok());
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(profile.Step().ok());
  ASSERT_TRUE(profile.Stop().ok());
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const std::string name = entry.path().filename();
    EXPECT_TRUE(name.starts_with("worker0.")) << name;
    EXPECT_TRUE(name.ends_with(".pt.trace.json.gz")) << name;
    ++files;
  }
  EXPECT_EQ(files, 2);
}

// --- what operations say ---

struct Matrix {
  std::vector<int64_t> sizes;
};
Input KymoInput(const Matrix& matrix) {
  return TensorMeta{.sizes = matrix.sizes, .dtype = DType::kFloat};
}

void MatMul(const Matrix& a, const Matrix& b) {
  KYMO_RECORD_OP("aten::mm", a, b);
}

TEST(SessionTest, ShapesAndFlopsOfOperations) {
  const Matrix a = {{64, 32}};
  const Matrix b = {{32, 64}};
  const auto profile = Record({.with_flops = true}, [&] {
    MatMul(a, b);
    MatMul(a, b);
    MatMul(b, a);
  });
  const FunctionEvent* const mm = Find(*profile, "aten::mm");
  ASSERT_NE(mm, nullptr);
  EXPECT_EQ(*mm->input_shapes, (InputShapes{{64, 32}, {32, 64}}));
  EXPECT_EQ(mm->flops, 262'144);
  EXPECT_EQ(mm->details->input_dtypes,
            (std::vector<std::string>{"float", "float"}));
  const KeyAverages by_shape =
      profile->key_averages({.group_by_input_shape = true});
  ASSERT_EQ(by_shape.size(), 2);
  EXPECT_EQ(by_shape.rows()[0].input_shapes, "[[64, 32], [32, 64]]");
  EXPECT_EQ(by_shape.rows()[0].count, 2);
  EXPECT_EQ(by_shape.rows()[0].flops, 2 * 262'144);
  EXPECT_NE(by_shape.table().find("Total KFLOPs"), std::string::npos);
}

TEST(SessionTest, InputsAreKeptOnlyWhenAskedFor) {
  const Matrix a = {{64, 32}};
  const auto profile = Record({}, [&] { MatMul(a, a); });
  EXPECT_TRUE(Find(*profile, "aten::mm")->input_shapes->empty());
}

__attribute__((noinline)) void CalledFromHere() {
  RecordFunction range("with a stack");
  range.End();
}

TEST(SessionTest, StacksBeginAtTheCaller) {
  const auto profile = Record({.with_stack = true}, [] { CalledFromHere(); });
  const FunctionEvent* const event = Find(*profile, "with a stack");
  ASSERT_NE(event, nullptr);
  ASSERT_NE(event->stack, nullptr);
  ASSERT_GE(event->stack->size(), 3u);
  EXPECT_NE(event->stack->front().find("CalledFromHere"), std::string::npos)
      << event->stack->front();
  EXPECT_NE(event->stack->back().find("_start"), std::string::npos)
      << event->stack->back();
  const KeyAverages by_stack = profile->key_averages({.group_by_stack_n = 2});
  ASSERT_EQ(by_stack.size(), 1);
  EXPECT_EQ(by_stack.rows()[0].stack.size(), 2);
  const std::string path = testing::TempDir() + "/stacks.txt";
  ASSERT_TRUE(profile->export_stacks(path).ok());
}

TEST(SessionTest, ModulesFormAHierarchy) {
  const auto profile = Record({.with_modules = true}, [] {
    RecordModule top("top(Net).forward");
    RecordModule inner(std::string("inner(Layer).forward"));
    RecordFunction op("op");
  });
  EXPECT_EQ(CountsOf(profile->key_averages()), (Counts{{"op", 1}}));
  const FunctionEvent* const op = Find(*profile, "op");
  ASSERT_TRUE(op->details != nullptr);
  EXPECT_EQ(
      op->details->module_hierarchy,
      (std::vector<std::string>{"top(Net).forward", "inner(Layer).forward"}));
}

TEST(SessionTest, MemoryThatTheProgramReportsIsCharged) {
  const auto profile = Record({.profile_memory = true}, [] {
    int block = 0;
    {
      RecordFunction allocates("allocates");
      ReportMemoryUsage(&block, 4096, {.allocated = 4096, .reserved = 8192});
    }
    {
      RecordFunction frees("frees");
      ReportMemoryUsage(&block, -4096);
    }
    ReportMemoryUsage(&block, 100);
    ReportOutOfMemory(1 << 30);
  });
  EXPECT_EQ(Find(*profile, "allocates")->cpu_memory_usage, 4096);
  EXPECT_EQ(Find(*profile, "frees")->cpu_memory_usage, -4096);
  EXPECT_EQ(Find(*profile, "[memory]")->cpu_memory_usage, 100);
  EXPECT_NE(Find(*profile, "[OutOfMemory]"), nullptr);
  EXPECT_NE(profile->key_averages().table().find("CPU Mem"), std::string::npos);
}

TEST(SessionTest, SequenceNumbersLinkBackwardToForwardStacks) {
  uint64_t forward_thread = 0;
  const auto profile = Record({.with_stack = true}, [&] {
    const int64_t sequence = GetAndIncrementSequenceNumber();
    forward_thread = CurrentThreadId();
    {
      RecordFunction forward("aten::linear",
                             OperationInfo{.sequence_nr = sequence});
    }
    std::thread(Propagate([&] {
      RecordFunction backward(
          "AddmmBackward0",
          OperationInfo{.scope = RecordScope::kBackwardFunction,
                        .sequence_nr = sequence,
                        .forward_thread_id = forward_thread});
    })).join();
  });
  const FunctionEvent* const forward = Find(*profile, "aten::linear");
  const FunctionEvent* const backward = Find(*profile, "AddmmBackward0");
  EXPECT_EQ(backward->fwd_thread, static_cast<int64_t>(forward_thread));
  EXPECT_EQ(forward->thread, static_cast<int64_t>(forward_thread));
  ASSERT_NE(backward->stack, nullptr);
  EXPECT_EQ(*backward->stack, *forward->stack);
}

TEST(SessionTest, OperationsMayEndWhenAFutureIsReady) {
  std::promise<int> reply;
  const auto profile = Record({}, [&] {
    std::future<int> done;
    {
      RecordFunction rpc("rpc");
      EndOnFuture end(rpc);
      auto future = end.On(reply.get_future());
      ASSERT_TRUE(future.ok());
      done = *std::move(future);
      EXPECT_EQ(end.On(std::promise<int>().get_future()).status().message(),
                "_call_end_callbacks_on_future can only be called once.");
    }
    { RecordFunction after("after"); }
    usleep(2000);
    reply.set_value(7);
    EXPECT_EQ(done.get(), 7);
  });
  const FunctionEvent* const rpc = Find(*profile, "rpc");
  EXPECT_TRUE(rpc->is_async);
  EXPECT_EQ(rpc->self_cpu_time_total(), 0);
  EXPECT_GT(rpc->cpu_time_total(), 2000);
}

TEST(SessionTest, FuturesErrorsPassThrough) {
  std::promise<int> reply;
  const auto profile = Record({}, [&] {
    RecordFunction rpc("rpc");
    EndOnFuture end(rpc);
    auto done = end.On(reply.get_future());
    reply.set_exception(std::make_exception_ptr(std::runtime_error("lost")));
    EXPECT_THROW(done->get(), std::runtime_error);
  });
  EXPECT_EQ(CountsOf(profile->key_averages()), (Counts{{"rpc", 1}}));
}

TEST(SessionTest, CallbacksSeeOperationsWithAndWithoutASession) {
  const Matrix a = {{2, 3}};
  std::vector<std::string> seen;
  const CallbackHandle handle = AddThreadLocalCallback(
      RecordFunctionCallback(
          [&](const OperationView& op) {
            seen.push_back(std::string(op.name) + " " +
                           std::to_string(op.inputs.size()));
            return nullptr;
          },
          [&](const OperationView& op, ObserverContext*) {
            seen.push_back("end of " + std::string(op.name));
          })
          .needs_inputs(true));
  MatMul(a, a);
  const auto profile = Record({}, [&] { MatMul(a, a); });
  RemoveCallback(handle);
  MatMul(a, a);
  EXPECT_EQ(seen, (std::vector<std::string>{"aten::mm 2", "end of aten::mm",
                                            "aten::mm 2", "end of aten::mm"}));
  EXPECT_EQ(CountsOf(profile->key_averages()), (Counts{{"aten::mm", 1}}));
}

TEST(SessionTest, GuardsSwitchRecordingOffForAScope) {
  const auto profile = Record({}, [] {
    RecordFunction outer("outer");
    {
      const DisableRecordFunctionGuard guard;
      RecordFunction hidden("hidden");
      const RecordFunctionGuard again(true);
      RecordFunction shown("shown");
    }
    RecordFunction after("after");
  });
  EXPECT_EQ(CountsOf(profile->key_averages()),
            (Counts{{"outer", 1}, {"shown", 1}, {"after", 1}}));
}

// --- captured regions ---

TEST(SessionTest, CapturedRegionsAreCovered) {
  CapturedRegions::Take();
  auto captured = insert_profiling([](int i) {
    RecordFunction op("captured op");
    return i + 1;
  });
  CoverageProfiler profiler;
  EXPECT_FALSE(profiler.results().ok());
  ASSERT_TRUE(profiler.Start().ok());
  EXPECT_EQ(captured(1), 2);
  EXPECT_EQ(captured(2), 3);
  { RecordFunction op("other op"); }
  ASSERT_TRUE(profiler.Stop().ok());
  const absl::StatusOr<ProfileResult> result = profiler.results();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->unique_graphs, 1);
  EXPECT_EQ(result->captured.graphs, 2);
  EXPECT_EQ(result->captured.operators, 2);
  EXPECT_EQ(result->total.operators, 3);
}

// --- results ---

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(SessionTest, MetadataArrivesInTheExportedFile) {
  setenv("RANK", "2", 1);
  setenv("WORLD_SIZE", "4", 1);
  Profile profile({.record_shapes = true});
  EXPECT_TRUE(profile.preset_metadata_json("preset", "[1, 2]").ok());
  ASSERT_TRUE(profile.Start().ok());
  EXPECT_TRUE(profile.add_metadata("note", "a \"quote\" and \\").ok());
  EXPECT_EQ(profile.add_metadata_json("broken", "{").code(),
            absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(profile.Stop().ok());
  unsetenv("RANK");
  unsetenv("WORLD_SIZE");
  EXPECT_TRUE(profile.add_metadata_json("late", "{\"x\": null}").ok());
  const std::string path = testing::TempDir() + "/metadata.json";
  ASSERT_TRUE(profile.export_chrome_trace(path).ok());
  const std::string text = ReadFile(path);
  for (const char* const part :
       {"\"note\": \"a \\\"quote\\\" and \\\\\"", "\"preset\": [1, 2]",
        "\"late\": {\"x\": null}", "\"record_shapes\": 1", "\"rank\": 2",
        "\"world_size\": 4"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part;
  }
}

TEST(SessionTest, StatsAreMeasured) {
  const auto profile = Record({}, [] {
    RecordFunction range("range");
    usleep(5000);
  });
  ASSERT_TRUE(profile->events().ok());
  const ProfilerStats* const stats = profile->stats();
  ASSERT_NE(stats, nullptr);
  EXPECT_GE(stats->profiling_window_duration_sec, 0.005);
  EXPECT_EQ(stats->number_of_events, 1);
  EXPECT_GT(stats->profiler_prepare_call_duration_us +
                stats->profiler_enable_call_duration_us +
                stats->profiler_disable_call_duration_us +
                stats->parse_kineto_call_duration_us,
            0);
}

TEST(SessionTest, TraceOnlyHasNoEvents) {
  const auto profile = Record({.experimental_config = {.trace_only = true}},
                              [] { RecordFunction range("range"); });
  EXPECT_EQ(profile->events().status().message(),
            "events() is not available when trace_only=True in "
            "ExperimentalConfig. Use export_chrome_trace() instead.");
  EXPECT_TRUE(
      profile->export_chrome_trace(testing::TempDir() + "/only.json").ok());
}

TEST(SessionTest, OptionsThatMakeNoSenseSaySo) {
  const Warnings warnings;
  EXPECT_EQ(Profile({.use_cpu = false}).Start().message(),
            "No activities specified for the profiler");
  EXPECT_EQ(Profile({.activities = {"cpu", "cpu"}}).Start().message(),
            "Activity cpu specified more than once");
  EXPECT_EQ(Profile({.post_processing_timeout_s = -1}).Start().message(),
            "post_processing_timeout_s must be non-negative");
  Profile gone({.use_device = "toaster"});
  EXPECT_TRUE(gone.Start().ok());
  EXPECT_TRUE(gone.Stop().ok());
  ASSERT_FALSE(warnings.texts().empty());
  EXPECT_EQ(warnings.texts()[0], "The toaster is not a valid device option.");
}

}  // namespace
}  // namespace kymo
