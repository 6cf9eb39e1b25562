// csv_field.h - one value of a line of CSV, as RFC 4180 wants it.
//
//   AppendCsvField("a,b", out);   // "a,b" with quotes
#ifndef KYMO_PROFILER_TEXT_CSV_FIELD_H_
#define KYMO_PROFILER_TEXT_CSV_FIELD_H_

#include <string>
#include <string_view>

namespace kymo {

// Quotes a text that has a comma, a quote or a line's end.
void AppendCsvField(std::string_view text, std::string& out);

}  // namespace kymo

#endif  // KYMO_PROFILER_TEXT_CSV_FIELD_H_
