#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "profiler/analysis/findings/families.h"
#include "profiler/analysis/findings/finding_text.h"
#include "profiler/analysis/memory/allocation_frames.h"
#include "profiler/analysis/memory/runtime_memory.h"
#include "profiler/analysis/steps.h"
#include "profiler/analysis/wait_functions.h"
#include "profiler/analysis/waits.h"
#include "profiler/model/lanes.h"

namespace kymo::analysis {
namespace {

using model::EventIndex;
using model::NameId;
using model::Trace;
using model::TrackIndex;

// The busiest threads have a fifth more to do than the mean. Pieces of work are
// never all of one size; below that, smaller ones help little.
constexpr int64_t kUnevenPart = 5;
// A thread with a hundredth of the busiest one's work took no part in it.
constexpr int64_t kPartTaken = 100;
// Samples come by chance. A difference of less than four standard deviations
// may be nothing else.
constexpr double kDeviations = 4;

// The busiest threads worked for at least half of the time. Else it is not
// their work that others wait for.
constexpr int64_t kBoundPart = 2;

constexpr int64_t kNoStep = -1;

// What a thread did in one step, or outside of all.
struct Piece {
  int64_t step = kNoStep;  // a position among those of its process
  DurationNs busy_ns = 0;
  int64_t samples = 0;
  TimeNs begin_ns = 0;
  TimeNs end_ns = 0;
};

struct ThreadWork {
  TrackIndex track = 0;
  int64_t pid = 0;
  NameId work = model::kEmptyName;  // that it did most of the time
  DurationNs busy_ns = 0;
  std::vector<Piece> pieces;  // by step
};

// Adds up what one thread did, in the order of time.
class WorkOfThread {
 public:
  WorkOfThread(const Trace& trace, TrackIndex track) {
    thread_.track = track;
    thread_.pid = trace.tracks()[track].pid;
  }

  void Add(NameId name, int64_t step, TimeNs begin_ns, TimeNs end_ns,
           DurationNs busy_ns) {
    by_name_[name] += busy_ns;
    thread_.busy_ns += busy_ns;
    if (thread_.pieces.empty() || thread_.pieces.back().step != step) {
      thread_.pieces.push_back({.step = step, .begin_ns = begin_ns});
    }
    Piece& piece = thread_.pieces.back();
    piece.busy_ns += busy_ns;
    ++piece.samples;
    piece.end_ns = std::max(piece.end_ns, end_ns);
  }

  std::optional<ThreadWork> Finish() {
    DurationNs most_ns = 0;
    for (const auto& [name, ns] : by_name_) {
      if (ns <= most_ns) continue;
      most_ns = ns;
      thread_.work = name;
    }
    if (most_ns == 0) return std::nullopt;
    return std::move(thread_);
  }

 private:
  ThreadWork thread_;
  std::map<NameId, DurationNs> by_name_;
};

// Which step of a process a time is in, at ascending times.
class StepAt {
 public:
  explicit StepAt(const std::vector<Step>* steps) : steps_(steps) {}

  int64_t Of(TimeNs time_ns) {
    if (steps_ == nullptr) return kNoStep;
    while (static_cast<size_t>(at_ + 1) < steps_->size() &&
           (*steps_)[static_cast<size_t>(at_ + 1)].begin_ns <= time_ns) {
      ++at_;
    }
    return at_;
  }

