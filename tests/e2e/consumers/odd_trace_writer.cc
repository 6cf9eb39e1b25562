// Exports a trace as programs seldom leave one:
//
//   odd_trace_writer empty|far|odd|waits|rare|python|SEED FOLDER EXPORTER ...
//
//   empty  nothing in it
//   far    one range of a microsecond at the end of a year
//   odd    ranges with every odd name, number and length, a few of each
//   waits  two threads that wait, one of them for work
//   python samples in functions of Python, and in what these call
//   rare   samples of one function, each of which stands for 10 ms
//   SEED   a number: exporters/timeline/test_random_trace.h
//
// FOLDER/ranges.json says what is in it: {"NAME": [COUNT, NS], ...}, with names
// as UTF-8.
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "exporters/builtin/builtin_exporters.h"
#include "exporters/timeline/test_random_trace.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/time.h"
#include "profiler/plugin/registry.h"
#include "profiler/text/json_text.h"
#include "profiler/text/utf8.h"
#include "tests/support/test_trace.h"

namespace kymo {
namespace {

constexpr TimeNs kBegin = 1'700'000'000 * kNsPerSecond;
constexpr TimeNs kYear = 365 * 86'400 * kNsPerSecond;

model::Trace Far() {
  TestTrace t;
  t.AddProcess(1, "patient");
  const auto main = t.AddThread(1, 1, "main");
  t.SetWindow(kBegin, kBegin + kYear);
  t.AddRange(main, "at last", kBegin + kYear - kNsPerUs, kBegin + kYear);
  return std::move(t).Build();
}

model::Trace Odd() {
  using Limits = std::numeric_limits<double>;
  TestTrace t;
  t.AddProcess(1, "a \"quoted\" app");
  const auto main = t.AddThread(1, 1, "main\n\x01");
  t.SetWindow(kBegin, kBegin + kNsPerMs);
  const std::string names[] = {"say \"hello\"",        "back\\slash",
                               "tab\tline\nbell\x07",  "bad \xFF\xC3( UTF-8",
                               "\xF0\x9F\xA6\x8A fox", "semi;colon",
                               "</script><b>",         RandomTrace::LongName()};
  const model::NameId ratio = t.Intern("ratio");
  const double numbers[] = {Limits::quiet_NaN(), Limits::infinity(),
                            -Limits::infinity(), Limits::max()};
  TimeNs now = kBegin;
  for (const std::string& name : names) {
    for (const double number : numbers) {
      t.AddRange(main, name, now, now + 1'000);
      t.Describe(0, {model::Arg::Double(ratio, number),
                     model::Arg::String(t.Intern(name), t.Intern(name))});
      now += 2'000;
    }
  }
  t.AddRange(main, "no length", now, now);
  t.AddRange(main, "one ns", now + 1, now + 2);
  t.AddRange(main, "never ended", now + 10, kBegin + kNsPerMs,
             model::ActivityType::kCpuOp, model::kEventOpen);
  for (const double number : numbers) {
    t.AddCounter(main, "not finite", kBegin, number);
  }
  return std::move(t).Build();
}

model::Trace Waits() {
  TestTrace t;
  t.AddProcess(1, "server");
  t.SetWindow(kBegin, kBegin + kNsPerMs);
  const auto us = [](int64_t n) { return kBegin + n * kNsPerUs; };
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "serve", us(0), us(1'000));
  const auto worker = t.AddThread(1, 2, "worker");
  t.AddRange(worker, "task", us(500), us(600));
  t.SetThreadTimes(
      {{.track = main, .wall_ns = kNsPerMs, .on_cpu_ns = 591 * kNsPerUs},
       {.track = worker, .wall_ns = kNsPerMs, .on_cpu_ns = 500 * kNsPerUs}});
  const auto add_wait = [&](model::TrackIndex track, model::WaitKind kind,
                            TimeNs begin, TimeNs end,
                            std::initializer_list<std::string_view> frames) {
    t.AddWait({.track = track,
               .kind = kind,
               .begin_ns = begin,
               .duration_ns = end - begin,
               .object = 0x10},
              frames);
  };
  add_wait(main, model::WaitKind::kLock, us(100), us(400), {"main", "serve"});
  add_wait(main, model::WaitKind::kRead, us(700), us(800), {"main", "load"});
  add_wait(worker, model::WaitKind::kCondition, us(0), us(500),
           {"work", "pop"});
  t.AddShortWaits({.track = main,
                   .kind = model::WaitKind::kRead,
                   .count = 3,
                   .duration_ns = 5 * kNsPerUs,
                   .longest_ns = 2 * kNsPerUs},
                  {"main", "load"});
  // The same place, of another caller.
  t.AddShortWaits({.track = main,
                   .kind = model::WaitKind::kRead,
                   .count = 2,
                   .duration_ns = 4 * kNsPerUs,
                   .longest_ns = 3 * kNsPerUs},
                  {"main", "reload", "load"});
  t.AddSample(main, us(50), 200 * kNsPerUs, {"main", "serve"}, "app");
  return std::move(t).Build();
}

model::Trace Rare() {
  TestTrace t;
  t.AddProcess(1, "costly");
  t.SetWindow(kBegin, kBegin + 100 * kNsPerMs);
  const auto main = t.AddThread(1, 1, "main");
  for (int64_t ms = 0; ms < 100; ms += 10) {
    t.AddSample(main, kBegin + ms * kNsPerMs, 10 * kNsPerMs, {"main"}, "app");
  }
  return std::move(t).Build();
}

// Functions of Python are a.py's; the others are of the interpreter.
model::Trace Python() {
  TestTrace t;
  t.AddProcess(1, "python3");
  t.SetWindow(kBegin, kBegin + 6 * kNsPerMs);
  const auto main = t.AddThread(1, 1, "main");
  model::StackTable& stacks = t.data().stacks;
  const auto push = [&](model::StackId parent, std::string_view function) {
    const bool is_python = function.ends_with(".py:1)");
    const auto module = t.Intern(is_python ? "/a.py" : "/bin/python3");
    return stacks.Push(
        parent, stacks.AddFrame({.function = t.Intern(function),
                                 .file = is_python ? module : model::kEmptyName,
                                 .module = module}));
  };
  const auto start = push(model::kEmptyStack, "_start");
  const auto outer = push(push(start, "eval"), "outer (a.py:1)");
  const auto inner = push(push(outer, "call"), "inner (a.py:1)");
  const auto sample = [&](int64_t ms, int64_t count, model::StackId stack) {
    t.data().samples.push_back({.track = main,
                                .stack = stack,
                                .time_ns = kBegin + ms * kNsPerMs,
                                .weight_ns = count * kNsPerMs});
  };
  sample(0, 1, start);
  sample(1, 2, push(outer, "malloc"));
  sample(3, 3, push(push(inner, "hash"), "sha256"));
  return std::move(t).Build();
}

model::Trace Make(std::string_view kind) {
  if (kind == "empty") return TestTrace().Build();
  if (kind == "far") return Far();
  if (kind == "odd") return Odd();
  if (kind == "waits") return Waits();
  if (kind == "rare") return Rare();
  if (kind == "python") return Python();
  return RandomTrace(std::stoull(std::string(kind))).Make();
}

absl::Status WriteRanges(const model::Trace& trace, OutputDirectory& out) {
  std::map<std::string, std::pair<int64_t, DurationNs>> ranges;
  std::string scratch;
  for (model::EventIndex i = 0; i < trace.event_count(); ++i) {
    if (trace.flags()[i] & model::kEventInstant) continue;
    auto& [count, ns] =
        ranges[std::string(json::ToUtf8(trace.EventName(i), scratch))];
    count += 1;
    ns += trace.end()[i] - trace.start()[i];
  }
  std::string text = "{";
  for (const auto& [name, sums] : ranges) {
    if (text.size() > 1) text += ",";
    json::AppendJsonString(text, name);
    text += ":[" + std::to_string(sums.first) + "," +
            std::to_string(sums.second) + "]";
  }
  KYMO_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSink> sink,
                        out.Open("ranges.json"));
  KYMO_RETURN_IF_ERROR(sink->Append(text + "}"));
  return sink->Commit();
}

absl::Status Export(int argc, char** argv) {
  ExporterRegistry registry;
  absl::Status status = RegisterBuiltinExporters(registry);
  const model::Trace trace = Make(argv[1]);
  status.Update(model::ValidateTrace(trace));
  OutputDirectory out(argv[2]);
  status.Update(WriteRanges(trace, out));
  for (int i = 3; i < argc; ++i) {
    const TraceExporter* const exporter = registry.Find(argv[i]);
    if (exporter == nullptr) {
      return absl::NotFoundError(std::string("no exporter ") + argv[i]);
    }
    ExportOptions options;
    options.settings["memory_timeline_form"] = "json";
    status.Update(exporter->Export(trace, options, out).status());
  }
  return status;
}

}  // namespace
}  // namespace kymo

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const absl::Status status = kymo::Export(argc, argv);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}
