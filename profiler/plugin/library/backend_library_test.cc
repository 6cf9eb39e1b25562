// Long, because each test damages the same plugin in another place.
#include "profiler/plugin/library/backend_library.h"

#include <unistd.h>

#include <cstdlib>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "profiler/base/clock.h"
#include "profiler/model/trace.h"
#include "profiler/normalize/normalize.h"
#include "profiler/plugin/library/plugin_records.h"
#include "profiler/plugin/shared_parts.h"

namespace kymo {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

std::string PathOf(const char* variable) {
  return std::string("./") + std::getenv(variable);
}

std::string Text(const absl::Status& status) {
  return std::string(status.message());
}

absl::Status LoadError(const std::string& path) {
  BackendRegistry registry;
  return LoadBackends({path}, registry).status();
}

// A backend that is right; each test makes something of it wrong.
struct Plugin {
  Plugin() {
    plugin.struct_size = sizeof(plugin);
    plugin.version = KYMO_PLUGIN_VERSION;
    plugin.name = "mine";
    plugin.purpose = "a backend of a test";
    plugin.create = [](const KymoSessionOptions*, void**, char*,
                       size_t) -> uint32_t { return KYMO_OK; };
    plugin.start = [](void*, int64_t, char*, size_t) -> uint32_t {
      return KYMO_OK;
    };
    plugin.stop = [](void*, char*, size_t) -> uint32_t { return KYMO_OK; };
    plugin.collect = [](void*, const KymoRecords*, char*, size_t) -> uint32_t {
      return KYMO_OK;
    };
    setting.struct_size = sizeof(setting);
    setting.kind = KYMO_SETTING_INTEGER;
    setting.name = "size";
    setting.default_value = "3";
    setting.purpose = "A size.";
    setting.least = 1;
    setting.most = 5;
    loss.struct_size = sizeof(loss);
    loss.name = "dropped";
    loss.text = "things dropped";
    plugin.settings = &setting;
    plugin.setting_count = 1;
    plugin.losses = &loss;
    plugin.loss_count = 1;
  }
  std::unique_ptr<ActivityBackend> Adapt() const {
    auto backend = AdaptBackend(&plugin, "./libmine.so");
    EXPECT_TRUE(backend.ok()) << backend.status();
    return *std::move(backend);
  }
  std::string Error() const {
    const absl::Status status = AdaptBackend(&plugin, "./libmine.so").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    return Text(status);
  }

