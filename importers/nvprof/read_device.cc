#include <cstddef>
#include <cstdint>

#include "importers/nvprof/nvprof_file.h"
#include "importers/sqlite/gpu_rows.h"

namespace kymo::nvprof {
namespace {

using sqlite::kRequired;
using sqlite::Rows;

// Columns that every table of device work has, in this order.
enum { kStart, kEnd, kDevice, kContext, kStream, kCorrelation, kFirstOwn };
// clang-format off
#define KYMO_NVPROF_GPU_COLUMNS \
  {"start", kRequired}, {"end", kRequired}, {"deviceId"}, {"contextId"}, \
  {"streamId"}, {"correlationId"}
// clang-format on

class DeviceReader {
 public:
  explicit DeviceReader(File& file) : file_(file) {}

  void Run() {
    ReadKernels();
    ReadCopies();
    ReadMemsets();
    ReadSyncs();
  }

 private:
  sqlite::GpuWork WorkOf(Rows& table) const {
    const int64_t correlation = table.IntOr(kCorrelation, 0);
    return {.pid = file_.ProcessOf(correlation),
            .device = table.IntOr(kDevice, 0),
            .stream = table.IntOr(kStream, 0),
            .context = table.Int(kContext),
            .start_ns = table.Int(kStart),
            .end_ns = table.Int(kEnd),
            .correlation = correlation};
  }

  // A database has one of the two tables: kernels were serialised or they were
  // not.
  void ReadKernels() {
    ReadKernels("CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL");
    ReadKernels("CUPTI_ACTIVITY_KIND_KERNEL");
  }

  void ReadKernels(const char* name) {
    enum {
      kName = kFirstOwn,
      kGrid,
      kBlock = kGrid + 3,
      kRegisters = kBlock + 3,
      kStatic,
      kDynamic
    };
    Rows table = file_.db.Read(name,
                               {KYMO_NVPROF_GPU_COLUMNS,
                                {"name", kRequired},
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
      const sqlite::GpuWork work = WorkOf(table);
      file_.check.AddKernel(work.correlation);
      sqlite::KernelShape shape{.registers = table.Int(kRegisters),
                                .static_shared_bytes = table.Int(kStatic),
                                .dynamic_shared_bytes = table.Int(kDynamic)};
      for (size_t i = 0; i < 3; ++i) {
        shape.grid[i] = table.Int(kGrid + i);
        shape.block[i] = table.Int(kBlock + i);
      }
      sqlite::AddKernel(file_.rows, work, file_.StringOf(table.Int(kName)),
                        shape);
    }
  }

  void ReadCopies() {
    enum { kKind = kFirstOwn, kSource, kDestination, kBytes, kRuntimeId };
    Rows table = file_.db.Read("CUPTI_ACTIVITY_KIND_MEMCPY",
                               {KYMO_NVPROF_GPU_COLUMNS,
                                {"copyKind"},
                                {"srcKind"},
                                {"dstKind"},
                                {"bytes"},
                                {"runtimeCorrelationId"}},
                               file_.rows.findings());
    while (table.Next()) {
      sqlite::GpuWork work = WorkOf(table);
      // This column is an older name for the same id.
      if (!file_.pid_of_call.contains(work.correlation) &&
          table.IntOr(kRuntimeId, 0) != 0) {
        work.correlation = table.IntOr(kRuntimeId, 0);
      }
      sqlite::AddCopy(file_.rows, work,
                      {.kind = table.IntOr(kKind, 0),
                       .source = table.IntOr(kSource, 0),
                       .destination = table.IntOr(kDestination, 0),
                       .bytes = table.Int(kBytes)});
    }
    ReadPeerCopies();
  }

  void ReadPeerCopies() {
    enum { kKind = kFirstOwn, kSource, kDestination, kBytes, kFrom, kTo };
    Rows table = file_.db.Read("CUPTI_ACTIVITY_KIND_MEMCPY2",
                               {KYMO_NVPROF_GPU_COLUMNS,
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
                       .source = table.IntOr(kSource, 0),
                       .destination = table.IntOr(kDestination, 0),
                       .bytes = table.Int(kBytes),
                       .source_device = table.Int(kFrom),
                       .destination_device = table.Int(kTo)});
    }
  }

  void ReadMemsets() {
    enum { kBytes = kFirstOwn, kKind };
    Rows table =
        file_.db.Read("CUPTI_ACTIVITY_KIND_MEMSET",
                      {KYMO_NVPROF_GPU_COLUMNS, {"bytes"}, {"memoryKind"}},
                      file_.rows.findings());
    while (table.Next()) {
      sqlite::AddMemset(file_.rows, WorkOf(table), table.IntOr(kKind, 0),
                        table.Int(kBytes));
    }
  }

  void ReadSyncs() {
    enum { kType = kFirstOwn, kEvent };
    Rows table =
        file_.db.Read("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                      {KYMO_NVPROF_GPU_COLUMNS, {"type"}, {"cudaEventId"}},
                      file_.rows.findings());
    while (table.Next()) {
      sqlite::AddSync(file_.rows, WorkOf(table), table.IntOr(kType, 0),
                      table.Int(kEvent));
    }
  }

  File& file_;
};

#undef KYMO_NVPROF_GPU_COLUMNS

}  // namespace

void ReadDeviceWork(File& file) { DeviceReader(file).Run(); }

}  // namespace kymo::nvprof
