// exporter.h - write an exporter: a file format of your own.
//
// You derive from TraceExporter at namespace scope:
//
//   class CountExporter final : public kymo::TraceExporter {
//    public:
//     const kymo::PluginInfo& info() const noexcept override { return info_; }
//     absl::StatusOr<std::vector<std::string>> Export(
//         const kymo::model::Trace& trace, const kymo::ExportOptions& options,
//         kymo::OutputDirectory& out) const override;
//
//    private:
//     const kymo::PluginInfo info_ = {.name = "count",
//                                     .purpose = "the number of events"};
//   };
//
// docs/add-an-exporter.md shows a whole exporter.
// profiler/plugin/trace_exporter.h has the contract, profiler/model/trace.h the
// trace, profiler/plugin/sink.h the files. profiler/plugin/exporter_entry.h
// makes a shared library, which //tools:profile and Profile::Export load.
#ifndef KYMO_PROFILER_API_EXPORTER_H_
#define KYMO_PROFILER_API_EXPORTER_H_

#include "profiler/model/trace.h"            // IWYU pragma: export
#include "profiler/plugin/exporter_entry.h"  // IWYU pragma: export
#include "profiler/plugin/sink.h"            // IWYU pragma: export
#include "profiler/plugin/trace_exporter.h"  // IWYU pragma: export

#endif  // KYMO_PROFILER_API_EXPORTER_H_
