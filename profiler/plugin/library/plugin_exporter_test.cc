#include "profiler/plugin/library/plugin_exporter.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/test_trace.h"

namespace kymo {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// What export_trace does in the present test.
using Body = uint32_t (*)(const KymoTrace* trace, const KymoOutput* output);
Body body = nullptr;

// An exporter that is right; each test makes something of it wrong.
struct Plugin {
  explicit Plugin(Body body_of_test) {
    body = body_of_test;
    plugin.struct_size = sizeof(plugin);
    plugin.version = KYMO_PLUGIN_VERSION;
    plugin.name = "mine";
    plugin.purpose = "an exporter of a test";
    plugin.settings = &setting;
    plugin.setting_count = 1;
    plugin.export_trace = [](const KymoTrace* trace, const KymoOutput* output,
                             char* why, size_t why_size) -> uint32_t {
      const uint32_t result = body(trace, output);
      if (result != KYMO_OK) snprintf(why, why_size, "it does not work");
      return result;
    };
    setting.struct_size = sizeof(setting);
    setting.kind = KYMO_SETTING_TEXT;
    setting.name = "word";
    setting.default_value = "usual";
    setting.purpose = "A word.";
  }
  std::string Error() const {
    const absl::Status status = AdaptExporter(&plugin, "./mine.so").status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    return std::string(status.message());
  }

  KymoExporterPlugin plugin = {};
  KymoSetting setting = {};
};

class PluginExporterTest : public testing::Test {
 protected:
  PluginExporterTest()
      : folder_(testing::TempDir() + "/plugin_exporter_test"),
        out_(folder_.string()) {
    std::filesystem::remove_all(folder_);
  }

  absl::StatusOr<std::vector<std::string>> Export(
      Body body_of_test, const model::Trace& trace,
      const ExportOptions& options = {}) {
    const Plugin plugin(body_of_test);
    const auto exporter = AdaptExporter(&plugin.plugin, "./mine.so");
    EXPECT_TRUE(exporter.ok()) << exporter.status();
    return (*exporter)->Export(trace, options, out_);
  }

  // The message of an export that leaves no file.
  std::string ErrorOf(Body body_of_test) {
    const auto names = Export(body_of_test, TestTrace().Build());
    EXPECT_FALSE(names.ok());
    std::error_code error;
    for (const auto& file :
         std::filesystem::recursive_directory_iterator(folder_, error)) {
      ADD_FAILURE() << file.path();
    }
    return std::string(names.status().message());
  }

