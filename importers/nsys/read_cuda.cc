#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "importers/nsys/nsys_file.h"
#include "importers/sqlite/cuda_names.h"
#include "importers/sqlite/gpu_rows.h"
#include "profiler/base/strings.h"
#include "profiler/model/activity_type.h"
#include "profiler/model/records.h"

namespace kymo::nsys {
namespace {

using model::ActivityType;
using sqlite::kRequired;
using sqlite::Rows;
using sqlite::Severity;

// Columns that every table of device work has, in this order.
enum {
  kStart,
  kEnd,
  kDevice,
  kContext,
  kStream,
  kCorrelation,
  kGlobalPid,
  kGraphNode,
  kFirstOwn
};
// clang-format off
#define KYMO_NSYS_GPU_COLUMNS \
  {"start", kRequired}, {"end", kRequired}, {"deviceId"}, {"contextId"}, \
  {"streamId"}, {"correlationId"}, {"globalPid"}, {"graphNodeId"}
// clang-format on

// The process of work that names none: the only process that made calls.
int64_t OnlyProcess(const File& file) {
  int64_t pid = 0;
  for (const auto& [key, thread] : file.calls) {
    if (pid != 0 && pid != key.first) return 0;
    pid = key.first;
  }
  return pid;
}

class DeviceReader {
 public:
  explicit DeviceReader(File& file)
      : file_(file), only_process_(OnlyProcess(file)) {}

  void Run() {
    ReadKernels();
    ReadGraphs();
    ReadCopies();
    ReadMemsets();
    ReadSyncs();
  }

 private:
  sqlite::GpuWork WorkOf(Rows& table) const {
    const std::optional<int64_t> global = table.Int(kGlobalPid);
    return {.pid = global ? ThreadOf(*global).pid : only_process_,
            .device = table.IntOr(kDevice, 0),
            .stream = table.IntOr(kStream, 0),
            .context = table.Int(kContext),
            .start_ns = table.Int(kStart),
            .end_ns = table.Int(kEnd),
            .correlation = table.IntOr(kCorrelation, 0),
            .graph_node = table.Int(kGraphNode)};
  }

  void ReadKernels() {
    enum {
      kDemangled = kFirstOwn,
      kShort,
      kGrid,
      kBlock = kGrid + 3,
      kRegisters = kBlock + 3,
      kStatic,
      kDynamic
    };
    Rows table = file_.db.Read("CUPTI_ACTIVITY_KIND_KERNEL",
                               {KYMO_NSYS_GPU_COLUMNS,
                                {"demangledName"},
                                {"shortName"},
                                {"gridX"},
                                {"gridY"},
                                {"gridZ"},
                                {"blockX"},
                                {"blockY"},
                                {"blockZ"},
                                {"registersPerThread"},
                                {"staticSharedMemory"},
                                {"dynamicSharedMemory"}},
                               file_.rows.findings());
    while (table.Next()) {
      sqlite::KernelShape shape{.registers = table.Int(kRegisters),
                                .static_shared_bytes = table.Int(kStatic),
                                .dynamic_shared_bytes = table.Int(kDynamic)};
      for (size_t i = 0; i < 3; ++i) {
        shape.grid[i] = table.Int(kGrid + i);
        shape.block[i] = table.Int(kBlock + i);
      }
      const std::optional<int64_t> name = table.Int(kDemangled);
      sqlite::AddKernel(file_.rows, WorkOf(table),
                        file_.StringOf(name ? name : table.Int(kShort)), shape);
    }
  }

  void ReadGraphs() {
    enum { kGraph = kFirstOwn };
    Rows table = file_.db.Read("CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                               {KYMO_NSYS_GPU_COLUMNS, {"graphId"}},
                               file_.rows.findings());
    while (table.Next()) {
      sqlite::AddKernel(file_.rows, WorkOf(table),
                        file_.rows.Intern(absl::StrCat("CUDA graph ",
                                                       table.IntOr(kGraph, 0))),
                        {});
    }
  }

