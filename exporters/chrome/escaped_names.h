// escaped_names.h - every string of a trace as JSON text, made once.
#ifndef KYMO_EXPORTERS_CHROME_ESCAPED_NAMES_H_
#define KYMO_EXPORTERS_CHROME_ESCAPED_NAMES_H_

#include <string>
#include <string_view>
#include <vector>

#include "profiler/model/string_table.h"

namespace kymo::chrome {

class EscapedNames {
 public:
  explicit EscapedNames(const model::StringTable& strings);

  // With quotes; lives as long as this.
  std::string_view operator[](model::NameId name) const {
    return views_[Index(name)];
  }

 private:
  std::vector<std::string> blocks_;  // the text of ranges of ids
  std::vector<std::string_view> views_;
};

}  // namespace kymo::chrome

#endif  // KYMO_EXPORTERS_CHROME_ESCAPED_NAMES_H_
