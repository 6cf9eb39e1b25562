#include "importers/builtin/builtin_importers.h"

#include "importers/chrome/chrome_importer.h"
#include "importers/nsys/nsys_importer.h"
#include "importers/nvprof/nvprof_importer.h"
#include "importers/parquet/parquet_importer.h"
#include "importers/raw/raw_importer.h"
#include "profiler/base/status_macros.h"

namespace kymo {

absl::Status RegisterBuiltinImporters(ImporterRegistry& registry) {
  KYMO_RETURN_IF_ERROR(registry.Register(NewChromeImporter()));
  KYMO_RETURN_IF_ERROR(registry.Register(NewNsysImporter()));
  KYMO_RETURN_IF_ERROR(registry.Register(NewNvprofImporter()));
  KYMO_RETURN_IF_ERROR(registry.Register(NewParquetImporter()));
  KYMO_RETURN_IF_ERROR(registry.Register(NewRawImporter()));
  return absl::OkStatus();
}

}  // namespace kymo
