// html_exporter.h - `html`: report.html, one page that shows a trace.
//
// The page opens from a file:// address and loads nothing else. It has the
// numbers of summary.json, tables, the timeline and flame graphs. Its data are
// blocks of base64 (data_block.h, event_blocks.h, lane_blocks.h,
// used_tables.h), and these two:
//
//   meta     JSON: span_ns, sampling_period_ns, what was left out, types
//            (ActivityType's names) and tracks
//   summary  the text of summary.json
//
// Of a trace that is too large for a page, the longest ranges are shown. The
// page says how many ranges, details, samples and waits are not there;
// ExportNotes say so of ranges. Tables still count all of them. If
// a recording is larger than memory, the page has tables, and the timeline of
// what was not read in windows.
#ifndef KYMO_EXPORTERS_HTML_HTML_EXPORTER_H_
#define KYMO_EXPORTERS_HTML_HTML_EXPORTER_H_

#include <memory>

#include "profiler/plugin/trace_exporter.h"

namespace kymo {

std::unique_ptr<TraceExporter> NewHtmlExporter();

}  // namespace kymo

#endif  // KYMO_EXPORTERS_HTML_HTML_EXPORTER_H_
