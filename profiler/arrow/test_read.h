// test_read.h - a stream of Arrow as a reader sees it, as texts.
//
//   const ReadRows read = ReadAll(&stream);    // releases it
//   read.fields       // {"id:l", "name:u?"}: format; '?' if nullable
//   read.rows         // {"0|mm", "1|-"}; NULL is "-"
//
// It believes nothing of what made the stream but the interface.
#ifndef KYMO_PROFILER_ARROW_TEST_READ_H_
#define KYMO_PROFILER_ARROW_TEST_READ_H_

#include <string>
#include <vector>

#include "profiler/arrow/c_data.h"

namespace kymo::arrow {

struct ReadRows {
  std::vector<std::string> fields;
  std::vector<std::string> rows;
  std::vector<int64_t> batch_rows;
  int error = 0;
  std::string message;
};

ReadRows ReadAll(Stream* stream);

// One batch; does not release it.
std::vector<std::string> RowsOfBatch(const std::vector<std::string>& fields,
                                     const Array& batch);

}  // namespace kymo::arrow

#endif  // KYMO_PROFILER_ARROW_TEST_READ_H_