  KymoBackendPlugin plugin = {};
  KymoSetting setting = {};
  KymoLossCounter loss = {};
};

TEST(BackendLibraryTest, PathsHaveASlash) {
  EXPECT_TRUE(IsBackendPath("./lib.so"));
  EXPECT_FALSE(IsBackendPath("cpu"));
}

TEST(BackendLibraryTest, LoadsALibraryAndPutsItsNameInThePlaceOfItsPath) {
  BackendRegistry registry;
  const std::string path = PathOf("KYMO_TICKS");
  const auto names = LoadBackends({"cpu", path}, registry);
  ASSERT_TRUE(names.ok()) << names.status();
  EXPECT_THAT(*names, ElementsAre("cpu", "ticks"));
  EXPECT_THAT(*LoadBackends({path}, registry), ElementsAre("ticks"));
  EXPECT_EQ(registry.List().size(), 1u);
  const PluginInfo& info = registry.Find("ticks")->info();
  EXPECT_EQ(info.purpose, "ticks of a clock, for tests");
  EXPECT_EQ(info.device, "npu");
  ASSERT_EQ(info.settings.size(), 3u);
  EXPECT_EQ(info.settings[0].name, "ticks_every_ms");
  EXPECT_EQ(info.settings[0].takes, "a whole number from 1 to 1000");
  EXPECT_TRUE(info.settings[0].accepts("1000"));
  EXPECT_FALSE(info.settings[0].accepts("1001"));
  EXPECT_TRUE(info.settings[1].is_switch());
  EXPECT_FALSE(info.settings[2].accepts("somewhere"));
}

TEST(BackendLibraryTest, ALibraryHearsWhatTheUserAskedFor) {
  static struct {
    uint32_t wants = 0;
    uint32_t target = 0;
    std::string texts;
  } heard;
  Plugin mine;
  mine.plugin.create = [](const KymoSessionOptions* options, void**, char*,
                          size_t) -> uint32_t {
    heard = {options->wants, options->target,
             std::string(options->target_path) + " " + options->scratch_dir +
                 " " + kymo_setting(options, "size")};
    return KYMO_OK;
  };
  const auto backend = mine.Adapt();
  const auto hear = [&](const SessionOptions& options) {
    EXPECT_TRUE(backend->NewSession(options).ok());
    return heard.wants;
  };
  EXPECT_EQ(hear({.all_threads = false}), 0u);
  EXPECT_EQ(heard.target, static_cast<uint32_t>(KYMO_TARGET_THIS_PROCESS));
  EXPECT_EQ(heard.texts, "  3");
  const std::pair<bool SessionOptions::*, KymoWant> wants[] = {
      {&SessionOptions::all_threads, KYMO_WANT_ALL_THREADS},
      {&SessionOptions::record_shapes, KYMO_WANT_SHAPES},
      {&SessionOptions::profile_memory, KYMO_WANT_MEMORY},
      {&SessionOptions::with_stack, KYMO_WANT_STACKS},
      {&SessionOptions::with_modules, KYMO_WANT_MODULES}};
  for (const auto& [option, want] : wants) {
    SessionOptions options;
    options.all_threads = false;
    options.*option = true;
    EXPECT_EQ(hear(options), static_cast<uint32_t>(want));
  }
  EXPECT_EQ(hear({.target = TargetKind::kChildProcess,
                  .target_path = "/bin/app",
                  .all_threads = true,
                  .record_shapes = true,
                  .with_stack = true,
                  .settings = {{"mine_size", "5"}},
                  .scratch_dir = "/out"}),
            1u + 2 + 8);
  EXPECT_EQ(heard.target, static_cast<uint32_t>(KYMO_TARGET_CHILD));
  EXPECT_EQ(heard.texts, "/bin/app /out 5");
}

TEST(BackendLibraryTest, SaysWhyALibraryIsNotLoaded) {
  EXPECT_EQ(LoadError("./none.so").code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(Text(LoadError("./none.so")), HasSubstr("none.so"));
  const absl::Status other = LoadError(PathOf("KYMO_OTHER_VERSION"));
  EXPECT_EQ(other.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(
      Text(other),
      AllOf(HasSubstr("was built for version 2.3"),
            HasSubstr("this Kymo has version 1.0"),
            HasSubstr("build it again with the kymo/backend_plugin.h")));
  const absl::Status no_entry = LoadError(PathOf("KYMO_TICKS_TARGET"));
  EXPECT_EQ(no_entry.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Text(no_entry), HasSubstr("lacks the function"));
}

TEST(BackendLibraryTest, AnotherBackendMayHaveTheNameAlready) {
  BackendRegistry registry;
  Plugin plugin;
  plugin.plugin.name = "ticks";
  ASSERT_TRUE(registry.Register(plugin.Adapt()).ok());
  EXPECT_EQ(LoadBackends({PathOf("KYMO_TICKS")}, registry).status().code(),
            absl::StatusCode::kAlreadyExists);
}

TEST(BackendLibraryTest, ASettingOfAnotherBackendIsNotTaken) {
  BackendRegistry registry;
  Plugin plugin;
  plugin.plugin.name = "ticks_every";
  plugin.setting.name = "ms";
  ASSERT_TRUE(registry.Register(plugin.Adapt()).ok());
  const absl::Status status =
      LoadBackends({PathOf("KYMO_TICKS")}, registry).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(Text(status), HasSubstr("ticks_every_ms"));
}

TEST(BackendLibraryTest, RefusesAStructThatDoesNotFit) {
  const auto error = [](auto change) {
    Plugin plugin;
    change(plugin);
    return plugin.Error();
  };
  EXPECT_THAT(Text(AdaptBackend(nullptr, "./libmine.so").status()),
              AllOf(HasSubstr("./libmine.so"), HasSubstr("version 1.0")));
  EXPECT_THAT(error([](Plugin& p) { p.plugin.struct_size = 4; }),
              AllOf(HasSubstr("struct_size is 4"), HasSubstr("1.0")));
  EXPECT_THAT(error([](Plugin& p) {
                p.plugin.struct_size = sizeof(KymoBackendPlugin) - 8;
              }),
              HasSubstr("built for version 1.0, but its struct_size is"));
  EXPECT_THAT(error([](Plugin& p) { p.plugin.version = 0; }),
              AllOf(HasSubstr("version 0.0"), HasSubstr("version 1.0")));
  EXPECT_THAT(error([](Plugin& p) { p.plugin.name = "My-Own"; }),
              HasSubstr("'My-Own', is not lower_snake"));
  EXPECT_THAT(error([](Plugin& p) { p.plugin.name = nullptr; }),
              HasSubstr("is not lower_snake"));
  EXPECT_THAT(error([](Plugin& p) { p.plugin.purpose = ""; }),
              HasSubstr("no purpose"));
  EXPECT_THAT(error([](Plugin& p) { p.plugin.device = "N P U"; }),
              HasSubstr("its device, 'N P U'"));
  EXPECT_THAT(error([](Plugin& p) { p.plugin.stop = nullptr; }),
              HasSubstr("create, start, stop and collect"));
  EXPECT_THAT(error([](Plugin& p) { p.plugin.settings = nullptr; }),
              HasSubstr("its settings are NULL"));
  EXPECT_THAT(error([](Plugin& p) { p.plugin.setting_count = 1000; }),
              HasSubstr("1000 settings, over 256"));
  EXPECT_THAT(error([](Plugin& p) { p.setting.struct_size = 8; }),
              HasSubstr("struct_size of its settings is 8"));
  EXPECT_THAT(error([](Plugin& p) { p.setting.kind = 9; }),
              HasSubstr("there is no kind 9"));
  EXPECT_THAT(error([](Plugin& p) { p.setting.name = "a b"; }),
              HasSubstr("'a b', is not lower_snake"));
  EXPECT_THAT(error([](Plugin& p) { p.setting.purpose = nullptr; }),
              HasSubstr("size has no purpose"));
  EXPECT_THAT(error([](Plugin& p) { p.setting.default_value = "6"; }),
              HasSubstr("its own default: size is '6'; it takes a whole "
                        "number from 1 to 5"));
  EXPECT_THAT(error([](Plugin& p) {
                p.setting.kind = KYMO_SETTING_REAL;
                p.setting.real_most = std::numeric_limits<double>::infinity();
              }),
              HasSubstr("not a finite number"));
  EXPECT_THAT(error([](Plugin& p) { p.loss.text = nullptr; }),
              HasSubstr("'dropped' lacks"));
}

// What is cut is another text, such as a list of words without the last.
TEST(BackendLibraryTest, LongTextsAreCarriedWholeOrRefused) {
  Plugin plugin;
  std::string words = "first";
  while (words.size() < 60'000) words += ",another";
  words += ",last";
  plugin.setting.kind = KYMO_SETTING_WORD;
  plugin.setting.words = words.c_str();
  plugin.setting.default_value = "last";
  EXPECT_TRUE(plugin.Adapt()->info().settings[0].accepts("last"));

  const std::string text(65'535, 'x');
  plugin.setting.kind = KYMO_SETTING_TEXT;
  plugin.setting.default_value = text.c_str();
  EXPECT_EQ(plugin.Adapt()->info().settings[0].default_value, text);
  const std::string longer = text + "x";
  plugin.setting.default_value = longer.c_str();
  EXPECT_THAT(plugin.Error(),
              HasSubstr("a text that begins with '" + std::string(40, 'x') +
                        "' is over 65535 bytes"));
}

// A plugin of a later minor version has fields that this Kymo does not know.
TEST(BackendLibraryTest, ALaterMinorVersionIsRead) {
  struct Later {
    KymoBackendPlugin known;
    void (*unknown)();
  };
  struct LaterSetting {
    KymoSetting known;
    uint64_t unknown;
  };
  Plugin plugin;
  LaterSetting settings[2] = {{plugin.setting, 1}, {plugin.setting, 2}};
  for (LaterSetting& setting : settings) {
    setting.known.struct_size = sizeof(LaterSetting);
  }
  settings[1].known.name = "other";
  Later later = {plugin.plugin, nullptr};
  later.known.struct_size = sizeof(later);
  later.known.version = KYMO_PLUGIN_VERSION + 1;
  later.known.settings = &settings[0].known;
  later.known.setting_count = 2;
  const auto backend = AdaptBackend(&later.known, "./libmine.so");
  ASSERT_TRUE(backend.ok()) << backend.status();
  ASSERT_EQ((*backend)->info().settings.size(), 2u);
  EXPECT_EQ((*backend)->info().settings[1].name, "mine_other");
}

TEST(BackendLibraryTest, TextsOfALibraryBecomeOneLineOfUtf8) {
  Plugin plugin;
  plugin.plugin.purpose = "two\nlines \xff";
  EXPECT_EQ(plugin.Adapt()->info().purpose, "two lines \xEF\xBF\xBD");
}

TEST(BackendLibraryTest, OptionsAndSettingsReachTheLibrary) {
  Plugin plugin;
  plugin.plugin.availability = [](const KymoSessionOptions* options, char* why,
                                  size_t why_size) -> uint32_t {
    snprintf(why, why_size, "%s %u %u %s %s", kymo_setting(options, "size"),
             options->target, options->wants, options->target_path,
             kymo_setting(options, "none"));
    return KYMO_PERMISSION_DENIED;
  };
  const auto backend = plugin.Adapt();
  SessionOptions options;
  options.target = TargetKind::kChildProcess;
  options.target_path = "/bin/x";
  options.all_threads = false;
  options.with_stack = true;
  options.settings = {{"mine_size", "4"}, {"cpu_size", "5"}};
  const absl::Status status = backend->Availability(options);
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(status.message(), "4 1 8 /bin/x ");
  EXPECT_EQ(backend->Availability({}).message(), "3 0 1  ");
}

TEST(BackendLibraryTest, ASwitchIsZeroOrOne) {
  Plugin plugin;
  plugin.setting.kind = KYMO_SETTING_SWITCH;
  plugin.setting.default_value = "0";
  plugin.plugin.limitation = [](const KymoSessionOptions* options, char* text,
                                size_t text_size) {
    snprintf(text, text_size, "%s", kymo_setting(options, "size"));
  };
  SessionOptions options;
  options.settings = {{"mine_size", "true"}};
  EXPECT_EQ(plugin.Adapt()->Limitation(options), "1");
  EXPECT_EQ(plugin.Adapt()->Limitation({}), "0");
}

TEST(BackendLibraryTest, ErrorsHaveTheirReason) {
  Plugin plugin;
  plugin.plugin.create = [](const KymoSessionOptions*, void**, char* why,
                            size_t why_size) -> uint32_t {
    for (size_t i = 0; i < why_size; ++i) why[i] = 'x';  // no final zero
    return 12345;
  };
  const auto session = plugin.Adapt()->NewSession({});
  EXPECT_EQ(session.status().code(), absl::StatusCode::kInternal);
  EXPECT_THAT(Text(session.status()), StartsWith("xxx"));

  plugin.plugin.create = [](const KymoSessionOptions*, void**, char*,
                            size_t) -> uint32_t { return KYMO_NOT_FOUND; };
  EXPECT_EQ(plugin.Adapt()->NewSession({}).status(),
            absl::NotFoundError("create returned the error 2 and no reason"));
}

// Whoever calls a backend expects exceptions (guarded_call.h), and then leaves
// the backend out. profiler/session/recording_test.cc throws in each function.
TEST(BackendLibraryTest, ExceptionsPassThrough) {
  Plugin plugin;
  plugin.plugin.availability = [](const KymoSessionOptions*, char*,
                                  size_t) -> uint32_t {
    throw std::runtime_error("oops");
  };
  plugin.plugin.poll = [](void*) { throw 5; };
  plugin.plugin.destroy = [](void*) { throw 6; };
  const auto backend = plugin.Adapt();
  EXPECT_THROW((void)backend->Availability({}), std::runtime_error);
  {
    const auto session = backend->NewSession({});
    ASSERT_TRUE(session.ok());
    EXPECT_THROW((*session)->Poll(), int);
  }  // but not that of destroy
}

// The session of a plugin whose `prepare` calls `use` on what a child needs.
using UseSetup = void (*)(const KymoTargetSetup& setup);
UseSetup use_setup = nullptr;

absl::Status PrepareWith(UseSetup use, TargetSetup& setup) {
  use_setup = use;
  Plugin plugin;
  plugin.plugin.prepare = [](void*, const KymoTargetSetup* setup, char*,
                             size_t) -> uint32_t {
    use_setup(*setup);
    return KYMO_OK;
  };
  const auto backend =
      AdaptBackend(&plugin.plugin, PathOf("KYMO_TICKS_TARGET"));
  return (*(*backend)->NewSession({}))->Prepare(&setup);
}

TEST(BackendLibraryTest, AChildGetsVariablesAndLibraries) {
  TargetSetup setup;
  const absl::Status status = PrepareWith(
      [](const KymoTargetSetup& to) {
        EXPECT_EQ(to.set_variable(to.host, "MINE", "a=b"), KYMO_OK);
        EXPECT_EQ(to.load_library(to.host, "libtest_backend_target.so"),
                  KYMO_OK);
      },
      setup);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(setup.environment, (Environment{{"MINE", "a=b"}}));
  ASSERT_EQ(setup.preloads.size(), 1u);
  EXPECT_EQ(access(setup.preloads[0].c_str(), R_OK), 0) << setup.preloads[0];
  EXPECT_EQ(setup.preloads[0][0], '/');
}

TEST(BackendLibraryTest, WhatAChildCannotHaveFailsThePrepare) {
  const auto error = [](UseSetup use) {
    TargetSetup setup;
    setup.environment["TAKEN"] = "1";
    const absl::Status status = PrepareWith(use, setup);
    EXPECT_EQ(setup.environment, (Environment{{"TAKEN", "1"}}));
    EXPECT_THAT(setup.preloads, IsEmpty());
    return Text(status);
  };
  EXPECT_THAT(error([](const KymoTargetSetup& to) {
                to.set_variable(to.host, "FIRST", "1");
                to.set_variable(to.host, "LD_PRELOAD", "x");
              }),
              HasSubstr("LD_PRELOAD; variables of the loader"));
  EXPECT_THAT(error([](const KymoTargetSetup& to) {
                to.set_variable(to.host, "KYMO_ARENA", "x");
              }),
              HasSubstr("KYMO_ARENA"));
  EXPECT_THAT(error([](const KymoTargetSetup& to) {
                to.set_variable(to.host, "A=B", "x");
              }),
              HasSubstr("'A=B'"));
  EXPECT_THAT(error([](const KymoTargetSetup& to) {
                to.set_variable(to.host, "A", nullptr);
              }),
              HasSubstr("no value"));
  // Through these CUDA, NVTX and ITT find their tools: the manual of CUPTI,
  // nvtx3/nvtxDetail/nvtxInit.h, and ittnotify_config.h of ITT.
  for (UseSetup use : {+[](const KymoTargetSetup& to) {
                         to.set_variable(to.host, "CUDA_INJECTION64_PATH", "x");
                       },
                       +[](const KymoTargetSetup& to) {
                         to.set_variable(to.host, "NVTX_INJECTION64_PATH", "x");
                       },
                       +[](const KymoTargetSetup& to) {
                         to.set_variable(to.host, "INTEL_LIBITTNOTIFY64", "x");
                       }}) {
    EXPECT_THAT(error(use), HasSubstr("by which Kymo's own backends get into "
                                      "the program; a backend loads its "
                                      "library with load_library()"));
  }
  EXPECT_THAT(error([](const KymoTargetSetup& to) {
                to.set_variable(to.host, "TAKEN", "2");
              }),
              HasSubstr("another backend needs"));
  EXPECT_THAT(error([](const KymoTargetSetup& to) {
                to.load_library(to.host, "libnone.so");
              }),
              HasSubstr("libnone.so, which the backend loads"));
  EXPECT_THAT(error([](const KymoTargetSetup& to) {
                to.load_library(to.host, nullptr);
              }),
              HasSubstr("no path"));
}

// A call and what it launched, as the shard of a backend.
model::TraceShard CollectLaunch(const std::shared_ptr<SharedParts>& shared) {
  Plugin plugin;
  plugin.plugin.collect = [](void*, const KymoRecords* to, char*,
                             size_t) -> uint32_t {
    KymoRange range = {};
    range.struct_size = sizeof(range);
    range.kind = KYMO_RANGE_CALL;
    range.process_id = 1;
    range.thread_id = 1;
    range.name = "launch";
    range.begin_ns = 10;
    range.end_ns = 20;
    range.correlation = 7;
    KymoDeviceWork work = {};
    work.struct_size = sizeof(work);
    work.process_id = 1;
    work.name = "kernel";
    work.begin_ns = 30;
    work.end_ns = 40;
    work.correlation = 7;
    EXPECT_EQ(to->add_range(to->host, &range), KYMO_OK);
    return to->add_device_work(to->host, &work);
  };
  SessionOptions options;
  options.shared = shared;
  const auto backend = plugin.Adapt();
  model::TraceShard shard;
  EXPECT_TRUE((*backend->NewSession(options))->Collect(shard).ok());
  return shard;
}

// A number says within its backend what belongs together, and nowhere else.
TEST(BackendLibraryTest, CorrelationsOfTwoBackendsDoNotMeet) {
  const auto shared = std::make_shared<SharedParts>();
  // As in a recording, where the sessions of both backends are alive.
  const auto part = shared->Get<PluginCorrelations>(
      [] { return std::make_shared<PluginCorrelations>(); });
  for (const uint64_t expected : {0x80000001u, 0x80000002u}) {
    const model::TraceShard shard = CollectLaunch(shared);
    ASSERT_EQ(shard.details.size(), 2u);
    EXPECT_EQ(shard.details[0].correlation_id, expected);
    EXPECT_EQ(shard.details[1].correlation_id, expected);
  }
}

TEST(BackendLibraryTest, ASessionOfALibraryBecomesATrace) {
  BackendRegistry registry;
  ASSERT_TRUE(LoadBackends({PathOf("KYMO_TICKS")}, registry).ok());
  ActivityBackend* const backend = registry.Find("ticks");
  SessionOptions options;
  options.settings = {{"ticks_every_ms", "7"}};
  EXPECT_TRUE(backend->Availability(options).ok());
  EXPECT_EQ(backend->Limitation(options), "ticks come every 7 ms");
  const TimeNs before_ns = MonotonicNs() + EpochOffsetNs();
  const auto session = backend->NewSession(options);
  ASSERT_TRUE(session.ok()) << session.status();
  ASSERT_TRUE((*session)->Prepare(nullptr).ok());
  ASSERT_TRUE((*session)->Start(getpid()).ok());
  (*session)->Poll();
  ASSERT_TRUE((*session)->SetCollecting(false).ok());
  (*session)->Poll();
  ASSERT_TRUE((*session)->Stop().ok());
  std::vector<model::TraceShard> shards(1);
  ASSERT_TRUE((*session)->Collect(shards[0]).ok());
  EXPECT_THAT((*session)->Remarks(),
              ElementsAre("ticks: the clock ticks",
                          "ticks: lost 3 ticks that came too late "
                          "(ticks_missed)"));
  const auto trace = Normalize(
      std::move(shards),
      {.start_ns = before_ns, .end_ns = MonotonicNs() + EpochOffsetNs()});
  ASSERT_TRUE(trace.ok());
  EXPECT_TRUE(model::ValidateTrace(*trace).ok());
  ASSERT_EQ(trace->event_count(), 3u);
  EXPECT_EQ(trace->EventName(0), "ticks_session");
  EXPECT_EQ(trace->EventName(1), "ticks_launch");
  EXPECT_EQ(trace->parent()[1], 0u);
  EXPECT_EQ(trace->EventName(2), "ticks_kernel");
  const model::Track& stream = trace->tracks()[trace->track()[2]];
  EXPECT_EQ(stream.device_index, 1);
  EXPECT_EQ(stream.id, 3);
  // The first correlation of all loaded backends; the library's number is 7.
  EXPECT_EQ(trace->detail(1)->correlation_id, 0x80000001u);
  EXPECT_EQ(trace->detail(2)->correlation_id, 0x80000001u);
  ASSERT_EQ(trace->counters().size(), 1u);
  EXPECT_EQ(trace->strings().Get(trace->counters()[0].name),
            "ticks (per poll)");
}

}  // namespace
}  // namespace kymo
