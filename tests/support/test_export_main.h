// test_export_main.h - a program that exports one trace, for scripts that read
// the files with another tool.
//
//   int main(int argc, char** argv) {
//     return kymo::ExportMain(argc, argv, *kymo::NewStacksExporter(),
//                             kymo::MakeTrace());
//   }
//
// argv[1] is the folder for the files. The result is the exit status.
#ifndef KYMO_TESTS_SUPPORT_TEST_EXPORT_MAIN_H_
#define KYMO_TESTS_SUPPORT_TEST_EXPORT_MAIN_H_

#include <cstdio>

#include "profiler/model/trace.h"
#include "profiler/plugin/sink.h"
#include "profiler/plugin/trace_exporter.h"

namespace kymo {

inline int ExportMain(int argc, char** argv, const TraceExporter& exporter,
                      const model::Trace& trace) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  OutputDirectory out(argv[1]);
  const auto files = exporter.Export(trace, {}, out);
  if (files.ok()) return 0;
  std::fprintf(stderr, "%s\n", files.status().ToString().c_str());
  return 1;
}

}  // namespace kymo

#endif  // KYMO_TESTS_SUPPORT_TEST_EXPORT_MAIN_H_
