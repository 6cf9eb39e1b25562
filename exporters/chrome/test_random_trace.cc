// Exports a trace made at random into the folder of argv[1], for
// chrome_check.py.
#include <cstdio>
#include <string>

#include "exporters/chrome/chrome_exporter.h"
#include "exporters/timeline/test_random_trace.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  kymo::OutputDirectory out(argv[1]);
  const kymo::model::Trace trace =
      kymo::RandomTrace(std::stoull(argv[2])).Make();
  const auto files = kymo::NewChromeExporter()->Export(trace, {}, out);
  if (files.ok()) return 0;
  std::fprintf(stderr, "%s\n", files.status().ToString().c_str());
  return 1;
}