 private:
  const std::vector<Step>* const steps_;
  int64_t at_ = kNoStep;
};

// The outermost ranges of threads, without their waits.
std::vector<ThreadWork> WorkOfRanges(const Trace& trace) {
  const std::vector<ProcessSteps> steps = FindSteps(trace);
  const std::vector<DurationNs> waits = WaitTimesOfRanges(trace);
  // All steps are one kind of work.
  const NameId step_name =
      steps.empty() ? model::kEmptyName
                    : trace.name()[steps.front().steps.front().event];
  std::vector<ThreadWork> threads;
  for (TrackIndex t = 0; t < trace.tracks().size(); ++t) {
    const model::Track& track = trace.tracks()[t];
    if (track.kind != model::TrackKind::kThread ||
        (t > 0 && model::IsLaneOf(track, trace.tracks()[t - 1]))) {
      continue;
    }
    const auto of_process =
        std::ranges::lower_bound(steps, track.pid, {}, &ProcessSteps::pid);
    StepAt step(of_process != steps.end() && of_process->pid == track.pid
                    ? &of_process->steps
                    : nullptr);
    WorkOfThread thread(trace, t);
    for (EventIndex i = trace.track_begin(t); i < trace.track_end(t); ++i) {
      if (trace.parent()[i] != model::kNoEvent ||
          !model::IsRange(trace.flags()[i])) {
        continue;
      }
      const TimeNs begin_ns = trace.start()[i];
      const DurationNs ns = trace.end()[i] - begin_ns;
      const bool is_step =
          !steps.empty() && StepNumber(trace.EventName(i)).has_value();
      thread.Add(is_step ? step_name : trace.name()[i], step.Of(begin_ns),
                 begin_ns, trace.end()[i],
                 waits.empty() || waits[i] == kNoWaitTime
                     ? ns
                     : std::max<DurationNs>(ns - waits[i], 0));
    }
    if (auto work = thread.Finish()) threads.push_back(*std::move(work));
  }
  return threads;
}

// Of Python's own library: it starts the program's functions on threads.
bool StartsThreadsOfPython(std::string_view file) {
  return file.ends_with("/threading.py") ||
         file.ends_with("/concurrent/futures/thread.py");
}

enum class Outer : uint8_t {
  kRunsOthers,  // the same for each thread, whatever that does
  kUnknown,     // stands for functions that nobody knows
  kWork,
};

Outer OuterOf(const Trace& trace, bool has_node_js, const model::Frame& frame) {
  const std::string_view function = trace.Name(frame.function);
  const std::string_view module = trace.Name(frame.module);
  // Go runs any function on any thread.
  if (function.starts_with("runtime.") || IsV8sInterpreter(function)) {
    return Outer::kUnknown;
  }
  if (frame.is_kernel || IsRuntimeFile(module) ||
      (IsVirtualMachine(module) &&
       (has_node_js || !module.ends_with("/node"))) ||
      (IsPythonsFile(module) && !frame.is_of_python()) ||
      IsLibraryFunction(function) || function == "_start" ||
      StartsThreadsOfPython(trace.Name(frame.file))) {
    return Outer::kRunsOthers;
  }
  if (function == "[anon]") return Outer::kUnknown;
  if (module != "[jit]") return Outer::kWork;
  switch (KindOfJitFunction(function)) {
    case JitFunction::kProgram:
      return Outer::kWork;
    case JitFunction::kInterpreter:
      return Outer::kUnknown;
    case JitFunction::kStub:
    case JitFunction::kLibrary:
      break;
  }
  return Outer::kRunsOthers;
}

// The program's outermost function of each stack: what a thread was made for.
std::vector<NameId> OutermostFunctions(const Trace& trace) {
  const model::StackTable& stacks = trace.stacks();
  std::vector<NameId> outermost(stacks.stack_count(), model::kEmptyName);
  std::vector<bool> is_found(stacks.stack_count());
  const bool has_node_js = HasNodeJs(trace.strings());
  for (uint32_t i = 1; i < outermost.size(); ++i) {
    const model::StackId stack{i};
    const uint32_t parent = Index(stacks.parent(stack));
    outermost[i] = outermost[parent];
    is_found[i] = is_found[parent];
    if (is_found[i]) continue;
    const model::Frame& frame = stacks.frame(stacks.leaf(stack));
    const Outer outer = OuterOf(trace, has_node_js, frame);
    is_found[i] = outer != Outer::kRunsOthers;
    if (outer == Outer::kWork) outermost[i] = frame.function;
  }
  return outermost;
}

// Samples say nothing of single steps: there are too few in each.
std::vector<ThreadWork> WorkOfSamples(const Trace& trace) {
  const std::vector<NameId> outermost = OutermostFunctions(trace);
  std::vector<ThreadWork> threads;
  const auto samples = trace.samples();
  for (size_t begin = 0; begin < samples.size();) {
    const TrackIndex track = samples[begin].track;
    WorkOfThread thread(trace, track);
    size_t i = begin;
    for (; i < samples.size() && samples[i].track == track; ++i) {
      const model::StackSample& sample = samples[i];
      thread.Add(outermost[Index(sample.stack)], kNoStep, sample.time_ns,
                 sample.time_ns, sample.weight_ns);
    }
    begin = i;
    if (auto work = thread.Finish()) threads.push_back(*std::move(work));
  }
  return threads;
}

// The threads of one process that did the same work.
using Group = std::vector<const ThreadWork*>;

std::vector<Group> Groups(const std::vector<ThreadWork>& threads) {
  std::map<std::pair<int64_t, NameId>, Group> groups;
  for (const ThreadWork& thread : threads) {
    if (thread.work == model::kEmptyName) continue;
    groups[{thread.pid, thread.work}].push_back(&thread);
  }
  std::vector<Group> list;
  for (auto& [key, group] : groups) {
    DurationNs most_ns = 0;
    for (const ThreadWork* thread : group) {
      most_ns = std::max(most_ns, thread->busy_ns);
    }
    std::erase_if(group, [&](const ThreadWork* thread) {
      return thread->busy_ns < most_ns / kPartTaken;
    });
    if (group.size() > 1) list.push_back(std::move(group));
  }
  return list;
}

// One step of a group.
struct StepSum {
  DurationNs all_ns = 0;
  TimeNs begin_ns = 0;
  TimeNs end_ns = 0;
  TimeNs last_begin_ns = 0;
  TimeNs first_end_ns = 0;
  const Piece* most = nullptr;
  TrackIndex track = 0;  // of it
};

struct Imbalance {
  DurationNs lost_ns = 0;  // of the busiest ones, beyond the mean
  DurationNs mean_ns = 0;  // summed over steps
  DurationNs span_ns = 0;  // from the first begin to the last end of each step
  int64_t steps = 0;
  StepSum worst;
};

Imbalance ImbalanceOf(const Group& group) {
  absl::flat_hash_map<int64_t, StepSum> steps;
  for (const ThreadWork* thread : group) {
    for (const Piece& piece : thread->pieces) {
      StepSum& step = steps[piece.step];
      step.begin_ns = step.most == nullptr
                          ? piece.begin_ns
                          : std::min(step.begin_ns, piece.begin_ns);
      step.end_ns = step.most == nullptr ? piece.end_ns
                                         : std::max(step.end_ns, piece.end_ns);
      step.last_begin_ns = step.most == nullptr
                               ? piece.begin_ns
                               : std::max(step.last_begin_ns, piece.begin_ns);
      step.first_end_ns = step.most == nullptr
                              ? piece.end_ns
                              : std::min(step.first_end_ns, piece.end_ns);
      step.all_ns += piece.busy_ns;
      if (step.most == nullptr || piece.busy_ns > step.most->busy_ns) {
        step.most = &piece;
        step.track = thread->track;
      }
    }
  }
  const auto count = static_cast<DurationNs>(group.size());
  Imbalance sum;
  sum.steps = static_cast<int64_t>(steps.size());
  DurationNs worst_ns = -1;
  for (const auto& [number, step] : steps) {
    const DurationNs mean_ns = step.all_ns / count;
    const DurationNs lost_ns = step.most->busy_ns - mean_ns;
    sum.mean_ns += mean_ns;
    sum.lost_ns += lost_ns;
    sum.span_ns += step.end_ns - step.begin_ns;
    // A hash map has no order: ties go to the earlier step.
    if (lost_ns > worst_ns ||
        (lost_ns == worst_ns && number < sum.worst.most->step)) {
      worst_ns = lost_ns;
      sum.worst = step;
    }
  }
  return sum;
}

Finding Uneven(const FindingRun& run, const Group& group,
               const Imbalance& imbalance) {
  const Trace& trace = run.trace;
  const Piece& worst = *imbalance.worst.most;
  Finding finding = run.OfTime(FindingKind::kLoadImbalance, imbalance.lost_ns);
  const std::string work = NameText(trace.Name(group.front()->work));
  finding.title =
      absl::StrCat(CountText(static_cast<int64_t>(group.size())),
                   " threads that ran ", work, " had uneven work: ");
  if (imbalance.steps == 1) {
    absl::StrAppend(&finding.title, "the ",
                    TrackText(trace, imbalance.worst.track), " was busy for ",
                    TimeText(worst.busy_ns), ", on average they were for ",
                    TimeText(imbalance.mean_ns));
  } else {
    absl::StrAppend(&finding.title, "over ", CountText(imbalance.steps),
                    " steps, the busiest thread of each was busy for ",
                    TimeText(imbalance.mean_ns + imbalance.lost_ns),
                    ", on average they were for ", TimeText(imbalance.mean_ns));
  }
  finding.next_step =
      "Give the threads smaller pieces of work, and let those that have none "
      "left take pieces of the others";
  finding.evidence = {.kind = EvidenceKind::kInterval,
                      .name = work,
                      .track = imbalance.worst.track,
                      .begin_ns = worst.begin_ns,
                      .duration_ns = worst.end_ns - worst.begin_ns};
  return finding;
}

// Whether all threads worked beside the busiest one. If they took turns,
// nobody waited for it.
bool IsConcurrent(const StepSum& step) {
  return step.last_begin_ns < step.most->end_ns &&
         step.first_end_ns > step.most->begin_ns;
}

// Whether samples that come by chance would hardly differ so much.
bool IsBeyondChance(const Group& group, const Imbalance& imbalance) {
  const auto count = static_cast<double>(imbalance.worst.most->samples);
  double all = 0;
  for (const ThreadWork* thread : group) {
    all += static_cast<double>(thread->pieces.front().samples);
  }
  return count - all / static_cast<double>(group.size()) >=
         kDeviations * std::sqrt(count);
}

}  // namespace

void AddImbalanceFindings(const FindingRun& run,
                          std::vector<Finding>& findings) {
  // Samples are of CPU time alone; ranges may wait. Sums of samples do not say
  // when a thread worked.
  const bool by_samples = run.HasSamples();
  if (by_samples && !run.trace.sample_sums().empty()) return;
  const std::vector<ThreadWork> threads =
      by_samples ? WorkOfSamples(run.trace) : WorkOfRanges(run.trace);
  for (const Group& group : Groups(threads)) {
    const Imbalance imbalance = ImbalanceOf(group);
    if (!run.Matters(imbalance.lost_ns) || !IsConcurrent(imbalance.worst) ||
        imbalance.lost_ns < imbalance.mean_ns / kUnevenPart ||
        imbalance.mean_ns + imbalance.lost_ns <
            imbalance.span_ns / kBoundPart ||
        (by_samples && !IsBeyondChance(group, imbalance))) {
      continue;
    }
    findings.push_back(Uneven(run, group, imbalance));
  }
}

}  // namespace kymo::analysis
