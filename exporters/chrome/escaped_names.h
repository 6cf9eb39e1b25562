// escaped_names.h - every name of a trace as JSON text, made once.
//
//   const EscapedNames names(trace);
//   names.Append(out, trace.name()[event]);   // "operator\"\"_x", with quotes
//
// Encoded inputs of operations are the exception: they are made on request. The
// file shows them in another form, and they would be long.
//
// Threads: const and safe to call concurrently.
#ifndef KYMO_EXPORTERS_CHROME_ESCAPED_NAMES_H_
#define KYMO_EXPORTERS_CHROME_ESCAPED_NAMES_H_

#include <string>
#include <string_view>
#include <vector>

#include "profiler/model/trace.h"

namespace kymo::chrome {

class EscapedNames {
 public:
  // `trace` must outlive the object.
  explicit EscapedNames(const model::Trace& trace);

  // With quotes. A view of a kept text, or of `scratch`, which it then fills.
  std::string_view Get(model::NameId name, std::string& scratch) const {
    const std::string_view text = views_[Index(name)];
    return text.empty() ? Make(name, scratch) : text;
  }
  void Append(std::string& out, model::NameId name) const {
    std::string scratch;
    out += Get(name, scratch);
  }

 private:
  std::string_view Make(model::NameId name, std::string& scratch) const;

  const model::StringTable& strings_;
  std::vector<std::string> blocks_;      // the text of ranges of ids
  std::vector<std::string_view> views_;  // empty: not made
};

}  // namespace kymo::chrome

#endif  // KYMO_EXPORTERS_CHROME_ESCAPED_NAMES_H_
