#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "profiler/analysis/averages/sampled_functions.h"
#include "profiler/analysis/findings/families.h"
#include "profiler/analysis/findings/finding_text.h"
#include "profiler/analysis/wait_names.h"
#include "profiler/base/strings.h"
#include "profiler/model/sample_weights.h"

namespace kymo::analysis {
namespace {

using model::Frame;
using model::StackId;
using model::StackTable;
using model::Trace;

bool IsOf(const Frame& frame, const SampledFunction& function) {
  return frame.function == function.name && frame.module == function.module;
}

// Where the samples of a function came from.
struct Callers {
  std::string name;  // the program's function that called it most; or empty
  DurationNs ns = 0;
  StackId stack = model::kEmptyStack;  // with the most time in the function
};

Callers CallersOf(const Trace& trace, const std::vector<DurationNs>& leaf_ns,
                  const SampledFunction& function, WaitPlaces& places) {
  const StackTable& stacks = trace.stacks();
  Callers callers;
  DurationNs most_ns = 0;
  std::map<std::string, DurationNs> by_caller;
  for (uint32_t i = 1; i < leaf_ns.size(); ++i) {
    StackId at{i};
    if (leaf_ns[i] <= 0 || !IsOf(stacks.frame(stacks.leaf(at)), function)) {
      continue;
    }
    if (leaf_ns[i] > most_ns) {
      most_ns = leaf_ns[i];
      callers.stack = at;
    }
    // A recursive function is not its own caller.
    while (at != model::kEmptyStack &&
           IsOf(stacks.frame(stacks.leaf(at)), function)) {
      at = stacks.parent(at);
    }
    by_caller[places.OfCaller(at)] += leaf_ns[i];
  }
  for (const auto& [name, ns] : by_caller) {
    if (ns <= callers.ns) continue;
    callers.name = name;
    callers.ns = ns;
  }
  return callers;
}

// Frames that stand for what is not known are no functions: "[truncated]",
// "[cut]", "[anon]", "[unknown]".
bool IsMark(std::string_view name) {
  return name.starts_with('[') && name.ends_with(']');
}

// What Kymo runs in the program: to record its heap, for example.
bool IsKymo(std::string_view name) { return name.starts_with("[Kymo]"); }

// Of a file that has no symbols for it.
bool IsUnnamed(std::string_view name) {
  return !name.empty() && !name.starts_with('[') && HasNoName(name);
}

// Whether sampling would make less work of the program's allocations.
bool RecordsEachAllocation(const Trace& trace) {
  return trace.memory_sample_interval() == 0 &&
         (!trace.memory().empty() || trace.folded_memory() != nullptr);
}

std::string NextStep(const Trace& trace, std::string_view function) {
  if (IsKymo(function)) {
    return absl::StrCat(
        "This is the cost of recording, which the program alone does not "
        "have: record less (",
        function == "[Kymo]" && RecordsEachAllocation(trace)
            ? "--memory_mode=sampled, "
            : "",
        "fewer --activities)");
  }
  if (function == "[anon]") {
    return "This is machine code that the program made, as a JIT compiler "
           "does: let its runtime write names for perf (docs/names.md)";
  }
  if (IsMark(function)) {
    return "Nobody knows the functions of this code (docs/screen.md)";
  }
  // The interpreter is what runs, whatever the program does.
  if (function.starts_with("_PyEval_EvalFrame")) {
    return "This is Python's interpreter, so the time is in code in Python: "
           "annotate it to see which, and move its loops into a library";
  }
  return "Look at its callers in the flame graph, callees first: make it "
         "cheaper, or call it less often";
}

Finding HotFunction(const FindingRun& run, const SampledFunction& function,
                    const Callers& callers, DurationNs sampled_ns) {
  const Trace& trace = run.trace;
  const std::string_view name = trace.Name(function.name);
  const DurationNs self_ns = function.self_cpu_time_ns;
  Finding finding = run.OfTime(FindingKind::kHotFunction, self_ns);
  finding.title =
      absl::StrCat(IsKymo(name) ? "Kymo itself" : NameText(name), " took ",
                   PercentText(static_cast<double>(self_ns),
                               static_cast<double>(sampled_ns)),
                   " of the CPU time (", TimeText(self_ns), ")");
  if (!callers.name.empty() && !IsMark(callers.name)) {
    absl::StrAppend(&finding.title, "; ",
                    PercentText(static_cast<double>(callers.ns),
                                static_cast<double>(self_ns)),
                    " of that when ", NameText(callers.name), " called it");
  }
  finding.next_step = NextStep(trace, name);
  finding.evidence = {.kind = EvidenceKind::kStack,
                      .name = std::string(name),
                      .table = "sampled_functions",
                      .stack = callers.stack};
  return finding;
}

// Of all functions whose files have no symbols for them. Empty if nobody would
// miss their names.
std::optional<Finding> UnnamedCode(const FindingRun& run,
                                   DurationNs sampled_ns) {
  struct File {
    DurationNs ns = 0;
    std::string_view hottest;  // function
  };
  DurationNs all_ns = 0;
  std::map<std::string_view, File> files;
  // By self time: the first one of a file is its hottest.
  for (const SampledFunction& function : run.Functions()) {
    const std::string_view name = run.trace.Name(function.name);
    if (!IsUnnamed(name)) continue;
    File& file = files[name.substr(0, name.find("+0x"))];
    if (file.ns == 0) file.hottest = name;
    file.ns += function.self_cpu_time_ns;
    all_ns += function.self_cpu_time_ns;
  }
  if (files.empty() || all_ns < sampled_ns / kHotPart || !run.Matters(all_ns)) {
    return std::nullopt;
  }
  const auto& [file, in_file] = *std::ranges::max_element(
      files, {}, [](const auto& entry) { return entry.second.ns; });
  Finding finding = run.OfTime(FindingKind::kUnnamedCode, all_ns);
  finding.title = absl::StrCat(
      PercentText(static_cast<double>(all_ns), static_cast<double>(sampled_ns)),
      " of the CPU time (", TimeText(all_ns), ") is in functions without names",
      files.size() == 1
          ? " of "
          : absl::StrCat(", ",
                         PercentText(static_cast<double>(in_file.ns),
                                     static_cast<double>(all_ns)),
                         " of that in "),
      ToAbsl(file), ": install its debug symbols, or set DEBUGINFOD_URLS");
  finding.next_step =
      "docs/names.md says how to get symbols of a distribution's files; do not "
      "strip a program of your own";
  finding.evidence = {.kind = EvidenceKind::kRow,
                      .name = std::string(in_file.hottest),
                      .table = "sampled_functions"};
  return finding;
}

}  // namespace

void AddSampleFindings(const FindingRun& run, std::vector<Finding>& findings) {
  const Trace& trace = run.trace;
  if (!run.HasSamples()) return;
  DurationNs sampled_ns = 0;
  std::vector<DurationNs> leaf_ns(trace.stacks().stack_count());
  ForEachSampleWeight(trace, [&](const model::SampleSum& sum) {
    sampled_ns += sum.weight_ns;
    leaf_ns[Index(sum.stack)] += sum.weight_ns;
  });
  WaitPlaces places(trace);
  // By self time: the first ones are the hot ones.
  for (const SampledFunction& function : run.Functions()) {
    const DurationNs self_ns = function.self_cpu_time_ns;
    if (self_ns < sampled_ns / kHotPart || !run.Matters(self_ns)) break;
    if (function.name == model::kEmptyName) continue;    // no stack
    if (IsUnnamed(trace.Name(function.name))) continue;  // UnnamedCode
    findings.push_back(HotFunction(run, function,
                                   CallersOf(trace, leaf_ns, function, places),
                                   sampled_ns));
  }
  if (auto unnamed = UnnamedCode(run, sampled_ns)) {
    findings.push_back(*std::move(unnamed));
  }
}

}  // namespace kymo::analysis