  std::string Read(const std::string& name) const {
    std::ifstream file(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const std::filesystem::path folder_;
  OutputDirectory out_;
};

uint32_t WriteText(const KymoOutput* out, const char* file,
                   const std::string& text) {
  return out->write(out->host, file, text.data(), text.size());
}

// Writes everything that a library can see, a line each.
uint32_t WriteAll(const KymoTrace* trace, const KymoOutput* out) {
  std::string text;
  const auto add = [&text](const auto&... parts) {
    ((text += parts, text += ' '), ...);
    text.back() = '\n';
  };
  using std::to_string;
  add("trace", to_string(trace->begin_ns), to_string(trace->end_ns));
  for (uint64_t i = 0; i < trace->event_count; ++i) {
    KymoTraceEvent e = {};
    e.struct_size = sizeof(e);
    EXPECT_EQ(trace->get_event(trace->host, i, &e), KYMO_OK);
    add(e.name, e.category, to_string(e.begin_ns), to_string(e.end_ns),
        to_string(e.process_id), to_string(e.thread_id), to_string(e.parent),
        to_string(e.device), to_string(e.flags), to_string(e.correlation));
    for (uint32_t a = 0; a < e.arg_count; ++a) {
      KymoArg arg;
      EXPECT_EQ(trace->get_arg(trace->host, i, a, &arg), KYMO_OK);
      add(" ", arg.key, to_string(arg.kind), arg.text);
    }
  }
  for (uint64_t i = 0; i < trace->counter_count; ++i) {
    KymoTraceCounter c = {};
    c.struct_size = sizeof(c);
    EXPECT_EQ(trace->get_counter(trace->host, i, &c), KYMO_OK);
    add(c.name, to_string(c.process_id), to_string(c.thread_id),
        to_string(c.time_ns), to_string(c.value));
  }
  for (uint64_t i = 0; i < trace->fact_count; ++i) {
    KymoTraceFact f = {};
    f.struct_size = sizeof(f);
    EXPECT_EQ(trace->get_fact(trace->host, i, &f), KYMO_OK);
    add(f.key, f.json);
  }
  return WriteText(out, "all.txt", text);
}

TEST_F(PluginExporterTest, ALibrarySeesTheWholeTrace) {
  using model::Arg;
  TestTrace t;
  t.SetWindow(50, 2000);
  const auto main = t.AddThread(7, 8, "main");
  const auto stream = t.AddStream(1, 3, 7);
  t.AddRange(main, "outer", 100, 900);
  t.Describe(
      0, {Arg::Int(t.Intern("count"), -5), Arg::Double(t.Intern("share"), 0.1),
          Arg::String(t.Intern("text"), t.Intern("a\xff")),
          Arg::Json(t.Intern("json"), t.Intern("[1]"))});
  t.AddRange(main, "launch", 200, 300, model::ActivityType::kCudaRuntime);
  t.Describe(42);
  t.AddInstant(main, "moment", 950);
  t.AddRange(main, "open", 960, 2000, model::ActivityType::kUserAnnotation,
             model::kEventOpen | model::kEventAsync);
  t.AddRange(stream, "kernel", 310, 400,
             model::ActivityType::kConcurrentKernel);
  t.Describe(42);
  t.AddCounter(main, "memory", 120, 1.5);
  t.AddMetadata("key", "{\"a\": 1}");
  const auto names = Export(WriteAll, std::move(t).Build());
  ASSERT_TRUE(names.ok()) << names.status();
  EXPECT_THAT(*names, ElementsAre("all.txt"));
  EXPECT_EQ(Read("all.txt"),
            "trace 50 2000\n"
            "outer cpu_op 100 900 7 8 -1 -1 0 0\n"
            "  count 0 -5\n"
            "  share 1 0.1\n"
            "  text 2 a\xEF\xBF\xBD\n"
            "  json 2 [1]\n"
            "launch cuda_runtime 200 300 7 8 0 -1 0 42\n"
            "moment cpu_instant_event 950 950 7 8 -1 -1 2 0\n"
            "open user_annotation 960 2000 7 8 -1 -1 5 0\n"
            "kernel kernel 310 400 7 3 -1 1 8 42\n"
            "memory 7 8 120 1.500000\n"
            "key {\"a\": 1}\n");
}

TEST_F(PluginExporterTest, WhatIsNotThereIsRefused) {
  TestTrace t;
  t.AddRange(t.AddThread(1, 1, "main"), "range", 1, 2);
  const auto names = Export(
      [](const KymoTrace* trace, const KymoOutput* out) -> uint32_t {
        KymoTraceEvent event = {};
        EXPECT_EQ(trace->get_event(trace->host, 0, &event),
                  KYMO_INVALID_ARGUMENT);  // its size is 0
        EXPECT_EQ(trace->get_event(trace->host, 0, nullptr),
                  KYMO_INVALID_ARGUMENT);
        event.struct_size = sizeof(event);
        EXPECT_EQ(trace->get_event(trace->host, 1, &event), KYMO_NOT_FOUND);
        EXPECT_EQ(trace->get_event(trace->host, ~uint64_t{0}, &event),
                  KYMO_NOT_FOUND);
        KymoArg arg;
        EXPECT_EQ(trace->get_arg(trace->host, 0, 0, &arg), KYMO_NOT_FOUND);
        EXPECT_EQ(trace->get_arg(trace->host, 9, 0, &arg), KYMO_NOT_FOUND);
        EXPECT_EQ(trace->get_arg(trace->host, 0, 0, nullptr),
                  KYMO_INVALID_ARGUMENT);
        KymoTraceCounter counter = {};
        counter.struct_size = sizeof(counter);
        EXPECT_EQ(trace->get_counter(trace->host, 0, &counter), KYMO_NOT_FOUND);
        KymoTraceFact fact = {};
        fact.struct_size = sizeof(fact);
        EXPECT_EQ(trace->get_fact(trace->host, 0, &fact), KYMO_NOT_FOUND);
        return WriteText(out, "done.txt", "done");
      },
      std::move(t).Build());
  EXPECT_TRUE(names.ok()) << names.status();
}

// A library of a later minor version has fields that this Kymo does not know.
TEST_F(PluginExporterTest, AStructOfALaterVersionIsFilled) {
  TestTrace t;
  t.AddRange(t.AddThread(1, 1, "main"), "range", 1, 2);
  const auto names = Export(
      [](const KymoTrace* trace, const KymoOutput*) -> uint32_t {
        struct Later {
          KymoTraceEvent known;
          uint64_t unknown;
          uint64_t not_ours;
        } later = {{}, 5, 6};
        later.known.struct_size = offsetof(Later, not_ours);
        EXPECT_EQ(trace->get_event(trace->host, 0, &later.known), KYMO_OK);
        EXPECT_STREQ(later.known.name, "range");
        EXPECT_EQ(later.known.struct_size, offsetof(Later, not_ours));
        EXPECT_EQ(later.unknown, 0u);
        EXPECT_EQ(later.not_ours, 6u);
        return KYMO_OK;
      },
      std::move(t).Build());
  EXPECT_TRUE(names.ok()) << names.status();
}

TEST_F(PluginExporterTest, FilesGrowAndSettingsReachTheLibrary) {
  const auto write = [](const KymoTrace*, const KymoOutput* out) -> uint32_t {
    EXPECT_EQ(WriteText(out, "b/second.txt", "x"), KYMO_OK);
    EXPECT_EQ(WriteText(out, "a.txt", kymo_output_setting(out, "word")),
              KYMO_OK);
    EXPECT_STREQ(kymo_output_setting(out, "none"), "");
    out->progress(out->host, 0.5);
    out->progress(out->host, 7);
    return WriteText(out, "b/second.txt", "yz");
  };
  std::vector<double> parts;
  const auto names =
      Export(write, TestTrace().Build(),
             {.progress = [&](double part) { parts.push_back(part); },
              .settings = {{"mine_word", "given"}}});
  ASSERT_TRUE(names.ok()) << names.status();
  EXPECT_THAT(*names, ElementsAre("a.txt", "b/second.txt"));
  EXPECT_EQ(Read("a.txt"), "given");
  EXPECT_EQ(Read("b/second.txt"), "xyz");
  EXPECT_THAT(parts, ElementsAre(0.5));
  ASSERT_TRUE(Export(write, TestTrace().Build()).ok());
  EXPECT_EQ(Read("a.txt"), "usual");
}

TEST_F(PluginExporterTest, AnExportThatFailsLeavesNoFile) {
  EXPECT_EQ(ErrorOf([](const KymoTrace*, const KymoOutput* out) -> uint32_t {
              EXPECT_EQ(WriteText(out, "half.txt", "x"), KYMO_OK);
              return KYMO_UNAVAILABLE;
            }),
            "exporter mine: it does not work");
  EXPECT_EQ(ErrorOf([](const KymoTrace*, const KymoOutput* out) -> uint32_t {
              EXPECT_EQ(WriteText(out, "half.txt", "x"), KYMO_OK);
              throw std::runtime_error("no luck");
            }),
            "exporter mine: export_trace threw an exception: no luck");
  // An error of writing counts, whatever the library makes of it.
  EXPECT_THAT(
      ErrorOf([](const KymoTrace*, const KymoOutput* out) -> uint32_t {
        EXPECT_EQ(WriteText(out, "half.txt", "x"), KYMO_OK);
        for (const char* name :
             {"../out.txt", "a/../../b", "/tmp/x", "", "a/"}) {
          EXPECT_NE(WriteText(out, name, "x"), KYMO_OK) << name;
        }
        EXPECT_NE(WriteText(out, "later.txt", "x"), KYMO_OK);
        return KYMO_OK;
      }),
      AllOf(HasSubstr("exporter mine: it writes a file '../out.txt', which is "
                      "not the name of a file in the output folder")));
  for (const char* const name : {"a/../../b", "/tmp/x", "", "a/"}) {
    static const char* wrong_name = nullptr;
    wrong_name = name;
    EXPECT_THAT(
        ErrorOf([](const KymoTrace*, const KymoOutput* out) -> uint32_t {
          return WriteText(out, wrong_name, "x");
        }),
        HasSubstr("it writes a file '" + std::string(name) + "'"));
  }
  EXPECT_THAT(ErrorOf([](const KymoTrace*, const KymoOutput* out) -> uint32_t {
                return out->write(out->host, "a.txt", nullptr, 5);
              }),
              HasSubstr("it writes bytes at NULL"));
}

TEST_F(PluginExporterTest, RefusesAStructThatDoesNotFit) {
  const auto error = [](auto change) {
    Plugin plugin(WriteAll);
    change(plugin);
    return plugin.Error();
  };
  EXPECT_THAT(
      std::string(AdaptExporter(nullptr, "./mine.so").status().message()),
      AllOf(HasSubstr("./mine.so"),
            HasSubstr("version 1.0 of the exporter interface")));
  EXPECT_THAT(error([](Plugin& p) { p.plugin.version = 2u << 16 | 3; }),
              HasSubstr("'./mine.so' was built for version 2.3 of the exporter "
                        "interface, and this Kymo has version 1.0; build it "
                        "again with the kymo/exporter_plugin.h"));
  EXPECT_THAT(error([](Plugin& p) { p.plugin.struct_size = 40; }),
              HasSubstr("its struct_size is 40"));
  EXPECT_THAT(error([](Plugin& p) { p.plugin.name = "My-Own"; }),
              HasSubstr("the exporter in './mine.so' cannot be used: its name, "
                        "'My-Own', is not lower_snake"));
  EXPECT_THAT(error([](Plugin& p) { p.plugin.purpose = nullptr; }),
              HasSubstr("no purpose"));
  EXPECT_THAT(error([](Plugin& p) { p.plugin.export_trace = nullptr; }),
              HasSubstr("export_trace is NULL"));
  EXPECT_THAT(error([](Plugin& p) { p.setting.kind = 9; }),
              HasSubstr("there is no kind 9"));
}

}  // namespace
}  // namespace kymo
