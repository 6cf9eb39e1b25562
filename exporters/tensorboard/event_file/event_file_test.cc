#include "exporters/tensorboard/event_file/event_file.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "exporters/tensorboard/event.pb.h"
#include "tests/support/test_event_file.h"

namespace kymo::tensorboard {
namespace {

std::string Hex(const std::string& bytes) {
  std::string hex;
  for (const char byte : bytes) {
    char text[3];
    std::snprintf(text, sizeof(text), "%02x", static_cast<uint8_t>(byte));
    hex += text;
  }
  return hex;
}

TEST(EventFileTest, ReplaysTheExample) {
  std::string file;
  AppendFileVersion(file, 1.5);
  AppendScalar(file, {.tag = "loss", .value = 0.5, .step = 3});
  AppendGraph(file, 2, "graph");
  AppendRunMetadata(file, 2, "profile", "metadata");
  const std::vector<schema::Event> events = ReadEventFile(file);
  ASSERT_EQ(events.size(), 4);
  EXPECT_EQ(events[0].wall_time(), 1.5);
  EXPECT_EQ(events[0].file_version(), "brain.Event:2");
  EXPECT_EQ(events[1].step(), 3);
  ASSERT_EQ(events[1].summary().value_size(), 1);
  EXPECT_EQ(events[1].summary().value(0).tag(), "loss");
  EXPECT_EQ(events[1].summary().value(0).simple_value(), 0.5);
  EXPECT_EQ(events[2].graph_def(), "graph");
  EXPECT_EQ(events[3].tagged_run_metadata().tag(), "profile");
  EXPECT_EQ(events[3].tagged_run_metadata().run_metadata(), "metadata");
}

TEST(EventFileTest, RecordsAreTensorBoardsToTheByte) {
  std::string file;
  AppendRecord(file,
               "\x1A\x0D"
               "brain.Event:2");
  EXPECT_EQ(Hex(file),
            "0f000000000000006d532b091a0d627261696e2e4576656e743a32fc985129");
  file.clear();
  AppendFileVersion(file, 0);
  EXPECT_EQ(Hex(file),
            "1800000000000000a37f4b220900000000000000001a0d627261696e2e4576656e"
            "743a32eedf28a3");
}

TEST(EventFileTest, ValuesBeyondAFloatAreInfinite) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::string file;
  for (const double value : {1e300, -1e300, kInfinity, -kInfinity}) {
    AppendScalar(file, {.tag = "x", .value = value});
  }
  AppendScalar(file, {.tag = "x", .value = std::nan("")});
  const std::vector<schema::Event> events = ReadEventFile(file);
  ASSERT_EQ(events.size(), 5);
  const auto value = [&](size_t i) {
    return events[i].summary().value(0).simple_value();
  };
  EXPECT_EQ(value(0), kInfinity);
  EXPECT_EQ(value(1), -kInfinity);
  EXPECT_EQ(value(2), kInfinity);
  EXPECT_EQ(value(3), -kInfinity);
  EXPECT_TRUE(std::isnan(value(4)));
}

TEST(EventFileTest, TagsBecomeUtf8) {
  std::string file;
  AppendScalar(file, {.tag = "\xFF \"loss\" 😀"});
  EXPECT_EQ(ReadEventFile(file).at(0).summary().value(0).tag(),
            "\xEF\xBF\xBD \"loss\" 😀");
}

TEST(EventFileTest, NamesSortByTime) {
  EXPECT_EQ(EventFileName(1'735'632'360, "host", 4'242, 0),
            "events.out.tfevents.1735632360.host.4242.0");
  EXPECT_LT(EventFileName(7, "a", 1, 0), EventFileName(10, "a", 1, 0));
  EXPECT_FALSE(HostName().empty());
  EXPECT_EQ(HostName().find('/'), std::string::npos);
}

}  // namespace
}  // namespace kymo::tensorboard
