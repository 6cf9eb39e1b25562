// The exporter of docs/add-an-exporter.md as one of this repository.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "profiler/plugin/sink.h"
#include "profiler/plugin/trace_exporter.h"
#include "tests/support/test_trace.h"

namespace kymo {

std::unique_ptr<TraceExporter> NewCsvExporter();  // made of the page

namespace {

TEST(AddAnExporterTest, TheFunctionOfTheListMakesAnExporterThatWrites) {
  TestTrace t;
  t.AddRange(t.AddThread(1, 7, "main"), "step", 100, 600);
  const std::string folder = testing::TempDir() + "/csv";
  OutputDirectory out(folder);
  const std::unique_ptr<TraceExporter> exporter = NewCsvExporter();
  EXPECT_EQ(exporter->info().name, "csv");
  double progress = 0;
  ExportOptions options;
  options.progress = [&](double done) { progress = done; };
  const auto files = exporter->Export(std::move(t).Build(), options, out);
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_EQ(*files, std::vector<std::string>{"events.csv"});
  std::ifstream file(folder + "/events.csv");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}),
            "7,step,100,500\n");
  EXPECT_EQ(progress, 1.0);
}

}  // namespace
}  // namespace kymo
