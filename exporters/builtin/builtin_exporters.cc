#include "exporters/builtin/builtin_exporters.h"

#include "absl/status/status.h"
#include "exporters/chrome/chrome_exporter.h"
#include "exporters/html/html_exporter.h"
#include "exporters/memory_timeline/memory_timeline.h"
#include "exporters/parquet/parquet_exporter.h"
#include "exporters/perfetto/perfetto_exporter.h"
#include "exporters/stacks/stacks_exporter.h"
#include "exporters/summary/summary_exporter.h"
#include "exporters/tensorboard/tensorboard_exporter.h"
#include "profiler/base/status_macros.h"
#include "profiler/plugin/registry.h"

namespace kymo {

absl::Status RegisterBuiltinExporters(ExporterRegistry& registry) {
  KYMO_RETURN_IF_ERROR(registry.Register(NewChromeExporter()));
  KYMO_RETURN_IF_ERROR(registry.Register(NewHtmlExporter()));
  KYMO_RETURN_IF_ERROR(registry.Register(NewMemoryTimelineExporter()));
  KYMO_RETURN_IF_ERROR(registry.Register(NewParquetExporter()));
  KYMO_RETURN_IF_ERROR(registry.Register(NewPerfettoExporter()));
  KYMO_RETURN_IF_ERROR(registry.Register(NewStacksExporter()));
  KYMO_RETURN_IF_ERROR(registry.Register(NewSummaryExporter()));
  KYMO_RETURN_IF_ERROR(registry.Register(NewTensorboardExporter()));
  return absl::OkStatus();
}

}  // namespace kymo
