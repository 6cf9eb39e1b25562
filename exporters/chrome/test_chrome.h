// test_chrome.h - what tests of the chrome exporter share.
#ifndef KYMO_EXPORTERS_CHROME_TEST_CHROME_H_
#define KYMO_EXPORTERS_CHROME_TEST_CHROME_H_

#include <string>
#include <vector>

#include "exporters/chrome/chrome_exporter.h"
#include "exporters/json/test_golden.h"
#include "profiler/model/trace.h"

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

// Compares with testdata/<name>.golden.json, which must be JSON.
inline void CheckGolden(const model::Trace& trace, const std::string& name) {
  const std::string text = ChromeText(trace);
  ParseJson(text);
  ExpectGolden(text, "exporters/chrome/testdata/" + name + ".golden.json");
}

}  // namespace kymo

#endif  // KYMO_EXPORTERS_CHROME_TEST_CHROME_H_
