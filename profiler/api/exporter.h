// exporter.h - writing a format of one's own; see docs/add-an-exporter.md.
//
// What an exporter is stands in profiler/plugin/trace_exporter.h, what it reads
// in profiler/model/trace.h, where its bytes go in profiler/plugin/sink.h, and
// how a shared library offers it in profiler/plugin/exporter_entry.h.
#ifndef KYMO_PROFILER_API_EXPORTER_H_
#define KYMO_PROFILER_API_EXPORTER_H_

#include "profiler/model/trace.h"            // IWYU pragma: export
#include "profiler/plugin/exporter_entry.h"  // IWYU pragma: export
#include "profiler/plugin/sink.h"            // IWYU pragma: export
#include "profiler/plugin/trace_exporter.h"  // IWYU pragma: export

#endif  // KYMO_PROFILER_API_EXPORTER_H_
