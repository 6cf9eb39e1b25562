#include "profiler/events/chrome_trace.h"

#include <sstream>
#include <vector>

#include <gtest/gtest.h>

#include "profiler/events/test_events.h"

namespace kymo {
namespace {

std::string Text(const std::vector<FunctionEvent>& events,
                 const std::optional<std::string>& use_device = {}) {
  std::ostringstream out;
  WriteChromeTrace(events, use_device, out);
  return out.str();
}

FunctionEvent Traced(std::string name, double start_us, double end_us) {
  FunctionEvent e = Cpu(name, start_us, end_us);
  e.trace_name = std::move(name);
  return e;
}

TEST(ChromeTraceTest, HeaderExample) {
  EXPECT_EQ(Text({Traced("aten::mm", 100, 500)}),
            R"([{"name": "aten::mm", "ph": "X", "ts": 100.0, "dur": 400.0, )"
            R"("tid": 1, "pid": "CPU functions", "args": {}}])");
}

TEST(ChromeTraceTest, KernelsStartFlows) {
  FunctionEvent e = Traced("op", 1, 2);
  e.kernels = {{"k", 0, 1}, {"l", 0, 1}};
  EXPECT_EQ(Text({e}, "xpu"),
            R"([{"name": "op", "ph": "X", "ts": 1.0, "dur": 1.0, "tid": 1, )"
            R"("pid": "CPU functions", "args": {}}, )"
            R"({"name": "op", "ph": "s", "ts": 1.0, "tid": 1, )"
            R"("pid": "CPU functions", "id": 0, "cat": "cpu_to_xpu", )"
            R"("args": {}}, )"
            R"({"name": "op", "ph": "s", "ts": 1.0, "tid": 1, )"
            R"("pid": "CPU functions", "id": 1, "cat": "cpu_to_xpu", )"
            R"("args": {}}])");
  EXPECT_NE(Text({e}).find("cpu_to_cuda"), std::string::npos);
}

TEST(ChromeTraceTest, RemoteEventsSayTheirNode) {
  FunctionEvent e = Traced("rpc", 0, 1);
  e.is_remote = true;
  e.node_id = 3;
  EXPECT_NE(Text({e}).find(R"("tid": " node_id:3, thread_id:1 ", "pid")"),
            std::string::npos);
}

TEST(ChromeTraceTest, EscapesNames) {
  EXPECT_NE(Text({Traced("\"λ\"\n", 0, 1)}).find(R"("name": "\"\u03bb\"\n", )"),
            std::string::npos);
}

TEST(ChromeTraceTest, EventsWithoutTraceNameAreLeftOut) {
  EXPECT_EQ(Text({}), "[]");
  EXPECT_EQ(Text({Cpu("[memory]", 0, 0)}), "[]");
}

}  // namespace
}  // namespace kymo
