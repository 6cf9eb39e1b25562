#include "tools/profile_command/profile_manual.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "profiler/base/strings.h"
#include "profiler/plugin/activities.h"
#include "profiler/plugin/guarded_call.h"
#include "tools/profile_command/options.h"

namespace kymo::tools {
namespace {

constexpr char kEnd[] =
    "\nFILES\n"
    "    key_averages.txt, summary.json and the exporters' files, in the "
    "output\n"
    "    folder. What took most is also shown on standard error, in as many "
    "columns\n"
    "    and rows as the terminal has (120 x 20 if it is none), unless "
    "--quiet.\n"
    "    dump-1.raw and so on are a flight recorder's dumps. kymo.raw is all "
    "as it\n"
    "    was recorded: with --cpu_keep_raw, and where the trace would not fit "
    "into\n"
    "    memory (--cpu_max_memory). `kymo report` reads these. Of a "
    "recording that\n"
    "    is longer than the disk has room (--cpu_max_disk), tables and stacks "
    "have\n"
    "    everything, and timelines the newest part.\n\n"
    "EXIT STATUS\n"
    "    The target's own. A target that died of a signal: kymo dies of it "
    "too.\n"
    "    127, 126    the target was not found, or cannot be executed\n"
    "    2           the command line is wrong\n"
    "    1           the recording could not be made, or none of its files "
    "written\n"
    "    3           --strict, and something was lost\n";

// A backend's limitation, or why it is not available. A backend that throws is
// not.
absl::StatusOr<std::string> LimitationOf(const ActivityBackend& backend,
                                         const SessionOptions& options) {
  return GuardedCall("asking for its limitation",
                     [&]() -> absl::StatusOr<std::string> {
                       absl::Status status = backend.Availability(options);
                       if (!status.ok()) return status;
                       return backend.Limitation(options);
                     });
}

}  // namespace

Manual MakeProfileManual(const BackendRegistry& backends,
                         const ExporterRegistry& exporters) {
  Manual manual;
  manual.name =
      "kymo profile - where a program's time goes, as a table, a timeline and "
      "stacks";
  manual.synopsis =
      "kymo profile [flags] target [argument ...]\n"
      "kymo [flags] -- target [argument ...]\n"
      "bazel run --run_under=@kymo//tools:profile //your:binary";
  manual.description = {
      "Runs the target, records it and everything that it starts, and writes "
      "what it saw. Ranges that the program annotates with Kymo are recorded "
      "exactly; a program that knows nothing of Kymo is sampled. Standard "
      "streams, signals and exit status of the target stay its own.",
      "The target is a program on the PATH, a path, or a Bazel label "
      "(//your:binary), which is built first. Flags stand before it."};
  manual.examples =
      "kymo -- ./server --port=80\n"
      "kymo profile --profile_memory --output_dir=out ./train\n"
      "kymo profile --activities=cpu,cuda --record_shapes ./train";
  manual.own = ProfileFlags();
  manual.groups = {{"ACTIVITIES", {}}, {"EXPORTERS", {}}};
  for (const ActivityBackend* const backend : backends.List()) {
    manual.groups[0].plugins.push_back(&backend->info());
  }
  for (const TraceExporter* const exporter : exporters.List()) {
    manual.groups[1].plugins.push_back(&exporter->info());
  }
  manual.end = kEnd;
  return manual;
}

absl::StatusOr<std::string> ProfileManual(std::string_view topic,
                                          const BackendRegistry& backends,
                                          const ExporterRegistry& exporters) {
  return ManualPage(MakeProfileManual(backends, exporters), topic);
}

std::string ListActivities(const BackendRegistry& backends,
                           const SessionOptions& options) {
  std::string text;
  for (const ActivityBackend* backend : backends.List()) {
    const absl::StatusOr<std::string> limitation =
        LimitationOf(*backend, options);
    absl::StrAppend(&text,
                    absl::StrFormat("%-10s %s\n", backend->info().name,
                                    !limitation.ok() ? "not available here"
                                    : !IsWantedIn(*backend, {}, options)
                                        ? "available, on request"
                                        : "available"));
    AppendWrapped(text, backend->info().purpose, 11);
    if (!limitation.ok()) {
      AppendWrapped(text, ToStd(limitation.status().message()), 11);
    } else if (!limitation->empty()) {
      AppendWrapped(text, *limitation, 11);
    }
  }
  return text;
}

}  // namespace kymo::tools
