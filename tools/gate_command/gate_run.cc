#include "tools/gate_command/gate_run.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "importers/load/load.h"
#include "profiler/base/mapped/sealed_memory.h"
#include "profiler/base/owned_descriptor.h"
#include "profiler/base/status_macros.h"
#include "profiler/model/loss_ledger.h"
#include "profiler/model/trace.h"
#include "profiler/report/ledger_text.h"
#include "tools/command_line/say.h"
#include "tools/gate_command/self_run.h"
#include "tools/gate_command/syscall_trace.h"
#include "tools/profile_command/start/runtime_files.h"
#include "tools/runtime/blocking_calls.h"

namespace kymo::tools {
namespace {

using model::Loss;

// The file in which libkymo_calls.so counts; other processes open it by path.
class CallFile {
 public:
  absl::Status Make() {
    file_ = OwnedDescriptor(
        MakeSealedMemory("kymo-calls", sizeof(BlockingCallCounts)));
    if (!file_.is_open()) {
      return absl::ErrnoToStatus(errno, "could not make memory for counts");
    }
    void* const mapped = mmap(nullptr, sizeof(BlockingCallCounts), PROT_READ,
                              MAP_SHARED, file_.get(), 0);
    if (mapped == MAP_FAILED) {
      return absl::ErrnoToStatus(errno, "could not map memory for counts");
    }
    counts_ = static_cast<const BlockingCallCounts*>(mapped);
    return absl::OkStatus();
  }
  ~CallFile() {
    if (counts_ == nullptr) return;
    munmap(const_cast<BlockingCallCounts*>(counts_), sizeof(*counts_));
  }
  CallFile() = default;
  CallFile(const CallFile&) = delete;
  CallFile& operator=(const CallFile&) = delete;

  std::string path() const {
    return absl::StrCat("/proc/", getpid(), "/fd/", file_.get());
  }
  const BlockingCallCounts& counts() const { return *counts_; }