  // Nsight Systems numbers the kinds of memory from pageable = 0, CUPTI from 1.
  static int64_t MemoryKind(std::optional<int64_t> kind) {
    return kind && *kind >= 0 && *kind < 7 ? *kind + 1 : 0;
  }

  void ReadCopies() {
    enum { kKind = kFirstOwn, kSource, kDestination, kBytes, kFrom, kTo };
    Rows table = file_.db.Read("CUPTI_ACTIVITY_KIND_MEMCPY",
                               {KYMO_NSYS_GPU_COLUMNS,
                                {"copyKind"},
                                {"srcKind"},
                                {"dstKind"},
                                {"bytes"},
                                {"srcDeviceId"},
                                {"dstDeviceId"}},
                               file_.rows.findings());
    while (table.Next()) {
      sqlite::AddCopy(file_.rows, WorkOf(table),
                      {.kind = table.IntOr(kKind, 0),
                       .source = MemoryKind(table.Int(kSource)),
                       .destination = MemoryKind(table.Int(kDestination)),
                       .bytes = table.Int(kBytes),
                       .source_device = table.Int(kFrom),
                       .destination_device = table.Int(kTo)});
    }
  }

  void ReadMemsets() {
    enum { kBytes = kFirstOwn, kKind };
    Rows table = file_.db.Read("CUPTI_ACTIVITY_KIND_MEMSET",
                               {KYMO_NSYS_GPU_COLUMNS, {"bytes"}, {"memKind"}},
                               file_.rows.findings());
    while (table.Next()) {
      sqlite::AddMemset(file_.rows, WorkOf(table), MemoryKind(table.Int(kKind)),
                        table.Int(kBytes));
    }
  }

  void ReadSyncs() {
    enum { kType = kFirstOwn, kEvent };
    Rows table =
        file_.db.Read("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                      {KYMO_NSYS_GPU_COLUMNS, {"syncType"}, {"eventId"}},
                      file_.rows.findings());
    while (table.Next()) {
      sqlite::AddSync(file_.rows, WorkOf(table), table.IntOr(kType, 0),
                      table.Int(kEvent));
    }
  }

  File& file_;
  const int64_t only_process_;
};

#undef KYMO_NSYS_GPU_COLUMNS

}  // namespace

void ReadCalls(File& file) {
  enum { kStart, kEnd, kTid, kId, kName, kResult };
  Rows table = file.db.Read("CUPTI_ACTIVITY_KIND_RUNTIME",
                            {{"start", kRequired},
                             {"end", kRequired},
                             {"globalTid", kRequired},
                             {"correlationId"},
                             {"nameId", kRequired},
                             {"returnValue"}},
                            file.rows.findings());
  while (table.Next()) {
    const ThreadId thread = ThreadOf(table.IntOr(kTid, 0));
    const int64_t correlation = table.IntOr(kId, 0);
    const std::string_view name = sqlite::StripApiVersion(
        file.rows.Name(file.StringOf(table.Int(kName))));
    file.calls.try_emplace({thread.pid, correlation}, thread);
    file.rows.BeginDetail(correlation > 0 ? uint64_t(correlation) : 0);
    if (table.IntOr(kResult, 0) != 0) {
      file.rows.AddArg("returnValue", table.IntOr(kResult, 0));
    }
    file.rows.Add(
        file.rows.Thread(thread.pid, thread.tid),
        {.start_ns = table.Int(kStart),
         .end_ns = table.Int(kEnd),
         .name = file.rows.Intern(name),
         .type = sqlite::IsDriverCall(name) ? ActivityType::kCudaDriver
                                            : ActivityType::kCudaRuntime});
  }
}

void ReadDeviceWork(File& file) { DeviceReader(file).Run(); }

}  // namespace kymo::nsys
