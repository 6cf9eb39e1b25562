#include "backends/builtin/builtin_backends.h"

#include "backends/cpu/cpu_backend.h"
#include "backends/cupti/cupti_backend.h"
#include "backends/host/host_backend.h"
#include "backends/itt/itt_backend.h"
#include "backends/memory/memory_backend.h"
#include "backends/mpi/mpi_backend.h"
#include "backends/nvtx/nvtx_backend.h"
#include "backends/off_cpu/off_cpu_backend.h"
#include "backends/sampling/sampling_backend.h"
#include "profiler/base/status_macros.h"

namespace kymo {

absl::Status RegisterBuiltinBackends(BackendRegistry& registry) {
  KYMO_RETURN_IF_ERROR(registry.Register(NewCpuBackend()));
  KYMO_RETURN_IF_ERROR(registry.Register(NewCuptiBackend()));
  KYMO_RETURN_IF_ERROR(registry.Register(NewHostBackend()));
  KYMO_RETURN_IF_ERROR(registry.Register(NewIttBackend()));
  KYMO_RETURN_IF_ERROR(registry.Register(NewMemoryBackend()));
  KYMO_RETURN_IF_ERROR(registry.Register(NewMpiBackend()));
  KYMO_RETURN_IF_ERROR(registry.Register(NewNvtxBackend()));
  KYMO_RETURN_IF_ERROR(registry.Register(NewOffCpuBackend()));
  KYMO_RETURN_IF_ERROR(registry.Register(NewSamplingBackend()));
  return absl::OkStatus();
}

}  // namespace kymo
