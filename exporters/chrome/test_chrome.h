// test_chrome.h - helpers that the tests of the chrome exporter share.
#ifndef KYMO_EXPORTERS_CHROME_TEST_CHROME_H_
#define KYMO_EXPORTERS_CHROME_TEST_CHROME_H_

#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "exporters/chrome/chrome_exporter.h"
#include "profiler/model/trace.h"
#include "tests/support/test_golden.h"

namespace kymo {

inline std::string ChromeText(const model::Trace& trace,
                              const ExportOptions& options = {}) {
  return Export(*NewChromeExporter(), trace, options)["trace.json"];
}

using JsonMap = google::protobuf::Map<std::string, google::protobuf::Value>;

// The events whose `ph` is `phase`.
inline std::vector<JsonMap> Events(const google::protobuf::Struct& json,
                                   const std::string& phase) {
  std::vector<JsonMap> events;
  for (const auto& event :
       json.fields().at("traceEvents").list_value().values()) {
    const JsonMap& fields = event.struct_value().fields();
    if (fields.at("ph").string_value() == phase) events.push_back(fields);
  }
  return events;
}

inline std::string Text(const JsonMap& event, const std::string& key) {
  return event.at(key).string_value();
}

inline double Number(const JsonMap& event, const std::string& key) {
  return event.at(key).number_value();
}

// Members by key. Two texts are equal if the values are.
inline std::map<std::string, std::string> Texts(const JsonMap& members) {
  std::map<std::string, std::string> texts;
  for (const auto& [key, value] : members) texts[key] = value.DebugString();
  return texts;
}

// A file of testdata/. pytorch_*.json are cut from traces of PyTorch 2.14.1.
inline google::protobuf::Struct ReadTestJson(const std::string& name) {
  std::ifstream in("exporters/chrome/testdata/" + name, std::ios::binary);
  EXPECT_TRUE(in.good()) << name << " is missing";
  return ParseJson(std::string(std::istreambuf_iterator<char>(in), {}));
}

// Compares with testdata/<name>.golden.json, which must be JSON.
inline void CheckGolden(const model::Trace& trace, const std::string& name) {
  const std::string text = ChromeText(trace);
  ParseJson(text);
  ExpectGolden(text, "exporters/chrome/testdata/" + name + ".golden.json");
}

}  // namespace kymo

#endif  // KYMO_EXPORTERS_CHROME_TEST_CHROME_H_
