#include "importers/chrome/chrome_importer.h"

#include <new>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "importers/chrome/import_document.h"
#include "importers/chrome/json/text_source.h"
#include "importers/chrome/json/value_scanner.h"
#include "profiler/base/status_macros.h"

namespace kymo {
namespace {

using chrome_import::TextSource;

absl::StatusOr<ImportedTrace> ImportFile(const std::string& path,
                                         const ImportOptions& options) {
  KYMO_ASSIGN_OR_RETURN(const std::unique_ptr<TextSource> source,
                        TextSource::Open(path, options.max_unpacked_bytes));
  return chrome_import::ImportDocument(*source, {.progress = options.progress});
}

class ChromeImporter final : public TraceImporter {
 public:
  const PluginInfo& info() const noexcept override { return info_; }

  // Accepts an object or a list of objects. If it only looks so, Import says
  // it.
  bool Recognizes(std::string_view head) const override {
    if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
    head.remove_prefix(chrome_import::CountSpace(head));
    if (head.starts_with('[')) {
      head.remove_prefix(1);
      head.remove_prefix(chrome_import::CountSpace(head));
      return head.starts_with('{') || head.starts_with(']');
    }
    if (!head.starts_with('{')) return false;
    head.remove_prefix(1);
    head.remove_prefix(chrome_import::CountSpace(head));
    return head.starts_with('"');
  }

  absl::StatusOr<ImportedTrace> Import(
      const std::string& path, const ImportOptions& options) const override {
    try {
      absl::StatusOr<ImportedTrace> trace = ImportFile(path, options);
      if (trace.ok()) return trace;
      return absl::Status(trace.status().code(),
                          absl::StrCat(path, ": ", trace.status().message()));
    } catch (const std::bad_alloc&) {
      return absl::ResourceExhaustedError(
          absl::StrCat("not enough memory to read ", path));
    }
  }

 private:
  const PluginInfo info_ = {
      .name = "chrome",
      .purpose = "Chrome trace JSON: PyTorch's, Kymo's and others'",
  };
};

}  // namespace

std::unique_ptr<TraceImporter> NewChromeImporter() {
  return std::make_unique<ChromeImporter>();
}

}  // namespace kymo