 private:
  OwnedDescriptor file_;
  const BlockingCallCounts* counts_ = nullptr;
};

absl::Status AddCounts(const std::vector<std::string>& command,
                       const StreamDescriptors& streams, Amounts& amounts) {
  KYMO_ASSIGN_OR_RETURN(const std::string self, OwnPath());
  const std::string library = FindRuntimeFile(self, "libkymo_calls.so");
  if (library.empty()) {
    return absl::NotFoundError(
        absl::StrCat("libkymo_calls.so is not where it belongs, near ", self,
                     "; install Kymo again"));
  }
  KYMO_ASSIGN_OR_RETURN(const std::string preloaded,
                        PreloadPath(library, LinkPlaces()));
  CallFile file;
  KYMO_RETURN_IF_ERROR(file.Make());
  const char* const theirs = getenv("LD_PRELOAD");
  RewindInput();
  TracedRun run;
  KYMO_RETURN_IF_ERROR(TraceSystemCalls(
      command,
      {{kCallsVariable, file.path()},
       {"LD_PRELOAD",
        theirs == nullptr ? preloaded : absl::StrCat(preloaded, ":", theirs)}},
      run, streams));
  KYMO_RETURN_IF_ERROR(
      CheckEnd(run.wait_status,
               command[0] + ", run without the recorder to count its calls,"));
  if (run.left_behind > 0) {
    Say(absl::StrCat(command[0], " left ", run.left_behind,
                     run.left_behind == 1 ? " process" : " processes",
                     " behind; ended after ", kPatienceMs / 1000, " s"));
  }
  const auto set = [&](What what, uint64_t amount) {
    amounts.Set({what}, static_cast<double>(amount));
  };
  set(What::kSystemCalls, run.system_calls);
  set(What::kFilesOpened, run.files_opened);
  set(What::kBytesRead, run.bytes_read);
  set(What::kBytesWritten, run.bytes_written);
  set(What::kPageFaults, run.page_faults);
  // Nobody saw which functions it called.
  if (!run.has_library) return absl::OkStatus();
  uint64_t sum = 0;
  for (size_t i = 0; i < kBlockingCallCount; ++i) {
    const uint64_t calls = file.counts().calls[i];
    if (calls == 0) continue;
    sum += calls;
    amounts.Set({What::kBlockingCalls, kBlockingCallNames[i]},
                static_cast<double>(calls));
  }
  set(What::kBlockingCalls, sum);
  return absl::OkStatus();
}

// Runs `kymo profile` with these flags, too.
absl::Status Record(const std::vector<std::string>& flags,
                    const std::string& out,
                    const std::vector<std::string>& command,
                    const StreamDescriptors& streams) {
  std::vector<std::string> words = {"profile",
                                    "--quiet",
                                    "--activities=cpu",
                                    "--profile_memory",
                                    "--record_shapes",
                                    "--with_flops",
                                    "--cpu_keep_raw",
                                    "--cpu_arena_mib=64",
                                    absl::StrCat("--output_dir=", out)};
  words.insert(words.end(), flags.begin(), flags.end());
  words.emplace_back("--");
  words.insert(words.end(), command.begin(), command.end());
  return RunRecorder(words, command[0], out + "/summary.json", streams);
}

// Losses that take nothing from a count, or the same in each run: a program
// that starts a static child always lacks that child's allocations.
constexpr Loss kHarmless[] = {
    Loss::kArgumentsTruncated,   Loss::kImpossibleTimestamps,
    Loss::kSamplesLost,          Loss::kSamplesNotDelivered,
    Loss::kSwitchesLost,         Loss::kThreadsNotTimed,
    Loss::kWaitsNotRecorded,     Loss::kStacksTruncated,
    Loss::kStacksIncomplete,     Loss::kStacksBeyondLimit,
    Loss::kProcessesNotRecorded, Loss::kHeapsNotWatched,
    Loss::kCounterValuesDropped,
};

absl::Status CheckLosses(const model::LossLedger& ledger) {
  model::LossLedger lost;
  for (size_t i = 0; i < static_cast<size_t>(Loss::kCount); ++i) {
    const auto loss = static_cast<Loss>(i);
    if (std::ranges::count(kHarmless, loss) == 0) {
      lost.Add(loss, ledger.Get(loss));
    }
  }
  if (lost.AnythingLost()) {
    return absl::DataLossError(
        absl::StrCat("the recording is not complete, so its counts are not: ",
                     report::LedgerText(lost)));
  }
  for (const Loss loss :
       {Loss::kProcessesNotRecorded, Loss::kHeapsNotWatched}) {
    if (ledger.Get(loss) == 0) continue;
    Say(absl::StrCat("counts are without ", ledger.Get(loss), " ",
                     model::LossText(ledger, loss)));
  }
  return absl::OkStatus();
}

absl::StatusOr<LoadedTrace> LoadWhole(const std::string& file,
                                      const ImporterRegistry& importers) {
  KYMO_ASSIGN_OR_RETURN(LoadedTrace loaded,
                        Load({file}, LoadOptions(), importers));
  for (const ImportFinding& finding : loaded.files[0].findings) {
    if (finding.severity == ImportFinding::Severity::kNote) continue;
    Say(absl::StrCat(file, ": ", finding.message,
                     "; the amounts are of what is there"));
  }
  KYMO_RETURN_IF_ERROR(CheckLosses(loaded.trace.ledger()));
  return loaded;
}

// A program whose heap was watched, and that allocated nothing.
void SetHeapToNothing(const model::Trace& trace, Amounts& amounts) {
  const model::LossLedger& ledger = trace.ledger();
  if (amounts.Find({What::kAllocations}) || !WasRecorded(trace) ||
      ledger.Get(Loss::kHeapsNotWatched) > 0) {
    return;
  }
  for (const What what :
       {What::kAllocations, What::kAllocatedBytes, What::kPeakBytes,
        What::kTemporaryAllocations, What::kLeaks, What::kLeakedBytes}) {
    amounts.Add({what}, 0);
  }
}

}  // namespace

absl::StatusOr<Amounts> MeasureFile(const std::string& file,
                                    const ImporterRegistry& importers) {
  KYMO_ASSIGN_OR_RETURN(const LoadedTrace loaded, LoadWhole(file, importers));
  Amounts amounts;
  AddAmountsOf(loaded.trace, amounts);
  return amounts;
}

absl::StatusOr<Amounts> MeasureProgram(const std::vector<std::string>& command,
                                       const std::string& out,
                                       const Measuring& measuring,
                                       const ImporterRegistry& importers) {
  std::vector<std::string> flags = {"--export=summary"};
  if (!measuring.has_leaks) flags.emplace_back("--nomemory_stacks");
  KYMO_RETURN_IF_ERROR(Record(flags, out, command, measuring.streams));
  KYMO_ASSIGN_OR_RETURN(const LoadedTrace loaded,
                        LoadWhole(out + "/kymo.raw", importers));
  Amounts amounts;
  AddAmountsOf(loaded.trace, amounts);
  SetHeapToNothing(loaded.trace, amounts);
  if (measuring.counts_calls) {
    KYMO_RETURN_IF_ERROR(AddCounts(command, measuring.streams, amounts));
  }
  return amounts;
}

absl::Status RecordPage(const std::vector<std::string>& command,
                        const std::string& out,
                        const StreamDescriptors& streams) {
  return Record({"--export=summary,html"}, out, command, streams);
}

}  // namespace kymo::tools
