#include "tools/deliver/export_files.h"

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "profiler/base/parallel.h"
#include "profiler/base/status_macros.h"
#include "profiler/plugin/run_exporter.h"
#include "profiler/plugin/trace_exporter.h"

namespace kymo::tools {
namespace {

// The part of the request's bytes that each exporter which obeys them gets.
uint64_t BytesOfEach(const ExportRequest& request,
                     const ExporterRegistry& exporters) {
  uint64_t obey = 0;
  for (const std::string& name : request.exporters) {
    if (exporters.Find(name)->info().takes_max_bytes) ++obey;
  }
  return request.max_bytes / std::max<uint64_t>(obey, 1);
}

// What all exporters read, made for the first of them.
struct Shared {
  const analysis::LazyMemoryProfiles* memory = nullptr;
  const analysis::LazyJobOfRanks* ranks = nullptr;
};

// An exporter of the request, and what came of it.
struct Job {
  const TraceExporter* exporter = nullptr;
  ExportOptions options;
  ExportNotes notes;
  absl::Status status;
};

std::vector<Job> JobsOf(const ExportRequest& request, const Shared& shared,
                        const ExporterRegistry& exporters,
                        std::mutex& progress_mutex) {
  const uint64_t bytes_of_each = BytesOfEach(request, exporters);
  std::vector<Job> jobs;
  jobs.reserve(request.exporters.size());
  for (const std::string& name : request.exporters) {
    Job& job = jobs.emplace_back();
    job.exporter = exporters.Find(name);
    job.options.gzip = request.gzip;
    job.options.settings = request.settings;
    job.options.before = request.before;
    job.options.job = request.job;
    job.options.keeps_ranges = request.keeps_ranges;
    job.options.memory = shared.memory;
    job.options.ranks = shared.ranks;
    // Splitting keeps every event.
    const bool is_split =
        request.max_file_bytes != 0 && job.exporter->info().splits_by_step;
    if (!is_split && job.exporter->info().takes_max_bytes) {
      job.options.max_bytes = bytes_of_each;
    }
    if (request.progress) {
      job.options.progress = [&request, &name, &progress_mutex](double done) {
        const std::lock_guard<std::mutex> lock(progress_mutex);
        request.progress(name, done);
      };
    }
  }
  return jobs;
}

// Adds what one exporter noted.
void AddLedger(const model::LossLedger& of_exporter, model::LossLedger& all) {
  constexpr auto kStacks = model::Loss::kStacksFolded;
  all.Add(kStacks, of_exporter.Get(kStacks));
  // Of the rest, two files may fold and leave out the same.
  all.MergeEqual(of_exporter);
}

// The first error, with the messages of all: one a file that was not written.
absl::Status AllErrors(const std::vector<Job>& jobs) {
  absl::Status first;
  std::vector<std::string> messages;
  for (const Job& job : jobs) {
    first.Update(job.status);
    std::string message(job.status.message());
    // Exporters of the same file may fail alike.
    if (!job.status.ok() &&
        std::ranges::find(messages, message) == messages.end()) {
      messages.push_back(std::move(message));
    }
  }
  if (messages.size() < 2) return first;
  return absl::Status(first.code(), absl::StrJoin(messages, "; "));
}

enum class Order {
  kAsRequested,   // one after the other
  kBoundedFirst,  // so, but those that obey a limit come before the others
  kSideBySide,    // as above, but those that obey a limit run at once
};

bool HasCounts(const model::LossLedger& ledger) {
  for (size_t i = 0; i < static_cast<size_t>(model::Loss::kCount); ++i) {
    if (ledger.Get(static_cast<model::Loss>(i)) != 0) return true;
  }
  return false;
}

void AddNotes(const ExportNotes& of_exporter, ExportNotes& all) {
  all.notices.insert(all.notices.end(), of_exporter.notices.begin(),
                     of_exporter.notices.end());
  AddLedger(of_exporter.ledger, all.ledger);
}

// job.status = run(exporter, options) of each. Returns the errors. The answers
// come first: a disk may have no room for all files. Those that obey a limit
// may note what they left out, and the others read that.
template <typename Run>
absl::Status ForEachExporter(const ExportRequest& request, const Shared& shared,
                             const ExporterRegistry& exporters, Order order,
                             ExportNotes& notes, Run run) {
  std::mutex progress_mutex;
  std::vector<Job> jobs = JobsOf(request, shared, exporters, progress_mutex);
  std::vector<Job*> answers, bounded, left;
  for (Job& job : jobs) {
    const PluginInfo& info = job.exporter->info();
    const bool is_bounded =
        order != Order::kAsRequested && info.takes_max_bytes;
    (info.name == request.first ? answers
     : is_bounded               ? bounded
                                : left)
        .push_back(&job);
  }
  // These note for themselves, and begin in this order.
  std::vector<Job*> first = answers;
  first.insert(first.end(), bounded.begin(), bounded.end());
  const size_t beside = request.beside ? 1 : 0;
  const size_t count = first.size() + beside;
  const auto do_one = [&](size_t i) {
    if (i < beside) return request.beside();
    Job& job = *first[i - beside];
    job.options.notes = &job.notes;
    job.status = run(*job.exporter, job.options);
  };
  if (order == Order::kSideBySide) {
    ParallelJobs(count, do_one);
  } else {
    for (size_t i = 0; i < count; ++i) do_one(i);
  }
  for (Job* const job : bounded) {
    // By now others have given back what they took of the disk and of memory.
    if (absl::IsResourceExhausted(job->status)) {
      job->notes = {};
      job->status = run(*job->exporter, job->options);
    }
    AddNotes(job->notes, notes);
  }
  for (Job* const job : left) {
    job->options.notes = &notes;
    job->status = run(*job->exporter, job->options);
  }
  for (Job* const job : answers) {
    if (!HasCounts(notes.ledger) && !absl::IsResourceExhausted(job->status)) {
      AddNotes(job->notes, notes);
      continue;
    }
    const bool is_written = job->status.ok();
    job->options.notes = &notes;
    job->status = run(*job->exporter, job->options);
    if (is_written && !job->status.ok()) {
      job->status = absl::Status(
          job->status.code(),
          absl::StrCat("the file of --export=", job->exporter->info().name,
                       " is there, but lacks what other files left out: ",
                       job->status.message()));
    }
  }
  return AllErrors(jobs);
}

// Of a large trace, one exporter keeps all CPUs busy, and two at a time
// would need more memory. Of a tiny one, threads would take longer to start
// than all files.
Order OrderFor(const model::Trace& trace) {
  constexpr size_t kLeast = 1'000;
  constexpr size_t kMost = 1 << 20;
  const size_t size =
      trace.event_count() + trace.samples().size() + trace.memory().size();
  if (size > kMost) return Order::kAsRequested;
  return size < kLeast ? Order::kBoundedFirst : Order::kSideBySide;
}

}  // namespace

absl::Status ExportFiles(const ExportRequest& request,
                         const model::Trace& trace,
                         const ExporterRegistry& exporters,
                         OutputDirectory& out, ExportNotes& notes) {
  const analysis::LazyMemoryProfiles memory(trace, request.memory);
  const analysis::LazyJobOfRanks ranks(trace, request.ranks);
  return ForEachExporter(
      request, {.memory = &memory, .ranks = &ranks}, exporters, OrderFor(trace),
      notes,
      [&](const TraceExporter& exporter,
          const ExportOptions& options) -> absl::Status {
        if (request.sums != nullptr && exporter.info().exports_sums) {
          return RunExporterOnSums(exporter, *request.sums, options, out)
              .status();
        }
        KYMO_ASSIGN_OR_RETURN(
            const SplitFiles files,
            RunExporter(exporter, trace, options, request.max_file_bytes, out));
        if (!files.notice.empty()) {
          options.notes->notices.push_back(files.notice);
        }
        return absl::OkStatus();
      });
}

absl::Status ExportFilesOfSums(const ExportRequest& request,
                               const analysis::WindowSums& sums,
                               const ExporterRegistry& exporters,
                               OutputDirectory& out, ExportNotes& notes) {
  return ForEachExporter(
      request, {}, exporters, Order::kAsRequested, notes,
      [&](const TraceExporter& exporter,
          const ExportOptions& options) -> absl::Status {
        if (!exporter.info().exports_sums) return absl::OkStatus();
        return RunExporterOnSums(exporter, sums, options, out).status();
      });
}

}  // namespace kymo::tools
